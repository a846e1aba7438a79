"""Statistics as the report shows them: written, with interval, name and place on an axis."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from eval_assets.bands import (
    A_HH_LIMITS,
    ALPHA_LIMITS,
    FAIR_A_HH,
    GOOD_A_HH,
    MODERATE_A_HH,
    alpha_label,
)
from eval_assets.render.document import Cell, MarkKind, Plot, Table, TableRow, cells, columns
from eval_assets.report.data import Record, number
from eval_assets.verdicts import Tone
from eval_assets.wording import UNDEFINED, figure_text, interval_text, percent_text


@dataclass(frozen=True)
class Line:
    """One statistic of a row of a table.

    Args:
        name: What it is.
        value: The figure as written; `undefined` if there is none.
        interval: Its 95 % interval; empty if there is none.
        reading: What it is called, or why it is undefined.
        tone: How good it is.
    """

    name: str
    value: str
    interval: str
    reading: str
    tone: Tone = Tone.NONE

    @property
    def is_defined(self) -> bool:
        """Whether there is a figure."""
        return self.value != UNDEFINED


def coefficient(  # noqa: PLR0913 - where it is stored, what it is, how it reads
    record: Record,
    column: str,
    name: str,
    *,
    reading: str,
    undefined: str,
    limits: Iterable[float] = (),
    tone: Tone = Tone.NONE,
) -> Line:
    """Return a coefficient of a row, with its interval if the row has one.

    Args:
        record: The row.
        column: Column of the figure; those of its interval end in `_low` and `_high`.
        name: What it is.
        reading: What it is called.
        undefined: The reason if it is undefined.
        limits: Minimums and ends of bands that its written form must not blur.
        tone: How good it is.
    """
    limits = tuple(limit for limit in limits if not math.isnan(limit))
    value, low, high = _with_interval(record, column)
    return Line(
        name=name,
        value=figure_text(value, limits=limits),
        interval=interval_text(low, high, limits=limits),
        reading=undefined if math.isnan(value) else reading,
        tone=tone,
    )


def share_of_pairs(record: Record, column: str, name: str, *, reading: str, undefined: str) -> Line:
    """Return a share of pairs of ratings, which tables hold as a percentage."""
    value, low, high = _with_interval(record, column)
    return Line(
        name=name,
        value=percent_text(value),
        interval="" if math.isnan(low + high) else f"{percent_text(low)} to {percent_text(high)}",
        reading=undefined if math.isnan(value) else reading,
    )


def lines_table(statistics: Iterable[Line], *, label: str) -> Table:
    """Return a table with one statistic per row."""
    return Table(
        label,
        columns("Statistic", "Value#", "95 % interval", "Meaning"),
        tuple(
            TableRow(
                cells(s.name, s.value, s.interval or "none", Cell(s.reading, tone=s.tone)),
            )
            for s in statistics
        ),
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


def agreement_plot(  # noqa: PLR0913 - what is stored where, and what to compare it with
    record: Record,
    column: str,
    *,
    name: str,
    marks: Iterable[tuple[MarkKind, float]],
    tone: Tone,
    axis_low: float = 0.0,
) -> Plot:
    """Return a coefficient of a row on an axis that ends at 1, full agreement.

    Args:
        record: The row.
        column: Column of the figure; those of its interval end in `_low` and `_high`.
        name: What it is.
        marks: What it is compared with; a NaN is left out.
        tone: How good it is.
        axis_low: Left end of the axis.
    """
    value, low, high = _with_interval(record, column)
    marks = tuple((kind, at) for kind, at in marks if not math.isnan(at))
    limits = (*A_HH_LIMITS, *ALPHA_LIMITS, *(at for kind, at in marks if kind == "minimum"))
    words = [f"{name}: {figure_text(value, limits=limits)}"]
    if interval := interval_text(low, high, limits=limits):
        words.append(f"95 % interval {interval}")
    words += [f"{kind} {figure_text(at, limits=[])}" for kind, at in marks]
    return Plot(
        low=axis_low,
        high=1.0,
        label=", ".join(words),
        dots=(("circle", value),),
        interval=None if math.isnan(low + high) else (low, high),
        marks=marks,
        tone=tone,
    )


def within_questions(overall: Record) -> str:
    """Return alpha within questions as a remark on alpha over all of them; empty if undefined."""
    value, low, high = _with_interval(overall, "alpha_within")
    if math.isnan(value):
        return ""
    limits = ALPHA_LIMITS
    interval = interval_text(low, high, limits=limits)
    return (
        "Alpha over all questions counts differences between questions as agreement. Within "
        f"questions it is {figure_text(value, limits=limits)}"
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


def _with_interval(record: Record, column: str) -> tuple[float, float, float]:
    return (
        number(record, column),
        number(record, f"{column}_low"),
        number(record, f"{column}_high"),
    )
