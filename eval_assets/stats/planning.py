"""How many groups and units a study takes to decide, and what an interval decides already."""

import math
from statistics import NormalDist

import numpy as np

from eval_assets.scale import Level
from eval_assets.stats._coefficients import Alpha
from eval_assets.stats._interval_bounds import (
    TIE,
    BeyondChance,
    t_probability,
    t_quantile,
    unseen_share,
)
from eval_assets.stats._numbers import Floats
from eval_assets.stats._patterns import RatingPatterns
from eval_assets.stats.intervals import Interval

POWER_QUANTILE = 0.84
"""Standard errors above its critical value at which a test detects an effect in 80 % of tries."""

MOST_TIMES = 100
"""Largest factor by which it is realistic to rate more responses for a verdict (a choice)."""

_NORMAL = 1.96
"""Standard errors from an estimate to the end of its 95 % interval."""

CLEARLY_AGREE, CLEARLY_DISAGREE = 0.9, 0.4
"""Alphas that a study is to tell from the minimum, on either side (a choice)."""

REVISED = 0.8
"""Alpha to plan for after a question was revised: Krippendorff's limit for firm conclusions."""


def groups_to_detect(effect: float, *, detectable: float, n_groups: int) -> int:
    """Return the number of groups that detect `effect` in 80 % of tries.

    Args:
        effect: Effect to detect, above 0.
        detectable: Effect that `n_groups` detect, as from `Jackknife.detectable_by`.
        n_groups: Groups that detect it.

    Returns:
        The number of groups, which grows with the square of `detectable` over `effect`.

    Raises:
        ValueError: If `effect` is not above 0.

    References:
        Bloom (1995), doi:10.1177/0193841X9501900504.

    Examples:
        >>> groups_to_detect(0.05, detectable=0.1, n_groups=40)
        160
    """
    if not effect > 0:
        raise ValueError(f"effect must be above 0, got {effect:g}")
    return math.ceil(n_groups * (detectable / effect) ** 2 - 1e-9)


def more_to_decide(value: float, *, low: float, high: float, limit: float, n: int) -> int | None:
    """Return the further units with which four of five studies decide on which side a value lies.

    A study decides if its 95 % interval leaves out the limit. If `value` is true, the figure of a
    study of m units varies around it with the standard error s(value), and its interval leaves out
    the limit where the figure lies 1.96 s(limit) from it. So the study decides in 80 % of tries if

        m = n ((1.96 s(limit) + 0.84 s(value)) / (value - limit))^2,

    the sample size of a test whose standard errors differ under both hypotheses, where n units have
    the errors s. The ends of an interval lie 1.96 of their own standard errors from the value, as
    Wilson's do; between the ends, the variance is interpolated.

    Args:
        value: The figure, taken for the true value.
        low: Lower end of its 95 % interval.
        high: Upper end.
        limit: The limit.
        n: Units of the figure.

    Returns:
        m - n: 0 if the interval leaves out the limit. None if it is undefined, and where more than
        a hundred times the units are required because the value is so close to the limit.

    Raises:
        ValueError: If `low` is above `high`.

    References:
        Lachin (1981), doi:10.1016/0197-2456(81)90001-5.

    Examples:
        >>> more_to_decide(0.8, low=0.6, high=0.9, limit=0.7, n=30)
        135
        >>> more_to_decide(0.7001, low=0.6, high=0.8, limit=0.7, n=30) is None
        True
    """
    if low > high:
        raise ValueError(f"low must not be above high, got {low:g} and {high:g}")
    if math.isnan(value + low + high):
        return None
    if not low < limit < high:
        return 0
    distance = abs(value - limit)
    if distance == 0:
        return None
    quantile = NormalDist().inv_cdf(0.975)
    at_low, at_high = ((end - value) ** 2 for end in (low, high))

    def reach(point: float) -> float:
        """Return 1.96 standard errors of a figure whose true value is `point`."""
        share = (point - low) / (high - low)
        return math.sqrt((1 - share) * at_low + share * at_high)

    detectable = reach(limit) + POWER_QUANTILE / quantile * reach(value)
    if detectable**2 > MOST_TIMES * distance**2:
        return None
    return max(1, groups_to_detect(distance, detectable=detectable, n_groups=n) - n)


def probability_below(  # noqa: PLR0913 - the figure, its interval, and what it may be
    value: float, *, low: float, high: float, limit: float, n_groups: int, is_share: bool
) -> float:
    """Return the probability that a figure is truly below a limit, from its 95 % interval.

    It is the tail of Student's t at which an end of the interval would lie on the limit: with the
    standard error s(limit) that the figure has if its true value is the limit, the share below
    (limit - value) / s(limit). Between the ends the variance follows from those at the ends, which
    the interval holds: of shares it is in proportion to k (1 - k), as in Wilson's interval, of
    others 1 - k times a line. In 32 simulated worlds it differs from the interval's own rule by
    .002 on average, by .03 at most with single ratings in groups, and by .08 with one value in ten.

    Args:
        value: The figure.
        low: Lower end of its 95 % interval.
        high: Upper end.
        limit: The limit.
        n_groups: Response groups of the figure.
        is_share: Whether it is a mean of shares in [0, 1], and not agreement beyond chance.

    Returns:
        The probability; NaN if the interval is undefined.

    Raises:
        ValueError: If `low` is above `high`.

    References:
        Hayes and Krippendorff (2007), doi:10.1080/19312450709336664, for the probability that alpha
        is below a minimum; the interval's rule is in docs/methods.md.

    Examples:
        >>> ends = {"low": 0.6, "high": 0.86, "n_groups": 50, "is_share": True}
        >>> [round(probability_below(0.75, limit=limit, **ends), 3) for limit in (0.6, 0.7, 0.75)]
        [0.025, 0.239, 0.5]
    """
    if low > high:
        raise ValueError(f"low must not be above high, got {low:g} and {high:g}")
    if math.isnan(value + low + high):
        return math.nan
    df = max(1, n_groups - 1)
    if low == high:
        return float(value < limit)
    if value >= 1 - TIE:  # all groups alike: the exact bound on how many others differ
        share = (1 - limit) / (1 - low) * unseen_share(n_groups, confidence=0.95)
        return max(0.0, 1 - share) ** n_groups
    quantile = t_quantile(0.975, df=df)
    bottom, point = (max(end, 0.0) for end in (low, limit))
    if is_share:
        end = bottom if 0 < bottom < value else high
        variance = ((value - end) / quantile) ** 2 / (end * (1 - end)) * point * (1 - point)
    else:
        slope, start = 0.0, ((value - low) / quantile) ** 2 / (1 - bottom)
        if value + TIE < high < 1 - TIE and high > bottom:
            slope = ((high - value) / quantile) ** 2 / (1 - high) - start
            slope /= high - bottom
        variance = (start + slope * (point - bottom)) * (1 - point)
    if variance <= TIE**2:
        return float(value < limit)
    return t_probability((limit - value) / math.sqrt(variance), df=df)


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
