"""Contents of pages as data: tables, rows on axes, plots and texts, for every renderer."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Literal

from eval_assets.catalogue import Figure, Statistic
from eval_assets.figures import FigureRecord, HumanFigures, fields_of
from eval_assets.verdicts import Tone, Verdict
from eval_assets.wording import count_text, counted, figure_text, interval_text, or_none

_BELOW_CHANCE = -0.2
"""Where an axis begins if an interval reaches below chance, but not far."""


class Mark(StrEnum):
    """Whose figure a mark is."""

    PEOPLE = "people"
    JUDGE = "judge"


@dataclass(frozen=True)
class Row:
    """A figure on an axis.

    Args:
        label: Whose or what figure it is.
        value: The figure; NaN if undefined.
        text: The figure as text.
        mark: Whose it is.
        minimum: Its own minimum, if the axis has none for all rows; NaN for none.
        verdict: Its verdict; None for a figure that decides nothing.
        is_tested: Whether it is of the held-out test, or decides; otherwise it is an estimate.
        remark: Word beside the label of a row that stands out; empty for others.
    """

    label: str
    value: float
    text: str
    mark: Mark = Mark.PEOPLE
    low: float = math.nan
    high: float = math.nan
    minimum: float = math.nan
    verdict: Verdict | None = None
    is_tested: bool = True
    remark: str = ""

    @property
    def interval(self) -> str:
        """The ends of its interval as text; empty without one."""
        limits = [] if math.isnan(self.minimum) else [self.minimum]
        return interval_text(self.low, self.high, limits=limits) if self.has_interval else ""

    @property
    def has_interval(self) -> bool:
        """Return whether both ends are defined."""
        return not math.isnan(self.low + self.high)


@dataclass(frozen=True)
class Axis:
    """An axis for rows.

    Args:
        minimum: Minimum of all rows; NaN if each has its own, or none.
        ticks: Labelled places.
        chance: Place of chance, if it is neither end; NaN otherwise.
    """

    low: float
    high: float
    minimum: float = math.nan
    minimum_text: str = ""
    ticks: tuple[tuple[float, str], ...] = field(default=())
    chance: float = math.nan

    def place(self, value: float) -> float:
        """Return where a value lies, from 0 at the left end to 1 at the right one."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))


def agreement_axis(rows: Iterable[Row], *, minimum: float, minimum_text: str) -> Axis:
    """Return the axis of agreement beyond chance, on which labels and judges stand.

    Examples:
        >>> agreement_axis([Row("a", 0.5, "0.50", low=0.4)], minimum=0.667, minimum_text="").low
        0.0
    """
    lowest = min(
        (end for row in rows for end in (row.value, row.low) if not math.isnan(end)), default=0.0
    )
    if lowest >= 0:
        ticks = ((0.0, "0 chance"), (1.0, "1 identical"))
        return Axis(0.0, 1.0, minimum, minimum_text, ticks)
    low = _BELOW_CHANCE if lowest >= _BELOW_CHANCE else -1.0
    return Axis(low, 1.0, minimum, minimum_text, ((0.0, "chance 0"), (1.0, "1 identical")), 0.0)


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Args:
        name: Its key in JSON.
        is_number: Whether its cells are aligned right and never cut.
        is_wide: Whether a terminal leaves it out.
    """

    name: str
    title: str
    is_number: bool = False
    is_wide: bool = False


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Args:
        text: What people read.
        value: What programs read; None if it is undefined.
        verdict: The verdict that it is; it stands beside its sign.
        shade: Share of a heat map's colour; None outside of one.
        is_marked: Whether it is framed.
        hint: What a page shows when it is pointed at.
    """

    text: str
    value: object = None
    tone: Tone = Tone.NONE
    verdict: Verdict | None = None
    shade: float | None = None
    is_marked: bool = False
    hint: str = ""


def text_cell(text: str, *, tone: Tone = Tone.NONE) -> Cell:
    """Return a text as a cell."""
    return Cell(text, text, tone)


def verdict_cell(verdict: Verdict) -> Cell:
    """Return a verdict as a cell."""
    return Cell(verdict.word, verdict.value, verdict.tone, verdict)


@dataclass(frozen=True)
class Table:
    """A table.

    Args:
        name: Its name in JSON, and for readers of a screen.
        caption: What holds for all rows.
        form: `heat` for a matrix whose cells are shaded.
    """

    name: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""
    form: Literal["figures", "heat"] = "figures"

    @property
    def without_equal_columns(self) -> "Table":
        """The table without columns whose rows are all the same; the caption holds what they say.

        The first column names the rows and stays.
        """
        if len(self.rows) < 2 or self.form == "heat":  # noqa: PLR2004 - one row equals itself
            return self
        equal = [
            index
            for index, column in enumerate(self.columns)
            if index and len({row[index].text for row in self.rows}) == 1 and column.title
        ]
        remaining = [index for index in range(len(self.columns)) if index not in equal]
        sentences = [
            f"{self.columns[index].title}: {self.rows[0][index].text}"
            for index in equal
            if self.rows[0][index].text
        ]
        return replace(
            self,
            columns=tuple(self.columns[index] for index in remaining),
            rows=tuple(tuple(row[index] for index in remaining) for row in self.rows),
            caption=". ".join(filter(None, (self.caption.rstrip("."), *sentences))),
        )


def text_table(
    name: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    numbers: Sequence[str] = (),
) -> Table:
    """Return texts as a table; columns of numbers are aligned right and never wrapped."""
    head = tuple(Column(title, title, is_number=title in numbers) for title in columns)
    return Table(name, head, tuple(tuple(map(text_cell, row)) for row in rows))


@dataclass(frozen=True)
class Plot:
    """Figures on one axis, with a title above."""

    title: str
    axis: Axis
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Distribution:
    """How often each value of a scale was given.

    Args:
        name: By whom.
        place: Further name, such as the question; may be empty.
    """

    name: str
    place: str
    counts: tuple[int, ...]


@dataclass(frozen=True)
class Distributions:
    """Small histograms side by side; `values` are the texts of the values of each."""

    items: tuple[tuple[Distribution, tuple[str, ...]], ...]
    note: str


@dataclass(frozen=True)
class Heats:
    """Heat maps side by side."""

    tables: tuple[Table, ...]
    note: str


@dataclass(frozen=True)
class SplitItem:
    """An item that people rated differently.

    Args:
        question: The question; empty if there is one only.
        prompt: What was asked; may be empty.
        text: What was rated; may be empty.
        votes: Each value of the scale with the raters who gave it.
        decision: What was decided on it; empty if nothing was.
    """

    item: str
    question: str
    prompt: str
    text: str
    votes: tuple[tuple[str, tuple[str, ...]], ...]
    decision: str = ""

    @property
    def split(self) -> str:
        """The values that were given, each with its raters."""
        return "; ".join(f"{value}: {', '.join(names)}" for value, names in self.votes if names)


@dataclass(frozen=True)
class SplitItems:
    """Items that people rated differently, the widest first."""

    items: tuple[SplitItem, ...]


@dataclass(frozen=True)
class Texts:
    """Sentences, each its own paragraph."""

    sentences: tuple[str, ...]


@dataclass(frozen=True)
class Definitions:
    """Terms with their meanings."""

    items: tuple[tuple[str, str], ...]


Block = Table | Plot | Distributions | Heats | SplitItems | Texts | Definitions


@dataclass(frozen=True)
class Section:
    """A section below the first view.

    Args:
        name: Its address.
        finding: What it says, beside the title.
    """

    name: str
    title: str
    finding: str
    blocks: tuple[Block, ...]
    is_open: bool = False


def tables_of(blocks: Sequence[Block]) -> list[Table]:
    """Return what blocks say as tables, for readers without pictures."""
    tables: list[Table] = []
    for block in blocks:
        match block:
            case Table():
                tables.append(block)
            case Plot():
                tables.append(plot_table(block))
            case Heats():
                tables += block.tables
            case Distributions():
                tables.append(_distribution_table(block))
    return tables


def plot_table(plot: Plot) -> Table:
    """Return a plot as a table."""
    has_verdict = any(row.verdict for row in plot.rows)
    has_interval = any(row.has_interval for row in plot.rows)
    columns = [Column("label", ""), Column("value", "value", is_number=True)]
    columns += [Column("interval", "95% CI", is_number=True)] if has_interval else []
    columns += [Column("verdict", "verdict")] if has_verdict else []
    rows = []
    for row in plot.rows:
        cells = [text_cell(row.label), Cell(row.text, or_none(row.value))]
        if has_interval:
            cells.append(Cell(row.interval, [or_none(row.low), or_none(row.high)]))
        if has_verdict:
            cells.append(text_cell("") if row.verdict is None else verdict_cell(row.verdict))
        rows.append(tuple(cells))
    needs = f"Needs {plot.axis.minimum_text}" if plot.axis.minimum_text else ""
    return Table(plot.title, tuple(columns), tuple(rows), needs)


def _distribution_table(block: Distributions) -> Table:
    rows = tuple(
        (
            text_cell(" · ".join(filter(None, (item.name, item.place)))),
            Cell(f"{sum(item.counts):,}", sum(item.counts)),
            Cell(
                ", ".join(f"{value}: {n:,}" for value, n in zip(values, item.counts, strict=True)),
                dict(zip(values, item.counts, strict=True)),
            ),
        )
        for item, values in block.items
    )
    columns = (
        Column("rater", ""),
        Column("n", "ratings", is_number=True),
        Column("counts", "of each value"),
    )
    return Table("Ratings by rater", columns, rows)


ALL_QUESTIONS = "all questions"

HUMANS = ("question_id", "a_hh", "alpha", "exact_agreement", "n_responses", "n_groups")
JUDGES = ("question_id", "alpha", "kappa_micro", "n_units", "n_judges")
JUDGES_AGAINST_HUMANS = ("judge_id", "question_id", "a_ha", "spearman", "bias", "n_units")
WITHOUT_JUDGES = (
    *("judge_id", "question_id", "alpha", "alpha_without", "mean_difference", "n_units"),
)
"""Fields of each record that a page of the UI shows."""

_WIDE = {"exact_agreement", "spearman", "n_judges"}
"""Fields that a terminal leaves out."""

_NAMES = {"n_responses": "rated twice", "n_units": "compared", "n_groups": "groups"}


def figures_table(rows: Sequence[FigureRecord], names: Sequence[str], *, name: str = "") -> Table:
    """Return fields of records of one type as a table."""
    declared = {field.name: field for field in fields_of(type(rows[0]))} if rows else {}
    fields = [declared[of] for of in names if of in declared]
    columns = tuple(
        Column(
            field.name,
            field.statistic.title
            if field.statistic
            else _NAMES.get(field.name, field.name.removesuffix("_id").removeprefix("n_")),
            is_number=field.statistic is not None or field.type is int,
            is_wide=field.name in _WIDE,
        )
        for field in fields
    )
    cells = tuple(
        tuple(value_cell(getattr(row, field.name), field.statistic) for field in fields)
        for row in rows
    )
    return Table(name, columns, cells)


def humans_table(agreement: Sequence[HumanFigures]) -> Table:
    """Return agreement of human raters, overall only where there are several questions."""
    [overall, *questions] = agreement
    if not overall.n_ratings:
        return Table("Human agreement: nothing is rated.", (), ())
    name = f"Human agreement: {counted(overall.n_ratings, 'rating')} by "
    name += counted(overall.n_raters, "rater")
    return figures_table(questions if len(questions) == 1 else agreement, HUMANS, name=name)


def value_cell(value: Any, statistic: Statistic | None) -> Cell:  # noqa: ANN401 - a field
    """Return a field of a record as a cell; a figure with its interval."""
    text = statistic.text if statistic else figure_text
    match value:
        case Figure() if statistic and value.has_interval:
            interval = statistic.interval_text(value.low, value.high)
            return Cell(f"{text(value.value)} ({interval})", or_none(value.value))
        case Figure():
            return Cell(text(value.value), or_none(value.value))
        case float():
            return Cell(text(value), or_none(value))
        case None:
            return text_cell(ALL_QUESTIONS)
        case int():
            return Cell(count_text(value), value)
        case _:
            return text_cell(str(value))
