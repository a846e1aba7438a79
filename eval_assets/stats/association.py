"""Correlation, difference and bias of two columns of scores, and tests of their differences."""

import math
from bisect import bisect_left
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from eval_assets.stats._coefficients import Measure
from eval_assets.stats._numbers import (
    NOISE,
    Column,
    Floats,
    Integers,
    Ratings,
    group_codes,
    paired_columns,
    paired_values,
    require_literal,
    two_columns,
)
from eval_assets.stats._paired_scores import CorrelationKind, PairedScores

MIN_WILCOXON_PAIRS = 10
"""Below, hardly any p-value is attainable: five pairs cannot give less than .0625."""

MAX_EXACT_PAIRS = 50
"""Non-zero differences up to which the distribution of the signed-rank sum is counted out."""


def pearson(a: Column, b: Column) -> float:
    """Return Pearson's correlation: the strength of the linear relation.

    Args:
        a: Scores of shape (n_units,), NaN if missing.
        b: Other scores of the same units; a unit that lacks either is left out.

    Returns:
        1 on a rising line, 0 without linear relation, -1 on a falling line; NaN if there are fewer
        than two units or either side does not vary.

    Raises:
        ValueError: If the shapes differ or a value is infinite.

    References:
        Pearson (1895), doi:10.1098/rspl.1895.0041.

    Examples:
        >>> round(pearson([1, 2, 3, 4], [1, 3, 2, 4]), 3)
        0.8
    """
    return _correlation("pearson", a, b)


def spearman(a: Column, b: Column) -> float:
    """Return Spearman's rho: Pearson's correlation of ranks, ties sharing their mean rank.

    The shortcut 1 - 6 sum(d**2) / (n**3 - n) is wrong with ties, and scores on a scale are
    nearly all tied.

    Args:
        a: Scores of shape (n_units,), NaN if missing.
        b: Other scores of the same units; a unit that lacks either is left out.

    Returns:
        1 if both orders are the same, -1 if they are reversed; NaN as for `pearson`.

    Raises:
        ValueError: If the shapes differ or a value is infinite.

    References:
        Spearman (1904), doi:10.2307/1412159.

    Examples:
        >>> round(spearman([1, 2, 2, 4], [1, 3, 2, 4]), 3)
        0.949
    """
    return _correlation("spearman", a, b)


def kendall_tau_b(a: Column, b: Column) -> float:
    """Return Kendall's tau-b: share of unit pairs in the same order less those in opposite order.

    The whole is the geometric mean of the pairs untied in `a` and those untied in `b`.

    Args:
        a: Scores of shape (n_units,), NaN if missing.
        b: Other scores of the same units; a unit that lacks either is left out.

    Returns:
        1 if all pairs are in the same order, -1 if all are in opposite order; NaN as for
        `pearson`.

    Raises:
        ValueError: If the shapes differ or a value is infinite.

    References:
        Kendall (1945), doi:10.1093/biomet/33.3.239; counting by merging: Knight (1966).

    Examples:
        >>> round(kendall_tau_b([1, 2, 2, 4], [1, 3, 2, 4]), 3)
        0.913
    """
    return _correlation("kendall", a, b)


@dataclass(frozen=True)
class Correlation:
    """A correlation of two columns, for `coefficient_interval`.

    Attributes:
        kind: "pearson", "spearman" or "kendall".
    """

    kind: CorrelationKind

    def __post_init__(self) -> None:
        require_literal(self.kind, CorrelationKind, name="kind")

    def by_row(self, ratings: Ratings) -> tuple[Measure, Integers]:
        """Return the correlation of two columns, and the kind of each row, -1 if incomplete.

        Raises:
            ValueError: If there are not two columns.
        """
        first, second, is_known = two_columns(ratings)
        pairs, place, n_units = np.unique(
            np.column_stack([first, second]), axis=0, return_inverse=True, return_counts=True
        )
        index = np.full(len(is_known), -1)
        index[is_known] = place
        return PairedScores.of(*pairs.T).measure(self.kind, n_units.astype(np.float64)), index


def wilcoxon_signed_rank(a: Column, b: Column, *, groups: Column | None = None) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test that neither side is higher.

    Differences of exactly 0 are dropped, tied ones share their mean rank. Up to 50 differences the
    p-value is exact, ties included: the share of all signs of these ranks whose sum is as far from
    the middle. Beyond, the normal approximation with the variance of the ranks as they are, without
    continuity correction.

    Args:
        a: Scores of shape (n_units,), NaN if missing.
        b: Other scores of the same units; a unit that lacks either is left out.
        groups: Which units are not independent: any label, one for each unit. The test then uses
            the mean difference of each group; None takes each unit by itself.

    Returns:
        The p-value: near 0 if one side is systematically higher; NaN for fewer than 10 pairs, or
        groups, or if all are equal.

    Raises:
        ValueError: If the shapes differ or a value is infinite.

    References:
        Wilcoxon (1945), doi:10.2307/3001968.

    Examples:
        >>> human = [1, 2, 3, 4, 5, 1, 2, 3, 4, 5]
        >>> judge = [2, 3, 4, 5, 5, 2, 3, 4, 4, 4]
        >>> wilcoxon_signed_rank(human, judge)
        0.0703125
    """
    first, second = paired_columns(a, b)
    codes = group_codes(groups, n_units=len(first))
    is_known = ~(np.isnan(first) | np.isnan(second))
    differences = (first - second)[is_known]
    if codes is not None:
        group = codes[is_known]
        counts = np.bincount(group)
        differences = np.bincount(group, differences)[counts > 0] / counts[counts > 0]
    largest = float(np.abs(np.concatenate([first[is_known], second[is_known]])).max(initial=0.0))
    return wilcoxon_of_differences(differences, noise=100 * NOISE * largest)


def wilcoxon_of_differences(differences: Floats, *, noise: float = 1e-12) -> float:
    """Return the p-value of the signed-rank test of differences, as `wilcoxon_signed_rank`."""
    if len(differences) < MIN_WILCOXON_PAIRS:
        return math.nan
    differences = differences[np.abs(differences) > noise]
    if not differences.size:
        return math.nan
    sizes = _without_noise(np.abs(differences), noise)
    _, index, counts = np.unique(sizes, return_inverse=True, return_counts=True)
    # Ranks from 1, of ties the mean, doubled: whole numbers.
    doubled_ranks = (2.0 * np.cumsum(counts) - (counts - 1))[index]
    rank_sum = float(doubled_ranks[differences > 0].sum())
    middle = float(doubled_ranks.sum()) / 2
    if len(differences) <= MAX_EXACT_PAIRS:
        ways = _ways_to_sum(doubled_ranks.astype(np.int64))
        is_extreme = np.abs(np.arange(len(ways)) - middle) >= abs(rank_sum - middle)
        return float(ways[is_extreme].sum() / 2.0 ** len(differences))
    deviation = math.sqrt(float((doubled_ranks**2).sum()) / 4)
    return 2 * NormalDist().cdf(-abs(rank_sum - middle) / deviation)


def _correlation(kind: CorrelationKind, a: Column, b: Column) -> float:
    first, second = paired_values(a, b)
    each_once = np.ones((1, len(first)))
    return float(PairedScores.of(first, second).estimator(kind)(each_once)[0])


def _without_noise(sizes: Floats, noise: float) -> Floats:
    """Return the same sizes, those that differ by float noise made equal so that they tie."""
    order = np.argsort(sizes)
    ascending = sizes[order]
    starts = np.concatenate(([True], np.diff(ascending) > 2 * noise))
    equal = np.empty_like(sizes)
    equal[order] = ascending[starts][np.cumsum(starts) - 1]
    return equal


def _ways_to_sum(ranks: Integers) -> Floats:
    """Return the number of subsets of the ranks that add up to 0, 1, 2, ... their sum."""
    ways = np.zeros(int(ranks.sum()) + 1)
    ways[0] = 1.0
    for rank in ranks:
        ways[rank:] += ways[:-rank].copy()
    return ways


GRID = 240
"""Steps that a scale is divided into: all steps of scales of 3, 4, 5, 6, 7, 9 and 11 values fall
on it; other differences are rounded, which keeps the test exact."""


@dataclass(frozen=True)
class MeanShift:
    """Mean shift of values between two measurements of the same units.

    Attributes:
        value: Mean difference; NaN without any.
        low: Lower end of its interval, to the nearest of `GRID` steps of the scale.
        high: Upper end, likewise.
        p_value: Chance of a mean at least this far from 0 if nothing moved; NaN without any.
        n: Pairs that were compared.
    """

    value: float
    low: float
    high: float
    p_value: float
    n: int


def mean_shift(differences: npt.ArrayLike, *, significance: float, span: float) -> MeanShift:
    """Return the mean shift of paired measurements, by the sign-flip test of their differences.

    If the two measurements of each pair are exchangeable, as they are when one judge rates one
    response twice, each difference is as likely to have the other sign. The test counts all choices
    of signs, so it is exact for any distribution and any number of pairs. The interval holds the
    shifts that it does not reject.

    Args:
        differences: Second minus first measurement of each pair; NaN if one is missing.
        significance: Two-sided level; the interval excludes 0 if p is at most this.
        span: Highest minus lowest value of the scale.

    Returns:
        The mean shift with its interval and p-value; NaN without a pair.

    Raises:
        ValueError: If the significance is not in (0, 1) or the span is not above 0.

    References:
        Fisher (1935), The Design of Experiments, section 21; inverted by Hartigan (1969),
        doi:10.1080/01621459.1969.10501057.

    Examples:
        >>> found = mean_shift([-1, -1, -1, -1, 0, -2], significance=0.1, span=4)
        >>> round(found.value, 2), found.p_value
        (-1.0, 0.0625)
    """
    if not 0 < significance < 1:
        raise ValueError(f"significance must lie in (0, 1), got {significance}")
    if not span > 0:
        raise ValueError(f"span must be above 0, got {span}")
    values = np.asarray(differences, dtype=np.float64)
    values = values[~np.isnan(values)]
    if not len(values):
        return MeanShift(np.nan, np.nan, np.nan, np.nan, 0)
    steps = np.rint(values / span * GRID).astype(np.int64)
    tail = significance / 2
    shifts = range(-GRID, GRID)
    low, high = (
        bisect_left(shifts, x=True, key=lambda shift: _upper_tail(of - shift) > tail) - GRID
        for of in (steps, -steps)
    )
    p_value = min(1.0, 2 * min(_upper_tail(steps), _upper_tail(-steps)))
    return MeanShift(
        float(values.mean()), low * span / GRID, -high * span / GRID, p_value, len(values)
    )


def least_p_value(n_pairs: int) -> float:
    """Return the smallest p-value of `n_pairs` pairs: all differences have one sign.

    Args:
        n_pairs: Pairs with both measurements.

    Returns:
        The p-value of `mean_shift`, two-sided; 1 without a pair.

    Raises:
        ValueError: If `n_pairs` is below 0.

    References:
        Fisher (1935), The Design of Experiments, section 21.

    Examples:
        >>> least_p_value(6)
        0.03125
    """
    if n_pairs < 0:
        raise ValueError(f"n_pairs must be at least 0, got {n_pairs}")
    return min(1.0, 2.0 ** (1 - n_pairs))


def _upper_tail(steps: Integers) -> float:
    """Return the share of all choices of signs with a sum at least that of the steps."""
    sizes = np.abs(steps)
    sizes = sizes[sizes > 0]
    divisor = int(np.gcd.reduce(sizes)) if len(sizes) else 1
    sizes = sizes // divisor
    # chance[k] is that of the sum 2 k - total, of which every second number can occur.
    chance: npt.NDArray[np.float64] = np.ones(1)
    for size in sizes:
        wider = np.zeros(len(chance) + size)
        wider[: len(chance)] += chance / 2
        wider[size:] += chance / 2
        chance = wider
    total = int(sizes.sum())
    at_least = (int(steps.sum()) // divisor + total) // 2
    return float(chance[at_least:].sum())
