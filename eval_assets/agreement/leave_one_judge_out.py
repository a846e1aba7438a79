"""Agreement without each judge, and the distance of that judge from the others."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from eval_assets.agreement.gates.evidence import alpha_levels
from eval_assets.agreement.pooled_alpha import (
    Part,
    mean_alpha,
    parts_on_unit,
    pooled,
    pooled_if_ordered,
)
from eval_assets.agreement.ratings import LongRatings
from eval_assets.config.evaluation import Evaluation
from eval_assets.figures import LeaveOneJudgeOutFigures, Scope


def measure_leave_one_judge_out(
    scores: Mapping[str, LongRatings], evaluation: Evaluation, *, data_version: str
) -> tuple[LeaveOneJudgeOutFigures, ...]:
    """Return the figures of each judge overall and on each question.

    A judge whose absence raises alpha, or who is far from the others, differs systematically; if
    alpha is low without any of them, the question is ambiguous.

    Args:
        scores: Judges' scores by question.
        evaluation: The evaluation as declared now.
        data_version: Version of the scores.
    """
    levels = alpha_levels(evaluation, "judge")
    overall = pooled_if_ordered(parts_on_unit(scores, evaluation))
    rows = list(_figures(overall, None, data_version))
    for question in evaluation.rubric:
        rows += _figures([(scores[question.id], levels[question.id])], question.id, data_version)
    return tuple(rows)


def _figures(
    parts: Sequence[Part], question_id: str | None, data_version: str
) -> Iterator[LeaveOneJudgeOutFigures]:
    """Yield the figures of each judge that shares a unit with another."""
    units = pooled([ratings for ratings, _ in parts])
    unit, rater, value = units.unit, units.rater, units.value
    alpha = mean_alpha(parts, without=None)
    n_scores, total = np.bincount(unit), np.bincount(unit, value)
    n_others = n_scores[unit] - 1
    is_shared = n_others > 0
    distance = value[is_shared] - (total[unit] - value)[is_shared] / n_others[is_shared]
    for index, judge in enumerate(units.rater_ids):
        is_own = rater[is_shared] == index
        if is_own.any():
            yield LeaveOneJudgeOutFigures(
                scope=Scope.QUESTION if question_id else Scope.OVERALL,
                question_id=question_id,
                judge_id=judge,
                n_units=int(is_own.sum()),
                alpha=alpha,
                alpha_without=mean_alpha(parts, without=index),
                mean_difference=float(distance[is_own].mean()),
                data_version=data_version,
            )
