"""Parts of a document: tables, plots and texts, which every renderer accepts."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from eval_assets.verdicts import Tone

Shape = Literal["circle", "diamond", "triangle", "square", "cross"]

_MOST_ROWS_SHOWN = 20
"""Rows from which on a table scrolls on its own."""

MarkKind = Literal["minimum", "chance", "constant", "shuffled", "people", "zero"]
"""Value that a figure is compared with."""


@dataclass(frozen=True)
class Plot:
    """Figures on an axis; the label is the picture in words.

    NaN among `dots` is not drawn. `marks` are values that the figure is compared with.
    """

    low: float
    high: float
    label: str
    dots: tuple[tuple[Shape, float], ...]
    interval: tuple[float, float] | None = None
    marks: tuple[tuple[MarkKind, float], ...] = ()
    tone: Tone = Tone.NONE


@dataclass(frozen=True)
class Cell:
    """A short text, in a table or a list.

    Args:
        text: What it says.
        note: A remark in small print.
        tone: How good it is; a text with a tone is coloured.
        link: Anchor that the text leads to; empty for none.
        plot: Picture of the same figure.
        shade: Darkness of the background in [0, 1]; None for no background.
        is_strong: Whether the text stands out.
        folded: Titles and long texts from the data that a reader opens.
    """

    text: str
    note: str = ""
    tone: Tone = Tone.NONE
    link: str = ""
    plot: Plot | None = None
    shade: float | None = None
    is_strong: bool = False
    folded: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Args:
        name: Its header.
        is_number: Whether it holds numbers, which are aligned on the right.
        axis: Ends of the axis of its plots; None if it has no plots.
        has_interval: Whether the notes of its cells are 95 % intervals.
    """

    name: str
    is_number: bool = False
    axis: tuple[float, float] | None = None
    has_interval: bool = False


@dataclass(frozen=True)
class TableRow:
    """A row of a table.

    Args:
        cells: One per column; the first names the row. A heading has one cell for all columns.
        kind: `total` stands out, `part` belongs to the row above, `heading` groups rows below.
        anchor: Id of the row; empty for none.
    """

    cells: tuple[Cell, ...]
    kind: Literal["plain", "total", "part", "heading"] = "plain"
    anchor: str = ""


@dataclass(frozen=True)
class Table:
    """Rows of figures.

    Args:
        label: What the table shows, for readers who cannot see it.
        columns: Its columns.
        rows: Its rows.
        caption: The same, printed above it; empty for none.
        key: Shapes of its plots and what they stand for.
        is_matrix: Whether it is a small square table of counts.
    """

    label: str
    columns: tuple[Column, ...]
    rows: tuple[TableRow, ...]
    caption: str = ""
    key: tuple[tuple[Shape, str], ...] = ()
    is_matrix: bool = False

    @property
    def is_long(self) -> bool:
        """Return whether the table scrolls in its own box."""
        return self.is_flat and len(self.rows) > _MOST_ROWS_SHOWN

    @property
    def is_flat(self) -> bool:
        """Return whether its rows can be sorted."""
        return not self.is_matrix and all(row.kind in {"plain", "total"} for row in self.rows)


@dataclass(frozen=True)
class Text:
    """A paragraph; `small` for remarks."""

    text: str
    is_small: bool = False


@dataclass(frozen=True)
class Bullets:
    """A list, below its heading unless that is empty."""

    items: tuple[Cell, ...]
    heading: str = ""


@dataclass(frozen=True)
class Definition:
    """A term and its explanation; `method` is its anchor in docs/methods.md."""

    term: str
    meaning: str
    method: str = ""


@dataclass(frozen=True)
class Definitions:
    """Terms with their meanings."""

    items: tuple[Definition, ...]


@dataclass(frozen=True)
class Quote:
    """A text from the data, shown verbatim."""

    text: str
    is_small: bool = False


@dataclass(frozen=True)
class Fold:
    """Folded blocks; `subject` completes the summary for screen readers."""

    summary: str
    blocks: tuple["Block", ...]
    subject: str = ""
    is_open: bool = False


@dataclass(frozen=True)
class CardFigure:
    """Main figure of a card; its name is empty if the title of the card names it.

    `meaning` is the band of the figure, or why it is undefined; the first note is its interval.
    """

    name: str
    value: str
    meaning: str
    tone: Tone
    notes: tuple[str, ...]
    plot: Plot | None = None


@dataclass(frozen=True)
class Card:
    """A titled box of blocks, with `figure` at its side."""

    title: str
    blocks: tuple["Block", ...]
    anchor: str = ""
    figure: CardFigure | None = None


Block = Text | Bullets | Definitions | Quote | Table | Fold | Card


@dataclass(frozen=True)
class Section:
    """A section of the report; `link` is its name in the navigation."""

    anchor: str
    title: str
    link: str
    blocks: tuple[Block, ...]


def cells(*parts: Cell | str) -> tuple[Cell, ...]:
    """Return cells; texts are converted."""
    return tuple(Cell(cell) if isinstance(cell, str) else cell for cell in parts)


def columns(*parts: Column | str) -> tuple[Column, ...]:
    """Return columns; texts are converted, and a trailing "#" marks a column of numbers.

    Examples:
        >>> columns("judge", "units#")[1]
        Column(name='units', is_number=True, axis=None, has_interval=False)
    """
    return tuple(
        Column(column.removesuffix("#"), is_number=column.endswith("#"))
        if isinstance(column, str)
        else column
        for column in parts
    )


def anchor(kind: str, *names: str) -> str:
    """Return the id of an anchor, which is different for every name.

    Examples:
        >>> anchor("question", "coercion_free"), anchor("judge", "gpt 6")
        ('question-coercion_free', 'judge-gpt.20.6')
    """
    written = [re.sub(r"[^A-Za-z0-9_]", lambda c: f".{ord(c[0]):x}.", name) for name in names]
    return "-".join([kind, *written])


def bullets(texts: Sequence[str], heading: str = "") -> tuple[Block, ...]:
    """Return a list of texts as blocks: none if there is no text."""
    return (Bullets(cells(*texts), heading),) if texts else ()
