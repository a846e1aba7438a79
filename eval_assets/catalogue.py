"""Every statistic once: its column, name, unit, meaning and bands."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from eval_assets.bands import A_HH_LIMITS, ALPHA_LIMITS, KAPPA_LIMITS, HasInterval
from eval_assets.wording import (
    figure_text,
    interval_text,
    limit_text,
    percent_interval,
    percent_text,
    signed_text,
)


class MeasurementUnit(StrEnum):
    """Unit of a statistic."""

    COEFFICIENT = "coefficient"
    """1 is perfect agreement."""
    PERCENT = "percent"
    POINTS = "points"
    """Points of the question's scale."""
    PROBABILITY = "probability"


@dataclass(frozen=True)
class Statistic:
    """One statistic, wherever it is stored or shown.

    Args:
        column: Its column; `{column}_low` and `{column}_high` hold the ends of an interval.
        title: Its name in displayed tables.
        meaning: Definition in one line, with its source.
        unit: Unit of its values.
        limits: Ends of the bands it is read by, which rounding must not blur.
        is_share: Whether it is a mean of shares, which lies between 0 and 1, or 0 and 100 %.
    """

    column: str
    title: str
    meaning: str
    unit: MeasurementUnit = MeasurementUnit.COEFFICIENT
    limits: tuple[float, ...] = ()
    is_share: bool = False

    @property
    def highest(self) -> float:
        """Its value for perfect agreement."""
        return 100.0 if self.unit is MeasurementUnit.PERCENT else 1.0

    @property
    def lowest(self) -> float:
        """Its lowest value."""
        return 0.0 if self.is_share else -self.highest

    def text(self, value: float, *, minimum: float | None = None) -> str:
        """Return a value as text that rounding does not put on the minimum or into another band.

        Examples:
            >>> EXACT_AGREEMENT.text(47.009, minimum=75), ALPHA.text(0.6668, minimum=0.667)
            ('47 %', '0.6668')
            >>> BIAS.text(0.25), A_HH.text(0.7499)
            ('+0.25', '0.7499')
        """
        limits = self.limits if minimum is None else (minimum,)
        match self.unit:
            case MeasurementUnit.PERCENT:
                return percent_text(value / 100, limits=[limit / 100 for limit in limits])
            case MeasurementUnit.POINTS:
                return signed_text(value)
        return figure_text(value, limits=limits)

    def interval_text(self, low: float, high: float, *, minimum: float | None = None) -> str:
        """Return the ends of an interval as text, likewise."""
        if self.unit is MeasurementUnit.PERCENT:
            return percent_interval(low / 100, high / 100)
        return interval_text(low, high, limits=self.limits if minimum is None else (minimum,))

    def minimum_text(self, minimum: float) -> str:
        """Return a minimum as it was declared, with its unit."""
        return f"{minimum:g} %" if self.unit is MeasurementUnit.PERCENT else limit_text(minimum)


@dataclass(frozen=True)
class Figure:
    """A measured value with its 95 % interval; NaN if undefined."""

    value: float
    low: float = math.nan
    high: float = math.nan

    @classmethod
    def of(cls, interval: HasInterval) -> Self:
        """Return the figure of an interval."""
        return cls(float(interval.value), float(interval.low), float(interval.high))

    @classmethod
    def percent(cls, interval: HasInterval) -> Self:
        """Return the figure of a share in [0, 1] as a percentage."""
        return cls(
            100 * float(interval.value), 100 * float(interval.low), 100 * float(interval.high)
        )

    @property
    def is_defined(self) -> bool:
        """Return whether there is a value."""
        return not math.isnan(self.value)

    @property
    def has_interval(self) -> bool:
        """Return whether both ends of the interval are defined."""
        return not math.isnan(self.low + self.high)


UNDEFINED_FIGURE = Figure(math.nan)

CONFIDENCE = 0.95
"""Confidence of every stored interval."""

A_HH = Statistic(
    "a_hh",
    "A^HH",
    "mean over responses of 1 minus the distance of two ratings on [0, 1] (GDPval)",
    limits=A_HH_LIMITS,
    is_share=True,
)
A_HH_BY_CHANCE = Statistic(
    "a_hh_by_chance",
    "A^HH by chance",
    "A^HH of raters who give each value as often, but to any response",
)
EXACT_AGREEMENT = Statistic(
    "exact_agreement",
    "Exact agreement",
    "share of pairs of equal ratings, pooled",
    MeasurementUnit.PERCENT,
    is_share=True,
)
ADJACENT_AGREEMENT = Statistic(
    "adjacent_agreement",
    "Adjacent agreement",
    "share of pairs at most one step of the scale apart, pooled",
    MeasurementUnit.PERCENT,
    is_share=True,
)
ALPHA = Statistic(
    "alpha",
    "Krippendorff's alpha",
    "agreement beyond chance; ratings may be missing (Krippendorff 2004)",
    limits=ALPHA_LIMITS,
)
ALPHA_WITHIN = Statistic(
    "alpha_within",
    "Krippendorff's alpha within questions",
    "overall only: alpha with chance taken within each question, which differences between "
    "questions do not raise",
    limits=ALPHA_LIMITS,
)
KAPPA = Statistic(
    "kappa",
    "Kappa",
    "agreement beyond chance on equal values: Cohen's for two raters, Fleiss' for more",
    limits=KAPPA_LIMITS,
)
GWET_AC = Statistic(
    "gwet_ac",
    "Gwet's AC",
    "agreement beyond chance, steadier on skewed ratings (Gwet 2008)",
)
MOST_FREQUENT_SHARE = Statistic(
    "most_frequent_share",
    "Most frequent value",
    "share of all ratings that have the most frequent value; high means skewed",
)
A_HH_CHANGE = Statistic(
    "a_hh_change",
    "Change of A^HH",
    "A^HH of responses that are new under a wording less that of all responses under the one "
    "before",
)
ALPHA_CHANGE = Statistic(
    "alpha_change",
    "Change of alpha",
    "alpha of responses that are new under a wording less that of all responses under the one "
    "before",
)
KAPPA_MACRO = Statistic(
    "kappa_macro",
    "Kappa (macro)",
    "Cohen's kappa of scores above the middle of the scale: mean over prompts",
    limits=KAPPA_LIMITS,
)
KAPPA_MICRO = Statistic(
    "kappa_micro",
    "Kappa (micro)",
    "Cohen's kappa of scores above the middle of the scale: all units pooled",
    limits=KAPPA_LIMITS,
)
ALPHA_WITHOUT = Statistic(
    "alpha_without", "Alpha without it", "alpha of the other judges", limits=ALPHA_LIMITS
)
MEAN_DIFFERENCE = Statistic(
    "mean_difference",
    "Above the others",
    "its score minus the mean of the others, in scale points; overall on [0, 1]",
    MeasurementUnit.POINTS,
)
MEAN = Statistic("mean", "Mean", "mean of the units' mean ratings")
SPREAD = Statistic("spread", "Spread", "population standard deviation of the units' mean ratings")
A_HA = Statistic(
    "a_ha",
    "A^HA",
    "mean over responses of 1 minus the distance of score and rating on [0, 1] (GDPval)",
    limits=A_HH_LIMITS,
)
JUDGE_ALPHA = Statistic(
    "alpha",
    "Krippendorff's alpha",
    "of score and mean human rating, at the interval level (Krippendorff 2004)",
    limits=ALPHA_LIMITS,
)
COHEN_KAPPA = Statistic(
    "kappa",
    "Cohen's kappa",
    "of the score's nearest value and the raters' consensus (Cohen 1960)",
    limits=KAPPA_LIMITS,
)
WEIGHTED_KAPPA = Statistic(
    "weighted_kappa",
    "Cohen's kappa (quadratic weights)",
    "as kappa, with distant values counting as worse (Cohen 1968)",
    limits=KAPPA_LIMITS,
)
SPEARMAN = Statistic(
    "spearman",
    "Spearman's rho",
    "rank correlation of score and mean human rating",
)
KENDALL = Statistic(
    "kendall", "Kendall's tau-b", "the same over pairs of responses, corrected for ties"
)
PEARSON = Statistic("pearson", "Pearson's r", "linear correlation of score and mean human rating")
MAE = Statistic(
    "mae",
    "Mean absolute error",
    "mean distance of score and mean human rating",
    MeasurementUnit.POINTS,
)
BIAS = Statistic(
    "bias",
    "Judge minus humans",
    "mean of score minus mean human rating; above 0 the judge is more lenient",
    MeasurementUnit.POINTS,
)
WILCOXON_P = Statistic(
    "wilcoxon_p",
    "Wilcoxon signed-rank test (p)",
    "probability of such a bias by chance alone, on means of response groups; NULL below 10",
    MeasurementUnit.PROBABILITY,
)
SCORE_MEAN = Statistic("mean", "Mean", "mean score, in scale points", MeasurementUnit.POINTS)
STANDARD_DEVIATION = Statistic(
    "standard_deviation",
    "Standard deviation",
    "sample standard deviation between responses, in scale points",
    MeasurementUnit.POINTS,
)

GATED: Mapping[str, Statistic] = {
    "human_a_hh": A_HH,
    "human_alpha": ALPHA,
    "judge_alpha": ALPHA,
    "exact_agreement": EXACT_AGREEMENT,
    "adjacent_agreement": ADJACENT_AGREEMENT,
    "kappa": KAPPA,
    "gwet_ac": GWET_AC,
}
"""Statistic of each gate, by name: those of human ratings with an interval, and alpha of judges."""
