"""Findings: what single raters do, and what to do about a question."""

import math

import numpy as np
import pytest

from eval_assets.agreement import rater_patterns, suggestions
from eval_assets.evaluation import RubricQuestion
from eval_assets.scale import BINARY, LIKERT5, Scale

CLARITY = RubricQuestion("clarity", "Is it clear?", LIKERT5, "ordinal")
SAFETY = RubricQuestion("safety", "Is it safe?", BINARY, "nominal")


def patterns(question: RubricQuestion, **ratings: list[float]) -> list[str]:
    return [
        finding.finding
        for finding in rater_patterns(question, {r: np.array(v) for r, v in ratings.items()})
    ]


def advice(
    question: RubricQuestion = CLARITY,
    *,
    exact: float = 0.9,
    adjacent: float = 0.95,
    alpha: float = 0.8,
    n_extreme: int = 0,
) -> str:
    found = suggestions(question, exact=exact, adjacent=adjacent, alpha=alpha, n_extreme=n_extreme)
    assert all((f.question_id, f.kind) == (question.id, "suggestion") for f in found)
    return "\n".join(finding.finding for finding in found)


def test_a_rater_who_never_varies_is_named_with_value_and_count() -> None:
    assert patterns(SAFETY, r1=[1, 1, 1], r2=[1, 0, 1]) == [
        "r1 gives 1 (pass) every time (3 ratings): no variation to agree on"
    ]
    assert patterns(SAFETY, r1=[0, 0])[0].startswith("r1 gives 0 (fail) every time (2 ratings)")


def test_one_rating_is_no_pattern() -> None:
    assert patterns(CLARITY, r1=[5], r2=[1]) == []


def test_raters_half_a_scale_apart_are_named_lenient_first() -> None:
    """Means 4.5 and 2.5 lie two points apart: half the width of a scale from 1 to 5."""
    assert patterns(CLARITY, strict=[2, 3], lenient=[5, 4]) == [
        "lenient averages 4.50 and strict 2.50: at least half the scale apart"
    ]
    assert patterns(CLARITY, strict=[2, 3], lenient=[4, 4.9]) == []


def test_half_a_scale_is_measured_on_the_declared_scale() -> None:
    """Two points apart are half of 1 to 5 and a fifth of 0 to 10."""
    wide = RubricQuestion("clarity", "?", Scale.from_steps(low=0, high=10), "ordinal")

    assert patterns(wide, strict=[2, 3], lenient=[5, 4]) == []


def test_means_of_classes_are_not_compared() -> None:
    assert patterns(SAFETY, r1=[1, 1, 0, 1], r2=[0, 0, 0, 1]) == []


def test_nothing_is_suggested_where_raters_agree() -> None:
    assert advice() == ""


def test_poor_agreement_asks_for_calibration_and_a_revised_question() -> None:
    text = advice(exact=0.2, adjacent=0.4, alpha=0.4)

    assert "Rate a few example responses together" in text
    assert "Revise the question" in text
    assert "Give an example response for every value" in text
    assert "Consider fewer values" in text


def test_moderate_agreement_asks_for_examples_only() -> None:
    text = advice(exact=0.4, adjacent=0.6, alpha=0.4)

    assert text == "Give an example response for every value of the scale"


def test_classes_ask_for_the_border_between_them() -> None:
    """The share of equal ratings decides: on two values all pairs lie within one step."""
    text = advice(SAFETY, exact=0.6, adjacent=1.0, alpha=0.4)

    assert "what makes a response pass" in text
    assert "borderline cases" in text
    assert "fewer values" not in text


def test_close_but_seldom_equal_ratings_are_called_that() -> None:
    assert advice(exact=0.4, adjacent=0.9, alpha=0.7).startswith("Raters are close but seldom")


@pytest.mark.parametrize(
    ("alpha", "expected"),
    [
        (-0.01, "Raters contradict one another"),
        (0.0, "Agreement is near chance"),
        (0.149, "Agreement is near chance"),
        (0.15, "Clarify the question"),
        (0.299, "Clarify the question"),
    ],
)
def test_low_alpha_is_answered_by_how_low_it_is(alpha: float, expected: str) -> None:
    assert advice(alpha=alpha).startswith(expected)


def test_alpha_from_three_tenths_on_needs_no_advice() -> None:
    assert advice(alpha=0.3) == ""


def test_undefined_figures_suggest_nothing() -> None:
    assert advice(exact=math.nan, adjacent=math.nan, alpha=math.nan) == ""


def test_disagreements_are_to_be_discussed_without_changing_ratings() -> None:
    assert advice(n_extreme=3) == (
        "Discuss the 3 responses in label_disagreements as a group, "
        "without changing the ratings already given"
    )


def test_one_disagreement_is_one_response() -> None:
    assert advice(n_extreme=1).startswith("Discuss the 1 response in label_disagreements as")


def test_a_continuous_scale_goes_by_exact_agreement() -> None:
    """Where a scale has no steps, no pair can be adjacent."""
    unit = RubricQuestion("quality", "?", Scale(low=0, high=1), "interval")

    assert "Revise the question" in advice(unit, exact=0.1, adjacent=math.nan, alpha=0.5)
