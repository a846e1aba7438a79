"""Verdicts on judges by the rule of a first evaluation, and the figures beside them."""

import math

import numpy as np
import pytest

from eval_assets.agreement.comparing import JudgeScores
from eval_assets.agreement.judge_comparison import JudgeComparison, JudgeFinding
from eval_assets.agreement.label_agreement import widest_disagreements
from eval_assets.scale import LIKERT5
from eval_assets.stats import cohen_kappa, non_inferiority, prediction_powered_mean
from eval_assets.verdicts import Verdict
from tests.unit.shown.studies import (
    PASS_FAIL,
    assessed,
    binary,
    judged,
    question,
    rated,
)


def compared(ratings: np.ndarray, judge: np.ndarray, **options: object) -> JudgeComparison:
    assessment = assessed(question(ratings, {"gpt": judge}, **options))  # type: ignore[arg-type]
    return assessment.judges["gpt"][0]


def test_rule_passes_and_fails_by_one_sided_p_values() -> None:
    """A fifth of .025 passes, half of it fails; between them more data are needed."""
    ratings, quality = rated(120, 0.3)
    findings = set()
    for noise in (0.2, 0.4, 0.5, 0.6, 0.9):
        judge = judged(quality, noise)
        comparison = compared(ratings, judge)
        test = non_inferiority(ratings, judge, margin=0.1, level="ordinal").shortfall
        expected = (
            JudgeFinding.EQUAL
            if test.p_above < 0.005
            else JudgeFinding.BELOW
            if test.p_below < 0.0125
            else JudgeFinding.LIKELY
            if test.value > 0
            else JudgeFinding.UNLIKELY
        )
        assert comparison.finding is expected
        findings.add(comparison.finding)
    assert len(findings) == 4


@pytest.mark.slow
def test_judges_that_are_compared_together_share_the_level() -> None:
    ratings, quality = rated(100, 0.3)
    judge = judged(quality, 0.3)
    alone = compared(ratings, judge)
    further = {f"other {k}": judged(quality, 0.9, seed=k) for k in range(200)}
    together = assessed(question(ratings, {"gpt": judge, **further})).judges["gpt"][0]

    assert alone.gap is not None
    assert together.gap is not None
    assert together.gap.low < alone.gap.low
    assert together.gap.value == alone.gap.value


@pytest.mark.parametrize(("n", "finding"), [(23, "few_groups"), (24, "equal")])
def test_no_judge_passes_on_fewer_than_24_groups(n: int, finding: str) -> None:
    ratings, _ = rated(200, 0.05)
    assert compared(ratings[:n], ratings[:n].mean(axis=1)).finding == finding


def test_groups_count_and_not_items() -> None:
    ratings, quality = rated(120, 0.05)
    judge = judged(quality, 0.05)

    assert compared(ratings, judge, groups=np.arange(120) // 10).finding == "few_groups"
    assert compared(ratings, judge, groups=np.arange(120) // 4).finding == "equal"


def test_ten_groups_must_hold_a_rarer_rating() -> None:
    ratings = np.full((100, 2), 5.0)
    ratings[:9] = 1.0
    assert compared(ratings, ratings.mean(axis=1)).finding == "few_varied"
    ratings[9] = 1.0
    assert compared(ratings, ratings.mean(axis=1)).finding == "equal"


def test_judge_that_skips_contested_units_is_not_proven() -> None:
    easy, quality = rated(120, 0.05)
    hard, _ = rated(120, 0.6, seed=2)
    judge = np.append(judged(quality, 0.05), np.full(120, np.nan))

    assert compared(np.vstack([easy, hard]), judge).finding is JudgeFinding.SELECTED
    assert compared(np.vstack([easy, easy]), judge).finding is JudgeFinding.EQUAL
    assert compared(np.vstack([easy, hard[:10]]), judge[:130]).finding is JudgeFinding.EQUAL


def test_drawn_interval_is_the_one_that_decides() -> None:
    ratings, quality = rated(120, 0.3)
    for noise in np.linspace(0.2, 1.2, 15):
        comparison = compared(ratings, judged(quality, noise))
        assert comparison.gap is not None
        assert (comparison.verdict is Verdict.PASS) == (comparison.gap.low > -0.1)
        assert (comparison.verdict is Verdict.FAIL) == (comparison.gap.high < -0.1)


def test_a_judge_waits_for_labels_that_fail_unless_it_fails_itself() -> None:
    ratings, quality = rated(120, 1.2)
    good, reversed_judge = judged(quality, 0.3), 6 - judged(quality, 0.3)

    assert compared(ratings, good).finding == "labels_fail"
    assert compared(ratings, reversed_judge).finding == "below"


def test_noisy_labels_prove_no_judge() -> None:
    ratings, quality = rated(60, 0.68, seed=2)
    comparison = compared(ratings, judged(quality, 0.1))
    labels = assessed(question(ratings)).labels[0]

    assert labels.verdict is Verdict.NEED_MORE_DATA
    assert not labels.reaches_minimums
    assert comparison.finding == "noisy_labels"


def test_kappa_of_one_rater_is_cohens() -> None:
    ratings = binary(100, 0.5, 0.1)
    comparison = compared(ratings[:, :1], ratings[:, 1], scale=PASS_FAIL)

    assert comparison.finding == "ceiling_unknown"
    assert comparison.kappa is not None
    assert comparison.kappa.value == pytest.approx(cohen_kappa(*ratings.T, weights=None))
    assert comparison.compared is None


def test_shares_of_two_classes_are_of_what_most_people_said() -> None:
    people = np.array([[1, 1], [1, 1], [1, 0], [0, 0], [0, 0], [0, math.nan]])
    two = compared(people, np.array([1.0, 0, 1, 0, 1, 0]), scale=PASS_FAIL).two_classes

    assert two is not None
    assert (two.true_positive.value, two.true_positive.n_units) == (0.5, 2)
    assert two.true_negative.value == pytest.approx(2 / 3)
    assert two.true_negative.n_units == 3
    assert two.accuracy == pytest.approx(3 / 5)
    assert two.constant_accuracy == pytest.approx(3 / 5)
    assert two.judge_pass_rate == 0.5
    assert two.people_pass_rate == pytest.approx(2.5 / 6)
    assert two.corrected is None


def test_pass_rate_is_corrected_if_people_rated_only_some() -> None:
    ratings = binary(200, 0.3, 0.1)
    people = ratings[:, :1].copy()
    people[80:] = math.nan
    two = compared(people, ratings[:, 1], scale=PASS_FAIL).two_classes
    assert two is not None
    expected = prediction_powered_mean(
        ratings[:80, 0], ratings[:80, 1], ratings[80:, 1], confidence=0.95
    )

    assert two.corrected is not None
    assert (two.corrected.value, two.corrected.low) == pytest.approx((expected.value, expected.low))


def test_runs_have_a_flip_rate_and_their_mean_is_compared() -> None:
    ratings, _ = rated(40, 0.3)
    runs = np.column_stack([ratings[:, 0], ratings[:, 0]])
    runs[:10, 1] = np.where(runs[:10, 0] < 3, 5, 1)
    comparison = compared(ratings, runs)
    repeats = comparison.repeatability

    assert repeats is not None
    assert repeats.flip_rate.value == pytest.approx(10 / 40)
    assert repeats.flip_rate.low < 0.25 < repeats.flip_rate.high
    assert 0 < repeats.noise_share.value < 1
    mean = compared(ratings, runs.mean(axis=1))
    assert mean.compared is not None
    assert comparison.compared is not None
    assert comparison.compared.judge == mean.compared.judge
    assert mean.repeatability is None


def test_runs_of_classes_without_order_are_compared_by_the_most_frequent() -> None:
    scored = JudgeScores(np.array([0, 0, 0, 1, 2, 2]), np.array([1.0, 3, 3, 2, 4, 1]))

    assert scored.by_unit(n_units=4, level="nominal").tolist()[:3] == [3, 2, 1]
    assert math.isnan(scored.by_unit(n_units=4, level="nominal")[3])


def test_a_copy_of_one_rater_is_named() -> None:
    ratings, _ = rated(80, 0.6)
    assert compared(ratings, ratings[:, 1]).copied == "ben"


def test_items_where_a_judge_differs_most_come_first() -> None:
    ratings = np.array([[1.0, 1], [2, 2], [3, 3], [4, 4]])
    comparison = compared(ratings, np.array([5.0, 2, 3, 3]))

    assert comparison.differing == ((0, 1.0, 5.0), (3, 4.0, 3.0))
    assert (1.0, 5.0, 2) in comparison.pairs


def test_widest_disagreements_come_first_and_equal_ratings_not_at_all() -> None:
    rated_question = question(np.array([[3.0, 3, 3], [1, 5, 3], [2, 3, 3]]), scale=LIKERT5)
    agreement = assessed(rated_question).labels[0].unit_agreement
    widest = widest_disagreements(
        {rated_question.question: (rated_question.people, agreement)}, most=5
    )

    assert [of.unit for of in widest] == [1, 2]
    assert widest[0].ratings == (("anna", 1.0), ("ben", 5.0), ("cleo", 3.0))
