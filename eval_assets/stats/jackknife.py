"""Jackknife estimates over groups of dependent units."""

import math
from dataclasses import dataclass

from eval_assets.stats._numbers import Floats
from eval_assets.stats._quantiles import t_quantile

POWER_QUANTILE = 0.84
"""Standard errors above its critical value at which a test detects an effect in 80 % of tries."""


@dataclass(frozen=True)
class Jackknife:
    """An estimate with its jackknife standard error; it involves no random numbers.

    Attributes:
        value: The estimate; NaN if undefined.
        standard_error: NaN if there are fewer than two groups, or if the estimate is undefined
            without one of them.
        n_groups: Groups that were left out in turn.
        n_effective: Groups of equal weight that tell as much, at most `n_groups` (Kish 1965). The
            error has one degree of freedom fewer.

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
    n_effective: float

    @classmethod
    def of(cls, value: float, deleted: Floats, *, weights: Floats | None = None) -> "Jackknife":
        """Return the estimate `value` with the error that its values without each group show.

        Args:
            value: The estimate.
            deleted: The estimate without each group in turn, shape (n_groups,).
            weights: Share of each group in the estimate, such as its number of pairs; None if all
                weigh the same.
        """
        n_groups = len(deleted)
        if n_groups < 2:  # noqa: PLR2004 - one group says nothing about others
            return cls(value, math.nan, n_groups, n_groups)
        squares = float(((deleted - deleted.mean()) ** 2).sum())
        error = math.sqrt((n_groups - 1) / n_groups * squares)
        if weights is None:
            return cls(value, error, n_groups, n_groups)
        return cls(value, error, n_groups, float(weights.sum() ** 2 / (weights**2).sum()))

    def ends(self, *, significance: float) -> tuple[float, float]:
        """Return the ends of the interval of values that a two-sided t test does not reject.

        Args:
            significance: Two-sided level of the test: 0.05 for a 95 % interval.
        """
        reach = self.critical_value(significance=significance) * self.standard_error
        return self.value - reach, self.value + reach

    def critical_value(self, *, significance: float) -> float:
        """Return how many standard errors from zero are significant; NaN for one group.

        Raises:
            ValueError: If `significance` is not in (0, 1).
        """
        if not 0 < significance < 1:
            raise ValueError(f"significance must lie in (0, 1), got {significance:g}")
        if self.n_groups < 2:  # noqa: PLR2004 - no degree of freedom
            return math.nan
        return t_quantile(1 - significance / 2, df=max(self.n_effective - 1, 1))

    def scaled_to(self, n_groups: int) -> "Jackknife":
        """Return what to expect of as many groups as `n_groups`: the error of that many."""
        error = self.standard_error * math.sqrt(self.n_groups / n_groups)
        return Jackknife(self.value, error, n_groups, self.n_effective * n_groups / self.n_groups)

    def detectable(self, *, significance: float) -> float:
        """Return the smallest true effect that the test finds in 80 % of tries."""
        critical = self.critical_value(significance=significance)
        return (critical + POWER_QUANTILE) * self.standard_error


def detectable_gain(standard_error: float, *, n_groups: int, significance: float) -> float:
    """Return the smallest true gain that a two-sided t test finds in 80 % of tries.

    Args:
        standard_error: Standard error of the estimated gain.
        n_groups: Independent groups behind it; the test has one degree of freedom fewer.
        significance: Two-sided level of the test.

    Returns:
        The gain, in the unit of the standard error; NaN for fewer than two groups. It falls with
        the square root of the number of groups.

    Raises:
        ValueError: If `significance` is not in (0, 1).

    References:
        Bloom (1995), doi:10.1177/0193841X9501900504.

    Examples:
        >>> round(detectable_gain(0.02, n_groups=60, significance=0.05), 4)
        0.0568
    """
    return Jackknife(0.0, standard_error, n_groups, n_groups).detectable(significance=significance)


def groups_to_detect(effect: float, *, detectable: float, n_groups: int) -> int:
    """Return how many groups detect `effect` in 80 % of tries, if `n_groups` detect `detectable`.

    Args:
        effect: Effect to detect, above 0.
        detectable: Effect that `n_groups` detect, as from `detectable_gain`.
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
