"""Published tables, figures derived in a comment, the undefined, the refused."""

import math

import numpy as np
import numpy.typing as npt
import pytest

from eval_assets.scale import LIKERT5, Scale
from eval_assets.stats import (
    Level,
    Ratings,
    agreement_profile,
    alpha_by_cluster,
    fleiss_kappa,
    gwet_ac,
    human_agreement,
    krippendorff_alpha,
    pairwise_agreement,
)

NAN = math.nan

# Krippendorff (2011), Computing Krippendorff's alpha-reliability, section C: four observers, twelve
# units, five values, missing ratings; unit 12 has one rating
KRIPPENDORFF_2011 = np.array(
    [
        [1, 1, NAN, 1],
        [2, 2, 3, 2],
        [3, 3, 3, 3],
        [3, 3, 3, 3],
        [2, 2, 2, 2],
        [1, 2, 3, 4],
        [4, 4, 4, 4],
        [1, 1, 2, 1],
        [2, 2, 2, 2],
        [NAN, 5, 5, 5],
        [NAN, NAN, 1, 1],
        [NAN, NAN, 3, NAN],
    ]
)

# Fleiss (1971), table 1: thirty patients, six psychiatrists each, five diagnoses
FLEISS_1971 = """
00060 03003 01401 00006 03030 20400 00402 20310 20040 00006
10050 11040 03300 10050 02031 00501 30012 51000 02040 10203
00006 01050 02013 20040 10041 05010 40002 02040 10500 00006
"""


def ratings_from_counts(table: str) -> npt.NDArray[np.int64]:
    """Each group of digits says how many raters chose category 0, 1, 2, ..."""
    rows = [[int(digit) for digit in unit] for unit in table.split()]
    return np.array([np.repeat(np.arange(len(counts)), counts) for counts in rows])


@pytest.mark.parametrize(
    ("level", "alpha"),
    [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)],
)
def test_alpha_of_krippendorffs_own_example(level: Level, alpha: float) -> None:
    assert krippendorff_alpha(KRIPPENDORFF_2011, level=level) == pytest.approx(alpha, abs=5e-4)


def test_fleiss_kappa_of_fleiss_own_example() -> None:
    ratings = ratings_from_counts(FLEISS_1971)
    assert np.bincount(ratings.ravel()).tolist() == [26, 26, 30, 55, 43]  # his column totals
    assert fleiss_kappa(ratings) == pytest.approx(0.430, abs=5e-4)


def test_gwets_generalisations_on_krippendorffs_example() -> None:
    """Gwet (2014) prints these for the same table, unit 12 with its one rating included."""
    assert fleiss_kappa(KRIPPENDORFF_2011) == pytest.approx(0.76117, abs=5e-6)
    assert gwet_ac(KRIPPENDORFF_2011, weights=None) == pytest.approx(0.77544, abs=5e-6)


@pytest.mark.parametrize(
    ("ratings", "expected"),
    [
        ([[4, 4, 4]], 1.0),
        ([[3, 4], [2, 3]], 0.75),
        ([[1, 5]], 0.0),
        ([[3, 4, 5], [1, 1, 2]], 0.75),  # pairs .75 .5 .75 -> 2/3; 1 .75 .75 -> 5/6
        ([[4, 4], [1, NAN], [5, 4]], 0.875),  # one rating is no pair
        ([[1, 2, 3, 4, NAN]], 1 - (3 * 1 + 2 * 2 + 1 * 3) / 6 / 4),  # six pairs of four raters
    ],
)
def test_human_agreement_on_a_five_point_scale(ratings: Ratings, expected: float) -> None:
    assert human_agreement(ratings, low=1, high=5) == pytest.approx(expected, abs=1e-15)


def test_human_agreement_on_other_scales_uses_the_declared_ends() -> None:
    assert human_agreement([[1, 1, 0], [0, 0, 1]], low=0, high=1) == pytest.approx(1 / 3)
    assert human_agreement([[1, 2], [3, 4]], low=1, high=4) == pytest.approx(2 / 3)
    # only 0 and 1 were given on a scale up to 4: a third of the pairs differ by a quarter
    assert human_agreement([[0, 1], [1, 1], [0, 0]], low=0, high=4) == pytest.approx(11 / 12)


@pytest.mark.parametrize("unequal", [([1] * 10, [0, 1], 0, 1), ([4] * 10, [1, 5], 1, 5)])
def test_human_agreement_weighs_units_alike_and_pairwise_agreement_weighs_pairs(
    unequal: tuple[list[float], list[float], float, float],
) -> None:
    first, second, low, high = unequal
    ratings = [first, second + [NAN] * 8]
    # means 1 and 0; of 45 + 1 pairs all but one agree
    assert human_agreement(ratings, low=low, high=high) == 0.5
    assert pairwise_agreement(ratings, within=0) == pytest.approx(45 / 46)


def test_skewed_ratings_agree_closely_and_have_low_alpha() -> None:
    # eight times [4, 4] and both orders of [4, 5]: D_o = 2 * 2 / 20 = .2, two 5s among twenty:
    # D_e = 2 * 18 * 2 / (20 * 19) = .18947, alpha = 1 - .2 / .18947
    ratings = [[4, 4]] * 8 + [[4, 5], [5, 4]]
    assert human_agreement(ratings, low=1, high=5) == pytest.approx(0.95)
    assert krippendorff_alpha(ratings, level="interval") == pytest.approx(-0.0556, abs=5e-5)


@pytest.mark.parametrize(
    ("ratings", "low", "high", "expected"),
    [
        ([[1, 2], [3, 4], [5, 5], [1, 2], [3, 4]], 1, 5, 0.6),  # uniform on 1-5
        ([[1, 2], [3, 4]], 1, 4, 7 / 12),  # uniform on 1-4: .583
        ([[0, 1], [1, 0]], 0, 1, 0.5),
        ([[1, 1]] * 4 + [[0, 1]], 0, 1, 0.82),  # 90 % ones
        ([[4, 4]] * 3 + [[4, 3]] + [[5, 5]], 1, 5, 0.875),  # 70 % fours, 20 % fives, 10 % threes
        ([[2, 2], [2, 2]], 1, 5, 1.0),
    ],
)
def test_agreement_by_chance_follows_from_the_marginals(
    ratings: Ratings, low: float, high: float, expected: float
) -> None:
    assert by_chance(ratings, Scale(low, high)) == pytest.approx(expected)


def by_chance(ratings: Ratings, scale: Scale) -> float:
    profile = agreement_profile(ratings, scale=scale, level="interval", confidence=0.95)
    return profile.a_hh_by_chance


def test_agreement_by_chance_ignores_units_rated_once() -> None:
    assert by_chance(np.array([[0, 1], [0, NAN], [0, NAN]]), Scale(0, 1)) == 0.5


def test_alpha_of_three_points_and_two_judges() -> None:
    # scores 1 1 .75 .625 .5 .625: D_o = 2 * 2 * .125**2 / 6 = .0104167, D_e = .0875 over 15 pairs
    scores = np.array([[1, 1], [0.75, 0.625], [0.5, 0.625]])
    assert krippendorff_alpha(scores, level="interval") == pytest.approx(
        1 - 0.0104167 / 0.0875, abs=1e-6
    )
    assert krippendorff_alpha(scores, level="ordinal") == pytest.approx(0.7727, abs=5e-5)
    assert krippendorff_alpha(scores, level="ratio") == pytest.approx(0.8151, abs=5e-5)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([[0, 1], [0, 1]], -0.5),
        ([[0, 1], [1, 0], [0, 1]], -0.667),
        ([[0, 0, 1], [0.5, 0.5, NAN], [1, 1, NAN], [0.25, 0.25, NAN]], 0.354),
        ([[0, 0, 0]] * 4 + [[0.25, 0, NAN], [0.25, 0.25, NAN]], 0.615),
        ([[0.75, 0.8]], 0.0),
        ([[0, 1]], 0.0),
    ],
)
def test_interval_alpha_with_unequal_numbers_of_raters(scores: Ratings, expected: float) -> None:
    assert krippendorff_alpha(scores, level="interval") == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_alpha_of_perfect_agreement_is_exactly_one(level: Level) -> None:
    gaps = [[0.1, 0.1, NAN], [0.3, NAN, 0.3], [0.7, 0.7, 0.7], [NAN, NAN, 0.9]]
    assert krippendorff_alpha(gaps, level=level) == 1.0
    assert (
        krippendorff_alpha(np.random.default_rng(1).random((50, 1)).repeat(3, 1), level=level)
        == 1.0
    )


def test_fleiss_kappa_is_not_alpha() -> None:
    # two raters, 3 x [1, 1], [0, 0], [0, 1], [1, 0]: P_o 2/3, P_e 5/9 -> .25; alpha has 11 for 12
    ratings = [[1, 1]] * 3 + [[0, 0], [0, 1], [1, 0]]
    assert fleiss_kappa(ratings) == pytest.approx(0.25)
    assert krippendorff_alpha(ratings, level="nominal") == pytest.approx(1 - 0.75 * 11 / 12)


def test_gwets_weights_give_credit_for_near_misses() -> None:
    # pairs 1-1 1-2 3-3 2-3 1-3 on categories 1 2 3
    ratings = [[1, 1], [1, 2], [3, 3], [2, 3], [1, 3]]
    # shares .4 .2 .4: sum of p (1 - p) = .64
    # AC1: P_o = 2/5, P_e = .64 / 2
    assert gwet_ac(ratings, weights=None) == pytest.approx((0.4 - 0.32) / 0.68)
    # linear: credits 1 .5 1 .5 0, sum over the 3 x 3 table 3 + 4 * .5 = 5, P_e = 5 / 6 * .64
    assert gwet_ac(ratings, weights="linear") == pytest.approx(1 - 0.4 / (1 - 5 / 6 * 0.64))
    # quadratic: near misses 3/4, sum 3 + 4 * .75 = 6
    assert gwet_ac(ratings, weights="quadratic") == pytest.approx(1 - 0.3 / (1 - 0.64))
    # ordinal: one apart 1 - 1/3, two apart 0, sum 3 + 4 * 2/3 = 17/3
    assert gwet_ac(ratings, weights="ordinal") == pytest.approx(1 - 1 / 3 / (1.0 - 17 / 18 * 0.64))


def test_declared_categories_count_even_if_nobody_used_them() -> None:
    ratings = [[1, 1], [1, 2], [2, 2]]
    # shares .5 .5, P_o 2/3: P_e = .5 / (2 - 1) = .5 of two categories, .5 / 4 of five
    assert gwet_ac(ratings, weights=None) == pytest.approx(1 / 3)
    assert gwet_ac(ratings, weights=None, categories=[1, 2, 3, 4, 5]) == pytest.approx(
        1 - 1 / 3 / 0.875
    )
    assert gwet_ac([[1, 1], [1, 1]], weights=None, categories=[1, 2]) == 1.0


def test_pairwise_agreement_allows_for_float_noise() -> None:
    assert 0.1 + 0.2 != 0.3
    assert pairwise_agreement([[0.1 + 0.2, 0.3]], within=0) == 1.0
    assert pairwise_agreement([[0.4, 0.3], [0.5, 0.3]], within=0.1) == 0.5


def test_a_response_with_two_thousand_raters_costs_no_more_than_its_ratings() -> None:
    ratings = np.random.default_rng(1).permutation(np.arange(2000.0))[np.newaxis]
    # mean distance of 0 .. n-1 is (n + 1) / 3
    assert human_agreement(ratings, low=0, high=1999) == pytest.approx(1 - 2001 / 3 / 1999)


@pytest.mark.parametrize(
    "ratings",
    [np.empty((0, 2)), np.empty((3, 0)), [[NAN, NAN]], [[1, NAN], [NAN, 2]]],
    ids=["no unit", "no rater", "no rating", "no pair"],
)
def test_without_two_ratings_of_one_unit_everything_is_undefined(ratings: Ratings) -> None:
    assert math.isnan(human_agreement(ratings, low=1, high=5))
    assert math.isnan(by_chance(ratings, LIKERT5))
    assert math.isnan(pairwise_agreement(ratings, within=0))
    assert math.isnan(fleiss_kappa(ratings))
    for level in ("nominal", "ordinal", "interval", "ratio"):
        assert math.isnan(krippendorff_alpha(ratings, level=level))
    for weights in (None, "linear", "quadratic", "ordinal"):
        assert math.isnan(gwet_ac(ratings, weights=weights))


@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, 1e9 + 0.1])
def test_coefficients_beyond_chance_are_undefined_without_variation(value: float) -> None:
    ratings = [[value, value, value], [value, value, NAN], [value, NAN, NAN]]
    for level in ("nominal", "ordinal", "interval", "ratio"):
        assert math.isnan(krippendorff_alpha(ratings, level=level))
    assert math.isnan(fleiss_kappa(ratings))
    assert math.isnan(gwet_ac(ratings, weights=None))
    assert human_agreement(ratings, low=0, high=2e9) == 1.0


@pytest.mark.parametrize("ratings", [[1, 2, 3], [[[1], [2]]], 5.0])
def test_ratings_that_are_no_matrix_are_refused(ratings: Ratings) -> None:
    with pytest.raises(ValueError, match="must have the shape"):
        krippendorff_alpha(ratings, level="nominal")


@pytest.mark.parametrize("infinity", [math.inf, -math.inf])
def test_infinite_ratings_are_refused(infinity: float) -> None:
    with pytest.raises(ValueError, match="finite or NaN, got an infinity"):
        pairwise_agreement([[1, infinity]], within=0)


def test_ratings_off_the_scale_are_refused() -> None:
    with pytest.raises(ValueError, match=r"must lie in \[1, 5\], got 0 to 5"):
        human_agreement([[0, 5]], low=1, high=5)
    with pytest.raises(ValueError, match="low must lie below high"):
        human_agreement([[1, 1]], low=1, high=1)
    with pytest.raises(ValueError, match="must be categories, got 3"):
        gwet_ac([[1, 3], [1, 2]], weights=None, categories=[1, 2])
    with pytest.raises(ValueError, match="categories must ascend"):
        gwet_ac([[1, 2]], weights="linear", categories=[2, 1])


def test_the_ratio_level_refuses_what_it_cannot_compare() -> None:
    with pytest.raises(ValueError, match="at least 0, got -1"):
        krippendorff_alpha([[-1, 1]], level="ratio")
    with pytest.raises(ValueError, match="at most 10000 distinct values, got 10002"):
        krippendorff_alpha(np.arange(10_002).reshape(-1, 2), level="ratio")
    assert krippendorff_alpha([[0, 0], [1, 1]], level="ratio") == 1.0


@pytest.mark.parametrize("n_raters", [3, 49])
def test_equal_ratings_leave_agreement_beyond_chance_undefined_whatever_floats_add_up_to(
    n_raters: int,
) -> None:
    """The mean of six times a tenth is not a tenth, and 49 times a 49th is not 1."""
    ratings = np.full((2, n_raters), 0.1)

    assert math.isnan(krippendorff_alpha(ratings, level="interval"))
    assert math.isnan(fleiss_kappa(ratings))


def test_value_derived_by_hand() -> None:
    # units [0, .5] and [1, 1]: D_o = 2 x .25 / 4 = .125;
    # D_e of 0, .5, 1, 1 = 2 (.25 + 1 + 1 + .25 + .25 + 0) / (4 x 3) = 5.5 / 12
    _, alphas = alpha_by_cluster([3, 3, 3, 3], [0, 0, 1, 1], [0, 0.5, 1, 1])

    assert alphas == pytest.approx([1 - 0.125 / (5.5 / 12)])


def test_each_cluster_has_the_alpha_of_its_own_matrix() -> None:
    rng = np.random.default_rng(3)
    ratings = rng.integers(0, 5, size=(60, 4, 3)) / 4
    ratings[rng.random(ratings.shape) < 0.3] = np.nan
    response, question, _ = np.indices(ratings.shape)
    order = rng.permutation(ratings.size)

    clusters, alphas = alpha_by_cluster(
        10 - response.ravel()[order], question.ravel()[order], ratings.ravel()[order]
    )

    expected = [krippendorff_alpha(ratings[10 - cluster], level="interval") for cluster in clusters]
    two_units = [
        ((~np.isnan(ratings[10 - cluster])).sum(axis=1) > 1).sum() > 1 for cluster in clusters
    ]
    assert clusters.tolist() == sorted(range(-49, 11))
    assert not all(two_units)
    assert alphas == pytest.approx(np.where(two_units, expected, np.nan), nan_ok=True)


def test_units_numbered_within_clusters_or_overall_give_the_same() -> None:
    response, question = [0, 0, 0, 0, 1, 1, 1, 1], np.array([0, 0, 1, 1, 0, 0, 1, 1])
    value = [0, 0.25, 1, 1, 0.5, 0.5, 1, 0.75]

    within = alpha_by_cluster(response, question, value)
    overall = alpha_by_cluster(response, question + 100 * np.array(response), value)

    assert within[1].tolist() == overall[1].tolist()


@pytest.mark.parametrize(
    ("unit", "value"),
    [
        ([0, 0], [0.75, 0.8]),  # its alpha would be 0 however near the two are
        ([0, 0, 1], [0.75, 0.8, 1]),
        ([0, 0, 1, 1], [0.1 + 0.2] * 4),
        ([0, 0, 1, 1], [0.5, 0.5, 0.5, np.nan]),
        ([0], [np.nan]),
    ],
)
def test_alpha_of_one_unit_or_without_variation_is_undefined(
    unit: list[int], value: list[float]
) -> None:
    clusters, alphas = alpha_by_cluster([5] * len(unit), unit, value)

    assert clusters.tolist() == [5]
    assert np.isnan(alphas).all()


def test_constant_ratings_far_from_0_are_no_float_noise() -> None:
    _, alphas = alpha_by_cluster(
        [0] * 6 + [1] * 4, [0, 0, 0, 1, 1, 1, 0, 0, 1, 1], [0.7] * 6 + [1, 0, 1, 0]
    )

    assert np.isnan(alphas[0])
    assert alphas[1] == pytest.approx(1 - 3 * 2 / 4)


def test_no_ratings_have_no_clusters() -> None:
    clusters, alphas = alpha_by_cluster([], [], [])

    assert clusters.size == alphas.size == 0


def test_clusters_and_units_may_be_named() -> None:
    clusters, alphas = alpha_by_cluster(
        ["b", "b", "b", "b", "a"], ["x", "x", "y", "y", "x"], [0, 0.5, 1, 1, None]
    )
    numbered = alpha_by_cluster([1, 1, 1, 1, 0], [0, 0, 1, 1, 0], [0, 0.5, 1, 1, np.nan])

    assert clusters.tolist() == ["a", "b"]
    assert alphas == pytest.approx(numbered[1], nan_ok=True)


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="one entry per rating"):
        alpha_by_cluster([0], [0, 1], [1, 1])
