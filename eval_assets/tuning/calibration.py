"""Score calibration: a judge's scale mapped onto the human one, fitted on train."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from eval_assets.stats import (
    Jackknife,
    MonotoneMap,
    agreement_gain,
    best_monotone_map,
    identity_map,
)
from eval_assets.tuning.rated import Floats, RatedUnits

CalibrationVerdict = Literal["mapped", "unchanged", "not_evaluable"]

MIN_TRAIN_GROUPS = 10
"""Least number of response groups in train."""


@dataclass(frozen=True)
class Calibration:
    """Map of a judge's scores on one question.

    The map is the identity unless the verdict is `mapped`. The gain is that on train, where the map
    was fitted, and therefore too large.
    """

    fitted: MonotoneMap
    gain: Jackknife
    verdict: CalibrationVerdict
    reason: str


def calibrate(train: RatedUnits, scores: Floats) -> Calibration:
    """Fit the map of a judge's scores on train; keep the identity unless the gain is clear.

    `train` holds units of that split alone.
    """
    scale = train.question.scale
    unchanged = identity_map(scores, scale=scale)
    n_groups = train.n_groups_of(~np.isnan(scores) & ~np.isnan(train.ratings).all(axis=1))
    undefined = Jackknife(float("nan"), float("nan"), n_groups, df=1)
    if n_groups < MIN_TRAIN_GROUPS:
        reason = f"{n_groups} groups in train have ratings and scores; {MIN_TRAIN_GROUPS} needed"
        return Calibration(unchanged, undefined, "not_evaluable", reason)
    if train.level == "nominal":
        reason = "a scale without order has no map that keeps the order"
        return Calibration(unchanged, undefined, "unchanged", reason)
    best = best_monotone_map(train.ratings, scores, scale=scale)
    gain = agreement_gain(
        train.ratings, best(scores), scores, level=train.level, groups=train.group_codes
    ).gain
    if best.is_identity:
        return Calibration(unchanged, gain, "unchanged", "no map agrees better on train")
    if best.n_levels == 1:
        return Calibration(unchanged, gain, "unchanged", "the best map on train is a constant")
    if not gain.value > gain.standard_error:
        reason = f"the best map gains {gain.value:z.3f} on train, within one standard error"
        return Calibration(unchanged, gain, "unchanged", reason)
    reason = f"the map gains {gain.value:z.3f} on train (standard error {gain.standard_error:.3f})"
    return Calibration(best, gain, "mapped", reason)


def calibration_rows(units: RatedUnits, judge_id: str) -> list[dict[str, object]]:
    """Return rows of `score_calibration`: one for each value that a judge gave in train.

    The test is not read.
    """
    calibration = calibrate(units.part("train"), units.scores[judge_id][units.is_in("train")])
    row: dict[str, object] = {
        "judge_id": judge_id,
        "question_id": units.question.id,
        "train_gain": calibration.gain.value,
        "train_gain_se": calibration.gain.standard_error,
        "verdict": calibration.verdict,
        "reason": calibration.reason,
    }
    values = zip(calibration.fitted.seen, calibration.fitted.mapped, strict=True)
    return [{**row, "judge_value": value, "mapped_value": mapped} for value, mapped in values] or [
        row
    ]
