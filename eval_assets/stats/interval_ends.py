"""Ends of confidence intervals, from resampled estimates and from estimates with units left out."""

import math
from statistics import NormalDist
from typing import Literal

import numpy as np

from eval_assets.stats.patterns import Floats, Integers
from eval_assets.stats.resampling import Deletions

Method = Literal["bca", "percentile", "jackknife_t", "clustered_t", "lang_reiczigel"]
"""How an interval was made: BCa bootstrap (Efron 1987), its plain percentiles where that correction
is undefined, the jackknife with Student's t, the variance between groups with Student's t (Liang
and Zeger 1986), or Lang and Reiczigel (2014)."""

TIE = 1e-12
"""Float noise between two estimates that are the same."""


def bca_ends(
    value: float, resampled: Floats, *, acceleration: float, confidence: float, n_units: int
) -> tuple[float, float, Method]:
    """Percentiles of the resampled values, moved for median bias and for skewness.

    Resampled values of few units spread too little, by sqrt((n - 1) / n) and as the normal beside
    Student's t, so percentiles further out are taken (Hesterberg 2015, section 5.3).

    Undefined resamples are left out; where they are more than half, or `value` is undefined, the
    ends are NaN.
    """
    defined = resampled[~np.isnan(resampled)]
    if math.isnan(value) or len(defined) < len(resampled) / 2:
        return math.nan, math.nan, "bca"
    normal = NormalDist()
    below = np.mean(defined < value - TIE) + np.mean(np.abs(defined - value) <= TIE) / 2
    widened = math.sqrt(n_units / (n_units - 1))
    widened *= t_quantile((1 + confidence) / 2, df=n_units - 1)
    scores = np.array([-widened, widened])
    method: Method = "percentile"
    if 0 < below < 1:
        bias = normal.inv_cdf(float(below))
        shrunk = 1 - acceleration * (bias + scores)
        if (shrunk > 0).all():
            scores = bias + (bias + scores) / shrunk
            method = "bca"
    low, high = np.quantile(defined, [normal.cdf(float(score)) for score in scores])
    return float(low), float(high), method


def accelerations(deletions: list[Deletions]) -> Floats:
    """Skewness of the units' influence / 6, for each estimator; 0 where no unit has any."""
    cubes = squares = np.zeros(1)
    for part in deletions:
        deviations = _deviations(part.values, part.multiplicity)
        cubes = cubes - np.nansum(part.multiplicity * deviations**3, axis=1)
        squares = squares + np.nansum(part.multiplicity * deviations**2, axis=1)
    scale = 6 * squares**1.5
    return np.divide(cubes, scale, out=np.zeros_like(scale), where=scale > TIE**3)


def jackknife_t_ends(
    value: float, deletions: list[Deletions], index: int, *, at_most_one: bool, confidence: float
) -> tuple[float, float, Method]:
    """Ends at t standard errors of log(1 - value), or of the value where that is infinite.

    Args:
        value: The estimate; NaN ends where it is undefined.
        deletions: Estimates with units left out, for each stratum; NaN ends where one is undefined.
        index: Which estimator of `deletions` it is.
        at_most_one: Whether the estimator is 1 at best, as agreement is and a difference is not.
        confidence: Long-run share of intervals that hold the true value.
    """
    deleted = [(part.values[index], part.multiplicity) for part in deletions]
    if math.isnan(value) or any(np.isnan(values).any() for values, _ in deleted):
        return math.nan, math.nan, "jackknife_t"
    if at_most_one and 1 - value <= TIE:
        return value, value, "jackknife_t"
    quantile = t_quantile((1 + confidence) / 2, df=int(deleted[0][1].sum()) - 1)
    if at_most_one and all((1 - values > TIE).all() for values, _ in deleted):
        error = _standard_error([(np.log(1 - values), counts) for values, counts in deleted])
        low, high = (1 - (1 - value) * math.exp(sign * quantile * error) for sign in (1, -1))
    else:
        error = _standard_error(deleted)
        highest = 1.0 if at_most_one else math.inf
        low, high = value - quantile * error, min(value + quantile * error, highest)
    return low, high, "jackknife_t"


def _deviations(values: Floats, multiplicity: Integers) -> Floats:
    """Deviation of each deletion from their mean; a deletion that leaves nothing defined is NaN."""
    counts = np.where(np.isnan(values), 0, multiplicity)
    total = np.nansum(values * multiplicity, axis=1, keepdims=True)
    deviations: Floats = values - total / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return deviations


def _standard_error(deleted: list[tuple[Floats, Integers]]) -> float:
    """Square root of the strata's jackknife variances, added up."""
    variance = 0.0
    for values, multiplicity in deleted:
        n_deletions = int(multiplicity.sum())
        deviations = _deviations(values[np.newaxis], multiplicity)[0]
        variance += (n_deletions - 1) / n_deletions * float(multiplicity @ deviations**2)
    return math.sqrt(variance)


def t_quantile(share: float, *, df: int) -> float:
    """Return the value that Student's t stays below with probability `share`."""
    from scipy.special import stdtrit  # noqa: PLC0415 - 0.2 s that only intervals need

    return float(stdtrit(df, share))


def t_probability(value: float, *, df: int) -> float:
    """Return the probability that Student's t is at most `value`."""
    from scipy.special import stdtr  # noqa: PLC0415 - as above

    return float(stdtr(df, value))
