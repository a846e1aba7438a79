"""Planted causes of disagreement are named, and nothing else is."""

import math
from dataclasses import replace

import numpy as np
import pytest

from eval_assets.agreement.cause_tests import causes_of_disagreement
from eval_assets.agreement.causes import Cause, CauseKind, RatedResponses
from eval_assets.agreement.ratings import LongRatings
from eval_assets.config.rubric import RubricQuestion
from eval_assets.scale import LIKERT5, Scale
from eval_assets.stats import krippendorff_alpha
from tests.unit.agreement.planted_causes import planted_study


def causes_of(kind: CauseKind | None, **options: float) -> tuple[Cause, ...]:
    study = planted_study(np.random.default_rng(1), kind, **options)  # type: ignore[arg-type]
    return causes_of_disagreement(*study)


@pytest.mark.parametrize(
    ("kind", "subject"),
    [
        (CauseKind.RATER, "r0"),
        (CauseKind.SCALE_USE, "r0 rates"),
        (CauseKind.PREFERENCE, "r0 rates longer responses lower"),
        (CauseKind.LENGTH, "the longest third"),
        (CauseKind.MODEL, "m2"),
        (CauseKind.FATIGUE, "the later half"),
    ],
)
def test_planted_cause_is_ranked_first(kind: CauseKind, subject: str) -> None:
    first = causes_of(kind)[0]

    assert first.is_reported
    assert first.kind is kind
    assert first.subject.startswith(subject)
    assert first.gain > 0.02
    assert len(first.examples) == 5


def test_two_camps_of_raters_are_told_apart() -> None:
    first = causes_of(CauseKind.CAMPS, n_raters=4)[0]

    assert first.kind is CauseKind.CAMPS
    assert set(first.subject.split(" and ")) == {"{r0, r1}", "{r2, r3}"}


def test_camps_are_told_apart_though_the_last_rater_rated_other_questions_only() -> None:
    responses, question = planted_study(np.random.default_rng(1), CauseKind.CAMPS, n_raters=4)
    ratings = replace(responses.ratings, rater_ids=(*responses.ratings.rater_ids, "absent"))
    first = causes_of_disagreement(replace(responses, ratings=ratings), question)[0]

    assert set(first.subject.split(" and ")) == {"{r0, r1}", "{r2, r3}"}


def test_confused_levels_are_named() -> None:
    first = causes_of(CauseKind.LEVELS, n_levels=4, noise=0.35)[0]

    assert (first.kind, first.subject) == (CauseKind.LEVELS, "2 and 3")
    assert first.is_reported


def test_copied_texts_on_which_raters_disagree_are_named() -> None:
    first = causes_of(CauseKind.COPIES, share_copied=0.3)[0]

    assert first.kind is CauseKind.COPIES
    assert first.subject == "30 duplicated or nearly identical responses"
    assert first.is_reported
    assert first.gain > 0.02
    assert all(int(name.removeprefix("x")) < 30 for name in first.examples)


def test_copied_texts_are_compared_text_by_text() -> None:
    """One text of 40 copies counts once, and is too few."""
    responses, question = planted_study(np.random.default_rng(1), CauseKind.COPIES)
    texts = np.maximum(np.arange(100), 40)
    causes = causes_of_disagreement(replace(responses, texts=texts), question)

    assert CauseKind.COPIES not in {cause.kind for cause in causes}


def test_labels_without_a_cause_have_none_reported() -> None:
    causes = causes_of(None)

    assert len(causes) >= 7
    assert not any(cause.is_reported for cause in causes)
    assert all(cause.p_value <= cause.adjusted_p <= 1 for cause in causes)


def test_alpha_is_that_of_the_interval_level() -> None:
    responses, question = planted_study(np.random.default_rng(2), None, share_missing=0.3)
    expected = krippendorff_alpha(responses.ratings.matrix(), level="interval")

    assert causes_of_disagreement(responses, question)[0].alpha == pytest.approx(expected)


def test_alpha_without_a_rater_is_that_of_the_others() -> None:
    responses, question = planted_study(np.random.default_rng(1), CauseKind.RATER)
    first = causes_of_disagreement(responses, question)[0]
    peers = responses.ratings.matrix()[:, 1:]

    assert first.alpha_fixed == pytest.approx(krippendorff_alpha(peers, level="interval"))


def test_few_responses_are_not_tested() -> None:
    assert causes_of(None, n_units=8) == ()


def test_unordered_classes_are_compared_by_equality() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(1, 5, 80)
    value = np.where(rng.random((80, 3)) < 0.85, truth[:, None], rng.integers(1, 5, (80, 3)))
    value[:, 2] = rng.integers(1, 5, 80)
    unit, rater = np.nonzero(value)
    responses = RatedResponses(
        LongRatings(unit, rater, value[unit, rater] * 1.0, ("a", "b", "c"), np.arange(80)),
        np.arange(80).astype(str).astype(object),
        np.full(80, 10.0),
        np.full(80, "m", dtype=object),
        np.full(240, math.nan),
        np.arange(80),
    )
    question = RubricQuestion("kind", "Which kind?", Scale.from_steps(low=1, high=4), "nominal")
    [only] = causes_of_disagreement(responses, question)

    assert (only.kind, only.subject) == (CauseKind.RATER, "c")
    assert only.alpha == pytest.approx(krippendorff_alpha(value * 1.0, level="nominal"))


def test_raters_who_always_agree_have_no_cause() -> None:
    value = np.tile(np.arange(1, 6.0).repeat(4)[:, None], (1, 3))
    unit, rater = np.nonzero(value)
    responses = RatedResponses(
        LongRatings(unit, rater, value[unit, rater], ("a", "b", "c"), np.arange(20)),
        np.arange(20).astype(str).astype(object),
        np.arange(20.0),
        np.array(["m", "n"] * 10, dtype=object),
        np.full(60, math.nan),
        np.arange(20),
    )
    question = RubricQuestion("clarity", "Is it clear?", LIKERT5, "ordinal")
    causes = causes_of_disagreement(responses, question)

    assert not any(cause.is_reported for cause in causes)
    assert {cause.alpha for cause in causes} == {1.0}


@pytest.mark.parametrize("n_raters", [2, 3])
def test_how_much_higher_a_rater_rates_is_the_distance_from_the_others(n_raters: int) -> None:
    rng = np.random.default_rng(3)
    values = rng.integers(1, 6, 60).astype(float)[:, None] + np.zeros(n_raters)
    values[:, -1] += 2
    unit, rater = np.divmod(np.arange(values.size), n_raters)
    names = tuple(f"r{index}" for index in range(n_raters))
    ratings = LongRatings(unit, rater, values.ravel(), names, np.arange(60))
    question = RubricQuestion("clear", "Is it clear?", Scale.from_steps(low=1, high=7), "ordinal")
    [cause] = [
        cause
        for cause in causes_of_disagreement(
            RatedResponses(
                ratings,
                np.array([f"x{index}" for index in range(60)], dtype=object),
                np.full(60, 10.0),
                np.full(60, "m", dtype=object),
                np.full(values.size, math.nan),
                np.arange(60),
            ),
            question,
        )
        if cause.kind is CauseKind.SCALE_USE
    ]

    assert cause.subject == ("r0 rates 2 lower" if n_raters == 2 else "r2 rates 2 higher")
