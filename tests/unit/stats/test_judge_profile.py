"""A judge against human raters: points, controls and intervals."""

import math
from collections.abc import Sequence
from dataclasses import fields
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from eval_assets.scale import Level, Scale
from eval_assets.stats import (
    Interval,
    JudgeHumanProfile,
    bootstrap_interval,
    judge_human_agreement,
    judge_human_profile,
    kendall_tau_b,
    krippendorff_alpha,
    pearson,
    spearman,
    wilcoxon_signed_rank,
)

Floats = npt.NDArray[np.float64]

ONE_TO_FIVE = (1.0, 2.0, 3.0, 4.0, 5.0)


def profile_of(  # noqa: PLR0913 - the defaults of this module's cases
    judge: npt.ArrayLike,
    ratings: Sequence[Sequence[float]] | Floats,
    *,
    values: tuple[float, ...] | None = ONE_TO_FIVE,
    low: float = 1,
    high: float = 5,
    level: Level = "ordinal",
    groups: npt.ArrayLike | None = None,
) -> JudgeHumanProfile:
    """Profile of ratings given unit by unit."""
    matrix = np.full((len(ratings), max((len(row) for row in ratings), default=0)), np.nan)
    for row, inputs in zip(matrix, ratings, strict=True):
        row[: len(inputs)] = inputs
    return judge_human_profile(
        matrix, judge, scale=Scale(low, high, values), level=level, confidence=0.95, groups=groups
    )


def figures(profile: JudgeHumanProfile) -> dict[str, Interval]:
    result = {field.name: getattr(profile, field.name) for field in fields(profile)}
    return {name: value for name, value in result.items() if isinstance(value, Interval)}


def random_ratings(n_units: int, *, seed: int, values: Sequence[float]) -> tuple[Floats, Floats]:
    """Scores and ratings that go together somewhat, a third of the ratings missing."""
    rng = np.random.default_rng(seed)
    quality = rng.random((n_units, 1))
    noisy = quality + rng.normal(0, 0.25, size=(n_units, 5))
    ratings = np.asarray(values)[np.clip((noisy * len(values)).astype(int), 0, len(values) - 1)]
    ratings[:, 1:][rng.random((n_units, 4)) < 0.4] = np.nan
    return ratings[:, 0], ratings[:, 1:]


@pytest.mark.parametrize(
    ("judge", "ratings", "message"),
    [
        ([6.0], [[5.0]], r"ratings must lie in \[1, 5\], got 6"),
        ([np.inf], [[5.0]], "ratings and scores must be finite or NaN, got an infinity"),
        ([5.0], [[0.0]], r"ratings must lie in \[1, 5\], got 0"),
        ([5.0], [[2.5]], "ratings must be categories, got 2.5"),
        ([[5.0]], [[5.0]], "judge must have one score for each of the 1 units"),
        ([5.0], [[5.0], [4.0]], "judge must have one score for each of the 2 units"),
    ],
)
def test_scores_and_ratings_off_the_scale_or_out_of_place_are_refused(
    judge: list[float], ratings: list[list[float]], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        profile_of(judge, ratings)


def test_an_off_scale_score_of_a_unit_nobody_rated_is_refused() -> None:
    with pytest.raises(ValueError, match="got 5 to 7"):
        profile_of([5.0, 7.0], [[5.0], [np.nan]])


def test_every_figure_derived_by_hand() -> None:
    # unit      judge  humans    mean  distance/4   equal  near  consensus  judge's value
    # 0         4      4, 5, 5   14/3  (0+1+1)/12   1      3     5          4
    # 1         2.5    2, 4      3     (.5+1.5)/8   0      1     2          2 (midway: lower)
    # 2         1      1         1     0            1      1     1          1
    # 3         5      3, 3      3     (2+2)/8      0      0     3          5
    # 4 has no human rating and 5 no score: both are left out
    profile = profile_of(
        [4, 2.5, 1, 5, 3, np.nan], [[4, 5, 5], [4, 2], [1], [3, 3], [np.nan], [5, 5]]
    )
    judge, human = np.array([4, 2.5, 1, 5]), np.array([14 / 3, 3, 1, 3])

    assert (profile.n_units, profile.n_pairs) == (4, 8)
    assert profile.a_ha.value == pytest.approx((5 / 6 + 3 / 4 + 1 + 1 / 2) / 4)
    assert profile.exact_agreement.value == pytest.approx(2 / 8)
    assert profile.adjacent_agreement.value == pytest.approx(5 / 8)
    assert profile.mae.value == pytest.approx((2 / 3 + 1 / 2 + 0 + 2) / 4)
    assert profile.bias.value == pytest.approx((-2 / 3 - 1 / 2 + 0 + 2) / 4)
    # units 01 02 12 23 in the same order, 03 in the opposite, 13 tied for the humans
    assert profile.kendall.value == pytest.approx((4 - 1) / np.sqrt(6 * 5))
    # ranks 3 2 1 4 and 4 2.5 1 2.5: covariation 3, squares 5 and 4.5
    assert profile.spearman.value == pytest.approx(3 / np.sqrt(5 * 4.5))
    assert profile.pearson.value == pytest.approx(np.corrcoef(judge, human)[0, 1])
    # (4,5) (2,2) (1,1) (5,3): P_o 2/4, P_e 3/16: both sides have 1, 2 and 5 once each
    assert profile.kappa.value == pytest.approx((2 / 4 - 3 / 16) / (1 - 3 / 16))
    # squares observed 1 + 0 + 0 + 4; expected 4 (46 + 39) - 2 x 12 x 11, over 4
    assert profile.weighted_kappa.value == pytest.approx(1 - 5 / ((4 * 85 - 264) / 4))
    assert profile.confusion == ((1, 1, 1), (2, 2, 1), (3, 5, 1), (5, 4, 1))
    assert np.isnan(profile.wilcoxon_p)


def test_points_are_those_of_the_functions_for_single_figures() -> None:
    from sklearn.metrics import cohen_kappa_score  # type: ignore[import-untyped]

    judge, ratings = random_ratings(300, seed=2, values=ONE_TO_FIVE)
    judge[::3] = np.clip(judge[::3] + 0.25, 1, 5)
    judge[::17] = np.nan
    profile = profile_of(judge, ratings)

    rated = ~np.isnan(judge) & ~np.isnan(ratings).all(axis=1)
    judge, ratings = judge[rated], ratings[rated]
    human = np.nanmean(ratings, axis=1)
    consensus = np.array([np.sort(row[~np.isnan(row)]) for row in ratings], dtype=object)
    medians = [row[(len(row) - 1) // 2] for row in consensus]
    snapped = [min(ONE_TO_FIVE, key=lambda step: (abs(step - score), step)) for score in judge]
    kappas = {
        weights: cohen_kappa_score(medians, snapped, weights=weights, labels=ONE_TO_FIVE)
        for weights in (None, "quadratic")
    }
    distances = np.abs(ratings - judge[:, np.newaxis])[~np.isnan(ratings)]
    expected = {
        "a_ha": judge_human_agreement(ratings, judge, low=1, high=5),
        "exact_agreement": np.mean(distances == 0),
        "adjacent_agreement": np.mean(distances <= 1),
        "alpha": krippendorff_alpha(np.column_stack([judge, human]), level="interval"),
        "kappa": kappas[None],
        "weighted_kappa": kappas["quadratic"],
        "spearman": spearman(judge, human),
        "kendall": kendall_tau_b(judge, human),
        "pearson": pearson(judge, human),
        "mae": np.mean(np.abs(judge - human)),
        "bias": np.mean(judge - human),
    }

    actual = {name: figures(profile)[name].value for name in expected}
    assert actual == pytest.approx(expected)
    assert profile.wilcoxon_p == pytest.approx(wilcoxon_signed_rank(judge, human))
    assert profile.n_units == rated.sum()
    assert profile.n_pairs == np.count_nonzero(~np.isnan(ratings))
    assert sum(n_units for _, _, n_units in profile.confusion) == rated.sum()


def test_correlations_of_continuous_scores_are_those_of_scipy() -> None:
    rng = np.random.default_rng(4)
    human = rng.random((80, 2))
    judge = np.clip(human.mean(axis=1) + rng.normal(0, 0.2, 80), 0, 1)
    profile = profile_of(judge, human, values=None, low=0, high=1, level="interval")

    mean = human.mean(axis=1)
    assert profile.pearson.value == pytest.approx(stats.pearsonr(judge, mean).statistic)
    assert profile.spearman.value == pytest.approx(stats.spearmanr(judge, mean).statistic)
    assert profile.kendall.value == pytest.approx(stats.kendalltau(judge, mean).statistic)


def test_a_continuous_scale_has_no_steps_and_no_categories() -> None:
    profile = profile_of([0.2, 0.8, 0.5], [[0.2], [0.7], [0.1]], values=None, low=0, high=1)

    assert profile.exact_agreement.value == pytest.approx(1 / 3)
    assert profile.confusion == ()
    for figure in (profile.adjacent_agreement, profile.kappa, profile.weighted_kappa):
        assert np.isnan([figure.value, figure.low, figure.high]).all()


def test_a_binary_judge_is_judged_the_same_by_rho_phi_tau_and_kappa() -> None:
    # 38 yes-yes, 4 and 4 apart, 4 no-no: accuracy .84, but (38 x 4 - 16) / (42 x 8) = .405
    judge = [1.0] * 42 + [0.0] * 8
    human = [[1.0]] * 38 + [[0.0]] * 4 + [[1.0]] * 4 + [[0.0]] * 4
    profile = profile_of(judge, human, values=(0, 1), low=0, high=1, level="nominal")

    assert profile.exact_agreement.value == pytest.approx(0.84)
    same = [profile.spearman, profile.kendall, profile.pearson, profile.kappa]
    assert [figure.value for figure in same] == pytest.approx([136 / 336] * 4)
    assert 0 < profile.spearman.low < 0.25
    assert 0.55 < profile.spearman.high < 0.75
    assert profile.confusion == ((0, 0, 4), (0, 1, 4), (1, 0, 4), (1, 1, 38))


def test_on_two_values_the_three_correlations_have_one_interval() -> None:
    judge, ratings = random_ratings(90, seed=5, values=(0.0, 1.0))
    profile = profile_of(judge, ratings[:, :1], values=(0, 1), low=0, high=1, level="nominal")

    ends = [(figure.low, figure.high) for figure in (profile.kendall, profile.pearson)]
    assert ends[0] == pytest.approx((profile.spearman.low, profile.spearman.high))
    assert ends[1] == pytest.approx((profile.spearman.low, profile.spearman.high))
    assert profile.a_ha.low == pytest.approx(profile.exact_agreement.low)


def test_a_conversation_mean_pasted_on_its_turns_is_not_the_judge_it_came_from() -> None:
    # a judge right on every turn; per conversation 1 and 4 become 2.5 twice
    turns = np.array([[1, 4], [1, 4], [1, 4], [1, 4], [1, 1], [4, 4]], dtype=float)
    pasted = np.repeat(turns.mean(axis=1), 2)
    by_turn = [[rating] for rating in turns.ravel()]
    four = (1.0, 2.0, 3.0, 4.0)
    joined = profile_of(turns.ravel(), by_turn, values=four, high=4)
    averaged = profile_of(pasted, by_turn, values=four, high=4)

    assert (joined.a_ha.value, joined.mae.value) == (1, 0)
    assert joined.pearson.value == pytest.approx(1)
    assert averaged.pearson.value == pytest.approx(1 / np.sqrt(3))
    assert averaged.mae.value == pytest.approx(1)
    assert averaged.a_ha.value == pytest.approx(2 / 3)


def test_scores_between_the_steps_have_a_kappa() -> None:
    """Peers refuse a mix of whole and fractional labels; here 2.5 and 2.4 are taken to 2."""
    profile = profile_of([2.5, 2.4, 4.6, 1], [[2], [2], [5], [1]])

    assert profile.kappa.value == profile.weighted_kappa.value == 1
    assert profile.exact_agreement.value == pytest.approx(1 / 4)


@pytest.mark.parametrize(
    ("level", "ratings", "consensus"),
    [
        ("ordinal", [1, 5, 5], 5),
        ("ordinal", [1, 2, 4, 5], 2),
        ("ordinal", [1, 1, 3, 4, 5], 3),
        ("nominal", [1, 1, 3, 4, 5], 1),
        ("nominal", [5, 5, 2, 2, 1], 2),
        ("nominal", [3], 3),
    ],
)
def test_consensus_is_the_lower_median_or_the_most_frequent_rating(
    level: Level, ratings: list[float], consensus: float
) -> None:
    profile = profile_of([1, 1], [ratings, [4]], level=level)

    assert {human for human, _, _ in profile.confusion} == {consensus, 4}


def test_adjacent_values_are_neighbours_if_steps_vary() -> None:
    # 0 and 1 are neighbours of 1 and 10, 4 and 100 are not; 5.5 is midway between 1 and 10
    profile = profile_of(
        [1, 10, 5.5, 0],
        [[0, 10], [1, 100, 0], [1, 10, 0], [100]],
        values=(0, 1, 10, 100),
        low=0,
        high=100,
    )

    assert profile.exact_agreement.value == 0
    assert profile.adjacent_agreement.value == pytest.approx(6 / 9)


def test_equal_means_tie_whatever_their_float_noise() -> None:
    # (.2 + .4) / 2 and .3 differ in the last bit
    tenths = tuple(step / 10 for step in range(11))
    profile = profile_of(
        [0.5, 0.7, 0.9], [[0.2, 0.4], [0.3], [0.3, 0.3]], values=tenths, low=0, high=1
    )

    assert np.isnan(profile.spearman.value)
    assert np.isnan(profile.pearson.value)


@pytest.mark.slow
@pytest.mark.parametrize("groups", [None, np.arange(300) // 3])
def test_intervals_are_near_those_of_a_bootstrap_over_groups(
    groups: npt.NDArray[np.int64] | None,
) -> None:
    judge, ratings = random_ratings(300, seed=8, values=ONE_TO_FIVE)
    units = np.column_stack([judge, ratings])
    profile = profile_of(units[:, 0], units[:, 1:], groups=groups)

    def human_mean(rows: Floats) -> Floats:
        is_rated = ~np.isnan(rows[:, 1:])
        n_ratings = is_rated.sum(axis=1)
        sums = np.where(is_rated, rows[:, 1:], 0).sum(axis=1)
        mean: Floats = np.where(n_ratings > 0, sums / np.maximum(n_ratings, 1), np.nan)
        return mean

    slow = {
        "a_ha": lambda rows: judge_human_agreement(rows[:, 1:], rows[:, 0], low=1, high=5),
        "spearman": lambda rows: spearman(rows[:, 0], human_mean(rows)),
        "kendall": lambda rows: kendall_tau_b(rows[:, 0], human_mean(rows)),
        "bias": lambda rows: float(np.nanmean(rows[:, 0] - human_mean(rows))),
        "mae": lambda rows: float(np.nanmean(np.abs(rows[:, 0] - human_mean(rows)))),
    }
    for name, statistic in slow.items():
        expected = bootstrap_interval(
            units,
            statistic,
            confidence=0.95,
            n_resamples=600,
            rng=np.random.default_rng(9),
            groups=groups,
        )
        actual = figures(profile)[name]
        width = expected.high - expected.low
        assert actual.value == pytest.approx(expected.value)
        assert actual.low == pytest.approx(expected.low, abs=0.15 * width)
        assert actual.high == pytest.approx(expected.high, abs=0.15 * width)
        assert actual.n_groups == (actual.n_units if groups is None else 100)


def test_the_test_of_bias_is_on_the_means_of_groups() -> None:
    judge, ratings = random_ratings(60, seed=12, values=ONE_TO_FIVE)
    groups = np.arange(60) // 4
    profile = profile_of(judge, ratings[:, :1], groups=groups)
    expected = wilcoxon_signed_rank(ratings[:, 0], judge, groups=groups)
    assert profile.wilcoxon_p == pytest.approx(expected)


def test_the_order_of_units_and_ratings_changes_nothing() -> None:
    judge, ratings = random_ratings(50, seed=10, values=ONE_TO_FIVE)
    rng = np.random.default_rng(11)
    order = rng.permutation(50)

    as_given = profile_of(judge, ratings)
    shuffled = profile_of(judge[order], rng.permuted(ratings[order], axis=1))

    assert shuffled.confusion == as_given.confusion
    for name, actual in figures(shuffled).items():
        expected = figures(as_given)[name]
        assert (actual.value, actual.low, actual.high) == pytest.approx(
            (expected.value, expected.low, expected.high), abs=1e-12, nan_ok=True
        )


def test_nothing_to_compare_is_undefined_throughout() -> None:
    for judge, ratings in [([], []), ([np.nan, 3.0], [[4.0], [np.nan]])]:
        profile = profile_of(judge, ratings)

        assert (profile.n_units, profile.n_pairs, profile.confusion) == (0, 0, ())
        for figure in figures(profile).values():
            assert np.isnan([figure.value, figure.low, figure.high]).all()
        assert math.isnan(profile.wilcoxon_p)


def test_one_unit_has_points_without_intervals() -> None:
    profile = profile_of([4], [[4, 5]])

    assert (profile.a_ha.value, profile.bias.value) == (0.875, -0.5)
    assert np.isnan([profile.a_ha.low, profile.bias.high, profile.spearman.value]).all()


def test_a_constant_judge_has_no_correlation_but_an_agreement() -> None:
    judge, ratings = np.full(30, 0.1 + 0.2), np.linspace(0, 1, 11)[np.arange(30) % 11]
    profile = profile_of(judge, ratings[:, np.newaxis], values=None, low=0, high=1)

    for figure in (profile.spearman, profile.kendall, profile.pearson):
        assert np.isnan([figure.value, figure.low, figure.high]).all()
    assert profile.alpha.value < 0
    assert 0 < profile.a_ha.value < 1


def test_one_value_throughout_is_agreement_that_little_can_be_said_of() -> None:
    profile = profile_of([4.0] * 12, [[4.0, 4.0]] * 12)

    perfect = (profile.a_ha, profile.exact_agreement, profile.adjacent_agreement)
    assert [figure.value for figure in perfect] == [1, 1, 1]
    assert [figure.low for figure in perfect] == pytest.approx([0.025 ** (1 / 12)] * 3)
    assert (profile.mae.value, profile.bias.value) == (0, 0)
    assert profile.mae.high == pytest.approx(4 * (1 - 0.025 ** (1 / 12)))
    assert profile.bias.high == -profile.bias.low == pytest.approx(profile.mae.high)
    for figure in (profile.alpha, profile.kappa, profile.weighted_kappa, profile.pearson):
        assert np.isnan([figure.value, figure.low, figure.high]).all()


@pytest.mark.slow
def test_the_interval_of_bias_holds_if_a_judge_seldom_errs_and_to_one_side() -> None:
    """All numbers of units rated too high and too low, each with its probability."""
    too_high, too_low, n_units = 0.001, 0.1, 50
    held = 0.0
    for above, below in product(range(3), range(17)):
        profile = profile_of(
            np.repeat([1.0, 0.0, 0.0], [above, below, n_units - above - below]),
            np.repeat([0.0, 1.0, 0.0], [above, below, n_units - above - below])[:, np.newaxis],
            values=(0, 1),
            low=0,
            high=1,
        )
        if profile.bias.low <= too_high - too_low <= profile.bias.high:
            cells = [above, below, n_units - above - below]
            shares = [too_high, too_low, 1 - too_high - too_low]
            held += stats.multinomial.pmf(cells, n_units, shares)
    assert held > 0.95  # Student's interval holds .88


@pytest.mark.slow
@pytest.mark.parametrize("n_units", [20, 50])
def test_intervals_hold_for_a_class_that_three_in_a_hundred_belong_to(n_units: int) -> None:
    rng = np.random.default_rng(n_units)

    def drawn(n: int) -> tuple[Floats, Floats]:
        quality = rng.normal(0, 1.2, (n, 1))
        ratings: Floats = (quality + 0.7 * rng.normal(size=(n, 2)) > 2.6).astype(float)
        judge: Floats = (quality[:, 0] + 0.9 * rng.normal(size=n) > 2.6).astype(float)
        return judge, ratings

    def figures_of(n: int) -> dict[str, Interval]:
        judge, ratings = drawn(n)
        return figures(profile_of(judge, ratings, values=(0, 1), low=0, high=1, level="nominal"))

    true = figures_of(100_000)
    held, defined = dict.fromkeys(true, 0), dict.fromkeys(true, 0)
    for _ in range(200):
        for name, result in figures_of(n_units).items():
            noise = 1e-9  # a share of exactly 1 is held by an end at 1
            held[name] += result.low - noise <= true[name].value <= result.high + noise
            defined[name] += result.method is not None
    # 95 % less three standard errors of 200; correlations are often undefined
    shares = {name: held[name] / defined[name] for name in true if defined[name] > 100}
    assert len(shares) >= 5
    assert min(shares.values()) >= 0.9, shares


def test_a_score_midway_between_two_values_is_the_lower_one_to_the_last_bit_or_not() -> None:
    """As floats .65 lies above the mean of .6 and .7, and .15 below that of .1 and .2."""
    tenths = tuple(k / 10 for k in range(11))
    profile = profile_of([0.65, 0.15], [[0.6], [0.1]], values=tenths, low=0, high=1)

    assert profile.confusion == ((0.1, 0.1, 1), (0.6, 0.6, 1))


def test_a_bias_is_no_larger_than_the_scale() -> None:
    profile = judge_human_profile(
        [[1.0], [1.0], [1.0], [5.0]],
        [5.0, 5.0, 5.0, 1.0],
        scale=Scale.from_steps(low=1, high=5),
        level="ordinal",
        confidence=0.95,
    )

    assert -4 <= profile.bias.low <= profile.bias.value <= profile.bias.high <= 4
