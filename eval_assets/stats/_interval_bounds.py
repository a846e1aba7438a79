"""Bounds of confidence intervals from an estimate and its jackknife variance over groups.

The sampling error of each kind of figure changes with the true value in a different way. The ends
are the outermost true values that the estimate does not contradict: those at which the estimate
lies within t standard errors, the standard error being that at the true value (a score interval).
With few groups the coverage is far better than with standard errors at the estimate, which are
almost 0 if disagreement happens to be rare in the sample. benchmarks/coverage.py has the coverage.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, Protocol, Self

import numpy as np
from numpy.polynomial import polynomial as npp

from eval_assets.stats._numbers import Floats

Method = Literal[
    "wilson", "score", "exact", "mover", "bca", "percentile", "clustered_t", "lang_reiczigel"
]
"""Method of an interval; docs/methods.md has a section on each."""

TIE = 1e-12
"""Float noise between two estimates that are the same."""

REAL = 1e-9
"""Imaginary part of a root that is real except for rounding."""

NORMAL_SHARE = 0.5
"""Of the variance that normal ratings would have, how much every variance has at the least."""

MOSTLY_ONE_VALUE, ENOUGH_RARE = 2 / 3, 20
"""Share of the most frequent value from which on the others are rare and decide the variance as
they do on a binary scale; and how many of them show by themselves how much they vary. This
project's choice: benchmarks/coverage.py shows what comes of it."""


@dataclass(frozen=True)
class Evidence:
    """Rule for the ends of an interval.

    Attributes:
        value: The estimate.
        variance: Its jackknife variance; NaN if leaving out some group leaves it undefined.
        n_groups: Groups that can agree or disagree.
        df: Degrees of freedom of the variance.
        confidence: Long-run share of intervals that hold the true value.
    """

    value: float
    variance: float
    n_groups: int
    df: int
    confidence: float

    @property
    def quantile(self) -> float:
        """Standard errors from the estimate to an end."""
        return t_quantile((1 + self.confidence) / 2, df=self.df)

    @property
    def unseen_share(self) -> float:
        """Largest share of groups that may differ from all groups seen: Clopper and Pearson's."""
        return unseen_share(self.n_groups, confidence=self.confidence)

    @property
    def is_without_variation(self) -> bool:
        """Return whether all groups are equal, which tells little about other groups."""
        return self.variance <= TIE**2


def unseen_share(n_groups: int, *, confidence: float) -> float:
    """Return the largest share of groups that may differ if all of `n_groups` are alike."""
    return float(1 - ((1 - confidence) / 2) ** (1 / n_groups))


def degrees_of_freedom(n_groups: int, *, n_rare: int) -> int:
    """Return the degrees of freedom of a variance over groups.

    They depend only on the groups that hold a value other than the most frequent one. Two for each
    of them, and one more, is this project's choice: benchmarks/pass_rates.py has the resulting
    coverage.

    Args:
        n_groups: Groups.
        n_rare: Those that hold a value other than the most frequent one.
    """
    return min(n_groups - 1, 2 * n_rare + 1)


def jackknife_df(n_deletions: int, *, squares: float, fourth: float) -> int:
    """Return the degrees of freedom of a jackknife variance, from the inequality of its terms.

    If R of G groups contribute alike, and the others nothing, it varies like a variance with
    2 R G / (G - R) degrees of freedom; if the terms are normal, with G. So the number of groups
    that hold the rarer values counts, not that of all groups.

    Args:
        n_deletions: Groups, or blocks of groups, that were left out in turn.
        squares: Sum of the squared deviations.
        fourth: Sum of their fourth powers.

    References:
        Satterthwaite (1946), doi:10.2307/3002019, with the kurtosis of the deviations.
    """
    most = n_deletions - 1
    share = fourth / squares**2 if squares > TIE**2 else 0.0
    excess = share - 1 / n_deletions
    return max(1, min(most, int(2 / excess))) if excess > 0 else most


Ends = tuple[float, float, Method]


class Spread(Protocol):
    """Sampling error of a figure as a function of its true value."""

    def ends(self, evidence: Evidence) -> Ends:
        """Return the lower and upper end and the method; value and variance are defined."""
        ...


@dataclass(frozen=True)
class MeanShare:
    """A mean of values in [lowest, 1] over units, such as a share of pairs or A^HH.

    Below -1 an end is not reported unless the estimate itself is lower: chance is estimated from
    the same ratings.

    Wilson's interval with as many independent units as give the jackknife variance (the design
    effect). If all groups are alike the exact bound on how many others differ.
    """

    lowest: float = 0.0

    def ends(self, evidence: Evidence) -> Ends:
        """Return the ends of a mean of shares."""
        width = 1 - self.lowest
        share = min(1.0, max(0.0, (evidence.value - self.lowest) / width))
        if evidence.is_without_variation or share * (1 - share) <= TIE:
            alike = 1 - evidence.unseen_share
            low, high = share * alike, 1 - (1 - share) * alike
            return *self._holding(evidence.value, low, high), "exact"
        v = evidence.quantile**2 * evidence.variance / width**2 / (share * (1 - share))
        centre = (share + v / 2) / (1 + v)
        half_width = math.sqrt(v * share * (1 - share) + v * v / 4) / (1 + v)
        low, high = max(0.0, centre - half_width), min(1.0, centre + half_width)
        return *self._holding(evidence.value, low, high), "wilson"

    def _holding(self, value: float, low: float, high: float) -> tuple[float, float]:
        """Return the ends as means, none below -1 and the lower one not above the estimate."""
        means = [self.lowest + (1 - self.lowest) * share for share in (low, high)]
        return min(value, max(-1.0, means[0])), max(-1.0, value, means[1])


@dataclass(frozen=True)
class BeyondChance:
    """Agreement beyond chance, or a correlation: 1 at best, 0 for chance.

    The variance follows the true value k as if a share k of the units were seen alike by all raters
    and each rating of the others drawn by itself, both with the shares of the values that were
    observed. Of a binary coefficient of two raters that is exact (Bloch and Kraemer 1989); of
    others only the shape is taken and scaled to the jackknife variance. `floor` keeps the variance
    from vanishing in a sample in which rare values do not occur.

    Attributes:
        shape: Coefficients of the variance as a polynomial of k on [0, 1], lowest power first.
        floor: Those of the least variance.
        differing: Share of pairs of ratings that would differ by chance.
    """

    shape: tuple[float, ...]
    floor: tuple[float, ...]
    differing: float

    @classmethod
    def of(cls, marginals: Floats, positions: Floats | None, *, n_pairs: float) -> Self:
        """Return the spread of a coefficient of ratings.

        Args:
            marginals: How often each value was given, shape (n_values,).
            positions: Values or ranks, whose squared distances count; None if only equality does.
            n_pairs: Pairs of ratings of one unit.
        """
        if positions is None:
            return cls.of_classes(marginals, n_pairs=n_pairs)
        peaked = kurtosis(marginals, positions)
        return cls.of_distances(marginals, kurtosis=peaked, n_pairs=n_pairs)

    @classmethod
    def of_classes(cls, marginals: Floats, *, n_pairs: float) -> Self:
        """Return the spread of a coefficient that depends only on whether ratings are equal.

        Args:
            marginals: How often each value was given, shape (n_values,).
            n_pairs: Pairs of ratings of one unit.
        """
        shares = _shares(marginals)
        alike = float(shares @ shares)
        if np.count_nonzero(shares) < 2:  # noqa: PLR2004 - the coefficient is undefined
            return cls((0.0,), (0.0,), math.nan)
        skew = (float(shares @ shares**2) - alike**2) / (1 - alike) ** 2
        seen_alike = npp.polymul([0, 1, -1], [1 + 4 * skew])
        drawn = npp.polysub([1 / (1 - alike)], (1 + 2 * skew) * np.array([1, 0, -1]))
        shape = npp.polymul([1, -1], npp.polyadd(seen_alike, drawn))
        return cls(tuple(shape), tuple(shape / max(n_pairs, 1)), 1 - alike)

    @classmethod
    def of_distances(cls, marginals: Floats, *, kurtosis: float, n_pairs: float) -> Self:
        """Return the spread of a coefficient of squared distances, or of a correlation.

        Args:
            marginals: How often each value was given, shape (n_values,).
            kurtosis: That of the ratings' positions: values or ranks.
            n_pairs: Pairs of ratings of one unit.
        """
        shares = _shares(marginals)
        if np.count_nonzero(shares) < 2:  # noqa: PLR2004 - the coefficient is undefined
            return cls((0.0,), (0.0,), math.nan)
        shape = npp.polymul([1, -1], [1, kurtosis, -(kurtosis - 1) / 2])
        floor = NORMAL_SHARE * npp.polypow([1, 0, -1], 2)
        if np.count_nonzero(shares) == 2:  # noqa: PLR2004 - then the shape is exact
            floor = shape
        elif shares.max() >= MOSTLY_ONE_VALUE:
            binary = min(1.0, ENOUGH_RARE / float(marginals.sum() - marginals.max()))
            floor = npp.polyadd(binary * np.asarray(shape), (1 - binary) * floor)
        return cls(tuple(shape), tuple(floor / max(n_pairs, 1)), 1 - float(shares @ shares))

    def variance_at(self, value: float) -> float:
        """Return the variance at a true value, to scale; below 0 it is that at 0."""
        return float(npp.polyval(max(value, 0.0), self.shape))

    def ends(self, evidence: Evidence) -> Ends:
        """Return the outermost true values that the estimate does not contradict."""
        value = evidence.value
        if value >= 1 - TIE:
            return max(-1.0, 1 - evidence.unseen_share / self.differing), 1.0, "exact"
        scale = evidence.variance / self.variance_at(value)
        square = evidence.quantile**2
        result = [
            _accepted(value, square * np.asarray(variance))
            for variance in (scale * np.asarray(self.shape), self.floor)
        ]
        low, high = min(ends[0] for ends in result), max(ends[1] for ends in result)
        return min(max(-1.0, low), value), max(min(1.0, high), value), "score"


def kurtosis(marginals: Floats, positions: Floats) -> float:
    """Return the fourth central moment over the squared variance; NaN without variation."""
    shares = _shares(marginals)
    deviations = positions - (shares * positions).sum()
    largest = float(np.abs(deviations[shares > 0]).max(initial=0.0))
    if np.count_nonzero(shares) < 2 or not largest:  # noqa: PLR2004 - nothing varies
        return math.nan
    deviations /= largest
    return float(shares @ deviations**4) / float(shares @ deviations**2) ** 2


def _shares(marginals: Floats) -> Floats:
    return marginals / max(float(marginals.sum()), TIE)


def _accepted(value: float, largest: Floats) -> tuple[float, float]:
    """Return the outermost k with (value - k)**2 at most a polynomial of k, constant below 0."""
    bound = math.sqrt(float(largest[0]))
    difference = npp.polysub(largest, [value**2, -2 * value, 1])
    roots = npp.polyroots(difference)
    real = roots.real[(np.abs(roots.imag) <= REAL) & (roots.real >= 0) & (roots.real <= 1)]
    low = value - bound
    if low > 0:
        low = float(real[real <= value].min(initial=value))
    return low, float(real[real >= value].max(initial=min(value + bound, 0.0)))


MAX_STEPS = 200


@lru_cache(maxsize=1024)
def t_quantile(share: float, *, df: float) -> float:
    """Return the value below which `share` of Student's t distribution lies.

    Args:
        share: In (0, 1).
        df: Degrees of freedom, above 0.

    Examples:
        >>> round(t_quantile(0.975, df=9), 4)
        2.2622
    """
    if share < 1 / 2:
        return -t_quantile(1 - share, df=df)
    low, high = 0.0, 1.0
    while _share_above(high, df=df) > 1 - share:
        low, high = high, 2 * high
    for _ in range(MAX_STEPS):
        middle = (low + high) / 2
        if middle in {low, high}:
            break
        low, high = (middle, high) if _share_above(middle, df=df) > 1 - share else (low, middle)
    return (low + high) / 2


def t_probability(value: float, *, df: float) -> float:
    """Return the share of Student's t distribution that lies below a value.

    Examples:
        >>> round(t_probability(2.2622, df=9), 4)
        0.975
    """
    above = _share_above(abs(value), df=df)
    return above if value < 0 else 1 - above


def _share_above(value: float, *, df: float) -> float:
    """Return the share of Student's t distribution above a value of at least 0."""
    return _beta_share(df / (df + value * value), df / 2, 1 / 2) / 2


def _beta_share(x: float, a: float, b: float) -> float:
    """Return the share of the beta distribution below x: the regularised incomplete beta function.

    Continued fraction by Lentz's method, as in DLMF 8.17.22, https://dlmf.nist.gov/8.17.
    """
    if x <= 0:
        return 0.0
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta_share(1 - x, b, a)
    front = math.exp(
        a * math.log(x) + b * math.log1p(-x) + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    )
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, MAX_STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 / (1 + even * d)
        c = 1 + even / c
        fraction *= d * c
        d = 1 / (1 + odd * d)
        c = 1 + odd / c
        factor = d * c
        fraction *= factor
        if factor == 1:
            break
    return front * fraction / a
