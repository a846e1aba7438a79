"""A screen as lines of a terminal, never wider than 80 columns."""

import math
from collections.abc import Iterator, Sequence
from shlex import quote, split

from eval_assets.shown.blocks import Axis, Row, Table
from eval_assets.shown.screen import JUDGES_QUESTION, Screen, ScreenAnswer
from eval_assets.wording import (
    columns_of,
    figure_text,
    interval_text,
    limit_text,
    printable,
    shortened,
)

WIDTH = 80
_BAR = 44
_INDENT = 3
_NEXT = "Do next  "
_MOST_ROWS, _FEWER_ROWS, _MOST_COLUMNS = 10, 5, 4
_WIDEST_LABEL, _WIDEST_NAME, _WIDEST_CELL = 17, 40, 11
_TAKEN = 3 + 7 + 2 + 15 + 6
"""Columns of a row besides its label and the judges: margin, alpha, interval, word."""


def screen_lines(screen: Screen, *, report: str | None) -> list[str]:
    """Return the lines of a screen."""
    return [printable(line).rstrip() for line in _lines(screen, report)]


def answer_lines(screen: Screen) -> list[str]:
    """Return what was read and the answers, of one of several readings."""
    lines = wrapped(screen.read[0], first="Read  ", rest=" " * 6)
    for number, answer in enumerate((screen.labels, *screen.judges[:_MOST_ROWS]), start=1):
        lines += [*_heading(number, answer), *wrapped(answer.sentence)]
    return [printable(line).rstrip() for line in lines]


def _padded(text: str, width: int) -> str:
    return text + " " * (width - columns_of(text))


def _lines(screen: Screen, report: str | None) -> Iterator[str]:
    for number, line in enumerate(screen.read):
        yield from wrapped(line, first="Read  " if not number else " " * 6, rest=" " * 6)
    yield ""
    yield from _heading(1, screen.labels)
    yield from wrapped(screen.labels.sentence)
    if len(screen.labels.rows) == 1 and screen.labels.axis is not None:
        yield from wrapped(screen.labels.figure)
        [row] = screen.labels.rows
        interval = interval_text(row.low, row.high, limits=[row.minimum])
        yield f"   {bar(row, screen.labels.axis)}  95% CI {interval}"
    yield ""
    if screen.has_table:
        yield f"2  {JUDGES_QUESTION}" if screen.judges else "   By question"
        yield ""
        yield from _table(screen)
        yield ""
    else:
        for number, judge in enumerate(screen.judges, start=2):
            yield from _heading(number, judge)
            yield from wrapped(judge.sentence)
            yield ""
    step = screen.next
    yield from wrapped(step.text, first=_NEXT, rest=" " * len(_NEXT))
    if step.examples:
        yield from wrapped(
            "    ".join(step.examples), first=" " * len(_NEXT), rest=" " * len(_NEXT)
        )
    if step.command:
        yield from _command_lines(step.command)
    if report is not None:
        yield f"Report   {report}"


def _heading(number: int, answer: ScreenAnswer) -> Iterator[str]:
    """Yield a question with its word at the right end."""
    word = answer.word
    start = f"{number}  "
    most = WIDTH - len(start) - len(word) - 1
    yield _padded(f"{start}{_cut(answer.question, most)}", WIDTH - len(word)) + word


def _cut(question: str, most: int) -> str:
    """Return a question whose longest word gives way to the width."""
    excess = columns_of(question) - most
    if excess <= 0:
        return question
    longest = max(question.split(" "), key=columns_of)
    return question.replace(longest, shortened(longest, columns_of(longest) - excess))


def _command_lines(command: str) -> Iterator[str]:
    """Yield a command; one that is too long is continued as a shell takes it."""
    margin = " " * len(_NEXT)
    arguments = [quote(of).replace(" ", "\N{NO-BREAK SPACE}") for of in split(command)]
    *lines, last = wrapped(" ".join(arguments), first=margin, rest=f"{margin}  ", width=WIDTH - 2)
    yield from (f"{line} \\" for line in lines)
    yield last


def wrapped(
    text: str, *, first: str = " " * _INDENT, rest: str = " " * _INDENT, width: int = WIDTH
) -> list[str]:
    """Return a text as lines; a percentage stays with its sign, a word too long has its own."""
    lines, line, is_empty = [], first, True
    for word in text.replace(" %", "\N{NO-BREAK SPACE}%").split(" "):
        if not is_empty and columns_of(line) + 1 + columns_of(word) > width:
            lines.append(line)
            line, is_empty = rest, True
        line += word if is_empty else f" {word}"
        is_empty = False
    return [of.replace("\N{NO-BREAK SPACE}", " ") for of in (*lines, line)]


def bar(row: Row, axis: Axis) -> str:
    """Return a figure with its interval on an axis: `[===o===]`, with `|` at the minimum.

    Examples:
        >>> bar(Row("a", 0.5, "0.50", low=0.4, high=0.6), Axis(0.0, 1.0, minimum=0.8))
        '0 |-----------------[====o===]-------|---------| 1'
    """
    line = ["-"] * _BAR

    def place(value: float) -> int:
        return round(axis.place(value) * (_BAR - 1))

    if row.has_interval:
        low, high = place(row.low), place(row.high)
        line[low : high + 1] = "=" * (high + 1 - low)
        line[low], line[high] = "[", "]"
    if not math.isnan(axis.minimum):
        line[place(axis.minimum)] = "|"
    line[place(row.value)] = "o"
    return f"{axis.low:g} |{''.join(line)}| {axis.high:g}"


def table_lines(table: Table) -> list[str]:
    r"""Return a table within the width; texts are wrapped, numbers and their headers are not.

    Examples:
        >>> from eval_assets.shown.blocks import Cell, Column
        >>> columns = (Column("gate", "gate"), Column("value", "value", is_number=True))
        >>> rows = ((Cell("alpha"), Cell("0.81")), (Cell("a_hh"), Cell("0.9")))
        >>> print(*table_lines(Table("gates", columns, rows)), sep="\n")
        gate   value
        alpha   0.81
        a_hh     0.9
    """
    narrow = [k for k, column in enumerate(table.columns) if not column.is_wide]
    texts = [[table.columns[k].title for k in narrow]]
    texts += [[printable(row[k].text) for k in narrow] for row in table.rows]
    widths = [max(map(columns_of, column)) for column in zip(*texts, strict=True)]
    words = [
        max(map(columns_of, " ".join(column).split()), default=0)
        for column in zip(*texts, strict=True)
    ]
    is_text = [not table.columns[k].is_number for k in narrow]
    while sum(widths) + _GAP * (len(widths) - 1) > WIDTH:
        flexible = [k for k, of in enumerate(is_text) if of and widths[k] > _NARROWEST_TEXT]
        flexible = [k for k in flexible if widths[k] > words[k]] or flexible  # break lines first
        if not flexible:
            break
        widths[max(flexible, key=lambda k: widths[k])] -= 1
    lines = [line for row in texts for line in _row_lines(row, widths, is_text)]
    return [*lines, *(wrapped(f"{table.caption}.", first="", rest="") if table.caption else ())]


_GAP = 2
_NARROWEST_TEXT = 12


def _row_lines(row: Sequence[str], widths: Sequence[int], is_text: Sequence[bool]) -> Iterator[str]:
    cells = []
    for text, width, wraps in zip(row, widths, is_text, strict=True):
        parts = wrapped(text, first="", rest="", width=width) if wraps else [text]
        pieces = [part[k : k + width] for part in parts for k in range(0, len(part) or 1, width)]
        cells.append(pieces if wraps else parts)
    for k in range(max(map(len, cells))):
        line = (" " * _GAP).join(
            _padded(of, width) if wraps else " " * (width - columns_of(of)) + of
            for parts, width, wraps in zip(cells, widths, is_text, strict=True)
            for of in [parts[k] if k < len(parts) else ""]
        )
        yield line.rstrip()


def _table(screen: Screen) -> Iterator[str]:
    """Yield a row for each question with the verdict on each judge, or one for each judge."""
    if len(screen.labels.rows) == 1:
        yield from _judge_rows(screen)
        return
    judges = list(screen.assessment.judges)
    by_column = len(judges) <= _MOST_COLUMNS
    columns = judges if by_column else []
    rows = screen.labels.rows
    width = max(len("question"), min(_WIDEST_LABEL, max(columns_of(of.label) for of in rows)))
    wide = min(_WIDEST_CELL, (WIDTH - _TAKEN - width) // max(1, len(columns)))
    head = f"   {'question'.ljust(width)}  alpha  {'95% CI'.ljust(15)}labels"
    names = [shortened(of, wide - 1) for of in columns]
    yield head + "".join(f"{' ' * (wide - columns_of(name))}{name}" for name in names)
    most = _MOST_ROWS if by_column else _FEWER_ROWS
    for row, cells in zip(rows[:most], screen.matrix.rows, strict=False):
        of_labels, *of_judges = (cell.verdict for cell in cells if cell.verdict is not None)
        interval = interval_text(row.low, row.high, limits=[row.minimum])
        yield (
            f"   {_padded(shortened(row.label, width), width)}{row.text.rjust(7)}  "
            f"{interval.ljust(15)}{of_labels.short_word.rjust(6)}"
            + "".join(of.short_word.rjust(wide) for of in of_judges if by_column)
        )
    if len(rows) > most:
        yield f"   ... and {len(rows) - most} more"
    if not by_column:
        yield ""
        yield from _judge_rows(screen)
        return
    yield from wrapped(_key(screen))


def _judge_rows(screen: Screen) -> Iterator[str]:
    judges = screen.judges[:_MOST_ROWS]
    names = list(screen.assessment.judges)[:_MOST_ROWS]
    width = max(len("judge"), min(_WIDEST_NAME, max(map(columns_of, names))))
    is_one = len(screen.labels.rows) == 1
    head = f"{'agrees'.rjust(8)}{'needs'.rjust(7)}  " if is_one else "  "
    yield f"   {'judge'.ljust(width)}{head}verdict"
    for name, answer in zip(names, judges, strict=True):
        figures = "  "
        if is_one:
            row = answer.rows[-1] if len(answer.rows) > 1 else None
            value = figure_text(row.value) if row else "--"
            needs = figure_text(row.minimum) if row else "--"
            figures = f"{value.rjust(8)}{needs.rjust(7)}  "
        yield f"   {_padded(shortened(name, width), width)}{figures}{answer.verdict.short_word}"
    if len(screen.judges) > _MOST_ROWS:
        yield f"   ... and {len(screen.judges) - _MOST_ROWS} more"
    yield from wrapped(_key(screen))


def _key(screen: Screen) -> str:
    minimum = limit_text(screen.assessment.labels[0].minimums["alpha"])
    keys = "; ".join(
        f"{verdict.short_word} = {text}"
        for verdict, text in screen.table_key.items()
        if verdict.short_word != text
    )
    return f"Alpha needs {minimum}. {keys}{'.' if keys else ''}".rstrip()
