"""Correlations and differences against scipy."""

import math

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from eval_assets.stats import (
    kendall_tau_b,
    pearson,
    spearman,
    wilcoxon_signed_rank,
)
from eval_assets.stats.association import Correlation, wilcoxon_of_differences

NAN = math.nan
CORRELATIONS = (pearson, spearman, kendall_tau_b)


def scores(n_units: int, *, seed: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Scores on a scale of seven steps, nearly all tied, and means of ratings beside them."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n_units)
    judge = np.rint(np.clip(truth + rng.normal(size=n_units), -3, 3))
    human = np.rint(3 * np.clip(truth + rng.normal(size=n_units), -3, 3)) / 3
    return judge, human


@pytest.mark.parametrize("n_units", [3, 10, 500])
def test_correlations_are_those_of_scipy_ties_included(n_units: int) -> None:
    judge, human = scores(n_units, seed=n_units)
    assert pearson(judge, human) == pytest.approx(stats.pearsonr(judge, human).statistic)
    assert spearman(judge, human) == pytest.approx(stats.spearmanr(judge, human).statistic)
    assert kendall_tau_b(judge, human) == pytest.approx(stats.kendalltau(judge, human).statistic)


def test_kendalls_tau_counts_inversions_of_many_distinct_values() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=3000), rng.normal(size=3000)
    expected = stats.kendalltau(a, a + b).statistic
    assert kendall_tau_b(a, a + b) == pytest.approx(expected, abs=1e-12)


def test_all_correlations_of_two_binary_columns_are_kappas_neighbour_phi() -> None:
    # 38 4 / 4 4: phi = (38 * 4 - 4 * 4) / (42 * 8)
    a = np.repeat([0, 0, 1, 1], [38, 4, 4, 4])
    b = np.repeat([0, 1, 0, 1], [38, 4, 4, 4])
    for correlation in CORRELATIONS:
        assert correlation(a, b) == pytest.approx(136 / 336)


def test_rows_that_lack_a_score_are_of_no_kind() -> None:
    _, kinds = Correlation("pearson").by_row([[1.0, 2.0], [NAN, 2.0], [1.0, 2.0], [3.0, 1.0]])
    assert kinds.tolist() == [0, -1, 0, 1]


@pytest.mark.parametrize(("distance", "tied"), [(0.19, True), (0.21, False)])
def test_sizes_that_differ_by_the_noise_of_both_are_tied(
    distance: float,
    tied: bool,  # noqa: FBT001
) -> None:
    sizes = np.arange(12.0)
    sizes[:2] = -1, 1 + distance
    exact = np.where(sizes == 1 + distance, 1 if tied else 1.5, sizes)
    expected = wilcoxon_of_differences(exact)

    assert wilcoxon_of_differences(sizes, noise=0.1) == expected


@pytest.mark.parametrize("correlation", CORRELATIONS)
def test_correlations_are_signed_and_bounded(correlation: type) -> None:
    rising = [0.1, 0.2, 0.3, 0.4]
    assert correlation(rising, [1, 2, 3, 4]) == pytest.approx(1)
    assert correlation(rising, [4, 3, 2, 1]) == pytest.approx(-1)
    assert abs(correlation([1 / 3, 2 / 3, 1 / 7], [1 / 3, 2 / 3, 1 / 7])) <= 1


@pytest.mark.parametrize("correlation", CORRELATIONS)
@pytest.mark.parametrize(
    ("a", "b"),
    [([1, 1, 1], [1, 2, 3]), ([1, 2, 3], [2, 2, 2]), ([1], [1]), ([], []), ([NAN, 1], [2, 2])],
)
def test_correlations_without_variation_are_undefined(
    correlation: type, a: list[float], b: list[float]
) -> None:
    assert math.isnan(correlation(a, b))


@pytest.mark.parametrize("correlation", CORRELATIONS)
def test_units_that_lack_a_score_are_left_out(correlation: type) -> None:
    complete = correlation([1, 2, 4, 3], [2, 1, 4, 4])
    assert correlation([1, 2, NAN, 4, 3, 5], [2, 1, 3, 4, 4, NAN]) == complete


def test_an_exact_wilcoxon_test_without_ties_is_scipys() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.normal(0.5, 1, 20), rng.normal(0, 1, 20)
    expected = stats.wilcoxon(a - b, method="exact").pvalue
    assert wilcoxon_signed_rank(a, b) == pytest.approx(expected, rel=1e-12)


def test_an_exact_wilcoxon_test_with_ties_counts_all_signs() -> None:
    judge, human = scores(14, seed=3)
    difference = (judge - human)[judge != human]
    ranks = stats.rankdata(np.abs(difference.round(9)))
    n_signs = 2 ** len(ranks)
    signs = (np.arange(n_signs)[:, np.newaxis] >> np.arange(len(ranks))) & 1
    distance = np.abs(signs @ ranks - ranks.sum() / 2)
    observed = abs(ranks[difference > 0].sum() - ranks.sum() / 2)
    expected = np.mean(distance >= observed - 1e-9)
    assert wilcoxon_signed_rank(judge, human) == pytest.approx(expected, rel=1e-12)


def test_a_large_wilcoxon_test_is_scipys_normal_approximation() -> None:
    judge, human = scores(300, seed=4)
    judge = judge + 0.25
    exact_ties = (judge - human).round(9)  # scipy takes float noise for different ranks
    expected = stats.wilcoxon(exact_ties).pvalue
    assert wilcoxon_signed_rank(judge, human) == pytest.approx(expected, rel=1e-9)


def test_the_test_is_exact_up_to_fifty_differences_and_normal_beyond() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.normal(0.3, 1, 51), rng.normal(0, 1, 51)
    exact = stats.wilcoxon(a[:50] - b[:50], method="exact").pvalue
    assert wilcoxon_signed_rank(a[:50], b[:50]) == pytest.approx(exact, rel=1e-12)
    normal = stats.wilcoxon(a - b, method="approx").pvalue
    assert wilcoxon_signed_rank(a, b) == pytest.approx(normal, rel=1e-12)


def test_dependent_units_are_tested_by_the_means_of_their_groups() -> None:
    rng = np.random.default_rng(6)
    shift = np.repeat(rng.normal(0.3, 1, 15), 4)
    a, b = rng.normal(size=60) / 10 + shift, np.zeros(60)
    a[7] = NAN
    groups = np.repeat(np.arange(15), 4)
    means = [np.nanmean(a[groups == group]) for group in range(15)]
    expected = stats.wilcoxon(means, method="exact").pvalue
    assert wilcoxon_signed_rank(a, b, groups=groups) == pytest.approx(expected, rel=1e-12)
    assert wilcoxon_signed_rank(a, b) < expected / 10
    assert math.isnan(wilcoxon_signed_rank(a, b, groups=groups // 2))  # eight groups


def test_a_wilcoxon_test_of_few_or_equal_pairs_is_undefined() -> None:
    assert math.isnan(wilcoxon_signed_rank(np.arange(9) + 1, np.arange(9)))
    assert math.isnan(wilcoxon_signed_rank(np.ones(20), np.ones(20)))
    # ten pairs that all rise: both tails of 2**10 signs
    assert wilcoxon_signed_rank(np.arange(10) + 1, np.arange(10)) == 2 / 2**10


def test_differences_that_are_float_noise_are_none() -> None:
    a = np.full(12, 0.1 + 0.2)
    assert math.isnan(wilcoxon_signed_rank(a, np.full(12, 0.3)))
    # .1 eleven times, written in different ways, and one that is larger, against the rest
    a = np.array([0.1, 0.3, 0.4, 0.7, 0.8, 0.9, 1.1, 0.6, 0.5, 0.2, 1.0, 0.0])
    b = np.array([0.0, 0.2, 0.3, 0.6, 0.7, 0.8, 1.0, 0.5, 0.4, 0.1, 0.9, 0.9])
    # ranks 6 x 11 and 12: sums from 66 up or from 12 down, of 2**12 signs: counted by hand for 12:
    # the one alone (1), none (1), one or two small (11 + 55), and as many above the middle
    assert wilcoxon_signed_rank(a, b) == pytest.approx(2 * 68 / 2**12)


@pytest.mark.parametrize("function", [*CORRELATIONS, wilcoxon_signed_rank])
def test_columns_that_do_not_fit_are_refused(function: type) -> None:
    with pytest.raises(ValueError, match="one value per unit, got"):
        function([1, 2], [1])


def test_equal_scores_have_no_correlation_whatever_floats_add_up_to() -> None:
    """The mean of three tenths is not a tenth."""
    assert math.isnan(pearson([0.1, 0.1, 0.1], [1, 2, 3]))
