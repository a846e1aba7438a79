"""Bootstrap intervals of any statistic."""

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np

from eval_assets.stats._interval_bounds import TIE, Method
from eval_assets.stats._numbers import Column, Floats, Integers, Ratings, group_codes, rating_matrix
from eval_assets.stats._quantiles import t_quantile
from eval_assets.stats.intervals import Interval, require_confidence

MAX_DELETIONS = 200
"""Evaluations of the statistic spent on the acceleration."""


def bootstrap_interval(  # noqa: PLR0913 - the data, what of them, and the resampling
    ratings: Ratings,
    statistic: Callable[[Floats], float],
    *,
    confidence: float,
    n_resamples: int,
    rng: np.random.Generator,
    groups: Column | None = None,
) -> Interval:
    """Return the BCa bootstrap interval of any statistic of ratings.

    Groups are resampled with all their units, never raters. For the coefficients of this package
    `coefficient_interval` holds better with few groups, and costs next to nothing. The difference
    of two statistics of the same units is a statistic of their columns side by side.

    Args:
        ratings: Values of shape (n_units, n_columns); the columns may be raters, or anything
            else that is known of each unit.
        statistic: Function of such an array; may give NaN.
        confidence: Long-run share of intervals that hold the true value, in (0, 1).
        n_resamples: Draws of all groups with replacement; 1,000 or more for 95 %.
        rng: Source of chance.
        groups: Which units are not independent: any label, one for each unit. None takes each unit
            as its own group.

    Returns:
        The interval. Its ends are NaN if there is one group, if the resamples do not vary, or if
        the statistic is undefined on all units or on more than half of the resamples; other
        undefined resamples are left out.

    Raises:
        ValueError: If `ratings` is not two-dimensional, or an argument does not fit.

    References:
        Efron (1987), doi:10.1080/01621459.1987.10478410; widened for few groups as in
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
    require_confidence(confidence)
    if n_resamples < 1:
        raise ValueError(f"n_resamples must be at least 1, got {n_resamples}")
    rows = rating_matrix(ratings)
    codes = group_codes(groups, n_units=len(rows))
    members = _members(np.arange(len(rows)) if codes is None else codes)
    value, n_groups = float(statistic(rows)), len(members)
    none = Interval(value, math.nan, math.nan, confidence, None, len(rows), n_groups)
    if n_groups < 2 or math.isnan(value):  # noqa: PLR2004 - one group says nothing about others
        return none
    drawn = rng.integers(n_groups, size=(n_resamples, n_groups))
    resampled = np.array(
        [statistic(rows[np.concatenate([members[group] for group in draw])]) for draw in drawn]
    )
    defined = resampled[~np.isnan(resampled)]
    if len(defined) < n_resamples / 2 or np.ptp(defined) <= TIE:
        return none
    order = rng.permutation(n_groups)
    deleted = np.array(
        [
            statistic(np.delete(rows, np.concatenate([members[group] for group in block]), axis=0))
            for block in np.array_split(order, min(n_groups, MAX_DELETIONS))
        ]
    )
    low, high, method = _bca_ends(value, defined, deleted, confidence=confidence, n_groups=n_groups)
    return Interval(value, low, high, confidence, method, len(rows), n_groups)


def _members(codes: Integers) -> list[Integers]:
    """Return the rows of each group."""
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(codes[order])) + 1) if len(codes) else []


def _bca_ends(
    value: float, resampled: Floats, deleted: Floats, *, confidence: float, n_groups: int
) -> tuple[float, float, Method]:
    """Return percentiles of the resampled values, moved for median bias and for skewness.

    Resampled values of few groups spread too little, by sqrt((n - 1) / n) and as the normal beside
    Student's t, so percentiles further out are taken (Hesterberg 2015, section 5.3).
    """
    normal = NormalDist()
    below = np.mean(resampled < value - TIE) + np.mean(np.abs(resampled - value) <= TIE) / 2
    widened = math.sqrt(n_groups / (n_groups - 1))
    widened *= t_quantile((1 + confidence) / 2, df=n_groups - 1)
    scores = np.array([-widened, widened])
    method: Method = "percentile"
    if 0 < below < 1:
        bias = normal.inv_cdf(float(below))
        shrunk = 1 - _acceleration(deleted) * (bias + scores)
        if (shrunk > 0).all():
            scores = bias + (bias + scores) / shrunk
            method = "bca"
    low, high = np.quantile(resampled, [normal.cdf(float(score)) for score in scores])
    return float(low), float(high), method


def _acceleration(deleted: Floats) -> float:
    """Return the skewness of the influence of what was left out / 6; 0 if nothing has any."""
    deviations = np.nanmean(deleted) - deleted if not np.isnan(deleted).all() else np.zeros(1)
    scale = 6 * float(np.nansum(deviations**2)) ** 1.5
    return float(np.nansum(deviations**3)) / scale if scale > TIE**3 else 0.0
