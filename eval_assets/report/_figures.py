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
from eval_assets.catalogue import Figure
from eval_assets.render.document import Cell, MarkKind, Plot, Table, TableRow, cells, columns
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


def coefficient(  # noqa: PLR0913 - what it is, how it reads
    figure: Figure,
    name: str,
    *,
    reading: str,
    undefined: str,
    limits: Iterable[float] = (),
    tone: Tone = Tone.NONE,
) -> Line:
    """Return a coefficient, with its interval if it has one.

    Args:
        figure: The coefficient.
        name: What it is.
        reading: What it is called.
        undefined: The reason if it is undefined.
        limits: Minimums and ends of bands that its written form must not blur.
        tone: How good it is.
    """
    limits = tuple(limit for limit in limits if not math.isnan(limit))
    return Line(
        name=name,
        value=figure_text(figure.value, limits=limits),
        interval=interval_text(figure.low, figure.high, limits=limits),
        reading=reading if figure.is_defined else undefined,
        tone=tone,
    )


def share_of_pairs(figure: Figure, name: str, *, reading: str, undefined: str) -> Line:
    """Return a share of pairs of ratings, which is a percentage."""
    low, high = percent_text(figure.low), percent_text(figure.high)
    return Line(
        name=name,
        value=percent_text(figure.value),
        interval=f"{low} to {high}" if figure.has_interval else "",
        reading=reading if figure.is_defined else undefined,
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


def agreement_plot(
    figure: Figure,
    *,
    name: str,
    marks: Iterable[tuple[MarkKind, float]],
    tone: Tone,
    axis_low: float = 0.0,
) -> Plot:
    """Return a coefficient on an axis that ends at 1, full agreement.

    Args:
        figure: The coefficient.
        name: What it is.
        marks: What it is compared with; a NaN is left out.
        tone: How good it is.
        axis_low: Left end of the axis.
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
