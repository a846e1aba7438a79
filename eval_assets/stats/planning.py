"""Numbers of units that would tell an alpha from its minimum, before they are rated."""

import math

import numpy as np

from eval_assets.scale import Level
from eval_assets.stats._coefficients import Alpha
from eval_assets.stats._interval_bounds import BeyondChance
from eval_assets.stats._numbers import Floats
from eval_assets.stats._patterns import RatingPatterns
from eval_assets.stats.intervals import Interval
from eval_assets.stats.resampling import MOST_TIMES, POWER_QUANTILE

_NORMAL = 1.96
"""Standard errors from an estimate to the end of its 95 % interval."""

CLEARLY_AGREE, CLEARLY_DISAGREE = 0.9, 0.4
"""Alphas that a study is to tell from the minimum, on either side (a choice)."""

REVISED = 0.8
"""Alpha to plan for after a question was revised: Krippendorff's limit for firm conclusions."""


def doubles_to_tell(values: Floats, *, level: Level, limit: float) -> int | None:
    """Return the units, rated by two, that tell raters who agree from raters who do not.

    Four of five studies of as many units tell a true alpha of .9 from the limit, and one of .4.

    Args:
        values: Ratings of units that nobody rated twice: how often each value is given decides.
        level: Level of measurement of alpha.
        limit: Minimum of alpha.

    Returns:
        The number; None if all ratings are equal.

    References:
        Lachin (1981), doi:10.1016/0197-2456(81)90001-5, with the variances of Bloch and Kraemer
        (1989), doi:10.2307/2532052, which are exact for two raters and two classes.

    Examples:
        >>> fair, skewed = np.repeat([0.0, 1.0], [50, 50]), np.repeat([0.0, 1.0], [90, 10])
        >>> [doubles_to_tell(of, level="nominal", limit=0.667) for of in (fair, skewed)]
        [70, 196]
    """
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) < 2:  # noqa: PLR2004 - nothing to disagree on
        return None
    marginals = counts.astype(np.float64)
    positions = distinct
    if level == "ordinal":
        positions = np.cumsum(marginals) - marginals / 2
    spread = BeyondChance.of(marginals, None if level == "nominal" else positions, n_pairs=1)
    truths = [CLEARLY_DISAGREE, CLEARLY_AGREE]
    if not truths[0] < limit < truths[1]:
        truths = [limit - 0.2, min(1.0, limit + 0.2)]
    return max(_units(spread, 1.0, truth=truth, limit=limit) for truth in truths)


def units_after_revision(
    patterns: RatingPatterns, alpha: Interval, *, level: Level, limit: float
) -> int | None:
    """Return the new units that would show that a revised question reaches the minimum.

    Four of five studies of as many units do, if alpha then is .8 and units are rated by as many
    raters as now. The measured variance is taken to other values of alpha by its shape.

    Args:
        patterns: The ratings before the revision.
        alpha: Their alpha, with its 95 % interval.
        level: Level of measurement of alpha.
        limit: Minimum of alpha.

    Returns:
        The number; None if the interval is undefined, or so wide that none is realistic.

    Examples:
        >>> ratings = [[1, 2], [2, 2], [4, 2], [5, 5], [3, 1], [1, 3]] * 5
        >>> from eval_assets.stats import coefficient_interval
        >>> patterns = RatingPatterns.from_matrix(ratings)
        >>> alpha = coefficient_interval(ratings, Alpha("ordinal"), confidence=0.95)
        >>> units_after_revision(patterns, alpha, level="ordinal", limit=0.667)
        276
    """
    spread = Alpha(level).measure(patterns).spread
    if math.isnan(alpha.low + alpha.high) or not isinstance(spread, BeyondChance):
        return None
    truth = max(REVISED, (1 + limit) / 2)
    error = (alpha.value - alpha.low) / _NORMAL
    variance = error**2 * alpha.n_units / spread.variance_at(alpha.low)
    n_units = _units(spread, variance, truth=truth, limit=limit)
    return n_units if n_units <= MOST_TIMES * alpha.n_units else None


def _units(spread: BeyondChance, factor: float, *, truth: float, limit: float) -> int:
    """Return the units whose figure lies on its side of the limit in four of five studies."""
    at_limit, at_truth = (math.sqrt(factor * spread.variance_at(value)) for value in (limit, truth))
    distance = abs(truth - limit)
    return math.ceil(((_NORMAL * at_limit + POWER_QUANTILE * at_truth) / distance) ** 2)
