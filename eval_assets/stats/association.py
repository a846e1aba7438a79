"""Correlation, difference and bias of two columns of scores."""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

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
    doubled_ranks = np.rint(2 * _mid_ranks(_without_noise(np.abs(differences), noise)))
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


def _mid_ranks(values: Floats) -> Floats:
    """Return ranks from 1, ties sharing their mean rank."""
    _, index, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(counts) - (counts - 1) / 2)[index]
    return ranks


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
