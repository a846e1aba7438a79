"""Coefficients of judges pooled over questions, prompts or evaluations."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from eval_assets.agreement.ratings import Floats, Integers, LongRatings
from eval_assets.config.evaluation import Evaluation
from eval_assets.scale import Level
from eval_assets.stats import krippendorff_alpha

MIDDLE = 0.5
"""Scores are split here, on the scale taken to [0, 1]: those above form one class."""


@dataclass(frozen=True)
class PairKappa:
    """Cohen's kappa of scores above the middle of the scale against the rest.

    Args:
        reason: Reason why it is undefined: `no_pairs`, or `single_class` if all scores of both
        judges are on the same side; empty if it is defined.
    """

    value: float
    reason: str
    n_units: int


def pair_kappa(first: npt.ArrayLike, second: npt.ArrayLike) -> PairKappa:
    """Return kappa of two judges' scores, split at the middle of the scale.

    The split hides the distance of the scores, so read it beside their differences. On five units
    no value lies between .615 and 1.

    Examples:
        >>> found = pair_kappa([0.9, 0.5, 0.49], [0.51, 0.1, np.nan])
        >>> found.value, found.n_units
        (1.0, 2)
        >>> pair_kappa([0.9, 0.8], [0.7, 0.8]).reason
        'single_class'
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    [value], [n_units] = kappa_by_group(a, b, np.zeros(len(a), dtype=np.int64), n_groups=1)
    reason = "" if not math.isnan(value) else "single_class" if n_units else "no_pairs"
    return PairKappa(float(value), reason, int(n_units))


def macro_kappa(kappa: Floats, n_units: Integers) -> float:
    """Return the mean of the kappas of groups that have one.

    NaN if no group has a kappa, or none has two units that both judges scored. The kappa of a
    single unit is 0 if judges differ on it and else undefined, so that the mean would always be 0.
    """
    return mean_of_defined(kappa) if (n_units > 1).any() else math.nan


def kappa_by_group(
    first: Floats, second: Floats, group: Integers, *, n_groups: int
) -> tuple[Floats, Integers]:
    """Return the kappa of each group of units, and its number of units.

    NaN for a group without a unit that both scored, or with all scores on one side.
    """
    is_paired = ~(np.isnan(first) | np.isnan(second))
    cell = 2 * (first[is_paired] > MIDDLE) + (second[is_paired] > MIDDLE)
    counts = np.bincount(4 * group[is_paired] + cell, minlength=4 * n_groups).reshape(n_groups, 4)
    n = counts.sum(axis=1)
    n_one, n_other = counts[:, 2] + counts[:, 3], counts[:, 1] + counts[:, 3]
    # in whole numbers: n * n times the observed and the expected share of equal classes
    observed = n * (counts[:, 0] + counts[:, 3])
    expected = n_one * n_other + (n - n_one) * (n - n_other)
    kappa = np.full(n_groups, np.nan)
    np.divide(observed - expected, n * n - expected, out=kappa, where=n * n > expected)
    return kappa, n


Part = tuple[LongRatings, Level]
"""Ratings on [0, 1] and the level of their alpha."""


def parts_on_unit(ratings: Mapping[str, LongRatings], evaluation: Evaluation) -> list[Part]:
    """Return the ratings of each question on [0, 1]."""
    parts: list[Part] = []
    for question in evaluation.rubric:
        part = ratings[question.id]
        level: Level = "interval" if question.has_order else "nominal"
        parts.append((replace(part, value=question.scale.to_unit(part.value)), level))
    return parts


def pooled_if_ordered(parts: Sequence[Part]) -> Sequence[Part]:
    """Return one part with all units if every question has an order, else the parts."""
    if len(parts) > 1 and all(level == "interval" for _, level in parts):
        return [(pooled([ratings for ratings, _ in parts]), "interval")]
    return parts


def pooled(parts: Sequence[LongRatings]) -> LongRatings:
    """Return the ratings of all parts, as separate units; raters are matched by id."""
    rater_ids = tuple(dict.fromkeys(rater for part in parts for rater in part.rater_ids))
    index = {rater: column for column, rater in enumerate(rater_ids)}
    columns = [np.array([index[rater] for rater in part.rater_ids], int) for part in parts]
    units = [part.unit.astype(np.int64) for part in parts]
    unit = np.concatenate([numbers * len(parts) + place for place, numbers in enumerate(units)])
    rater = np.concatenate(
        [numbers[part.rater] for numbers, part in zip(columns, parts, strict=True)]
    )
    value = np.concatenate([part.value for part in parts])
    return LongRatings(unit, rater, value, rater_ids, parts[0].group)


def mean_alpha(parts: Sequence[Part], *, without: int | None) -> float:
    """Return the mean of the parts' defined alphas, without the rater of that index."""
    return mean_of_defined(_alpha(ratings, level, without=without) for ratings, level in parts)


def mean_of_defined(values: Iterable[float]) -> float:
    """Return the mean of the figures that are defined; NaN if none is."""
    defined = [value for value in values if not math.isnan(value)]
    return math.fsum(defined) / len(defined) if defined else math.nan


def alpha_over_evaluations(
    evaluations: Iterable[tuple[Evaluation, Mapping[str, LongRatings]]],
) -> tuple[float, int]:
    """Return the judges' alpha over several evaluations, and the number of units with two scores.

    Scores lie on [0, 1], at the interval level; a judge is the same rater wherever its id is the
    same. If a question is unordered, alpha is the mean over all questions.
    """
    parts = [
        part for evaluation, scores in evaluations for part in parts_on_unit(scores, evaluation)
    ]
    n_units = sum(int((np.bincount(ratings.unit) > 1).sum()) for ratings, _ in parts)
    return (
        (mean_alpha(pooled_if_ordered(parts), without=None), n_units) if n_units else (math.nan, 0)
    )


def _alpha(ratings: LongRatings, level: Level, *, without: int | None) -> float:
    is_kept = ratings.rater != (-1 if without is None else without)
    units, row = np.unique(ratings.unit[is_kept], return_inverse=True)
    matrix = np.full((len(units), len(ratings.rater_ids)), np.nan)
    matrix[row, ratings.rater[is_kept]] = ratings.value[is_kept]
    return krippendorff_alpha(matrix, level=level)
