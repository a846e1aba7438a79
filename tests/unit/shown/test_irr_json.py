"""The agreement of humans as JSON: every field, and nothing where nothing is known."""

import json
import math
from typing import Any

import numpy as np

from eval_assets.agreement.ratings import HumanRatings, LongRatings
from eval_assets.config.rubric import RubricQuestion
from eval_assets.scale import Scale
from eval_assets.shown.irr_json import irr_result
from tests.unit.cases import QUESTIONS, Case, Measured

CLARITY, SAFE = QUESTIONS


def ratings_of(matrix: list[list[float]]) -> LongRatings:
    """Return ratings of raters a, b, c; NaN if missing."""
    values = np.array(matrix, dtype=float)
    unit, rater = np.nonzero(~np.isnan(values))
    raters = ("a", "b", "c")[: values.shape[1]]
    return LongRatings(unit, rater, values[unit, rater], raters, group=np.arange(len(values)))


def result_of(
    case: Case,
    matrix: list[list[float]],
    *,
    n_disagreements: dict[str, int] | None = None,
    steps: dict[str | None, str] | None = None,
) -> dict[str, Any]:
    """Return the result of a case whose questions all have the same ratings."""
    data = case.data()
    humans = HumanRatings(
        ratings={question.id: ratings_of(matrix) for question in data.evaluation.rubric},
        n_skipped={},
        n_disagreements=n_disagreements or {},
        data_version="v1",
    )
    result = irr_result(
        data.evaluation,
        humans,
        case.humans(),
        data.findings,
        data.gates,
        steps=steps or {},
    )
    json.dumps(result, allow_nan=False)
    return result


COMPLETE = [[4.0, 4.0, 5.0], [2.0, 3.0, 2.0], [5.0, 5.0, 5.0]]


def test_every_field_of_a_question_is_there_and_rounded_as_it_is_shown() -> None:
    metric = result_of(Case(), COMPLETE)["per_metric_scores"]["clarity"]

    assert metric == {
        "metric_used": "A^HH",
        "score": 88.0,
        "threshold": 75.0,
        "exact_agreement": 63.5,
        "adjacent_agreement": 97.5,
        "pairwise_agreement": 97.5,
        "pairwise_interpretation": "Excellent agreement",
        "human_agreement": 0.88,
        "interpretation": "Good agreement",
        "acceptable": True,
        "is_binary": False,
        "krippendorff_alpha": 0.81,
        "suggestions": [],
    }


def test_pairs_of_a_binary_question_are_equal_ones() -> None:
    safe = result_of(Case(), COMPLETE)["per_metric_scores"]["safe"]

    assert (safe["pairwise_agreement"], safe["is_binary"]) == (63.5, True)


def test_bands_follow_a_hh_and_acceptance_the_gates() -> None:
    """A^HH .665 and alpha .12 beside 97.5 % of pairs within one step."""
    case = Case(measured=(Measured(CLARITY, a_hh=0.665, alpha=0.12), Measured(SAFE)))
    result = result_of(case, COMPLETE)
    clarity = result["per_metric_scores"]["clarity"]

    assert (clarity["interpretation"], clarity["acceptable"]) == ("Moderate agreement", False)
    assert (clarity["metric_used"], clarity["score"], clarity["threshold"]) == ("A^HH", 66.5, 75.0)


def test_pairs_are_not_counted_on_a_scale_of_many_values() -> None:
    """A^HH .962 and alpha .973 on 0 to 100, where no two ratings are equal."""
    points = RubricQuestion("points", "How many?", Scale.from_steps(low=0, high=100), "interval")
    case = Case(measured=(Measured(points, a_hh=0.962, alpha=0.973, exact=0, adjacent=0),))
    metric = result_of(case, COMPLETE)["per_metric_scores"]["points"]

    assert (metric["score"], metric["acceptable"]) == (96.2, True)
    assert (metric["pairwise_agreement"], metric["pairwise_interpretation"]) == (None, None)
    assert metric["interpretation"] == "Excellent agreement"


def test_questions_are_sorted_by_id() -> None:
    assert list(result_of(Case(), COMPLETE)["per_metric_scores"]) == ["clarity", "safe"]


def test_a_closed_gate_is_not_ready_whatever_the_percentage() -> None:
    """Pairwise agreement of 97.5 % beside an alpha of .35."""
    case = Case(measured=(Measured(CLARITY, alpha=0.35),))
    result = result_of(case, COMPLETE)

    assert result["metric_used"] == "Krippendorff's alpha"
    assert (result["score"], result["threshold"]) == (35.0, 66.7)
    assert result["ready_to_proceed"] is False
    assert result["ready_reason"].startswith("human_alpha: 0.35 is below the minimum 0.667")
    assert result["details"]["gates"]["human_alpha"]["is_closed"] is True
    unsettled = result_of(Case(measured=(Measured(CLARITY, alpha=0.7),)), COMPLETE)
    assert "but more data are needed for " in unsettled["ready_reason"]
    ready = result_of(Case(), COMPLETE)
    assert (ready["ready_to_proceed"], ready["ready_reason"]) == (True, "every human gate is open")


def test_an_undefined_figure_is_null() -> None:
    case = Case(measured=(Measured(CLARITY, alpha=math.nan),))

    assert result_of(case, COMPLETE)["per_metric_scores"]["clarity"]["krippendorff_alpha"] is None


def test_patterns_and_steps_name_their_question() -> None:
    case = Case(measured=(Measured(CLARITY, findings=("r1 gives 3 every time",)), Measured(SAFE)))
    steps = {None: "Rewrite the questions.", "clarity": "Rewrite the question."}
    result = result_of(case, COMPLETE, n_disagreements={"clarity": 4}, steps=steps)

    assert result["problematic_patterns"] == [
        "clarity: r1 gives 3 every time",
        "clarity: raters disagree most on 4 response(s), listed in label_disagreements",
    ]
    assert result["per_metric_scores"]["clarity"]["suggestions"] == ["Rewrite the question."]
    assert result["per_metric_scores"]["safe"]["suggestions"] == []
    assert result["suggestions"] == ["Rewrite the questions."]


def test_who_rated_what_is_counted() -> None:
    gaps = [[4.0, 4.0, math.nan], [2.0, math.nan, math.nan], [5.0, 5.0, 5.0]]
    details = result_of(Case(), gaps)["details"]

    assert (details["num_raters"], details["num_traces"]) == (3, 3)
    assert details["total_annotations"] == 6
    assert details["completeness"] == 6 / 9
    assert details["missing_data"] is True
    assert details["rater_participation"] == {"a": 3, "b": 2, "c": 1}
    assert details["trace_coverage"] == {"1": 1, "2": 1, "3": 1}


def test_cohens_kappa_is_recommended_for_two_raters_of_everything() -> None:
    two = result_of(Case(), [[4.0, 4.0], [2.0, 3.0]])["details"]
    gap = result_of(Case(), [[4.0, 4.0], [2.0, math.nan]])["details"]

    assert two["recommended_metric"] == "cohens_kappa"
    assert gap["recommended_metric"] == "krippendorff_alpha"


def test_too_few_ratings_give_a_reason_and_no_score() -> None:
    result = result_of(Case(), [[4.0, 4.0], [2.0, math.nan]])

    assert result["details"]["error"] == (
        "1 trace(s) rated by two raters or more; at least 2 are needed"
    )
    assert (result["metric_used"], result["score"]) == ("none", None)
    assert (result["human_agreement"], result["ready_to_proceed"]) == (None, False)


def test_one_rater_is_too_few() -> None:
    error = result_of(Case(), [[4.0], [2.0]])["details"]["error"]

    assert error == "1 rater(s); at least 2 are needed"


def test_nothing_measured_gives_no_scores() -> None:
    data = Case().data()
    humans = HumanRatings(
        {q.id: ratings_of(COMPLETE) for q in data.evaluation.rubric}, {}, {}, "v1"
    )

    result = irr_result(data.evaluation, humans, [], [], data.gates, steps={})
    assert result["per_metric_scores"] == {}


def test_classes_without_order_have_no_adjacent_agreement() -> None:
    tone = RubricQuestion("tone", "Which tone?", Scale.from_steps(low=0, high=3), "nominal")
    metric = result_of(Case(measured=(Measured(tone),)), COMPLETE)["per_metric_scores"]["tone"]

    assert metric["adjacent_agreement"] is None
    assert metric["pairwise_agreement"] == metric["exact_agreement"] == 63.5
