"""Agreement of human raters as one JSON object."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from eval_assets.agreement.gates.decision import GATES, HUMAN_GATES, GateOutcome, GateVerdict
from eval_assets.agreement.humans import Finding
from eval_assets.agreement.ratings import HumanRatings
from eval_assets.bands import a_hh_label
from eval_assets.config.evaluation import Evaluation
from eval_assets.config.rubric import RubricQuestion
from eval_assets.figures import HumanFigures, Scope
from eval_assets.verdicts import GateResult, Verdict
from eval_assets.wording import listed, or_none

_FEWEST = 2


def irr_result(  # noqa: PLR0913 - what was measured, and what follows
    evaluation: Evaluation,
    humans: HumanRatings,
    agreement: Sequence[HumanFigures],
    findings: Sequence[Finding],
    outcomes: Sequence[GateOutcome],
    *,
    steps: Mapping[str | None, str],
) -> dict[str, Any]:
    """Return the agreement of humans in the types of JSON.

    `steps` are the next step of each question whose labels do not pass, under None that of all.

    Returns:
        Per question and overall: the figure that decides in percent with its threshold, A^HH with
        the name of its band, and Krippendorff's alpha. What decides is the first human gate that
        does not pass, or A^HH if all pass. The percentage of agreeing pairs (equal ones if the
        question is binary or nominal, else those within one step) stands beside it and, with its
        mean over questions, as `score` in `details`; it is null on a scale of many values or
        without steps. A figure that is undefined is null.
        `ready_to_proceed` is true only if no human gate is closed, and `ready_reason` says why.
    """
    gates = [outcome for outcome in outcomes if outcome.gate in HUMAN_GATES]
    by_question = {row.question_id: row for row in agreement if row.scope is Scope.QUESTION}
    metrics = {
        question.id: _metric(
            question,
            by_question[question.id],
            [v for o in gates for v in o.questions if v.question_id == question.id],
            [steps[question.id]] if question.id in steps else [],
        )
        for question in sorted(evaluation.rubric, key=lambda question: question.id)
        if question.id in by_question
    }
    structure = _structure(humans)
    error = _why_insufficient(structure)
    closed = [outcome for outcome in gates if outcome.is_closed]
    decisive = _decisive([outcome.overall for outcome in closed[:1] or gates])
    scores = [metric["pairwise_agreement"] for metric in metrics.values()]
    pairwise = [score for score in scores if score is not None]
    mean_pairwise = None if error or not pairwise else round(sum(pairwise) / len(pairwise), 1)
    overall = next((row.a_hh.value for row in agreement if row.scope is Scope.OVERALL), math.nan)
    return {
        "workshop_id": evaluation.name,
        "metric_used": "none" if error or decisive is None else _STATISTICS[decisive.gate],
        "score": None if error or decisive is None else _percent(decisive),
        "human_agreement": None if error else _rounded(overall, 3),
        "pairwise_agreement": mean_pairwise,
        "ready_to_proceed": not error and not closed,
        "ready_reason": error or _ready_reason(gates),
        "threshold": None if decisive is None else _percent(decisive, of="minimum"),
        "per_metric_scores": metrics,
        "problematic_patterns": _patterns(evaluation, humans, findings),
        "suggestions": [steps[None]] if None in steps else [],
        "num_raters": structure["num_raters"],
        "num_traces": structure["num_traces"],
        "details": structure
        | {
            "error": error,
            "metric_used": "Pairwise Agreement",
            "score": mean_pairwise,
            "per_metric_scores": {
                name: {"score": metric["pairwise_agreement"]} for name, metric in metrics.items()
            },
            "gates": {
                outcome.gate: {
                    "is_closed": outcome.is_closed,
                    "value": or_none(outcome.overall.value),
                    "minimum": outcome.overall.minimum,
                    "reason": outcome.reason,
                }
                for outcome in gates
            },
        },
    }


_STATISTICS = {name: GATES[name].statistic.title for name in HUMAN_GATES}


def _ready_reason(gates: Sequence[GateOutcome]) -> str:
    """Return the reason of the overall verdict: the closed gates, else the unsettled ones."""
    closed = [f"{outcome.gate}: {outcome.reason}" for outcome in gates if outcome.is_closed]
    unsettled = [o.gate for o in gates if o.overall.state is Verdict.NEED_MORE_DATA]
    if closed:
        return "; ".join(closed)
    if unsettled:
        return f"no human gate is closed, but more data are needed for {listed(unsettled)}"
    return "every human gate is open"


def _decisive(verdicts: Sequence[GateVerdict]) -> GateVerdict | None:
    """Return the first verdict other than pass, else that on A^HH; None without verdicts."""
    failing = [verdict for verdict in verdicts if verdict.verdict is not GateResult.PASS]
    return next(iter([*failing, *verdicts]), None)


def _metric(
    question: RubricQuestion,
    row: HumanFigures,
    verdicts: Sequence[GateVerdict],
    suggestions: list[str],
) -> dict[str, Any]:
    in_classes = question.scale.is_binary or question.level == "nominal"
    exact = row.exact_agreement.value
    adjacent = row.adjacent_agreement.value if question.has_order else math.nan
    pairwise = exact if in_classes or math.isnan(adjacent) else adjacent
    if not (question.scale.has_few_values or in_classes):
        pairwise = math.nan
    decisive = _decisive(verdicts)
    return {
        "metric_used": None if decisive is None else _STATISTICS[decisive.gate],
        "score": None if decisive is None else _percent(decisive),
        "threshold": None if decisive is None else _percent(decisive, of="minimum"),
        "exact_agreement": _rounded(exact, 1),
        "adjacent_agreement": _rounded(adjacent, 1),
        "pairwise_agreement": _rounded(pairwise, 1),
        "pairwise_interpretation": None if math.isnan(pairwise) else a_hh_label(pairwise / 100),
        "human_agreement": _rounded(row.a_hh.value, 3),
        "interpretation": a_hh_label(row.a_hh.value),
        "acceptable": None
        if decisive is None or math.isnan(decisive.value)
        else decisive.verdict is GateResult.PASS,
        "is_binary": question.scale.is_binary,
        "krippendorff_alpha": _rounded(row.alpha.value, 3),
        "suggestions": suggestions,
    }


def _percent(verdict: GateVerdict, *, of: Literal["value", "minimum"] = "value") -> float | None:
    """Return a figure in percent, with decimals enough to tell it from its threshold."""
    return _rounded(100 * getattr(verdict, of) / GATES[verdict.gate].statistic.highest, 2)


def _structure(humans: HumanRatings) -> dict[str, Any]:
    long_ratings = list(humans.ratings.values())
    pairs = {
        pair
        for ratings in long_ratings
        for pair in zip(ratings.unit.tolist(), ratings.rater.tolist(), strict=True)
    }
    by_rater = Counter(rater for _, rater in pairs)
    by_trace = Counter(trace for trace, _ in pairs)
    possible = len(by_rater) * len(by_trace)
    is_complete = len(pairs) == possible > 0
    return {
        "num_raters": len(by_rater),
        "num_traces": len(by_trace),
        "total_annotations": len(pairs),
        "completeness": len(pairs) / possible if possible else None,
        "missing_data": not is_complete,
        "rater_participation": {
            long_ratings[0].rater_ids[rater]: n for rater, n in sorted(by_rater.items())
        },
        "trace_coverage": {
            str(n): n_traces for n, n_traces in sorted(Counter(by_trace.values()).items())
        },
        "recommended_metric": (
            "cohens_kappa" if len(by_rater) == _FEWEST and is_complete else "krippendorff_alpha"
        ),
    }


def _why_insufficient(structure: dict[str, Any]) -> str | None:
    n_shared = sum(count for n, count in structure["trace_coverage"].items() if int(n) >= _FEWEST)
    if structure["num_raters"] < _FEWEST:
        return f"{structure['num_raters']} rater(s); at least 2 are needed"
    if n_shared < _FEWEST:
        return f"{n_shared} trace(s) rated by two raters or more; at least 2 are needed"
    return None


def _patterns(
    evaluation: Evaluation, humans: HumanRatings, findings: Sequence[Finding]
) -> list[str]:
    patterns = [
        f"{question.id}: {of.finding}"
        for question in evaluation.rubric
        for of in findings
        if of.question_id == question.id
    ]
    return patterns + [
        f"{question.id}: raters disagree most on {n} response(s), listed in label_disagreements"
        for question in evaluation.rubric
        if (n := humans.n_disagreements.get(question.id, 0))
    ]


def _rounded(value: float, decimals: int) -> float | None:
    return None if math.isnan(value) else round(value, decimals)
