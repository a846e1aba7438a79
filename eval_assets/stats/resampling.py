"""Intervals by leaving groups out (jackknife) and by drawing them anew (bootstrap), and plans."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from eval_assets.scale import Level
from eval_assets.stats._coefficients import Alpha
from eval_assets.stats._interval_bounds import (
    TIE,
    BeyondChance,
    Method,
    jackknife_df,
    t_probability,
    t_quantile,
    unseen_share,
)
from eval_assets.stats._numbers import (
    Column,
    Floats,
    Ratings,
    group_codes,
    rating_matrix,
)
from eval_assets.stats._patterns import RatingPatterns
from eval_assets.stats.intervals import Interval, require_confidence

POWER_QUANTILE = 0.84
"""Standard errors above its critical value at which a test detects an effect in 80 % of tries."""

MOST_TIMES = 100
"""Largest factor by which it is realistic to rate more responses for a verdict (a choice)."""

_ROUNDS = 4
"""Rounds in which a number of groups and the quantile that follows from it settle."""


@dataclass(frozen=True)
class Jackknife:
    """An estimate with its jackknife standard error; it involves no random numbers.

    Attributes:
        value: The estimate; NaN if undefined.
        standard_error: NaN if there are fewer than two groups, or if the estimate is undefined
            without one of them.
        n_groups: Groups that were left out in turn.
        df: Degrees of freedom by the inequality of the groups' influences (Satterthwaite 1946): the
            groups that decide count, not all of them.

    Examples:
        >>> import numpy as np
        >>> effect = Jackknife.of(0.1, np.array([0.09, 0.1, 0.1, 0.11]))
        >>> low, high = effect.ends(significance=0.05)
        >>> round(effect.standard_error, 4), round(low, 3), round(high, 3)
        (0.0122, 0.061, 0.139)
    """

    value: float
    standard_error: float
    n_groups: int
    df: int

    @classmethod
    def of(cls, value: float, deleted: Floats) -> "Jackknife":
        """Return the estimate `value` with the error from its values without each group.

        Args:
            value: The estimate.
            deleted: The estimate without each group in turn, shape (n_groups,).
        """
        n_groups = len(deleted)
        if n_groups < 2:  # noqa: PLR2004 - one group says nothing about others
            return cls(value, math.nan, n_groups, df=1)
        deviations = (deleted - deleted.mean()) ** 2
        squares = float(deviations.sum())
        df = jackknife_df(n_groups, squares=squares, fourth=float((deviations**2).sum()))
        return cls(value, math.sqrt((n_groups - 1) / n_groups * squares), n_groups, df)

    @property
    def p_above(self) -> float:
        """One-sided p-value of a true value above 0; NaN if undefined."""
        return self._tail(-1)

    @property
    def p_below(self) -> float:
        """One-sided p-value of a true value below 0; NaN if undefined."""
        return self._tail(1)

    def bounds(self, *, p_low: float, p_high: float) -> tuple[float, float]:
        """Return the ends beyond which the one-sided p-values are smaller, each with its own.

        Args:
            p_low: One-sided p-value of true values at or below the lower end.
            p_high: That of true values at or above the upper end.
        """
        if self.standard_error <= TIE:
            return self.value, self.value
        low, high = (self.reach(p_value=p) for p in (p_low, p_high))
        return self.value - low, self.value + high

    def reach(self, *, p_value: float) -> float:
        """Return the distance from 0 of a value with a one-sided p-value."""
        return t_quantile(1 - p_value, df=self.df) * self.standard_error

    def groups_to_show(self, effect: float, *, p_value: float) -> int | None:
        """Return the groups with which four of five studies show a true effect to be above 0.

        Args:
            effect: The true effect.
            p_value: One-sided p-value that shows it.

        Returns:
            The number; None if the effect is not above 0 or the error is undefined, and where more
            than a hundred times the groups are required.
        """
        if not (effect > 0 and self.standard_error >= 0):
            return None
        n_groups, planned = self.n_groups, self
        for _ in range(_ROUNDS):  # the quantile depends on the number, though little
            detectable = replace(self, df=planned.df).detectable_by(p_value=p_value)
            if detectable**2 > MOST_TIMES * effect**2:
                return None
            n_groups = max(
                2, groups_to_detect(effect, detectable=detectable, n_groups=self.n_groups)
            )
            planned = self.scaled_to(n_groups)
        return n_groups

    def _tail(self, sign: int) -> float:
        if math.isnan(self.value + self.standard_error):
            return math.nan
        if self.standard_error <= TIE:
            return float(sign * self.value >= 0)
        return t_probability(sign * self.value / self.standard_error, df=self.df)

    def ends(self, *, significance: float) -> tuple[float, float]:
        """Return the ends of the interval of values that a two-sided t test does not reject.

        Args:
            significance: Two-sided level of the test: 0.05 for a 95 % interval.

        Raises:
            ValueError: If `significance` is not in (0, 1).
        """
        if not 0 < significance < 1:
            raise ValueError(f"significance must lie in (0, 1), got {significance:g}")
        return self.bounds(p_low=significance / 2, p_high=significance / 2)

    def scaled_to(self, n_groups: int) -> "Jackknife":
        """Return the estimate with the error to expect of `n_groups` groups."""
        error = self.standard_error * math.sqrt(self.n_groups / n_groups)
        ratio = n_groups / self.n_groups
        df = max(1, min(n_groups - 1, int(self.df * ratio)))
        return Jackknife(self.value, error, n_groups, df)

    def detectable_by(self, *, p_value: float) -> float:
        """Return the smallest true effect whose one-sided p-value is smaller in 80 % of tries."""
        return self.reach(p_value=p_value) + POWER_QUANTILE * self.standard_error


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
    `coefficient_interval` has better coverage with few groups, and is much faster. The difference
    of two statistics of the same units is a statistic of their columns side by side.

    Args:
        ratings: Values of shape (n_units, n_columns); the columns may be raters, or any other
            values of each unit.
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
    codes = np.arange(len(rows)) if codes is None else codes
    order = np.argsort(codes, kind="stable")
    members = np.split(order, np.flatnonzero(np.diff(codes[order])) + 1) if len(rows) else []
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
    """Return the skewness of the influence of each deletion / 6; 0 if none has any."""
    deviations = np.nanmean(deleted) - deleted if not np.isnan(deleted).all() else np.zeros(1)
    scale = 6 * float(np.nansum(deviations**2)) ** 1.5
    return float(np.nansum(deviations**3)) / scale if scale > TIE**3 else 0.0


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
