"""Agreement without each judge, and the distance of that judge from the others."""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from eval_assets.agreement.gates.evidence import alpha_levels
from eval_assets.agreement.ratings import LongRatings
from eval_assets.config.evaluation import Evaluation
from eval_assets.figures import LeaveOneJudgeOutFigures, Scope
from eval_assets.scale import Level
from eval_assets.stats import krippendorff_alpha

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


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
    rows: list[LeaveOneJudgeOutFigures] = []
    pooled: list[tuple[Integers, Integers, Floats]] = []
    for index, question in enumerate(evaluation.rubric):
        ratings = scores[question.id]
        on_unit = question.scale.to_unit(ratings.value)
        pooled.append((ratings.unit * len(evaluation.rubric) + index, ratings.rater, on_unit))
        rows += _figures(ratings, levels[question.id], question.id, data_version)
    ratings = scores[evaluation.rubric[0].id]
    unit, rater, value = (np.concatenate(part) for part in zip(*pooled, strict=True))
    overall = LongRatings(unit, rater, value, ratings.rater_ids, ratings.group)
    return (*_figures(overall, "interval", None, data_version), *rows)


def _figures(
    ratings: LongRatings, level: Level, question_id: str | None, data_version: str
) -> Iterator[LeaveOneJudgeOutFigures]:
    """Yield the figures of each judge that shares a unit with another."""
    unit, rater, value = ratings.unit, ratings.rater, ratings.value
    alpha = _alpha(unit, rater, value, level)
    n_scores, total = np.bincount(unit), np.bincount(unit, value)
    n_others = n_scores[unit] - 1
    is_shared = n_others > 0
    distance = value[is_shared] - (total[unit] - value)[is_shared] / n_others[is_shared]
    for index, judge in enumerate(ratings.rater_ids):
        is_own = rater[is_shared] == index
        if is_own.any():
            is_other = rater != index
            yield LeaveOneJudgeOutFigures(
                scope=Scope.QUESTION if question_id else Scope.OVERALL,
                question_id=question_id,
                judge_id=judge,
                n_units=int(is_own.sum()),
                alpha=alpha,
                alpha_without=_alpha(unit[is_other], rater[is_other], value[is_other], level),
                mean_difference=float(distance[is_own].mean()),
                data_version=data_version,
            )


def _alpha(unit: Integers, rater: Integers, value: Floats, level: Level) -> float:
    units, row = np.unique(unit, return_inverse=True)
    ratings = np.full((len(units), int(rater.max(initial=0)) + 1), np.nan)
    ratings[row, rater] = value
    return krippendorff_alpha(ratings, level=level)
