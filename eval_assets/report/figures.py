"""Figures of the report: written, with their interval, what they are called and where they lie."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from eval_assets.interpretation import (
    A_HH_LIMITS,
    ALPHA_LIMITS,
    FAIR_A_HH,
    GOOD_A_HH,
    MODERATE_A_HH,
    UNDEFINED,
    alpha_label,
    figure_text,
)
from eval_assets.report.rows import Row, number
from eval_assets.report.writing import interval_text, percent_text

Tone = Literal["good", "fair", "weak", "poor", "none"]
"""How good a figure is, from green to red; `none` says nothing."""


@dataclass(frozen=True)
class Mark:
    """Something that a figure is held against.

    Args:
        kind: What it is: how it is drawn.
        value: Where it lies.
    """

    kind: Literal["minimum", "chance", "constant", "shuffled"]
    value: float


@dataclass(frozen=True)
class Track:
    """A figure and its interval on an axis.

    Args:
        value: The figure; NaN where it is undefined.
        low: Lower end of its interval; NaN where undefined.
        high: Upper end of its interval; NaN where undefined.
        axis_low: Left end of the axis.
        axis_high: Right end of the axis.
        marks: What it is held against.
        tone: How good it is.
        label: The same in words.
    """

    value: float
    low: float
    high: float
    axis_low: float
    axis_high: float
    marks: tuple[Mark, ...]
    tone: Tone
    label: str


@dataclass(frozen=True)
class Measure:
    """One line of a table of figures.

    Args:
        name: What is measured.
        value: The figure as written; `undefined` where there is none.
        interval: Its 95 % interval; empty where there is none.
        reading: What it is called, or why it is undefined.
        tone: How good it is.
    """

    name: str
    value: str
    interval: str
    reading: str
    tone: Tone = "none"

    @property
    def is_defined(self) -> bool:
        """Whether there is a figure."""
        return self.value != UNDEFINED


def a_hh_tone(value: float) -> Tone:
    """Tone of an A^HH or of a share of agreeing pairs, both in [0, 1]."""
    if math.isnan(value):
        return "none"
    if value >= GOOD_A_HH:
        return "good"
    if value >= MODERATE_A_HH:
        return "fair"
    return "weak" if value >= FAIR_A_HH else "poor"


def alpha_tone(value: float) -> Tone:
    """Tone of a Krippendorff's alpha."""
    tones: dict[str, Tone] = {"reliable": "good", "tentative": "fair", "unreliable": "poor"}
    return tones.get(alpha_label(value), "none")


def coefficient(  # noqa: PLR0913 - where it stands, what it is, how it reads
    row: Row,
    column: str,
    name: str,
    *,
    reading: str,
    undefined: str,
    limits: Iterable[float] = (),
    tone: Tone = "none",
) -> Measure:
    """A figure of a table's row, with its interval where the row has one.

    Args:
        row: The row.
        column: Column of the figure; those of its interval end in `_low` and `_high`.
        name: What it is.
        reading: What it is called.
        undefined: Why it is undefined, where it is.
        limits: Minimum and ends of bands that it is held against.
        tone: How good it is.
    """
    limits = tuple(limit for limit in limits if not math.isnan(limit))
    value = number(row, column)
    return Measure(
        name=name,
        value=figure_text(value, limits=limits),
        interval=interval_text(
            number(row, f"{column}_low"), number(row, f"{column}_high"), limits=limits
        ),
        reading=undefined if math.isnan(value) else reading,
        tone=tone,
    )


def share_of_pairs(row: Row, column: str, name: str, *, reading: str, undefined: str) -> Measure:
    """A share of pairs of ratings, which tables hold as a percentage; else as `coefficient`."""
    value, low, high = (number(row, f"{column}{end}") for end in ("", "_low", "_high"))
    return Measure(
        name=name,
        value=percent_text(value),
        interval="" if math.isnan(low + high) else f"{percent_text(low)} to {percent_text(high)}",
        reading=undefined if math.isnan(value) else reading,
    )


def agreement_track(  # noqa: PLR0913 - a value with its interval is three numbers
    value: float,
    low: float,
    high: float,
    *,
    name: str,
    marks: Iterable[Mark],
    tone: Tone,
    axis_low: float = 0.0,
) -> Track:
    """A coefficient on an axis that ends at 1, full agreement."""
    marks = tuple(mark for mark in marks if not math.isnan(mark.value))
    limits = (*A_HH_LIMITS, *ALPHA_LIMITS, *(m.value for m in marks if m.kind == "minimum"))
    said = [f"{name}: {figure_text(value, limits=limits)}"]
    if interval := interval_text(low, high, limits=limits):
        said.append(f"95 % interval {interval}")
    said += [f"{mark.kind} {figure_text(mark.value, limits=[])}" for mark in marks]
    return Track(value, low, high, axis_low, 1.0, marks, tone, ", ".join(said))


def lowest_tick(values: Iterable[float]) -> float:
    """Left end of an axis that shows all `values`: 0, or the half below the lowest.

    Examples:
        >>> lowest_tick([0.4, 0.9]), lowest_tick([-0.1, 0.9]), lowest_tick([-0.7])
        (0.0, -0.5, -1.0)
    """
    lowest = min((value for value in values if not math.isnan(value)), default=0.0)
    return min(0.0, math.floor(2 * lowest) / 2)
