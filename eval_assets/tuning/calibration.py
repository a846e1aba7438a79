"""Score calibration: a judge's scale mapped onto the human one, fitted on train."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from eval_assets.stats import (
    Jackknife,
    MonotoneMap,
    agreement_gain,
    best_monotone_map,
    concordance,
    identity_map,
    isotonic_regression,
)
from eval_assets.tuning.rated import Floats, RatedUnits

CalibrationVerdict = Literal["mapped", "unchanged", "not_evaluable"]

MIN_TRAIN_GROUPS = 10
"""Fewer response groups in train say too little about a judge's scale."""


@dataclass(frozen=True)
class Calibration:
    """The map that a judge's scores go through on one question.

    The map is the identity unless the verdict is `mapped`. The gain is that on train, where the map
    was fitted, and larger than elsewhere.
    """

    fitted: MonotoneMap
    gain: Jackknife
    verdict: CalibrationVerdict
    reason: str


def calibrate(train: RatedUnits, scores: Floats) -> Calibration:
    """Fit the map of a judge's scores on train; keep the identity unless the map clearly gains.

    Args:
        train: Units of the split `train`, no others.
        scores: The judge's scores of these units, NaN if missing.
    """
    scale = train.question.scale
    unchanged = identity_map(scores, scale=scale)
    n_groups = train.n_groups_of(_compared(train, scores))
    undefined = Jackknife(float("nan"), float("nan"), n_groups, n_groups)
    if n_groups < MIN_TRAIN_GROUPS:
        reason = f"{n_groups} groups in train have ratings and scores; {MIN_TRAIN_GROUPS} needed"
        return Calibration(unchanged, undefined, "not_evaluable", reason)
    if train.level == "nominal":
        reason = "a scale without order has no map that keeps the order"
        return Calibration(unchanged, undefined, "unchanged", reason)
    best = best_monotone_map(train.ratings, scores, scale=scale)
    gain = agreement_gain(
        train.ratings, best(scores), scores, level=train.level, groups=train.groups
    ).gain
    if best.is_identity:
        return Calibration(unchanged, gain, "unchanged", "no map agrees better on train")
    if best.n_levels == 1:
        return Calibration(unchanged, gain, "unchanged", "the best map on train is a constant")
    if not gain.value > gain.standard_error:
        reason = f"the best map gains {gain.value:.3f} on train, within one standard error"
        return Calibration(unchanged, gain, "unchanged", reason)
    reason = f"the map gains {gain.value:.3f} on train (standard error {gain.standard_error:.3f})"
    return Calibration(best, gain, "mapped", reason)


def other_maps(train: RatedUnits, scores: Floats) -> dict[str, Floats]:
    """Return the values of two common maps at each judge value, for comparison.

    Both minimise squared distance instead of agreement beyond chance: `isotonic` regression, and
    `linear` regression clipped to the scale.
    """
    unit, rater = np.nonzero(~np.isnan(train.ratings) & ~np.isnan(scores)[:, np.newaxis])
    seen, index = np.unique(scores[unit], return_inverse=True)
    if not len(seen):
        return {"isotonic": seen, "linear": seen}
    ratings, count = train.ratings[unit, rater], np.bincount(index).astype(np.float64)
    mean, spread = scores[unit].mean(), scores[unit].var()
    slope = np.mean((scores[unit] - mean) * (ratings - ratings.mean())) / spread if spread else 0.0
    scale = train.question.scale
    return {
        "isotonic": isotonic_regression(np.bincount(index, ratings) / count, count),
        "linear": np.clip(ratings.mean() + slope * (seen - mean), scale.low, scale.high),
    }


def calibration_rows(units: RatedUnits, judge_id: str) -> list[dict[str, object]]:
    """Return rows of `score_calibration`: one for each value that a judge gave in train.

    Figures on dev compare the map with none and with maps in common use; nothing of the test is
    looked at.
    """
    scores, is_train = units.scores[judge_id], units.splits == "train"
    train, dev = units.part("train"), units.part("dev")
    calibration = calibrate(train, scores[is_train])
    others = other_maps(train, scores[is_train])
    seen, on_dev = calibration.fitted.seen, scores[units.splits == "dev"]
    mapped = {
        "kappa_dev": on_dev,
        "kappa_dev_mapped": calibration.fitted(on_dev),
        **{
            f"kappa_dev_{name}": np.interp(on_dev, seen, values) if len(seen) else on_dev
            for name, values in others.items()
        },
    }
    figures = {name: concordance(dev.ratings, column) for name, column in mapped.items()}
    row: dict[str, object] = {
        "judge_id": judge_id,
        "question_id": units.question.id,
        "train_gain": calibration.gain.value,
        "train_gain_se": calibration.gain.standard_error,
        "verdict": calibration.verdict,
        "reason": calibration.reason,
        **figures,
    }
    values = zip(
        seen, calibration.fitted.mapped, others["isotonic"], others["linear"], strict=False
    )
    return [
        {
            **row,
            "judge_value": value,
            "mapped_value": mapped_value,
            "isotonic_value": isotonic,
            "linear_value": linear,
        }
        for value, mapped_value, isotonic, linear in values
    ] or [row]


def _compared(units: RatedUnits, scores: Floats) -> NDArray[np.bool_]:
    compared: NDArray[np.bool_] = ~np.isnan(scores) & ~np.isnan(units.ratings).all(axis=1)
    return compared
