"""Each judge beside the others: agreement without it, and how far it lies from them."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from eval_assets.agreement.evidence import alpha_levels
from eval_assets.agreement.ratings import LongRatings
from eval_assets.evaluation import Evaluation
from eval_assets.scale import Level
from eval_assets.stats import krippendorff_alpha

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def measure_left_out(scores: Mapping[str, LongRatings], evaluation: Evaluation) -> pd.DataFrame:
    """Return rows of `judge_agreement_without`: each judge on each question, and overall.

    A judge whose absence raises alpha, or who lies far from the others, differs systematically; if
    alpha is low without any of them, the question is ambiguous.

    Args:
        scores: Judges' scores by question.
        evaluation: The evaluation as declared now.
    """
    levels = alpha_levels(evaluation, "judge")
    rows: list[dict[str, object]] = []
    pooled: list[tuple[Integers, Integers, Floats]] = []
    for place, question in enumerate(evaluation.rubric):
        given = scores[question.id]
        on_unit = question.scale.to_unit(given.value)
        pooled.append((given.unit * len(evaluation.rubric) + place, given.rater, on_unit))
        named = {"scope": "question", "question_id": question.id}
        found = _rows(given.unit, given.rater, given.value, given.rater_ids, levels[question.id])
        rows += [{**named, **row} for row in found]
    judges = scores[evaluation.rubric[0].id].rater_ids
    unit, rater, value = (np.concatenate(part) for part in zip(*pooled, strict=True))
    overall = [{"scope": "overall", **row} for row in _rows(unit, rater, value, judges, "interval")]
    return pd.DataFrame([*overall, *rows])


def _rows(
    unit: Integers, rater: Integers, value: Floats, judges: Sequence[str], level: Level
) -> list[dict[str, object]]:
    """Return a row for each judge that shares a unit with another."""
    alpha = _alpha(unit, rater, value, level)
    n_scores, total = np.bincount(unit), np.bincount(unit, value)
    n_others = n_scores[unit] - 1
    is_shared = n_others > 0
    apart = value[is_shared] - (total[unit] - value)[is_shared] / n_others[is_shared]
    rows: list[dict[str, object]] = []
    for index, judge in enumerate(judges):
        is_its = rater[is_shared] == index
        if is_its.any():
            kept = rater != index
            without = _alpha(unit[kept], rater[kept], value[kept], level)
            rows.append(
                {
                    "judge_id": judge,
                    "n_units": int(is_its.sum()),
                    "alpha": alpha,
                    "alpha_without": without,
                    "mean_difference": float(apart[is_its].mean()),
                }
            )
    return rows


def _alpha(unit: Integers, rater: Integers, value: Floats, level: Level) -> float:
    units, row = np.unique(unit, return_inverse=True)
    ratings = np.full((len(units), int(rater.max(initial=0)) + 1), np.nan)
    ratings[row, rater] = value
    return krippendorff_alpha(ratings, level=level)
