"""Responses with two ratings beside the rest."""

from dataclasses import replace

import numpy as np
import pytest

from eval_assets.agreement.ratings import HumanRatings, LongRatings
from eval_assets.agreement.selection import (
    SelectionFeature,
    measure_selection,
    selection_sentences,
)
from eval_assets.config.rubric import RubricQuestion
from eval_assets.scale import LIKERT5
from eval_assets.stats import human_agreement
from tests.unit.agreement.planted_overlaps import (
    EVALUATION,
    Cause,
    PlantedOverlap,
    planted_overlap,
)

SEED = 20261123
DEPTH = RubricQuestion("depth", "Is it deep?", LIKERT5, "ordinal")


def sentence(overlap: PlantedOverlap) -> str:
    [text] = selection_sentences(
        measure_selection(overlap.humans, overlap.features, EVALUATION).tests
    )
    return text


@pytest.mark.parametrize(
    ("cause", "words"),
    [
        ("long", "are longer (mean rank 0."),
        ("model", "are more often of model 0 ("),
        ("low judge score", "have lower judge scores (mean rank 0."),
        ("middle judge score", "more often lie in the middle half by judge score ("),
        ("newer", "are newer (mean rank 0."),
        ("long prompts", "answer longer prompts (mean rank 0."),
    ],
)
def test_a_planted_difference_is_reported_with_its_direction(cause: Cause, words: str) -> None:
    text = sentence(planted_overlap(np.random.default_rng(SEED), cause))

    assert text.startswith("Responses with two ratings ")
    assert words in text
    assert text.endswith(" than the rest, on clarity")


def test_one_of_each_unequal_group_is_more_often_of_a_small_group() -> None:
    overlap = planted_overlap(np.random.default_rng(SEED), design="one per group", n_groups=100)

    assert "belong to smaller response groups" in sentence(overlap)


def test_questions_with_one_overlap_are_tested_once() -> None:
    """The judge scores differ by question, and their mean is compared."""
    overlap = planted_overlap(np.random.default_rng(SEED), "long")
    [ratings] = overlap.humans.ratings.values()
    two = replace(EVALUATION, rubric=(*EVALUATION.rubric, DEPTH))
    humans = HumanRatings({"clarity": ratings, "depth": ratings}, {}, {}, "v1")
    [requested], [scores] = (
        overlap.features.applicable.values(),
        overlap.features.judge_scores.values(),
    )
    features = replace(
        overlap.features,
        applicable={"clarity": requested, "depth": requested},
        judge_scores={"clarity": scores, "depth": scores},
    )

    single = measure_selection(overlap.humans, overlap.features, EVALUATION)
    twice = measure_selection(humans, features, two)

    assert [test.adjusted_p for test in twice.tests if test.question_id == "depth"] == [
        test.adjusted_p for test in single.tests
    ]
    assert [row.question_id for row in twice.weighted] == ["clarity", "depth"]
    [text] = selection_sentences(twice.tests)
    assert text.endswith("than the rest, on clarity and depth")


def test_a_difference_is_reported_among_many_questions() -> None:
    """Each of 30 questions has an overlap of its own, and only the last one is selected."""
    rng = np.random.default_rng(SEED)
    plain = planted_overlap(rng, "long", n_groups=80, sizes=(1, 1), strength=6)
    [ratings] = plain.humans.ratings.values()
    rubric = tuple(replace(DEPTH, id=f"q{k:02}") for k in range(30))
    by_question = {}
    for question in rubric:
        is_second = rng.random(80) < 0.5
        unit = np.repeat(np.arange(80), 1 + is_second)
        rater = np.concatenate([np.arange(1 + second) for second in is_second])
        by_question[question.id] = replace(
            ratings, unit=unit, rater=rater, value=plain.all_ratings[unit, rater]
        )
    by_question["q29"] = ratings
    features = replace(
        plain.features,
        applicable=dict.fromkeys(by_question, np.ones(80, np.bool_)),
        judge_scores={},
    )

    measures = measure_selection(
        replace(plain.humans, ratings=by_question), features, replace(EVALUATION, rubric=rubric)
    )

    assert len(measures.tests) == 30 * 4
    reported = [test for test in measures.tests if test.is_reported]
    assert [(test.question_id, test.difference) for test in reported] == [("q29", "are longer")]


def test_agreement_is_weighted_to_all_responses() -> None:
    """Raters disagree more on long responses, which have two ratings more often."""
    overlap = planted_overlap(np.random.default_rng(SEED), "long", n_groups=2_000, sizes=(1, 1))

    [row] = measure_selection(overlap.humans, overlap.features, EVALUATION).weighted

    of_all = human_agreement(overlap.all_ratings, scale=LIKERT5)
    assert row.a_hh.high < of_all
    assert row.a_hh_weighted.low < of_all < row.a_hh_weighted.high
    assert row.n_asked == 2_000
    assert row.n_effective < row.n_responses
    assert row.weighted_by == "length, prompt_length, date, judge_score, model"


def test_nothing_stands_for_a_model_without_two_ratings() -> None:
    overlap = planted_overlap(np.random.default_rng(SEED))
    [ratings] = overlap.humans.ratings.values()
    mask = (ratings.rater == 0) | (overlap.features.models[ratings.unit] != "model 2")
    only = LongRatings(
        ratings.unit[mask],
        ratings.rater[mask],
        ratings.value[mask],
        ratings.rater_ids,
        ratings.group,
    )

    measures = measure_selection(
        replace(overlap.humans, ratings={"clarity": only}), overlap.features, EVALUATION
    )

    assert measures.weighted[0].n_unrepresented == (overlap.features.models == "model 2").sum()
    [test] = [t for t in measures.tests if t.feature is SelectionFeature.MODEL]
    assert (test.difference, test.is_reported) == ("are less often of model 2", True)
    assert test.rated == 0


def test_judge_scores_that_are_partly_sealed_weight_nothing() -> None:
    overlap = planted_overlap(np.random.default_rng(SEED), "low judge score")
    [scores] = overlap.features.judge_scores.values()
    is_sealed = overlap.humans.ratings["clarity"].group % 2 == 0
    features = replace(
        overlap.features, judge_scores={"clarity": np.where(is_sealed, np.nan, scores)}
    )

    measures = measure_selection(overlap.humans, features, EVALUATION)

    [test] = [t for t in measures.tests if t.feature is SelectionFeature.JUDGE_SCORE]
    assert test.n_rated + test.n_rest == (~is_sealed).sum()
    assert "judge_score" not in measures.weighted[0].weighted_by


@pytest.mark.parametrize("n_rest", [0, 9])
def test_too_few_responses_on_a_side_are_not_compared(n_rest: int) -> None:
    overlap = planted_overlap(np.random.default_rng(SEED), share=1.0, sizes=(1, 1), n_groups=40)
    [ratings] = overlap.humans.ratings.values()
    mask = (ratings.rater == 0) | (ratings.unit >= n_rest)
    only = LongRatings(
        ratings.unit[mask],
        ratings.rater[mask],
        ratings.value[mask],
        ratings.rater_ids,
        ratings.group,
    )

    measures = measure_selection(
        replace(overlap.humans, ratings={"clarity": only}), overlap.features, EVALUATION
    )

    assert measures == type(measures)((), ())


def test_random_overlaps_are_seldom_said_to_differ() -> None:
    """At most 5 % of them; benchmarks/selection.py counts more."""
    rng = np.random.default_rng(SEED)
    overlaps = [planted_overlap(rng, n_groups=30, sizes=(1, 3)) for _ in range(60)]

    reported = [
        any(t.is_reported for t in measure_selection(o.humans, o.features, EVALUATION).tests)
        for o in overlaps
    ]
    assert sum(reported) <= 6  # 3 are expected; 7 or more have a chance of 3 %
