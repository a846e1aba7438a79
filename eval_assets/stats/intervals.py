"""Confidence intervals of agreement coefficients: bias-corrected bootstrap and jackknife."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from eval_assets.stats.coefficients import Coefficient, Estimator, estimate
from eval_assets.stats.interval_ends import Method, accelerations, bca_ends, jackknife_t_ends
from eval_assets.stats.patterns import Floats, RatingPatterns, Ratings, rating_matrix
from eval_assets.stats.resampling import Deletions, ResampledUnits

MAX_BOOTSTRAP_WORK = 20_000_000
"""Entries of distinct patterns x resamples above which the bootstrap gives way to the jackknife,
whose intervals differ little from it where there are so many units."""

MAX_GENERIC_DELETIONS = 200
"""Evaluations of a caller's own statistic spent on the acceleration."""


@dataclass(frozen=True)
class Interval:
    """An estimate and the range that its unknown true value is likely to lie in.

    Attributes:
        value: The estimate; NaN where it is undefined.
        low: Lower end; NaN where it is undefined.
        high: Upper end; NaN where it is undefined.
        confidence: Share of such intervals that hold the true value, in the long run.
        method: How the ends were found.
        n_units: Units that were resampled. Below 50 the true value may be held a little less, or
            more, often than `confidence` says.
    """

    value: float
    low: float
    high: float
    confidence: float
    method: Method
    n_units: int


def bootstrap_interval(
    ratings: Ratings,
    statistic: Callable[[Floats], float],
    *,
    confidence: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> Interval:
    """BCa bootstrap interval of any statistic of ratings; units are resampled, never raters.

    For the coefficients of this package `coefficient_interval` gives the same at a small
    part of the cost. The difference of two statistics of the same units is a statistic
    of their columns side by side.

    Args:
        ratings: Values of shape (n_units, n_columns); the columns may be raters, or anything
            else that is known of each unit.
        statistic: Function of such an array; may give NaN.
        confidence: Long-run share of intervals that hold the true value, in (0, 1).
        n_resamples: Draws of all units with replacement; 1,000 or more for 95 %.
        rng: Source of chance.

    Returns:
        The interval. Its ends are NaN where there is one unit, or where the statistic is
        undefined on all units or on more than half of the resamples; the others
        are left out.

    Raises:
        ValueError: If `ratings` is not two-dimensional, or an argument is out of range.

    References:
        Efron (1987), doi:10.1080/01621459.1987.10478410; widened for few units as in
        Hesterberg (2015), doi:10.1080/00031305.2015.1089789.

    Examples:
        >>> scores = np.array([[1, 2], [2, 2], [3, 4], [4, 4], [5, 4], [2, 1]])
        >>> def bias(rows):
        ...     return float((rows[:, 0] - rows[:, 1]).mean())
        >>> found = bootstrap_interval(
        ...     scores, bias, confidence=0.95, n_resamples=2000, rng=np.random.default_rng(1)
        ... )
        >>> found.low < found.value < found.high
        True
    """
    _check(confidence=confidence, n_resamples=n_resamples)
    rows = rating_matrix(ratings)
    n_units = len(rows)
    value = float(statistic(rows))
    if n_units < 2:  # noqa: PLR2004 - one unit says nothing about others
        return Interval(value, math.nan, math.nan, confidence, "bca", n_units)
    resampled = np.array(
        [statistic(rows[rng.integers(n_units, size=n_units)]) for _ in range(n_resamples)]
    )
    groups = np.array_split(rng.permutation(n_units), min(n_units, MAX_GENERIC_DELETIONS))
    deleted = np.array([[statistic(np.delete(rows, group, axis=0)) for group in groups]])
    deletions = [Deletions(deleted, np.ones(len(groups), np.int64))]
    acceleration = float(accelerations(deletions)[0])
    low, high, method = bca_ends(
        value, resampled, acceleration=acceleration, confidence=confidence, n_units=n_units
    )
    return Interval(value, low, high, confidence, method, n_units)


def coefficient_interval(
    patterns: RatingPatterns,
    coefficient: Coefficient,
    *,
    confidence: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> Interval:
    """BCa bootstrap interval of a coefficient of this package, over units with two ratings.

    Where distinct patterns x resamples exceed `MAX_BOOTSTRAP_WORK` it is the jackknife interval.

    Examples:
        >>> from eval_assets.stats import Alpha
        >>> patterns = RatingPatterns.from_counts([1, 2], [[2, 0], [1, 1], [0, 2]], [20, 10, 20])
        >>> found = coefficient_interval(
        ...     patterns, Alpha("nominal"), confidence=0.95, n_resamples=2000,
        ...     rng=np.random.default_rng(1),
        ... )
        >>> round(found.value, 3), found.low < 0.5, found.high > 0.7, found.method
        (0.604, True, True, 'bca')
    """
    units = ResampledUnits.of(patterns, [coefficient])
    estimators = [coefficient.estimator(patterns)]
    return intervals(estimators, units, confidence=confidence, n_resamples=n_resamples, rng=rng)[0]


def jackknife_interval(
    patterns: RatingPatterns, coefficient: Coefficient, *, confidence: float
) -> Interval:
    """Jackknife interval of a coefficient that is 1 at best, over units with two ratings.

    Student's t on log(1 - coefficient), where alpha and its like are closer to normal. With one
    unit of disagreement that logarithm is infinite once it is left out; the t interval is then
    taken of the coefficient itself and ends at 1. Where all units agree, both ends are 1.

    Returns:
        The interval; its ends are NaN where there is one unit, or where the coefficient
        is undefined or becomes so by leaving out one unit.

    Raises:
        ValueError: If `confidence` is not in (0, 1).
    """
    _check(confidence=confidence, n_resamples=1)
    units = ResampledUnits.of(patterns, [coefficient])
    deletions = units.jackknife([coefficient.estimator(patterns)])
    value = estimate(coefficient, patterns)
    if units.n_pairable < 2:  # noqa: PLR2004 - one unit says nothing about others
        return Interval(value, math.nan, math.nan, confidence, "jackknife_t", units.n_pairable)
    low, high, method = jackknife_t_ends(
        value, deletions, 0, at_most_one=True, confidence=confidence
    )
    return Interval(value, low, high, confidence, method, units.n_pairable)


def intervals(  # noqa: PLR0913 - what is resampled, how, and one property of it
    estimators: Sequence[Estimator],
    units: ResampledUnits,
    *,
    confidence: float,
    n_resamples: int,
    rng: np.random.Generator,
    at_most_one: bool = True,
) -> list[Interval]:
    """Intervals of several estimators from one set of resamples.

    `at_most_one` says that they are 1 at best, as agreement is and a difference is not.

    Raises:
        ValueError: If an argument is out of range.
    """
    _check(confidence=confidence, n_resamples=n_resamples)
    observed = units.n_units[np.newaxis].astype(np.float64)
    values = [float(estimator(observed)[0]) for estimator in estimators]
    n_units = units.n_pairable
    if n_units < 2:  # noqa: PLR2004 - one unit says nothing about others
        return [Interval(v, math.nan, math.nan, confidence, "bca", n_units) for v in values]
    deletions = units.jackknife(estimators)
    if units.n_entries * n_resamples > MAX_BOOTSTRAP_WORK:
        ends = [
            jackknife_t_ends(
                value, deletions, index, at_most_one=at_most_one, confidence=confidence
            )
            for index, value in enumerate(values)
        ]
    else:
        resampled = units.bootstrap(estimators, n_resamples=n_resamples, rng=rng)
        ends = [
            bca_ends(
                value, row, acceleration=float(acceleration), confidence=confidence, n_units=n_units
            )
            for value, row, acceleration in zip(
                values, resampled, accelerations(deletions), strict=True
            )
        ]
    return [
        Interval(value, low, high, confidence, method, n_units)
        for value, (low, high, method) in zip(values, ends, strict=True)
    ]


def _check(*, confidence: float, n_resamples: int) -> None:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie in (0, 1), got {confidence:g}")
    if n_resamples < 1:
        raise ValueError(f"n_resamples must be at least 1, got {n_resamples}")
