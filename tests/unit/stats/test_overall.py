import math

import numpy as np
import numpy.typing as npt
import pytest

from eval_assets.stats import (
    OverallProfile,
    QuestionRatings,
    Ratings,
    bootstrap_interval,
    human_agreement,
    krippendorff_alpha,
    overall_profile,
    pairwise_agreement,
)

NAN = math.nan


def rubric(n_responses: int, *, seed: int) -> list[npt.NDArray[np.float64]]:
    """Ratings on two questions, 1-5 and binary, that go with the same response."""
    rng = np.random.default_rng(seed)
    truth = rng.uniform(1, 5, (n_responses, 1))
    likert = np.rint(np.clip(truth + rng.normal(0, 1, (n_responses, 3)), 1, 5))
    binary = (truth + rng.normal(0, 1, (n_responses, 2)) > 3).astype(float)
    likert[rng.random(likert.shape) < 0.2] = NAN
    return [likert, binary]


def profile_of(
    likert: Ratings, binary: Ratings, *, n_resamples: int = 400, seed: int = 1
) -> OverallProfile:
    return overall_profile(
        [
            QuestionRatings.from_matrix(likert, low=1, high=5, step=1),
            QuestionRatings.from_matrix(binary, low=0, high=1, step=1),
        ],
        confidence=0.95,
        n_resamples=n_resamples,
        rng=np.random.default_rng(seed),
    )


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


def test_responses_are_resampled_with_all_their_questions() -> None:
    likert, binary = rubric(60, seed=2)
    joined = np.hstack([likert, binary])

    def mean_of_questions(rows: npt.NDArray[np.float64]) -> float:
        first = human_agreement(rows[:, :3], low=1, high=5)
        return (first + human_agreement(rows[:, 3:], low=0, high=1)) / 2

    def pooled_alpha(rows: npt.NDArray[np.float64]) -> float:
        return krippendorff_alpha(pooled(rows[:, :3], rows[:, 3:]), level="interval")

    found = profile_of(likert, binary, n_resamples=6000)
    for interval, statistic in ((found.a_hh, mean_of_questions), (found.alpha, pooled_alpha)):
        expected = bootstrap_interval(
            joined, statistic, confidence=0.95, n_resamples=1500, rng=np.random.default_rng(2)
        )
        assert interval.value == pytest.approx(expected.value)
        assert interval.low == pytest.approx(expected.low, abs=0.02)
        assert interval.high == pytest.approx(expected.high, abs=0.02)


def test_two_copies_of_a_question_are_no_more_evidence_than_one() -> None:
    likert, _ = rubric(50, seed=3)
    question = QuestionRatings.from_matrix(likert, low=1, high=5, step=1)
    once, twice = (
        overall_profile(copies, confidence=0.95, n_resamples=1000, rng=np.random.default_rng(1))
        for copies in ([question], [question, question])
    )
    assert twice.a_hh.low == pytest.approx(once.a_hh.low, abs=1e-12)
    assert twice.a_hh.high == pytest.approx(once.a_hh.high, abs=1e-12)


def test_long_ratings_may_come_in_any_order_and_with_gaps() -> None:
    likert, binary = rubric(30, seed=4)
    expected = profile_of(likert, binary)
    rng = np.random.default_rng(5)
    questions = []
    for matrix, low, high in ((likert, 1, 5), (binary, 0, 1)):
        response = np.repeat(np.arange(30) * 10, matrix.shape[1])
        order = rng.permutation(matrix.size)
        questions.append(QuestionRatings(response[order], matrix.ravel()[order], low, high, step=1))
    found = overall_profile(
        questions, confidence=0.95, n_resamples=400, rng=np.random.default_rng(1)
    )
    assert found.a_hh == expected.a_hh
    assert found.n_pairs == expected.n_pairs
    assert found.alpha.value == pytest.approx(expected.alpha.value)


def test_a_question_that_nobody_rated_twice_is_left_out() -> None:
    likert, binary = rubric(30, seed=6)
    binary[:, 1] = NAN
    profile = profile_of(likert, binary)
    assert profile.a_hh.value == pytest.approx(human_agreement(likert, low=1, high=5))


@pytest.mark.parametrize("value", [0.0, 0.1, 1.0])
def test_without_variation_overall_alpha_is_undefined(value: float) -> None:
    question = QuestionRatings.from_matrix(np.full((20, 3), value), low=0, high=1, step=None)
    profile = overall_profile(
        [question], confidence=0.95, n_resamples=50, rng=np.random.default_rng(1)
    )
    assert profile.a_hh.value == 1
    assert math.isnan(profile.alpha.value)
    assert math.isnan(profile.adjacent_agreement.value)


def test_without_ratings_everything_is_undefined() -> None:
    for questions in ([], [QuestionRatings.from_matrix([[1, NAN]], low=1, high=5, step=1)]):
        profile = overall_profile(
            questions, confidence=0.95, n_resamples=50, rng=np.random.default_rng(1)
        )
        assert math.isnan(profile.a_hh.value)
        assert math.isnan(profile.a_hh_by_chance)
        assert math.isnan(profile.alpha.low)
        assert profile.n_responses == 0


def test_ratings_off_a_questions_scale_are_refused() -> None:
    with pytest.raises(ValueError, match=r"must lie in \[0, 1\], got 0 to 2"):
        profile_of([[1, 2]], [[0, 2]])
