"""Krippendorff's alpha over several questions, or several evaluations."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from eval_assets.agreement.ratings import LongRatings
from eval_assets.config.evaluation import Evaluation
from eval_assets.scale import Level
from eval_assets.stats import krippendorff_alpha

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

Part = tuple[LongRatings, Level]
"""Ratings on [0, 1] and the level of their alpha."""


def parts_on_unit(ratings: Mapping[str, LongRatings], evaluation: Evaluation) -> list[Part]:
    """Return the ratings of each question on [0, 1]."""
    parts: list[Part] = []
    for question in evaluation.rubric:
        own = ratings[question.id]
        level: Level = "interval" if question.has_order else "nominal"
        parts.append((replace(own, value=question.scale.to_unit(own.value)), level))
    return parts


def pooled_if_ordered(parts: Sequence[Part]) -> Sequence[Part]:
    """Return one part with all units if every question has an order, else the parts."""
    if len(parts) > 1 and all(level == "interval" for _, level in parts):
        return [(pooled([ratings for ratings, _ in parts]), "interval")]
    return parts


def pooled(parts: Sequence[LongRatings]) -> LongRatings:
    """Return the ratings of all parts, as units of their own; raters are matched by id."""
    rater_ids = tuple(dict.fromkeys(rater for part in parts for rater in part.rater_ids))
    index = {rater: column for column, rater in enumerate(rater_ids)}
    columns = [np.array([index[rater] for rater in part.rater_ids], int) for part in parts]
    unit = np.concatenate([part.unit * len(parts) + place for place, part in enumerate(parts)])
    rater = np.concatenate([own[part.rater] for own, part in zip(columns, parts, strict=True)])
    value = np.concatenate([part.value for part in parts])
    return LongRatings(unit, rater, value, rater_ids, parts[0].group)


def mean_alpha(parts: Sequence[Part], *, without: int | None) -> float:
    """Return the mean of the parts' alphas that are defined, without the rater of that index."""
    alphas = [_alpha(ratings, level, without=without) for ratings, level in parts]
    defined = [alpha for alpha in alphas if not math.isnan(alpha)]
    return math.fsum(defined) / len(defined) if defined else math.nan


def alpha_over_evaluations(
    evaluations: Iterable[tuple[Evaluation, Mapping[str, LongRatings]]],
) -> tuple[float, int]:
    """Return the judges' alpha over several evaluations, and the number of units with two scores.

    Scores lie on [0, 1], at the interval level; a judge is the same rater wherever its id is the
    same. If a question is unordered, alpha is the mean over all questions.

    Args:
        evaluations: Evaluations with the judges' scores by question.
    """
    parts = [
        part for evaluation, scores in evaluations for part in parts_on_unit(scores, evaluation)
    ]
    n_units = sum(int((np.bincount(ratings.unit) > 1).sum()) for ratings, _ in parts)
    return (
        (mean_alpha(pooled_if_ordered(parts), without=None), n_units) if n_units else (math.nan, 0)
    )


def alpha_of_labels(unit: Integers, rater: Integers, value: Floats, *, level: Level) -> float:
    """Return Krippendorff's alpha of labels in long form.

    Args:
        unit: Unit of each label.
        rater: Index of its rater.
        value: Its value.
        level: Level of measurement.
    """
    units, row = np.unique(unit, return_inverse=True)
    matrix = np.full((len(units), int(rater.max(initial=0)) + 1), np.nan)
    matrix[row, rater] = value
    return krippendorff_alpha(matrix, level=level)


def _alpha(ratings: LongRatings, level: Level, *, without: int | None) -> float:
    kept = ratings.rater != (-1 if without is None else without)
    return alpha_of_labels(
        ratings.unit[kept], ratings.rater[kept], ratings.value[kept], level=level
    )
