"""How two columns of scores go together: correlations, differences, and who is stricter."""

import math
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from eval_assets.stats.coefficients import category_index
from eval_assets.stats.patterns import Floats, Integers, paired_values

MIN_WILCOXON_PAIRS = 10
"""Below, hardly any p-value is attainable: five pairs cannot give less than .0625."""

MAX_EXACT_PAIRS = 50
"""Non-zero differences up to which the distribution of the signed-rank sum is counted out."""


def pearson(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """Pearson's correlation: how close the scores are to a straight line.

    Args:
        a: Scores of shape (n_units,), NaN where missing.
        b: Other scores of the same units; a unit that lacks either is left out.

    Returns:
        1 on a rising line, 0 without linear relation, -1 on a falling line; NaN where
        there are fewer than two units or either side does not vary.

    Raises:
        ValueError: If the shapes differ or a value is infinite.

    Examples:
        >>> round(pearson([1, 2, 3, 4], [1, 3, 2, 4]), 3)
        0.8
    """
    return _correlation(*paired_values(a, b))


def spearman(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """Spearman's rho: Pearson's correlation of ranks, tied scores sharing their mean rank.

    The shortcut 1 - 6 sum(d**2) / (n**3 - n) is wrong with ties, and scores on a scale are
    nearly all tied.

    Args:
        a: Scores of shape (n_units,), NaN where missing.
        b: Other scores of the same units; a unit that lacks either is left out.

    Returns:
        1 where both orders are the same, -1 where they are reversed; NaN as for `pearson`.

    Raises:
        ValueError: If the shapes differ or a value is infinite.

    Examples:
        >>> round(spearman([1, 2, 2, 4], [1, 3, 2, 4]), 3)
        0.949
    """
    a, b = paired_values(a, b)
    return _correlation(_mid_ranks(a), _mid_ranks(b))


def kendall_tau_b(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """Kendall's tau-b: share of unit pairs in the same order less those in opposite order.

    The whole is the geometric mean of the pairs untied in `a` and those untied in `b`.

    Args:
        a: Scores of shape (n_units,), NaN where missing.
        b: Other scores of the same units; a unit that lacks either is left out.

    Returns:
        1 where all pairs are in the same order, -1 where all are in opposite order; NaN as for
        `pearson`.

    Raises:
        ValueError: If the shapes differ or a value is infinite.

    References:
        Kendall (1945), doi:10.1093/biomet/33.3.239; counting by merging: Knight (1966).

    Examples:
        >>> round(kendall_tau_b([1, 2, 2, 4], [1, 3, 2, 4]), 3)
        0.913
    """
    a, b = paired_values(a, b)
    _, first = np.unique(a, return_inverse=True)
    _, second = np.unique(b, return_inverse=True)
    order = np.lexsort((second, first))
    first, second = first[order], second[order]
    n_pairs = len(a) * (len(a) - 1) // 2
    untied_first = n_pairs - _tied_pairs(first)
    untied_second = n_pairs - _tied_pairs(second)
    if not (untied_first and untied_second):
        return math.nan
    # within a tie of `first` the lexical order of `second` ascends, so no tie is an inversion
    tied_both = _tied_pairs(first * (len(b) + 1) + second)
    same_or_opposite = untied_first + untied_second - n_pairs + tied_both
    difference = same_or_opposite - 2 * _inversions(second)
    return difference / math.sqrt(untied_first * untied_second)


def wilcoxon_signed_rank(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """Two-sided p-value of Wilcoxon's signed-rank test that `a` is neither above nor below `b`.

    Equal pairs are dropped, tied differences share their mean rank. Up to 50 differences the
    p-value is exact, ties included: the share of all signs of these ranks whose sum is as far from
    the middle. Beyond, the normal approximation with the variance of the ranks as they are, without
    continuity correction. Pairs are taken as independent; documents of one query are not quite.

    Args:
        a: Scores of shape (n_units,), NaN where missing.
        b: Other scores of the same units; a unit that lacks either is left out.

    Returns:
        The p-value: near 0 where one side is systematically higher; NaN for fewer than 10 pairs
        or where all pairs are equal.

    Raises:
        ValueError: If the shapes differ or a value is infinite.

    References:
        Wilcoxon (1945), doi:10.2307/3001968.

    Examples:
        >>> human = [1, 2, 3, 4, 5, 1, 2, 3, 4, 5]
        >>> judge = [2, 3, 4, 5, 5, 2, 3, 4, 4, 4]
        >>> wilcoxon_signed_rank(judge, human)
        0.0703125
    """
    a, b = paired_values(a, b)
    difference = a - b
    noise = 1e-12 * max(np.abs(a).max(initial=0.0), np.abs(b).max(initial=0.0))
    difference = difference[np.abs(difference) > noise]
    if len(a) < MIN_WILCOXON_PAIRS or not difference.size:
        return math.nan
    doubled_ranks = np.rint(2 * _mid_ranks(_without_noise(np.abs(difference), noise)))
    rank_sum = float(doubled_ranks[difference > 0].sum())
    middle = float(doubled_ranks.sum()) / 2
    if len(difference) <= MAX_EXACT_PAIRS:
        ways = _ways_to_sum(doubled_ranks.astype(np.int64))
        far = np.abs(np.arange(len(ways)) - middle) >= abs(rank_sum - middle)
        return float(ways[far].sum() / 2.0 ** len(difference))
    deviation = math.sqrt(float((doubled_ranks**2).sum()) / 4)
    return 2 * NormalDist().cdf(-abs(rank_sum - middle) / deviation)


def mean_absolute_error(scores: npt.ArrayLike, reference: npt.ArrayLike) -> float:
    """Mean distance of scores from a reference, in scale points; 0 is best, NaN without pairs.

    Examples:
        >>> mean_absolute_error([4, 2, 5], [4, 3, 3])
        1.0
    """
    scores, reference = paired_values(scores, reference)
    return float(np.abs(scores - reference).mean()) if scores.size else math.nan


def bias(scores: npt.ArrayLike, reference: npt.ArrayLike) -> float:
    """Mean of scores less reference, in scale points: above 0 where scores are more lenient.

    Examples:
        >>> bias([4, 3, 5], [4, 3, 3.5])
        0.5
    """
    scores, reference = paired_values(scores, reference)
    return float((scores - reference).mean()) if scores.size else math.nan


def confusion_matrix(
    reference: npt.ArrayLike, scores: npt.ArrayLike, *, categories: npt.ArrayLike
) -> Integers:
    """How often each reference value met each score.

    Args:
        reference: True values, for instance human ratings, shape (n_units,), NaN where missing.
        scores: Scores of the same units.
        categories: All values of the scale, ascending.

    Returns:
        Counts of shape (n_categories, n_categories): a row per reference value, a column per score.

    Raises:
        ValueError: If the shapes differ, or a value is infinite or no category.

    Examples:
        >>> confusion_matrix([1, 1, 0, 0], [1, 0, 0, 0], categories=[0, 1]).tolist()
        [[2, 0], [1, 1]]
    """
    declared = np.asarray(categories, dtype=np.float64)
    rows, columns = (category_index(side, declared) for side in paired_values(reference, scores))
    n_categories = len(declared)
    counts = np.bincount(rows * n_categories + columns, minlength=n_categories**2)
    return counts.reshape(n_categories, n_categories)


def _correlation(a: Floats, b: Floats) -> float:
    if len(a) < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:  # noqa: PLR2004 - a line takes two points
        return math.nan
    a, b = a - a.mean(), b - b.mean()
    correlation = float(a @ b) / math.sqrt(float(a @ a)) / math.sqrt(float(b @ b))
    return min(1.0, max(-1.0, correlation))


def _mid_ranks(values: Floats) -> Floats:
    """Ranks from 1, ties sharing their mean rank."""
    _, index, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(counts) - (counts - 1) / 2)[index]
    return ranks


def _tied_pairs(codes: Integers) -> int:
    _, counts = np.unique(codes, return_counts=True)
    return int((counts * (counts - 1) // 2).sum())


def _inversions(codes: Integers) -> int:
    """Pairs of places whose codes descend.

    A descending pair differs first at some bit, 1 before 0, among codes whose higher bits are the
    same. So bit by bit: count the ones before each zero of such a group, then part it by that bit.
    """
    inversions = 0
    for bit in reversed(range(int(codes.max(initial=0)).bit_length())):
        group = codes >> (bit + 1)
        ones = (codes >> bit) & 1
        ones_before = np.cumsum(ones) - ones
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        sizes = np.diff(starts, append=len(codes))
        ones_before -= np.repeat(ones_before[starts], sizes)
        inversions += int(ones_before[ones == 0].sum())
        codes = codes[np.argsort(codes >> bit, kind="stable")]
    return inversions


def _without_noise(sizes: Floats, noise: float) -> Floats:
    """The same sizes, those that differ by float noise made equal so that they tie."""
    order = np.argsort(sizes)
    ascending = sizes[order]
    starts = np.concatenate(([True], np.diff(ascending) > 2 * noise))
    equal = np.empty_like(sizes)
    equal[order] = ascending[starts][np.cumsum(starts) - 1]
    return equal


def _ways_to_sum(ranks: Integers) -> Floats:
    """In how many ways some of the ranks add up to 0, 1, 2, ... their sum."""
    ways = np.zeros(int(ranks.sum()) + 1)
    ways[0] = 1.0
    for rank in ranks:
        ways[rank:] += ways[:-rank].copy()
    return ways
