"""Documents as GitHub Markdown."""

import html
import re
from collections.abc import Iterator, Sequence
from typing import assert_never

from eval_assets.render.document import (
    Block,
    Bullets,
    Card,
    Cell,
    Definitions,
    Fold,
    Quote,
    Table,
    TableRow,
    Text,
)
from eval_assets.wording import counted

_SPECIAL = re.compile(r"[\\`*\[\]|~$@]|(?<![^\W_])_|_(?![^\W_])")
"""Characters that may be markup anywhere, except an underscore within a word."""

_MOST_ROWS = 25
"""Rows of a table; a comment on a pull request holds 65,536 characters."""

_LEADING = re.compile(r"^(?:([-+=#>])(?=[-+=#>\s]|$)|(\d+)([.)])(?=\s|$))")
"""Start of a line that makes it a list, a heading, a rule or a quotation."""


def escape_markdown(text: str) -> str:
    r"""Return a text as one line of escaped Markdown, also for table cells.

    Examples:
        >>> print(escape_markdown("a|b\n<b>`code`</b>"))
        a\|b &lt;b&gt;\`code\`&lt;/b&gt;
        >>> print(escape_markdown("1. not a list"))
        1\. not a list
    """
    line = html.escape(" ".join(text.split()), quote=False)
    line = _SPECIAL.sub(r"\\\g<0>", line)
    line = line.replace("://", ":\\//").replace("www.", "www\\.")
    return _LEADING.sub(
        lambda match: f"\\{match[1]}" if match[1] else f"{match[2]}\\{match[3]}", line
    )


def markdown_blocks(blocks: Sequence[Block]) -> Iterator[str]:
    """Yield paragraphs, which blank lines separate."""
    for block in blocks:
        match block:
            case Text():
                yield escape_markdown(block.text)
            case Quote():
                yield f"> {escape_markdown(block.text) or '(empty)'}"
            case Bullets():
                if block.heading:
                    yield f"{escape_markdown(block.heading)}:"
                yield "\n".join(f"- {markdown_cell(item)}" for item in block.items)
            case Definitions():
                yield "\n".join(
                    f"- **{escape_markdown(item.term)}**: {escape_markdown(item.meaning)}"
                    for item in block.items
                )
            case Table():
                yield from markdown_table(block)
            case Fold():
                yield from _fold(block)
            case Card():
                yield from _card(block)
            case _:
                assert_never(block)


def _fold(fold: Fold) -> Iterator[str]:
    """Yield the visible blocks of the page, without folded ones."""
    if not fold.is_open:
        return
    summary = html.escape(" ".join(fold.summary.split()), quote=False)
    yield f"<details><summary>{summary}</summary>"
    yield from markdown_blocks(fold.blocks)
    yield "</details>"


def _card(card: Card) -> Iterator[str]:
    if card.title:
        yield f"### {escape_markdown(card.title)}"
    if figure := card.figure:
        name = f"{figure.name} " if figure.name else ""
        text = escape_markdown(f"{name}{figure.value}: {figure.meaning}")
        yield f"**{text}** ({escape_markdown(figure.notes[0])})"
    yield from markdown_blocks(card.blocks)


def markdown_table(table: Table) -> Iterator[str]:
    """Yield the caption and the table, without columns of pictures alone."""
    if table.caption:
        yield escape_markdown(table.caption)
    filled = [
        index
        for index in range(len(table.columns))
        if any(len(row.cells) > index and markdown_cell(row.cells[index]) for row in table.rows)
    ]
    heads = [escape_markdown(table.columns[index].name) for index in filled]
    rules = ["---:" if table.columns[index].is_number else "---" for index in filled]
    lines = [_row(row, filled) for row in table.rows[:_MOST_ROWS]]
    yield "\n".join(f"| {' | '.join(line)} |" for line in [heads, rules, *lines])
    if n_left := len(table.rows) - len(lines):
        yield f"{counted(n_left, 'more row')} in report.html."


def _row(row: TableRow, columns: Sequence[int]) -> list[str]:
    first, *values = row.cells
    name = markdown_cell(first)
    if row.kind in {"heading", "total"}:
        name = f"**{name}**"
    elif row.kind == "part":
        name = f"- {name}"
    of_columns = dict(enumerate([name, *(markdown_cell(cell) for cell in values)]))
    return [of_columns.get(index, "") for index in columns]


def markdown_cell(cell: Cell) -> str:
    """Return a cell with its note in parentheses."""
    note = f" ({escape_markdown(cell.note)})" if cell.note and cell.text else ""
    return f"{escape_markdown(cell.text)}{note}"
