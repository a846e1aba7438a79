"""Agreement without each judge, and the distance of that judge from the others."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

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

_Part = tuple[LongRatings, Level]
"""Scores and the level of their alpha."""


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
    on_unit: list[_Part] = []
    for question in evaluation.rubric:
        ratings = scores[question.id]
        rows += _figures([(ratings, levels[question.id])], question.id, data_version)
        value = question.scale.to_unit(ratings.value)
        level: Level = "interval" if question.has_order else "nominal"
        on_unit.append((replace(ratings, value=value), level))
    if all(question.has_order for question in evaluation.rubric):
        on_unit = [(_pooled([ratings for ratings, _ in on_unit]), "interval")]
    return (*_figures(on_unit, None, data_version), *rows)


def _pooled(parts: Sequence[LongRatings]) -> LongRatings:
    """Return the ratings of all questions, as units of their own."""
    unit = np.concatenate([part.unit * len(parts) + index for index, part in enumerate(parts)])
    rater, value = (
        np.concatenate([getattr(p, name) for p in parts]) for name in ("rater", "value")
    )
    return LongRatings(unit, rater, value, parts[0].rater_ids, parts[0].group)


def _figures(
    parts: Sequence[_Part], question_id: str | None, data_version: str
) -> Iterator[LeaveOneJudgeOutFigures]:
    """Yield the figures of each judge that shares a unit with another."""
    pooled = _pooled([ratings for ratings, _ in parts])
    unit, rater, value = pooled.unit, pooled.rater, pooled.value
    alpha = _mean_alpha(parts, without=None)
    n_scores, total = np.bincount(unit), np.bincount(unit, value)
    n_others = n_scores[unit] - 1
    is_shared = n_others > 0
    distance = value[is_shared] - (total[unit] - value)[is_shared] / n_others[is_shared]
    for index, judge in enumerate(pooled.rater_ids):
        is_own = rater[is_shared] == index
        if is_own.any():
            yield LeaveOneJudgeOutFigures(
                scope=Scope.QUESTION if question_id else Scope.OVERALL,
                question_id=question_id,
                judge_id=judge,
                n_units=int(is_own.sum()),
                alpha=alpha,
                alpha_without=_mean_alpha(parts, without=index),
                mean_difference=float(distance[is_own].mean()),
                data_version=data_version,
            )


def _mean_alpha(parts: Sequence[_Part], *, without: int | None) -> float:
    """Return the mean of the parts' alphas that are defined, without a judge."""
    alphas = []
    for ratings, level in parts:
        kept = ratings.rater != (-1 if without is None else without)
        alphas.append(_alpha(ratings.unit[kept], ratings.rater[kept], ratings.value[kept], level))
    defined = [alpha for alpha in alphas if not math.isnan(alpha)]
    return math.fsum(defined) / len(defined) if defined else math.nan


def _alpha(unit: Integers, rater: Integers, value: Floats, level: Level) -> float:
    units, row = np.unique(unit, return_inverse=True)
    ratings = np.full((len(units), int(rater.max(initial=0)) + 1), np.nan)
    ratings[row, rater] = value
    return krippendorff_alpha(ratings, level=level)
