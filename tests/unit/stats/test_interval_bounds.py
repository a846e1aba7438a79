"""Ends of intervals as functions of an estimate and its jackknife variance."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import stdtr, stdtrit
from statsmodels.stats.proportion import proportion_confint  # type: ignore[import-untyped]

from eval_assets.stats._interval_bounds import (
    BeyondChance,
    Evidence,
    MeanShare,
    degrees_of_freedom,
    jackknife_df,
    kurtosis,
    t_probability,
    t_quantile,
)


def evidence(value: float, variance: float, *, n_groups: int = 40, df: int = 39) -> Evidence:
    return Evidence(value, variance, n_groups, df, confidence=0.95)


@pytest.mark.parametrize("share", [0.02, 0.3, 0.5, 0.9])
def test_a_binomial_share_has_wilsons_interval(share: float) -> None:
    """With many degrees of freedom t is the normal quantile, as in the textbook."""
    actual = MeanShare().ends(evidence(share, share * (1 - share) / 200, df=10_000_000))
    expected = proportion_confint(share * 200, 200, alpha=0.05, method="wilson")
    assert actual[:2] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("n_groups", [2, 10, 200])
def test_groups_that_all_agree_leave_clopper_and_pearsons_bound(n_groups: int) -> None:
    low, high, method = MeanShare().ends(evidence(1, 0, n_groups=n_groups))
    expected, _ = proportion_confint(n_groups, n_groups, alpha=0.05, method="beta")
    assert (low, high) == pytest.approx((expected, 1))
    assert method == "exact"
    assert MeanShare().ends(evidence(0, 0, n_groups=n_groups))[:2] == pytest.approx((0, 1 - low))


def test_the_shape_for_two_classes_is_bloch_and_kraemers_variance() -> None:
    """var(kappa) = (1 - k) / n ((1 - k) (1 - 2 k) + k (2 - k) / (2 p (1 - p)))."""
    p, n = 0.2, 50
    for spread in (
        BeyondChance.of_classes(np.array([80.0, 20.0]), n_pairs=n),
        BeyondChance.of_distances(
            np.array([80.0, 20.0]),
            kurtosis=kurtosis(np.array([80.0, 20.0]), np.array([0.0, 1.0])),
            n_pairs=n,
        ),
    ):
        for k in (0.0, 0.3, 0.8):
            variance = (1 - k) / n * ((1 - k) * (1 - 2 * k) + k * (2 - k) / (2 * p * (1 - p)))
            assert np.polynomial.polynomial.polyval(k, spread.floor) == pytest.approx(variance)


def test_the_shape_is_the_variance_of_ratings_that_are_alike_or_drawn_anew() -> None:
    """Simulated: a share k of the units seen alike by both raters, the others rated at random."""
    rng = np.random.default_rng(1)
    shares, values = np.array([0.5, 0.2, 0.2, 0.1]), np.array([0.0, 1.0, 3.0, 4.0])
    k, n_units = 0.6, 400
    estimates = []
    for _ in range(2000):
        a, b = rng.choice(values, size=(2, n_units), p=shares)
        b = np.where(rng.random(n_units) < k, a, b)
        pooled = np.append(a, b)
        estimates.append(1 - ((a - b) ** 2).mean() / (2 * pooled.var()))
    peaked = kurtosis(shares, values)
    spread = BeyondChance.of_distances(shares, kurtosis=peaked, n_pairs=n_units)
    expected = np.polynomial.polynomial.polyval(k, spread.shape) / n_units
    assert np.mean(estimates) == pytest.approx(k, abs=0.01)
    assert np.var(estimates) == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("value", [-0.3, 0.0, 0.2, 0.7, 0.97])
def test_the_ends_of_a_score_interval_are_just_accepted(value: float) -> None:
    spread = BeyondChance.of_classes(np.array([30.0, 20.0, 10.0]), n_pairs=50)
    inputs = evidence(value, 0.01)
    low, high, method = spread.ends(inputs)
    assert method == "score"
    scale = 0.01 / np.polynomial.polynomial.polyval(max(value, 0), spread.shape)
    for end in (low, high):
        k = max(end, 0.0)
        variance = max(
            scale * np.polynomial.polynomial.polyval(k, spread.shape),
            np.polynomial.polynomial.polyval(k, spread.floor),
        )
        assert abs(value - end) == pytest.approx(inputs.quantile * math.sqrt(variance), rel=1e-6)


def test_a_sample_without_what_is_rare_has_the_least_variance_of_independent_pairs() -> None:
    """The jackknife sees no error; a kappa of .3 still gives 0 often enough."""
    spread = BeyondChance.of_classes(np.array([58.0, 2.0]), n_pairs=30)
    low, high, _ = spread.ends(evidence(-0.03, 1e-8, n_groups=30, df=29))
    assert low < -0.3
    assert high > 0.5


def test_a_scale_of_mostly_one_value_has_the_least_variance_of_a_binary_one() -> None:
    """Means of two ratings, most of them 0: the halves between do not make the others less rare."""
    values, counts = np.array([0.0, 0.5, 1.0]), np.array([36.0, 3.0, 1.0])
    peaked = kurtosis(counts, values)
    spread = BeyondChance.of_distances(counts, kurtosis=peaked, n_pairs=20)
    low, high, _ = spread.ends(evidence(-0.02, 1e-8, n_groups=20, df=19))
    assert low < -0.4
    assert high > 0.6

    # with a hundred rare values a fifth of that, and four fifths of half of normal ratings'
    many = BeyondChance.of_distances(25 * counts, kurtosis=peaked, n_pairs=20)
    assert many.floor[0] == pytest.approx((0.2 + 0.8 * 0.5) / 20)

    even = BeyondChance.of_distances(np.full(3, 20.0), kurtosis=1.5, n_pairs=20)
    assert even.floor[0] == pytest.approx(0.5 / 20)


def test_kurtosis_is_that_of_scipy() -> None:
    values = np.array([1.0, 2.0, 4.0, 9.0])
    counts = np.array([3, 5, 1, 2])
    expected = stats.kurtosis(np.repeat(values, counts), fisher=False)
    assert kurtosis(counts.astype(float), values) == pytest.approx(expected)
    assert math.isnan(kurtosis(np.array([3.0, 0.0]), np.array([1.0, 2.0])))


def test_two_thirds_of_the_ratings_are_mostly_one_value() -> None:
    spread = BeyondChance.of_distances(np.array([40.0, 10.0, 10.0]), kurtosis=2.5, n_pairs=30)
    assert spread.floor == pytest.approx([item / 30 for item in spread.shape])


def test_agreement_beyond_chance_is_never_taken_to_lie_below_minus_one() -> None:
    spread = BeyondChance.of_classes(np.array([10.0, 10.0]), n_pairs=10)
    low, high, _ = spread.ends(evidence(-0.8, 0.04, n_groups=10, df=9))
    assert low == -1
    assert -0.8 < high < 1


def test_a_mean_that_may_lie_below_minus_1_has_no_interval_below() -> None:
    """AC2 with an agreement by chance of .6: the least value is -1.5."""
    evidence = Evidence(-0.6, variance=0.1, n_groups=6, df=5, confidence=0.95)
    low, high, _ = MeanShare(lowest=-1.5).ends(evidence)

    assert low == -1
    assert -0.6 < high < 1


@pytest.mark.parametrize(("n_rare", "df"), [(1, 3), (5, 11), (24, 49), (25, 49)])
def test_a_variance_has_two_degrees_of_freedom_for_each_rare_group_and_one(
    n_rare: int, df: int
) -> None:
    assert degrees_of_freedom(50, n_rare=n_rare) == df


@pytest.mark.parametrize("n_equal", [2, 5, 10, 25, 50])
def test_a_jackknife_rests_on_the_groups_that_contribute(n_equal: int) -> None:
    """Of 50 groups so many deviate by 3, the others not at all."""
    result = jackknife_df(50, squares=9.0 * n_equal, fourth=81.0 * n_equal)

    assert result == (49 if n_equal > 24 else int(2 * n_equal * 50 / (50 - n_equal) + 1e-9))


def test_a_jackknife_of_normal_deviations_has_the_degrees_of_freedom_of_its_groups() -> None:
    """The fourth moment of normal numbers is three times the squared variance."""
    assert jackknife_df(40, squares=40.0, fourth=3 * 40.0) == 39
    assert jackknife_df(40, squares=40.0, fourth=2.9 * 40.0) == 39
    assert jackknife_df(40, squares=40.0, fourth=5 * 40.0) == 20
    assert jackknife_df(40, squares=0.0, fourth=0.0) == 39


def test_one_group_that_contributes_all_leaves_two_degrees_of_freedom() -> None:
    assert jackknife_df(1_000, squares=4.0, fourth=16.0) == 2
    assert jackknife_df(2, squares=4.0, fourth=16.0) == 1


DF = (1, 2, 3, 9, 19, 49, 199, 10_000)


@pytest.mark.parametrize("df", DF)
@pytest.mark.parametrize("share", [0.01, 0.5, 0.6, 0.9, 0.975, 0.9995, 1 - 1e-7])
def test_quantiles_of_students_t_are_scipys(share: float, df: int) -> None:
    assert t_quantile(share, df=df) == pytest.approx(stdtrit(df, share), rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("df", DF)
@pytest.mark.parametrize("value", [-40.0, -2.0, 0.0, 0.3, 1.0, 2.5, 30.0])
def test_probabilities_of_students_t_are_scipys(value: float, df: int) -> None:
    assert t_probability(value, df=df) == pytest.approx(stdtr(df, value), rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("value", [0.4, 0.8, 0.97])
@pytest.mark.parametrize("marginals", [[30.0, 20.0, 10.0], [20.0, 20.0, 20.0]])
def test_ends_are_the_outermost_values_that_the_estimate_does_not_contradict(
    value: float, marginals: list[float]
) -> None:
    spread = BeyondChance.of_distances(np.array(marginals), kurtosis=2.0, n_pairs=30)
    estimate = evidence(value, 0.004)
    low, high, _ = spread.ends(estimate)
    k = np.linspace(0, 1, 1_000_001)
    scale = estimate.variance / np.polynomial.polynomial.polyval(value, spread.shape)
    variances = [
        np.polynomial.polynomial.polyval(k, scale * np.asarray(spread.shape)),
        np.polynomial.polynomial.polyval(k, spread.floor),
    ]
    held = k[(value - k) ** 2 <= estimate.quantile**2 * np.maximum(*variances)]

    assert 0 < held.min() < value < held.max()
    assert (low, high) == pytest.approx((held.min(), held.max()), abs=2e-6)


def test_the_least_variance_vanishes_with_perfect_agreement_alone() -> None:
    spread = BeyondChance.of_distances(np.full(3, 20.0), kurtosis=1.5, n_pairs=20)
    at_chance, halfway, perfect = np.polynomial.polynomial.polyval([0, 0.5, 1], spread.floor)

    assert (at_chance, halfway) == pytest.approx((0.5 / 20, 0.5 * 0.75**2 / 20))
    assert perfect == pytest.approx(0)
