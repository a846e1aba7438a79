"""Figures with their intervals, drawn on axes that hold the minimum."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from eval_assets.verdicts import Verdict
from eval_assets.wording import interval_text

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
