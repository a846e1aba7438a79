"""Headers of tables: below titles, in two rows, without names, or missing."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, count
from typing import Any, NamedTuple

from eval_assets.readers.formats.table import FileColumn
from eval_assets.readers.problems import input_error, listed_briefly
from eval_assets.readers.values import ABSENT

Row = tuple[int, Sequence[str]]
"""Line of a row, and its cells."""

SAMPLE_ROWS = 60
"""Number of rows at the start of a table from which the header is known."""

_FULL = 0.6
"""Share of the cells of the widest row that a header fills; a title above it fills fewer."""

_IMPORT_ID = "ImportId"
_SECOND_ROWS = 3
_SAMPLE_BELOW = 40
_FEWEST_BELOW = 2
_FEWEST_REPEATED = 3
"""Number of columns of one name from which they are the items of a form."""

_ASIDE = 0.1
"""Share of filled cells below which a column of a name given before is of another table."""

_MOST_EMPTY = 0.7
_FURTHER_DIGITS = 3
_EXPLANATION = 20
"""Letters of an explanation, on average."""
_RESPONSES = ("", "Response", "Open-Ended Response")
"""Second row of a question of SurveyMonkey that has one column."""


class Header(NamedTuple):
    """The names of a table's columns, "" if one has none.

    Args:
        names: The names, without blanks around them.
        line: Line of the row that they stand in; None if there is none.
        n_rows: Rows up to the first one of data.
        notes: How the header was read, if that had to be guessed.
    """

    names: list[str]
    line: int | None
    n_rows: int
    notes: tuple[str, ...]


MOST_COLUMNS = 2_000
"""Columns of a table; more are no ratings, and comparing them with each other takes minutes."""


def header_of(start: Sequence[Row], *, file: str) -> Header:
    """Return the header of a table, whose first rows without blank ones are `start`.

    Rows above it that are less full are titles. Rows below it that name the columns of numbers, as
    raters below questions, are part of it. A row of numbers above others is no header, unless it
    counts.

    Raises:
        InputError: If no row names anything.

    Examples:
        >>> start = [(1, ["", "anna", "", "ben", ""]), (2, ["id", "tone", "form", "tone", "form"])]
        >>> header_of([*start, (3, ["a", "1", "2", "3", "4"])], file="x.csv").names
        ['id', 'anna: tone', 'anna: form', 'ben: tone', 'ben: form']
    """
    rows = [[cell.strip() for cell in cells] for _, cells in start]
    n_columns = max(map(len, rows), default=0)
    if n_columns > MOST_COLUMNS:
        remedy = "Leave the others out, or write a row for each rating"
        raise input_error(file, f"{n_columns:,} columns, but at most {MOST_COLUMNS:,}", remedy)
    if not rows or not any(any(row) for row in rows):
        line = start[0][0] if start else 1
        raise input_error(file, "there is no header", "Name the columns in line 1", line=line)
    first = _first_row(rows)
    notes = []
    if first:
        line = start[first][0]
        notes.append(f"the header is in line {line}; what stands above it is not read")
    names, below = rows[first], [row for row in rows[first + 1 :] if any(row)]
    if _is_data(names, below):
        notes.append(f"line {start[first][0]} read as ratings: no row names the columns")
        # An item, and ratings of raters, or just columns.
        width = max(map(len, [names, *below]))
        are_numbers = [_is_number(cell) for cell in names]
        names_of_columns = [f"column {k}" for k in range(1, width + 1)]
        if len(names) == width and all(are_numbers[1:]):
            items = [] if are_numbers[0] else ["item"]
            names_of_columns = items + [f"rater {k}" for k in range(1, width - len(items) + 1)]
        return Header(names_of_columns, None, first, tuple(notes))
    n_second = 0
    while n_second < _SECOND_ROWS and first + n_second + 1 < len(rows):
        joined = _with_second_row(names, rows[first + n_second + 1 :], is_first=n_second == 0)
        if joined is None:
            break
        names, n_second = joined, n_second + 1
    if n_second:
        word = "and" if n_second == 1 else "to"
        lines = f"lines {start[first][0]} {word} {start[first + n_second][0]}"
        notes.append(f"{lines} read as one header")
    names, notes_on_names = numbered_names(names)
    names, notes_on_ends = _written_names(names, rows[first + n_second + 1 :])
    line = start[first + n_second][0]
    return Header(names, line, first + n_second + 1, (*notes, *notes_on_names, *notes_on_ends))


def _written_names(names: list[str], below: Sequence[Sequence[str]]) -> tuple[list[str], list[str]]:
    """Return names without the last ones, below which no row has a cell, as of Mechanical Turk."""
    widths = {*map(len, below)}
    width = min(widths, default=0)
    if len(below) < _FEWEST_BELOW or len(widths) > 1 or width >= len(names):
        return names, []
    last = listed_briefly(names[width:])
    return names[:width], [f"no row has a cell below {last}, the last in the header"]


def _first_row(rows: Sequence[Sequence[str]]) -> int:
    """Return the position of the header, or of the upper row of a header of two."""
    filled = [sum(map(bool, row)) for row in rows]
    widest = max(filled)
    for k, row in enumerate(rows):
        is_index = not row[0] and all(row[1:]) and len(row) >= widest
        if filled[k] < max(min(2, widest), _FULL * widest) and not is_index:
            continue
        if k and filled[k - 1] > 1 and not any(map(_is_number, filter(None, rows[k - 1]))):
            above = rows[k - 1]
            is_title = above[0] and not any(above[2:])
            return k if is_title else k - 1
        return k
    return 0


def _is_data(names: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether a row is like those below it: a number over numbers, which do not count."""
    if not below:
        return False
    cells = [[row[k] for row in below if k < len(row) and row[k]] for k in range(len(names))]
    over_numbers = [
        name
        for name, of in zip(names, cells, strict=True)
        if _is_number(name) and all(map(_is_number, of))
        # Numbers of students stand above short ones.
        if not (name.isdigit() and of and len(name) > _FURTHER_DIGITS + max(map(len, of)))
    ]
    whole = [int(cell) for cell in names if cell.isdigit()]
    counts = whole == list(range(whole[0], whole[0] + len(whole))) if whole else False
    # 1, 2 may be ratings; 0, 1 are the names that pandas gives to columns without any.
    is_header = counts and (len(whole) > 2 or (whole[0] == 0 and len(whole) >= len(names) - 1))  # noqa: PLR2004
    return bool(over_numbers) and not is_header


def _with_second_row(
    names: Sequence[str], rest: Sequence[Sequence[str]], *, is_first: bool
) -> list[str] | None:
    """Return the names joined with those of a further row of the header; None if it is none."""
    width = len(names)
    second, *below = [[*row, *[""] * (width - len(row))] for row in rest]
    if any(_IMPORT_ID in cell for cell in second):
        return list(names)
    below = [row for row in below if not any(_IMPORT_ID in cell for cell in row)][:_SAMPLE_BELOW]
    if not below or len(second) > width:
        return None
    cells = [[row[k] for row in below if row[k]] for k in range(width)]
    numeric = [k for k, of in enumerate(cells) if sum(map(_is_number, of)) > _MOST_EMPTY * len(of)]
    in_numeric = [second[k] for k in numeric]
    is_index_name = bool(second[0]) and not any(second[1:]) and not is_first
    if is_index_name and len(numeric) > 1:
        return [second[0], *names[1:]]
    is_named = not any(_is_number(cell) or cell.casefold() in ABSENT for cell in in_numeric)
    fewest = 2 if "" in [names[k] for k in numeric] else len(numeric)
    are_named = len(numeric) > 1 and is_named and sum(map(bool, in_numeric)) >= fewest
    blank = [k for k in range(1, width) if not names[k]]
    heads = {k - 1 for k in blank} - {*blank}
    # Only the columns of a question have names below it, as the answers of SurveyMonkey.
    filled = {k for k, name in enumerate(second) if name and not _is_number(name)}
    is_below = 1 < len(blank) < width - len(heads) and {*blank} == filled - heads
    if not are_named and not is_below:
        return None
    # Of merged cells the first has the name.
    groups = [*accumulate(names, lambda last, name: name or last, initial="")][1:]
    is_explained = len({groups[k] for k in numeric}) == len(numeric) > 0
    if is_explained and not is_below:
        # A row of explanations below a full header, as of Qualtrics; other words are data.
        has_ids = any(_IMPORT_ID in cell for row in rest[1:2] for cell in row)
        is_long = sum(map(len, in_numeric)) > _EXPLANATION * len(numeric)
        return list(names) if has_ids or is_long else None
    return [
        f"{group}: {name}" if group and name and name not in _RESPONSES else group or name
        for group, name in zip(groups, second, strict=True)
    ]


def _is_number(cell: str) -> bool:
    return re.fullmatch(r"-?\d*[.,]?\d+", cell) is not None


def numbered_names(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return names of columns with a number behind those of three or more, and notes on them.

    Examples:
        >>> numbered_names(["id", "score", "score", "score"])[0]
        ['id', 'score [1]', 'score [2]', 'score [3]']
    """
    numbered, notes = list(names), []
    for name, n in Counter(names).items():
        if name and n >= _FEWEST_REPEATED:
            number = count(1)
            numbered = [f"{name} [{next(number)}]" if of == name else of for of in numbered]
            notes.append(f'columns named "{name}" are numbered')
    return numbered, notes


def named_columns(
    header: Header, columns: Sequence[FileColumn[Any]], *, file: str
) -> dict[str, FileColumn[Any]]:
    """Return columns by name, without those that have neither name nor content.

    A first column without a name that only counts the rows, as written by pandas, is dropped too;
    one of distinct texts is named item, and another one `Unnamed: 4`.

    Raises:
        InputError: If two columns have the same name.
    """
    named: dict[str, FileColumn[Any]] = {}
    for position, (name, cells) in enumerate(zip(header.names, columns, strict=True)):
        # Of a small table beside the ratings, which sums them up.
        is_aside = name in named and sum(map(bool, cells)) < _ASIDE * len(cells)
        texts = [str(of or "") for of in (*named.get(name, ()), *cells)] if name in named else []
        are_comments = any(len(of) > _EXPLANATION and " " in of for of in texts)
        if name in named and not (is_aside or are_comments):
            message, remedy = "two columns have this name", "Rename or remove one of them"
            raise input_error(file, message, remedy, line=header.line, column=name)
        if name and not is_aside:
            named[f"{name} [{position + 1}]" if name in named else name] = cells
            continue
        # Without rows, a column is empty if no name comes after it.
        is_empty = not any(cells) if len(cells) else not any(header.names[position:])
        is_count = len(cells) and cells == [str(row) for row in range(len(cells))]
        texts = list(cells)
        names_rows = len(set(texts)) == len(texts) and all(
            of and not _is_number(of) for of in texts
        )
        if position == 0 and "item" not in header.names and names_rows:
            named["item"] = cells
        elif not is_empty and not (position == 0 and is_count):
            named[f"Unnamed: {position}"] = cells
    return named
