"""Intervals of coefficients, and of differences of two, from the jackknife over groups."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from eval_assets.stats._coefficients import Coefficient, Measure, PatternCoefficient
from eval_assets.stats._interval_bounds import TIE, Evidence, Method, jackknife_df
from eval_assets.stats._numbers import Column, Floats, Ratings, group_codes
from eval_assets.stats._patterns import RatingPatterns, counted
from eval_assets.stats._units import FEWEST_DELETIONS as FEWEST_DELETIONS  # noqa: PLC0414 - exported
from eval_assets.stats._units import Sample, Units


@dataclass(frozen=True)
class Interval:
    """An estimate and the range that its unknown true value is likely to lie in.

    Attributes:
        value: The estimate; NaN if it is undefined.
        low: Lower end; NaN if it is undefined.
        high: Upper end; NaN if it is undefined.
        confidence: Share of such intervals that hold the true value, in the long run.
        method: Method of the ends; None if they are undefined.
        n_units: Units of the estimate.
        n_groups: Groups of these units, which are taken as independent. With fewer than 50 the
            coverage may be a little below `confidence`.
    """

    value: float
    low: float
    high: float
    confidence: float
    method: Method | None
    n_units: int
    n_groups: int

    def __str__(self) -> str:
        ends = f"[{self.low:.3f}, {self.high:.3f}]" if self.method else "[undefined]"
        return f"{self.value:.3f} {ends}"

    def times(self, factor: float, *, plus: float = 0.0) -> Self:
        """Return the interval of `factor` x the figure + `plus`."""
        ends = sorted([self.low * factor + plus, self.high * factor + plus])
        return replace(self, value=self.value * factor + plus, low=ends[0], high=ends[1])


def coefficient_interval(
    ratings: Ratings | RatingPatterns,
    coefficient: Coefficient,
    *,
    confidence: float,
    groups: Column | None = None,
) -> Interval:
    """Return a coefficient with its confidence interval, without random numbers.

    One response group at a time is left out (jackknife); the ends follow from the change of the
    standard error with the true value.

    Args:
        ratings: Values of shape (n_units, n_raters), NaN if a rating is missing.
        coefficient: `Alpha(level)`, `HumanAgreement(scale)`, `PairwiseAgreement(within)`,
            `FleissKappa()` or `GwetAC(weights)`; of two columns also `CohenKappa(weights)` and
            `Correlation(kind)`.
        confidence: Long-run share of intervals that hold the true value, in (0, 1).
        groups: Which units are not independent, such as responses to one prompt: any label, one for
            each unit. None takes all units as independent.

    Returns:
        The interval. Its ends are NaN if there is one group, or if the coefficient is undefined or
        becomes so by leaving out one group.

    Raises:
        ValueError: If the ratings do not suit the coefficient or an argument is out of range.

    References:
        Wilson (1927), doi:10.1080/01621459.1927.10502953, for shares; Bloch and Kraemer (1989),
        doi:10.2307/2532052, for the variance of chance-corrected coefficients; docs/methods.md.

    Examples:
        >>> from eval_assets.stats import Alpha
        >>> first, second = [1, 2, 3, 3, 4, 5, 2, 1, 5, 3], [1, 2, 3, 1, 4, 4, 2, 1, 5, 2]
        >>> ratings = np.column_stack([first, second])
        >>> print(coefficient_interval(ratings, Alpha("ordinal"), confidence=0.95))
        0.822 [0.217, 0.972]
        >>> prompts = ["a", "a", "b", "b", "c", "c", "d", "d", "e", "e"]
        >>> found = coefficient_interval(
        ...     ratings, Alpha("ordinal"), confidence=0.95, groups=prompts
        ... )
        >>> found.n_units, found.n_groups
        (10, 5)
    """
    measure, units = _measured(ratings, coefficient, groups)
    return intervals([measure], units, confidence=confidence)[0]


def intervals(measures: Sequence[Measure], units: Sample, *, confidence: float) -> list[Interval]:
    """Return the intervals of several measures of the same units.

    Raises:
        ValueError: If `confidence` is not in (0, 1).
    """
    return with_covariances(measures, units, confidence=confidence)[0]


def with_covariances(
    measures: Sequence[Measure], units: Sample, *, confidence: float
) -> tuple[list[Interval], Floats]:
    """Return the intervals of several measures, and the covariances of the estimates to scale."""
    require_confidence(confidence)
    estimators = [measure.estimator for measure in measures]
    values = np.array([estimator(units.observed())[0] for estimator in estimators])
    deletions = units.jackknife(estimators, cost=max(measure.cost for measure in measures))
    products, fourths = deletions.products(values), deletions.fourth_powers(values)
    measured = []
    for measure, value, squares, fourth in zip(
        measures, values, np.diag(products), fourths, strict=True
    ):
        n_units, n_groups = units.evidence(measure.is_evidence)
        n_deleted = min(n_groups, deletions.n_deletions)
        low, high, method = math.nan, math.nan, None
        if n_deleted > 1 and not math.isnan(value + squares):
            variance = (n_deleted - 1) / n_deleted * float(squares)
            df = n_deleted - 1
            if units.has_mixed_groups:  # the spreads do not include their variation
                df = jackknife_df(n_deleted, squares=float(squares), fourth=float(fourth))
            evidence = Evidence(float(value), variance, n_groups, df, confidence)
            low, high, method = measure.spread.ends(evidence)
        measured.append(Interval(float(value), low, high, confidence, method, n_units, n_groups))
    return measured, products


def less(one: Interval, two: Interval, products: Floats) -> Interval:
    """Return `one` less `two`, from the ends of both and their correlation (MOVER).

    Args:
        one: Minuend, whose counts are taken.
        two: Subtrahend.
        products: Variances and covariance of both estimates, to scale, shape (2, 2).

    References:
        Zou and Donner (2008), doi:10.1002/sim.3095; of shares of the same units, Newcombe (1998),
        Statistics in Medicine 17:2635.
    """
    value = one.value - two.value
    if one.method is None or two.method is None:
        return replace(one, value=value, low=math.nan, high=math.nan, method=None)
    scale = math.sqrt(products[0, 0] * products[1, 1])
    correlation = float(products[0, 1]) / scale if scale > TIE**2 else 0.0  # one may not vary

    def far(one_end: float, two_end: float) -> float:
        a_far, b_far = abs(one_end - one.value), abs(two_end - two.value)
        return math.sqrt(max(0.0, a_far**2 + b_far**2 - 2 * correlation * a_far * b_far))

    low, high = value - far(one.low, two.high), value + far(one.high, two.low)
    return replace(one, value=value, low=low, high=high, method="mover")


def _measured(
    ratings: Ratings | RatingPatterns, coefficient: Coefficient, groups: Column | None
) -> tuple[Measure, Units]:
    if not isinstance(ratings, RatingPatterns):
        measure, kind = coefficient.by_row(ratings)
        codes = group_codes(groups, n_units=len(kind))
        return measure, Units.of(kind, n_kinds=len(measure.is_evidence), groups=codes)
    if not isinstance(coefficient, PatternCoefficient):
        raise TypeError("patterns forget who gave a rating: give a matrix")
    return coefficient.measure(ratings), counted(ratings, groups=groups).units


def require_confidence(confidence: float) -> None:
    """Raise ValueError if `confidence` is not in (0, 1)."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie in (0, 1), got {confidence:g}")


class Profile:
    """Several figures of the same ratings."""

    def __str__(self) -> str:
        figures = {name: of for name, of in vars(self).items() if isinstance(of, Interval)}
        width = max(map(len, figures))
        lines = [f"{'':{width}}    value      low     high"]
        for name, of in figures.items():
            ends = (of.value, of.low, of.high)
            cells = ("-" if math.isnan(end) else f"{end:.3f}" for end in ends)
            lines.append(f"{name:{width}}" + "".join(f"{cell:>9}" for cell in cells))
        return "\n".join(lines)
