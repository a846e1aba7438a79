"""The agreement of humans as JSON: every field, and nothing where nothing is known."""

import json
import math
from typing import Any

import numpy as np

from eval_assets.agreement.irr import irr_result
from eval_assets.agreement.ratings import HumanRatings, LongRatings
from tests.unit.report.builder import QUESTIONS, Case, Measured

CLARITY, SAFE = QUESTIONS


def ratings_of(matrix: list[list[float]]) -> LongRatings:
    """Return ratings of raters a, b, c; NaN if missing."""
    values = np.array(matrix, dtype=float)
    unit, rater = np.nonzero(~np.isnan(values))
    raters = ("a", "b", "c")[: values.shape[1]]
    return LongRatings(unit, rater, values[unit, rater], raters, group=np.arange(len(values)))


def result_of(
    case: Case, matrix: list[list[float]], *, n_disagreements: dict[str, int] | None = None
) -> dict[str, Any]:
    """Return the result of a case whose questions all have the same ratings."""
    data = case.data()
    humans = HumanRatings(
        ratings={question.id: ratings_of(matrix) for question in data.evaluation.rubric},
        patterns={},
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
    )
    json.dumps(result, allow_nan=False)
    return result


COMPLETE = [[4.0, 4.0, 5.0], [2.0, 3.0, 2.0], [5.0, 5.0, 5.0]]


def test_every_field_of_a_question_is_there_and_rounded_as_it_is_shown() -> None:
    metric = result_of(Case(), COMPLETE)["per_metric_scores"]["clarity"]

    assert metric == {
        "score": 97.5,
        "exact_agreement": 63.5,
        "adjacent_agreement": 97.5,
        "human_agreement": 0.88,
        "interpretation": "Excellent agreement",
        "acceptable": True,
        "is_binary": False,
        "krippendorff_alpha": 0.81,
        "suggestions": [],
    }


def test_a_binary_question_goes_by_equal_pairs() -> None:
    result = result_of(Case(), COMPLETE)

    safe = result["per_metric_scores"]["safe"]
    assert (safe["score"], safe["acceptable"], safe["is_binary"]) == (63.5, False, True)
    assert result["score"] == 80.5  # the mean of 97.5 and 63.5
    assert result["suggestions"] == ["Some questions have low agreement: see per_metric_scores"]


def test_questions_are_sorted_by_id() -> None:
    assert list(result_of(Case(), COMPLETE)["per_metric_scores"]) == ["clarity", "safe"]


def test_a_closed_gate_is_not_ready_whatever_the_percentage() -> None:
    """Pairwise agreement of 97.5 % beside an alpha of .35."""
    case = Case(measured=(Measured(CLARITY, alpha=0.35),))
    result = result_of(case, COMPLETE)

    assert (result["score"], result["threshold"]) == (97.5, 75.0)
    assert result["ready_to_proceed"] is False
    assert result["details"]["gates"]["human_alpha"]["is_closed"] is True
    assert result_of(Case(), COMPLETE)["ready_to_proceed"] is True


def test_an_undefined_figure_is_null() -> None:
    case = Case(measured=(Measured(CLARITY, alpha=math.nan),))

    assert result_of(case, COMPLETE)["per_metric_scores"]["clarity"]["krippendorff_alpha"] is None


def test_patterns_name_their_question() -> None:
    clarity = Measured(
        CLARITY,
        findings=(("pattern", "r1 gives 3 every time"), ("suggestion", "Clarify the question")),
    )
    case = Case(measured=(clarity,))
    result = result_of(case, COMPLETE, n_disagreements={"clarity": 4})

    assert result["problematic_patterns"] == [
        "clarity: r1 gives 3 every time",
        "clarity: raters are far apart on 4 response(s), listed in label_disagreements",
    ]
    assert result["per_metric_scores"]["clarity"]["suggestions"] == ["Clarify the question"]


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
        {q.id: ratings_of(COMPLETE) for q in data.evaluation.rubric}, {}, {}, {}, "v1"
    )

    result = irr_result(data.evaluation, humans, [], [], data.gates)
    assert (result["score"], result["per_metric_scores"]) == (None, {})
