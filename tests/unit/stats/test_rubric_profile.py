import math

import numpy as np
import numpy.typing as npt
import pytest

from eval_assets.scale import BINARY, LIKERT5, Scale
from eval_assets.stats import (
    OverallProfile,
    Ratings,
    agreement_profile,
    bootstrap_interval,
    human_agreement,
    krippendorff_alpha,
    overall_profile,
    pairwise_agreement,
)

NAN = math.nan
CLASSES = Scale(1, 5, (1.0, 2.0, 3.0, 4.0, 5.0), has_order=False)


def rubric(n_responses: int, *, seed: int) -> list[npt.NDArray[np.float64]]:
    """Ratings on two questions, 1-5 and binary, that go with the same response."""
    rng = np.random.default_rng(seed)
    truth = rng.uniform(1, 5, (n_responses, 1))
    likert = np.rint(np.clip(truth + rng.normal(0, 1, (n_responses, 3)), 1, 5))
    binary = (truth + rng.normal(0, 1, (n_responses, 2)) > 3).astype(float)
    likert[rng.random(likert.shape) < 0.2] = NAN
    return [likert, binary]


def profile_of(
    likert: Ratings, binary: Ratings, *, groups: npt.ArrayLike | None = None
) -> OverallProfile:
    return overall_profile([(likert, LIKERT5), (binary, BINARY)], confidence=0.95, groups=groups)


def pooled(likert: npt.NDArray[np.float64], binary: npt.NDArray[np.float64]) -> Ratings:
    """Units (response, question) on [0, 1]."""
    wide = np.column_stack([binary, np.full(len(binary), NAN)])
    return np.vstack([(likert - 1) / 4, wide])


def test_overall_figures_follow_their_definitions() -> None:
    likert, binary = rubric(40, seed=1)
    profile = profile_of(likert, binary)
    questions = human_agreement(likert, low=1, high=5), human_agreement(binary, low=0, high=1)
    assert profile.a_hh.value == pytest.approx(np.mean(questions), abs=1e-14)
    alpha = krippendorff_alpha(pooled(likert, binary), level="interval")
    assert profile.alpha.value == pytest.approx(alpha, abs=1e-12)
    exact = pairwise_agreement(pooled(likert, binary), within=0)
    assert profile.exact_agreement.value == pytest.approx(exact)


def test_adjacent_means_within_the_step_of_each_questions_own_scale() -> None:
    profile = profile_of([[1, 3], [4, 5]], [[0, 1], [1, 1]])
    assert profile.adjacent_agreement.value == 3 / 4
    assert profile.exact_agreement.value == 1 / 4


def test_evidence_is_counted_over_questions() -> None:
    profile = profile_of(
        np.array([[1, 2], [3, NAN], [NAN, NAN]]), np.array([[1, 1], [0, 1], [1, NAN]])
    )
    assert profile.n_responses == 2
    assert (profile.n_units, profile.n_ratings, profile.n_pairs) == (3, 6, 3)
    assert profile.a_hh.n_units == 2


@pytest.mark.slow
@pytest.mark.parametrize("groups", [None, np.arange(300) // 3])
def test_responses_are_left_out_with_all_their_questions(
    groups: npt.NDArray[np.int64] | None,
) -> None:
    likert, binary = rubric(300, seed=2)
    joined = np.hstack([likert, binary])

    def mean_of_questions(rows: npt.NDArray[np.float64]) -> float:
        first = human_agreement(rows[:, :3], low=1, high=5)
        return (first + human_agreement(rows[:, 3:], low=0, high=1)) / 2

    def pooled_alpha(rows: npt.NDArray[np.float64]) -> float:
        return krippendorff_alpha(pooled(rows[:, :3], rows[:, 3:]), level="interval")

    actual = profile_of(likert, binary, groups=groups)
    for interval, statistic in ((actual.a_hh, mean_of_questions), (actual.alpha, pooled_alpha)):
        expected = bootstrap_interval(
            joined,
            statistic,
            confidence=0.95,
            n_resamples=800,
            rng=np.random.default_rng(2),
            groups=groups,
        )
        width = expected.high - expected.low
        assert interval.value == pytest.approx(expected.value)
        assert interval.low == pytest.approx(expected.low, abs=0.15 * width)
        assert interval.high == pytest.approx(expected.high, abs=0.15 * width)
        assert interval.n_groups == (300 if groups is None else 100)


def test_one_question_has_the_figures_of_its_own_profile() -> None:
    likert, _ = rubric(50, seed=3)
    likert[4:9, 1:] = NAN  # rated once
    groups = np.arange(50) // 3
    overall = overall_profile([(likert, LIKERT5)], confidence=0.95, groups=groups)
    alone = agreement_profile(
        likert, scale=LIKERT5, level="interval", confidence=0.95, groups=groups
    )
    for name in ("a_hh", "exact_agreement", "adjacent_agreement", "alpha"):
        actual, expected = getattr(overall, name), getattr(alone, name)
        assert (actual.value, actual.low, actual.high) == pytest.approx(
            (expected.value, expected.low, expected.high), abs=1e-9
        )
        assert (actual.method, actual.n_units, actual.n_groups) == (
            expected.method, expected.n_units, expected.n_groups,
        )  # fmt: skip
    assert overall.alpha_within.value == pytest.approx(overall.alpha.value)
    assert overall.alpha_within.low == pytest.approx(overall.alpha.low)
    assert overall.alpha_within.high == pytest.approx(overall.alpha.high)


def test_two_ratings_agree_as_by_chance() -> None:
    profile = overall_profile([([[1, 5]], LIKERT5)], confidence=0.95)

    assert profile.alpha.value == profile.alpha_within.value == 0
    assert krippendorff_alpha([[1, 5]], level="interval") == 0


def test_perfect_agreement_on_one_question_is_as_uncertain_within_it() -> None:
    profile = overall_profile(
        [(np.tile([[1.0], [2.0], [2.0], [4.0], [5.0]], (6, 2)), LIKERT5)], confidence=0.95
    )

    assert profile.alpha.value == profile.alpha_within.value == 1
    assert profile.alpha_within.low == pytest.approx(profile.alpha.low)


@pytest.mark.parametrize("scale", [LIKERT5, CLASSES], ids=["ordered", "classes"])
def test_two_copies_of_a_question_are_no_more_evidence_than_one(scale: Scale) -> None:
    likert, _ = rubric(50, seed=3)
    single, twice = (
        overall_profile([(likert, scale)] * copies, confidence=0.95) for copies in (1, 2)
    )
    for name in ("a_hh",) if scale.has_order else ("a_hh", "alpha"):
        actual, expected = getattr(twice, name), getattr(single, name)
        assert (actual.value, actual.low, actual.high) == pytest.approx(
            (expected.value, expected.low, expected.high), abs=1e-12
        )


def test_alpha_is_the_mean_over_questions_that_vary_where_one_has_classes() -> None:
    """Nominal alpha of classes, of which only two occur here, and interval alpha of steps."""
    likert, binary = rubric(40, seed=1)
    constant = np.full((40, 2), 3.0)
    profile = overall_profile(
        [(likert, LIKERT5), (binary + 1, CLASSES), (constant, CLASSES)], confidence=0.95
    )
    alphas = (
        krippendorff_alpha(likert, level="interval"),
        krippendorff_alpha(binary, level="nominal"),
    )
    assert profile.alpha.value == pytest.approx(np.mean(alphas))
    assert profile.alpha.low < profile.alpha.value < profile.alpha.high


def test_differences_between_questions_pass_for_agreement_unless_taken_within() -> None:
    # two raters who know nothing of the responses, but that one question gets 1s and 2s, the other
    # 4s and 5s
    easy, hard = [[1, 2], [2, 1], [1, 1], [2, 2]], [[4, 5], [5, 4], [4, 4], [5, 5]]
    profile = overall_profile([(easy, LIKERT5), (hard, LIKERT5)], confidence=0.95)
    # pooled: D_o = 4 x 2 / 16; eight ratings of each kind about means 1.5 and 4.5, all about 3:
    # D_e = 2 x 16 x (16 x 2.5) / (16 x 15) with variance .25 + 2.25 = 2.5
    assert profile.alpha.value == pytest.approx(1 - 0.5 / (2 * 16 * 2.5 / 15))
    # within: of each question D_o = .5, D_e = 2 x 8 x .25 / 7
    assert profile.alpha_within.value == pytest.approx(1 - 0.5 / (2 * 8 * 0.25 / 7))


def test_alpha_within_questions_is_their_mean_weighted_by_how_far_chance_takes_ratings() -> None:
    likert, binary = rubric(40, seed=4)
    profile = profile_of(likert, binary)
    alphas, weights = [], []
    for ratings, scale in ((likert, LIKERT5), (binary, BINARY)):
        paired = ratings[np.count_nonzero(~np.isnan(ratings), axis=1) > 1]
        values = (paired[~np.isnan(paired)] - scale.low) / (scale.high - scale.low)
        alphas.append(krippendorff_alpha(ratings, level="interval"))
        weights.append(len(values) * values.var(ddof=1))
    assert profile.alpha_within.value == pytest.approx(np.average(alphas, weights=weights))


def test_a_question_that_nobody_rated_twice_is_left_out() -> None:
    likert, binary = rubric(30, seed=6)
    binary[:, 1] = NAN
    profile = profile_of(likert, binary)
    assert profile.a_hh.value == pytest.approx(human_agreement(likert, low=1, high=5))


@pytest.mark.parametrize("value", [0.0, 0.1, 1.0])
def test_without_variation_overall_alpha_is_undefined(value: float) -> None:
    profile = overall_profile([(np.full((20, 3), value), Scale(0, 1))], confidence=0.95)
    assert profile.a_hh.value == 1
    assert profile.a_hh.low == pytest.approx(0.025**0.05)
    assert math.isnan(profile.alpha.value)
    assert math.isnan(profile.alpha_within.value)
    assert math.isnan(profile.adjacent_agreement.value)


def test_questions_that_differ_only_from_each_other_agree_pooled_and_not_within() -> None:
    profile = overall_profile(
        [([[1, 1], [1, 1]], LIKERT5), ([[5, 5], [5, 5]], LIKERT5)], confidence=0.95
    )
    assert profile.alpha.value == 1
    assert math.isnan(profile.alpha_within.value)


def test_without_ratings_everything_is_undefined() -> None:
    for questions in ([], [([[1, NAN]], LIKERT5)], [(np.empty((0, 3)), LIKERT5)]):
        profile = overall_profile(questions, confidence=0.95)
        assert math.isnan(profile.a_hh.value)
        assert math.isnan(profile.a_hh_by_chance)
        assert math.isnan(profile.alpha.low)
        assert (profile.n_responses, profile.n_groups) == (0, 0)


def test_questions_of_different_responses_are_refused() -> None:
    with pytest.raises(ValueError, match=r"must have the same responses, got \[1, 2\]"):
        profile_of([[1, 2]], [[0, 1], [1, 1]])


def test_ratings_off_a_questions_scale_are_refused() -> None:
    with pytest.raises(ValueError, match=r"must lie in \[0, 1\], got 0 to 2"):
        profile_of([[1, 2]], [[0, 2]])


@pytest.mark.parametrize("spread", [0.0, 0.7], ids=["equal", "unequal"])
def test_where_on_the_scale_a_question_lies_does_not_change_agreement_within_questions(
    spread: float,
) -> None:
    """Neither the value nor its interval; pooled, the distance between questions counts."""
    rng = np.random.default_rng(5)
    ratings = np.repeat(np.arange(12.0)[:, np.newaxis] % 3, 2, axis=1)
    ratings = np.clip(np.rint(ratings + spread * rng.normal(size=ratings.shape)), 0, 2)
    scale = Scale(0, 8, tuple(np.arange(9.0)))
    together, apart = (
        overall_profile([(ratings, scale), (ratings + shift, scale)], confidence=0.95)
        for shift in (0, 6)
    )

    assert apart.alpha_within.value == pytest.approx(together.alpha_within.value)
    assert apart.alpha_within.low == pytest.approx(together.alpha_within.low)
    assert apart.alpha_within.high == pytest.approx(together.alpha_within.high)
    assert apart.alpha.low > together.alpha.low
