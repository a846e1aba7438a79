"""Intervals of the coefficients: published forms, limits, groups, and what they may not do."""

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from eval_assets.scale import BINARY, LIKERT5, Scale
from eval_assets.stats import (
    Alpha,
    Coefficient,
    CohenKappa,
    Correlation,
    FleissKappa,
    GwetAC,
    HumanAgreement,
    PairwiseAgreement,
    RatingPatterns,
    bootstrap_interval,
    coefficient_interval,
    cohen_kappa,
    kendall_tau_b,
    krippendorff_alpha,
    pearson,
    spearman,
)
from eval_assets.stats import _units as units_module
from eval_assets.stats.intervals import Interval, less

Floats = npt.NDArray[np.float64]

NAN = math.nan


def two_raters(n_units: int, *, seed: int, noise: float = 0.7) -> Floats:
    """Ratings 1-5 of two raters."""
    rng = np.random.default_rng(seed)
    truth = rng.uniform(1, 5, (n_units, 1))
    ratings: Floats = np.rint(np.clip(truth + rng.normal(0, noise, (n_units, 2)), 1, 5))
    return ratings


def wilson(share: float, n: float, quantile: float) -> tuple[float, float]:
    """Wilson's interval as he gives it."""
    centre = (share + quantile**2 / 2 / n) / (1 + quantile**2 / n)
    far = quantile * math.sqrt(share * (1 - share) / n + quantile**2 / 4 / n**2)
    return centre - far / (1 + quantile**2 / n), centre + far / (1 + quantile**2 / n)


def test_a_share_of_single_pairs_has_wilsons_interval() -> None:
    """With one pair a unit the jackknife variance is p (1 - p) / (n - 1)."""
    ratings = [[1, 1]] * 30 + [[1, 2]] * 10
    result = coefficient_interval(ratings, PairwiseAgreement(within=0), confidence=0.95)
    low, high = wilson(0.75, 39, float(stats.t.ppf(0.975, 39)))
    assert (result.method, result.n_units, result.n_groups) == ("wilson", 40, 40)
    assert (result.low, result.high) == pytest.approx((low, high), abs=1e-12)


def test_copies_of_a_unit_in_its_group_are_no_more_evidence() -> None:
    """The design effect of six equal responses a group is six."""
    ratings = np.array([[1, 1]] * 30 + [[1, 2]] * 10)
    single = coefficient_interval(ratings, PairwiseAgreement(within=0), confidence=0.95)
    copies = coefficient_interval(
        np.repeat(ratings, 6, axis=0),
        PairwiseAgreement(within=0),
        confidence=0.95,
        groups=np.repeat(np.arange(40), 6),
    )
    assert (copies.low, copies.high) == pytest.approx((single.low, single.high), abs=1e-12)
    assert (copies.n_units, copies.n_groups) == (240, 40)


@pytest.mark.parametrize(
    "coefficient", [HumanAgreement(LIKERT5), PairwiseAgreement(within=0), GwetAC(None)], ids=str
)
def test_ten_responses_that_agree_leave_thirty_one_percent_open(coefficient: Coefficient) -> None:
    """Clopper and Pearson's bound: .025 = .6915 ** 10."""
    ratings = [[1, 1], [2, 2]] * 5
    result = coefficient_interval(ratings, coefficient, confidence=0.95)
    if isinstance(coefficient, GwetAC):  # two values: agreement by chance is .5
        assert result.low == pytest.approx(1 - (1 - 0.025**0.1) / 0.5)
    else:
        assert result.low == pytest.approx(0.025**0.1)
    assert (result.value, result.high, result.method) == (1, 1, "exact")


def test_perfect_alpha_has_the_bound_of_its_observed_disagreement() -> None:
    # five values twice each: two ratings differ by chance in .8 of the pairs, and at most .3085 of
    # the responses may differ at all
    ratings = [[value, value] for value in (1, 2, 3, 4, 5)] * 2
    for level in ("nominal", "ordinal", "interval"):
        result = coefficient_interval(ratings, Alpha(level), confidence=0.95)
        assert result.low == pytest.approx(1 - (1 - 0.025**0.1) / 0.8)
        assert (result.value, result.high, result.method) == (1, 1, "exact")


def test_two_equal_ratings_show_next_to_nothing() -> None:
    result = coefficient_interval([[1, 1], [2, 2]], HumanAgreement(LIKERT5), confidence=0.95)
    assert (result.value, result.high) == (1, 1)
    assert result.low == pytest.approx(math.sqrt(0.025))
    alpha = coefficient_interval([[1, 1], [2, 2]], Alpha("nominal"), confidence=0.95)
    assert math.isnan(alpha.low)  # without either response nothing varies
    one = coefficient_interval([[1, 1]], HumanAgreement(LIKERT5), confidence=0.95)
    assert (one.value, one.method) == (1, None)
    assert math.isnan(one.low)


def test_responses_that_all_differ_by_as_much_are_no_certainty() -> None:
    result = coefficient_interval([[3, 4]] * 10, HumanAgreement(LIKERT5), confidence=0.95)
    assert result.value == 0.75
    assert result.low == pytest.approx(0.75 * 0.025**0.1)
    assert result.high == pytest.approx(1 - 0.25 * 0.025**0.1)


COEFFICIENTS: list[Coefficient] = [
    HumanAgreement(LIKERT5),
    PairwiseAgreement(within=0),
    PairwiseAgreement(within=1),
    *(Alpha(level) for level in ("nominal", "ordinal", "interval", "ratio")),
    FleissKappa(),
    GwetAC(None, (1, 2, 3, 4, 5)),
    GwetAC("quadratic", (1, 2, 3, 4, 5)),
    CohenKappa(None),
    CohenKappa("linear"),
    CohenKappa("quadratic"),
    Correlation("pearson"),
    Correlation("spearman"),
    Correlation("kendall"),
]


@pytest.mark.parametrize("coefficient", COEFFICIENTS, ids=str)
def test_every_coefficient_lies_inside_its_interval_which_narrows_with_more_groups(
    coefficient: Coefficient,
) -> None:
    few, many = (
        coefficient_interval(two_raters(n, seed=n), coefficient, confidence=0.95)
        for n in (30, 1000)
    )
    for result in (few, many):
        assert -1 <= result.low < result.value < result.high <= 1
    assert many.high - many.low < (few.high - few.low) / 3


@pytest.mark.slow
@pytest.mark.parametrize("coefficient", COEFFICIENTS, ids=str)
def test_every_interval_is_near_that_of_the_bootstrap(coefficient: Coefficient) -> None:
    """With 400 responses both are nearly normal; groups of four are resampled together."""
    rng = np.random.default_rng(3)
    ratings = two_raters(400, seed=8)
    ratings[::4] = np.rint(np.clip(ratings[::4] + rng.normal(0, 1, (100, 2)), 1, 5))
    groups = np.repeat(np.arange(100), 4)
    actual = coefficient_interval(ratings, coefficient, confidence=0.95, groups=groups)

    def value(rows: Floats) -> float:
        measure, kind = coefficient.by_row(rows)
        n_units = np.bincount(kind, minlength=len(measure.is_evidence))
        return float(measure.estimator(n_units[np.newaxis].astype(float))[0])

    expected = bootstrap_interval(
        ratings, value, confidence=0.95, n_resamples=600, rng=rng, groups=groups
    )
    width = expected.high - expected.low
    assert actual.value == pytest.approx(expected.value, abs=1e-12)
    assert actual.low == pytest.approx(expected.low, abs=0.15 * width)
    assert actual.high == pytest.approx(expected.high, abs=0.15 * width)
    assert actual.n_groups == expected.n_groups == 100


@pytest.mark.parametrize(
    ("coefficient", "function"),
    [
        (CohenKappa("linear"), lambda a, b: cohen_kappa(a, b, weights="linear")),
        (Correlation("pearson"), pearson),
        (Correlation("spearman"), spearman),
        (Correlation("kendall"), kendall_tau_b),
    ],
    ids=["kappa", "pearson", "spearman", "kendall"],
)
def test_coefficients_of_two_columns_are_those_of_the_functions(
    coefficient: Coefficient, function: Callable[[Floats, Floats], float]
) -> None:
    ratings = two_raters(60, seed=4)
    ratings[3, 1] = NAN
    result = coefficient_interval(ratings, coefficient, confidence=0.95)
    assert result.value == function(*ratings.T)
    assert result.n_units == 59


def test_the_interval_of_kappa_matches_its_large_sample_error() -> None:
    """Fleiss, Cohen and Everitt (1969), in the form for equal marginals of one half."""
    ratings = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [800, 200, 200, 800], axis=0)
    result = coefficient_interval(ratings, CohenKappa(None), confidence=0.95)
    # kappa = 2 P_o - 1, standard error 2 sqrt(P_o (1 - P_o) / n) = 2 sqrt(.16 / 2000)
    assert result.value == pytest.approx(0.6)
    assert result.high - result.low == pytest.approx(
        2 * 1.96 * 2 * math.sqrt(0.16 / 2000), rel=0.02
    )


def test_a_rare_class_that_two_raters_never_share_does_not_rule_out_agreement() -> None:
    """Three single 1s in twenty: kappa is -.08, and a judge at .45 gives that in one of nine."""
    ratings = [[0, 0]] * 17 + [[0, 1], [1, 0], [0, 1]]
    result = coefficient_interval(ratings, CohenKappa(None), confidence=0.95)
    assert result.value < 0
    assert result.low > -1
    assert result.high > 0.5


def test_ten_answers_leave_alpha_wide_open() -> None:
    # squares of differences add up to 7: D_o = 2 * 7 / 20 = .7; twenty ratings with sum 61 and sum
    # of squares 221: D_e = 2 * (20 * 221 - 61**2) / 380 = 3.6789
    ratings = [[1, 1], [2, 2], [3, 3], [4, 4], [5, 5], [1, 2], [3, 2], [5, 4], [4, 4], [2, 4]]
    result = coefficient_interval(ratings, Alpha("interval"), confidence=0.95)
    assert result.value == pytest.approx(1 - 0.7 / 3.6789, abs=1e-5)
    assert result.low < 0.5
    assert 0.93 < result.high < 1


@pytest.mark.slow
def test_of_twenty_answers_the_interval_holds_the_true_alpha_as_often_as_it_says() -> None:
    true = krippendorff_alpha(two_raters(200_000, seed=1), level="interval")
    result = [
        coefficient_interval(two_raters(20, seed=seed), Alpha("interval"), confidence=0.9)
        for seed in range(400)
    ]
    held = sum(interval.low <= true <= interval.high for interval in result)
    # 90 % of 400, give or take 2.5 standard errors of 6
    assert 345 <= held <= 375


@pytest.mark.slow
def test_dependent_answers_need_their_groups() -> None:
    """Six answers to a prompt share its difficulty: without groups half the intervals miss."""
    rng = np.random.default_rng(5)

    def drawn(n_groups: int) -> Floats:
        difficulty = np.repeat(np.exp(rng.normal(0, 0.8, n_groups)), 6)[:, np.newaxis]
        truth = rng.uniform(1, 5, (6 * n_groups, 1))
        ratings: Floats = np.rint(
            np.clip(truth + 0.7 * difficulty * rng.normal(size=(6 * n_groups, 3)), 1, 5)
        )
        return ratings

    agreement = HumanAgreement(LIKERT5)
    true = coefficient_interval(drawn(40_000), agreement, confidence=0.95).value
    held = np.zeros(2)
    for _ in range(200):
        ratings = drawn(30)
        for place, groups in enumerate([np.repeat(np.arange(30), 6), None]):
            result = coefficient_interval(ratings, agreement, confidence=0.95, groups=groups)
            held[place] += result.low <= true <= result.high
    assert held[0] >= 180
    assert held[1] <= 160


def test_patterns_and_the_matrix_they_were_counted_from_have_one_interval() -> None:
    ratings, groups = two_raters(60, seed=6), np.arange(60) // 3
    patterns = RatingPatterns.from_matrix(ratings, groups=groups)
    for coefficient in (Alpha("ordinal"), FleissKappa(), HumanAgreement(LIKERT5)):
        assert coefficient_interval(patterns, coefficient, confidence=0.95) == coefficient_interval(
            ratings, coefficient, confidence=0.95, groups=groups
        )


def test_groups_may_be_any_labels_in_any_order() -> None:
    ratings, groups = two_raters(60, seed=6), np.arange(60) // 3
    order = np.random.default_rng(1).permutation(60)
    expected = coefficient_interval(ratings, Alpha("ordinal"), confidence=0.95, groups=groups)
    named = [f"prompt {group}" for group in groups[order]]
    actual = coefficient_interval(ratings[order], Alpha("ordinal"), confidence=0.95, groups=named)
    assert (actual.low, actual.high) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_units_that_cannot_disagree_change_no_interval_of_alpha() -> None:
    ratings = two_raters(40, seed=7)
    single = np.column_stack([np.full(25, 3.0), np.full(25, NAN)])
    expected = coefficient_interval(ratings, Alpha("ordinal"), confidence=0.95)
    actual = coefficient_interval(np.vstack([ratings, single]), Alpha("ordinal"), confidence=0.95)
    assert (actual.low, actual.high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert (actual.n_units, actual.n_groups) == (40, 40)


@pytest.mark.parametrize(
    "ratings",
    [[[1, 1], [1, 1]], [[1, 5]], [[1, NAN], [2, NAN]], [[1, 1], [1, 1], [1, 1], [1, 2]]],
    ids=["no variation", "one", "none", "variation in one unit"],
)
def test_undefined_coefficients_have_undefined_ends(ratings: list[list[float]]) -> None:
    result = coefficient_interval(ratings, Alpha("interval"), confidence=0.95)
    assert result.method is None
    assert math.isnan(result.low)
    assert math.isnan(result.high)


def test_groups_left_out_in_blocks_give_nearly_the_same_interval(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ratings = two_raters(3000, seed=9)
    groups = np.arange(3000) // 2
    expected = coefficient_interval(ratings, Alpha("interval"), confidence=0.95, groups=groups)
    monkeypatch.setattr(units_module, "MAX_JACKKNIFE_WORK", 0)
    in_blocks = coefficient_interval(ratings, Alpha("interval"), confidence=0.95, groups=groups)
    assert in_blocks.n_groups == 1500
    width = expected.high - expected.low
    assert in_blocks.high - in_blocks.low == pytest.approx(width, rel=0.25)
    assert in_blocks != expected


def test_blocks_lend_the_degrees_of_freedom_of_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interval is Wilson's with the variance of 25 blocks and Student's quantile at 24."""
    monkeypatch.setattr(units_module, "MAX_JACKKNIFE_WORK", 0)
    ratings = np.random.default_rng(9).normal(size=(500, 2))  # no two rows are alike
    equal = (np.abs(ratings[:, 0] - ratings[:, 1]) <= 1).astype(float)
    kind = RatingPatterns.by_row(ratings)[1]
    block = units_module.blocks(kind, most=25)
    p = equal.mean()
    without = np.array([equal[block != k].mean() for k in range(25)])
    v = stats.t.ppf(0.975, 24) ** 2 * 24 / 25 * ((without - p) ** 2).sum() / (p * (1 - p))
    centre, half = p + v / 2, math.sqrt(v * p * (1 - p) + v**2 / 4)
    result = coefficient_interval(ratings, PairwiseAgreement(1), confidence=0.95)

    assert result.n_groups == len(np.unique(kind)) == 500
    assert (result.low, result.high) == pytest.approx(
        ((centre - half) / (1 + v), (centre + half) / (1 + v))
    )


@pytest.mark.parametrize("factor", [1e-17, 1e9])
def test_intervals_do_not_depend_on_the_unit_of_the_scale(factor: float) -> None:
    ratings = two_raters(50, seed=10)
    scaled = Scale(low=0, high=5 * factor)
    for actual, expected in [
        (
            coefficient_interval(ratings * factor, HumanAgreement(scaled), confidence=0.95),
            coefficient_interval(ratings, HumanAgreement(Scale(0, 5)), confidence=0.95),
        ),
        *(
            (
                coefficient_interval(ratings * factor, Alpha(level), confidence=0.95),
                coefficient_interval(ratings, Alpha(level), confidence=0.95),
            )
            for level in ("nominal", "ordinal", "interval", "ratio")
        ),
    ]:
        ends = (actual.value, actual.low, actual.high)
        assert ends == pytest.approx((expected.value, expected.low, expected.high), rel=1e-6)


def test_an_interval_prints_as_a_figure_with_its_ends() -> None:
    ratings = [[0, 0]] * 8 + [[1, 1]] * 8 + [[0, 1]] * 4
    result = coefficient_interval(ratings, HumanAgreement(BINARY), confidence=0.95)
    assert str(result) == "0.800 [0.562, 0.926]"
    assert str(coefficient_interval([[1, 1]], Alpha("ordinal"), confidence=0.95)) == (
        "nan [undefined]"
    )


def test_arguments_out_of_range_are_refused() -> None:
    ratings = [[1, 2], [2, 2]]
    with pytest.raises(ValueError, match=r"confidence must lie in \(0, 1\), got 95"):
        coefficient_interval(ratings, Alpha("interval"), confidence=95)
    with pytest.raises(ValueError, match="must have two columns, got 3"):
        coefficient_interval([[1, 2, 3]], CohenKappa(None), confidence=0.95)
    with pytest.raises(ValueError, match="kind must be one of 'pearson', 'spearman', 'kendall'"):
        Correlation("pearsons")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="weights must be one of None, 'linear', 'quadratic'"):
        CohenKappa("squared")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="patterns forget who gave a rating"):
        coefficient_interval(RatingPatterns.from_matrix(ratings), CohenKappa(None), confidence=0.95)
    with pytest.raises(ValueError, match=r"groups must name a group for each of 2 units"):
        coefficient_interval(ratings, Alpha("interval"), confidence=0.95, groups=[1])


def test_groups_without_rarer_values_lend_no_degrees_of_freedom() -> None:
    """Forty groups of five responses; two have failures, which the raters see alike but for one."""
    ratings = np.zeros((200, 2))
    ratings[[0, 1, 5, 6]] = 1
    ratings[2, 0] = 1
    result, few = (
        coefficient_interval(
            ratings[: 5 * n], Alpha("nominal"), confidence=0.95, groups=np.arange(5 * n) // 5
        )
        for n in (40, 10)
    )
    alone = coefficient_interval(ratings, Alpha("nominal"), confidence=0.95)

    assert result.value == pytest.approx(few.value, abs=0.02)
    assert (result.n_groups, alone.n_groups) == (40, 200)
    assert result.high - result.low > 0.8 * (few.high - few.low)
    assert result.high - result.low > 1.2 * (alone.high - alone.low)


def rated(n_units: int, *, seed: int, noise: float) -> Floats:
    """Ratings 1-5 by three raters of the same responses, however noisy they are."""
    truth = np.random.default_rng(0).uniform(1, 5, (n_units, 1))
    rng = np.random.default_rng(seed)
    ratings: Floats = np.rint(np.clip(truth + rng.normal(0, noise, (n_units, 3)), 1, 5))
    ratings[rng.random(ratings.shape) < 0.15] = NAN
    return ratings


def test_independent_units_add_their_variances() -> None:
    a, b = rated(150, seed=1, noise=0.5), rated(100, seed=2, noise=1.0)
    agreement = HumanAgreement(LIKERT5)
    one, other = (coefficient_interval(x, agreement, confidence=0.95) for x in (a, b))
    result = less(one, other, np.eye(2))
    assert result.value == one.value - other.value
    assert result.low == pytest.approx(
        result.value - math.hypot(one.value - one.low, other.high - other.value)
    )
    assert result.high == pytest.approx(
        result.value + math.hypot(one.high - one.value, other.value - other.low)
    )
    assert result.low > 0


def test_two_sides_that_agree_perfectly_may_still_differ() -> None:
    same = coefficient_interval([[1, 1], [2, 2]] * 5, HumanAgreement(LIKERT5), confidence=0.95)
    result = less(same, same, np.eye(2))
    assert result.value == 0
    assert (result.low, result.high) == pytest.approx((0.025**0.1 - 1, 1 - 0.025**0.1))


def test_a_side_without_an_interval_leaves_none_to_the_difference() -> None:
    one, other = (
        coefficient_interval(ratings, Alpha("nominal"), confidence=0.95)
        for ratings in ([[1, 1], [1, 1]], [[1, 2], [2, 2]])
    )
    result = less(one, other, np.eye(2))
    assert result.method is None
    assert np.isnan([result.value, result.low, result.high]).all()


def test_an_interval_is_scaled_and_shifted_with_its_value() -> None:
    share = Interval(0.25, 0.125, 0.5, 0.95, "score", 60, 6)
    shifted = share.times(4.0, plus=0.5)
    turned = share.times(-1.0)

    assert (shifted.low, shifted.value, shifted.high) == (1.0, 1.5, 2.5)
    assert (turned.low, turned.value, turned.high) == (-0.5, -0.25, -0.125)


@pytest.mark.parametrize("confidence", [-0.5, 0.0, 1.0, 95.0])
def test_a_confidence_beside_zero_and_one_is_refused(confidence: float) -> None:
    with pytest.raises(ValueError, match=r"confidence must lie in \(0, 1\)"):
        coefficient_interval([[1, 1], [1, 2]], PairwiseAgreement(within=0), confidence=confidence)
