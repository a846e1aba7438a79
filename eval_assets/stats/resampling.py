"""Errors by leaving groups out (jackknife), and intervals by drawing them anew (bootstrap)."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from eval_assets.stats._interval_bounds import TIE, Method, jackknife_df, t_probability, t_quantile
from eval_assets.stats._numbers import Column, Floats, Ratings, group_codes, rating_matrix
from eval_assets.stats.intervals import Interval, require_confidence
from eval_assets.stats.planning import MOST_TIMES, POWER_QUANTILE, groups_to_detect

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
