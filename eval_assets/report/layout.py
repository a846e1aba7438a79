"""Statistics, cells and tables as the report shows them."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from eval_assets.bands import (
    A_HH_LIMITS,
    ALPHA_LIMITS,
    FAIR_A_HH,
    GOOD_A_HH,
    MODERATE_A_HH,
    alpha_label,
)
from eval_assets.catalogue import Figure
from eval_assets.render.document import (
    Cell,
    Column,
    MarkKind,
    Plot,
    Table,
    TableRow,
    anchor,
    cells,
    columns,
)
from eval_assets.report.stored_rows import ResponseRow
from eval_assets.verdicts import Tone
from eval_assets.wording import UNDEFINED, figure_text, interval_text, percent_text, shortened

_MOST_CHARACTERS = 2000
"""Longest text that is shown whole; `responses` has all of it."""

_Row = TypeVar("_Row")

Layout = Mapping[str | Column, Callable[[_Row], Cell | str]]
"""Columns of a table by their headers, each with the cell of a record."""


def laid_out(
    label: str,
    layout: Layout[_Row],
    rows: Iterable[_Row],
    *,
    caption: str = "",
    row_anchor: Callable[[_Row], str] = lambda _: "",
) -> Table:
    """Return a table with a row per record."""
    return Table(
        label,
        columns(*layout),
        tuple(
            TableRow(cells(*(cell(row) for cell in layout.values())), anchor=row_anchor(row))
            for row in rows
        ),
        caption=caption,
    )


def written(value: float, form: str) -> str:
    """Return a number in a format; `undefined` for NaN."""
    return UNDEFINED if math.isnan(value) else format(value, form)


def response_cell(row: ResponseRow) -> Cell:
    """Return the response of a row with its prompt and text folded, cut if very long."""
    texts = {"Prompt": row.prompt_text, "Response": row.response_text}
    return Cell(
        row.response_id,
        folded=tuple(
            (title, shortened(text, most=_MOST_CHARACTERS)) for title, text in texts.items()
        ),
    )


def question_cell(question_id: str) -> Cell:
    """Return a question with a link to its card."""
    return Cell(question_id, link=anchor("question", question_id))


def judge_cell(judge_id: str) -> Cell:
    """Return a judge with a link to its card."""
    return Cell(judge_id, link=anchor("judge", judge_id))


def figure_cell(figure: Figure, limits: tuple[float, ...], tone: Tone = Tone.NONE) -> Cell:
    """Return a coefficient with its interval."""
    note = interval_text(figure.low, figure.high, limits=limits)
    return Cell(figure_text(figure.value, limits=limits), note=note, tone=tone)


@dataclass(frozen=True)
class Line:
    """One statistic of a row of a table."""

    name: str
    value: str
    interval: str
    meaning: str
    tone: Tone = Tone.NONE

    @property
    def is_defined(self) -> bool:
        """Whether there is a figure."""
        return self.value != UNDEFINED


def coefficient(  # noqa: PLR0913 - the figure and its presentation
    figure: Figure,
    name: str,
    *,
    meaning: str,
    undefined: str,
    limits: Iterable[float] = (),
    tone: Tone = Tone.NONE,
) -> Line:
    """Return a coefficient, with its interval if it has one.

    `limits` are minimums and band limits. The rounded value stays on its side of each of them.
    """
    limits = tuple(limit for limit in limits if not math.isnan(limit))
    return Line(
        name=name,
        value=figure_text(figure.value, limits=limits),
        interval=interval_text(figure.low, figure.high, limits=limits),
        meaning=meaning if figure.is_defined else undefined,
        tone=tone,
    )


def share_of_pairs(figure: Figure, name: str, *, meaning: str, undefined: str) -> Line:
    """Return a share of pairs of ratings, which is a percentage."""
    low, high = percent_text(figure.low), percent_text(figure.high)
    return Line(
        name=name,
        value=percent_text(figure.value),
        interval=f"{low} to {high}" if figure.has_interval else "",
        meaning=meaning if figure.is_defined else undefined,
    )


def lines_table(statistics: Iterable[Line], *, label: str) -> Table:
    """Return a table with one statistic per row."""
    return laid_out(
        label,
        {
            "Statistic": lambda line: line.name,
            "Value#": lambda line: line.value,
            "95 % interval": lambda line: line.interval or "none",
            "Meaning": lambda line: Cell(line.meaning, tone=line.tone),
        },
        statistics,
    )


def a_hh_tone(value: float) -> Tone:
    """Return the tone of an A^HH or of a share of agreeing pairs, both in [0, 1]."""
    if math.isnan(value):
        return Tone.NONE
    if value >= GOOD_A_HH:
        return Tone.GOOD
    if value >= MODERATE_A_HH:
        return Tone.FAIR
    return Tone.WEAK if value >= FAIR_A_HH else Tone.POOR


def alpha_tone(value: float) -> Tone:
    """Return the tone of a Krippendorff's alpha."""
    tones: dict[str, Tone] = {
        "reliable": Tone.GOOD,
        "tentative": Tone.FAIR,
        "unreliable": Tone.POOR,
    }
    return tones.get(alpha_label(value), Tone.NONE)


def agreement_plot(
    figure: Figure,
    *,
    name: str,
    marks: Iterable[tuple[MarkKind, float]],
    tone: Tone,
    axis_low: float = 0.0,
) -> Plot:
    """Return a coefficient on an axis that ends at 1, full agreement.

    `marks` are the values to compare it with; NaNs are left out.
    """
    marks = tuple((kind, at) for kind, at in marks if not math.isnan(at))
    limits = (*A_HH_LIMITS, *ALPHA_LIMITS, *(at for kind, at in marks if kind == "minimum"))
    words = [f"{name}: {figure_text(figure.value, limits=limits)}"]
    if interval := interval_text(figure.low, figure.high, limits=limits):
        words.append(f"95 % interval {interval}")
    words += [f"{kind} {figure_text(at, limits=[])}" for kind, at in marks]
    return Plot(
        low=axis_low,
        high=1.0,
        label=", ".join(words),
        dots=(("circle", figure.value),),
        interval=(figure.low, figure.high) if figure.has_interval else None,
        marks=marks,
        tone=tone,
    )


def within_questions(alpha: Figure) -> str:
    """Return alpha within questions as a remark on alpha over all of them; empty if undefined."""
    if not alpha.is_defined:
        return ""
    limits = ALPHA_LIMITS
    interval = interval_text(alpha.low, alpha.high, limits=limits)
    return (
        "Alpha over all questions counts differences between questions as agreement. Within "
        f"questions it is {figure_text(alpha.value, limits=limits)}"
        f"{f' (95 % interval {interval})' if interval else ''}."
    )


def lowest_tick(values: Iterable[float]) -> float:
    """Return the left end of an axis that shows all `values`: 0, or the half below the lowest.

    Examples:
        >>> lowest_tick([0.4, 0.9]), lowest_tick([-0.1, 0.9]), lowest_tick([-0.7])
        (0.0, -0.5, -1.0)
    """
    lowest = min((value for value in values if not math.isnan(value)), default=0.0)
    return min(0.0, math.floor(2 * lowest) / 2)
