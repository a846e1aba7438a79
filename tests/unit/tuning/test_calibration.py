"""A judge's figures beside what is asked of them."""

import math
from dataclasses import replace

import numpy as np

from eval_assets.scale import Scale
from eval_assets.stats import concordance
from eval_assets.tuning.calibration import (
    calibrate,
    calibration_rows,
)
from tests.unit.tuning.made_up import judged, rated_units, simulated

NAN = math.nan


def harsh(quality: np.ndarray) -> np.ndarray:
    """A judge that sees the quality well and uses only the values 1 to 3."""
    return np.clip(np.round(quality / 2 + 0.2), 1, 3)


def test_a_harsh_and_compressed_judge_gets_a_map_that_helps_elsewhere() -> None:
    train, quality = simulated(60, seed=1, split="train")
    result = calibrate(train, harsh(quality))
    other, quality = simulated(60, seed=2)
    raw = harsh(quality)

    assert result.verdict == "mapped"
    assert result.gain.value > 3 * result.gain.standard_error
    assert concordance(other.ratings, result.fitted(raw)) > concordance(other.ratings, raw) + 0.1


def test_a_judge_as_good_as_a_person_is_left_alone() -> None:
    train, quality = simulated(60, seed=3, split="train")
    result = calibrate(train, judged(quality, seed=4))

    assert result.verdict == "unchanged"
    assert result.fitted([1, 3, 5]).tolist() == [1, 3, 5]


def test_a_gain_within_its_error_is_no_reason_for_a_map() -> None:
    train, quality = simulated(12, seed=1, split="train", per_group=1)
    result = calibrate(train, judged(quality, seed=5))

    assert result.gain.value > 0
    assert result.verdict == "unchanged"
    assert "within one standard error" in result.reason


def test_a_judge_that_runs_against_people_is_not_mapped_onto_a_constant() -> None:
    train, quality = simulated(40, seed=6, split="train")
    result = calibrate(train, 6 - judged(quality, seed=7))

    assert (result.verdict, result.reason) == ("unchanged", "the best map on train is a constant")


def test_fewer_than_ten_groups_are_not_evaluable() -> None:
    train, quality = simulated(9, seed=8, split="train", per_group=10)
    result = calibrate(train, harsh(quality))

    assert result.verdict == "not_evaluable"
    assert result.reason == "9 groups in train have ratings and scores; 10 needed"
    enough, quality = simulated(10, seed=8, split="train", per_group=10)
    assert calibrate(enough, harsh(quality)).verdict == "mapped"


def test_groups_without_a_score_do_not_count() -> None:
    train, quality = simulated(11, seed=9, split="train", per_group=1)
    scores = harsh(quality)
    scores[:2] = NAN

    assert calibrate(train, scores).verdict == "not_evaluable"


def test_classes_without_order_get_no_map() -> None:
    rng = np.random.default_rng(10)
    train = rated_units(
        rng.integers(1, 4, (30, 2)),
        scale=Scale.from_steps(low=1, high=3),
        level="nominal",
        split="train",
    )
    result = calibrate(train, rng.integers(1, 4, 30).astype(float))

    assert (result.verdict, result.fitted.is_identity) == ("unchanged", True)


def test_each_value_of_train_has_a_row() -> None:
    units, quality = simulated(80, seed=1, split=None)
    scores = harsh(quality)
    rows = calibration_rows(replace(units, scores={"gpt": scores}), "gpt")
    result = calibrate(units.part("train"), scores[units.is_in("train")])

    assert [row["judge_value"] for row in rows] == [1, 2, 3]
    assert tuple(row["mapped_value"] for row in rows) == result.fitted.mapped
    for row in rows:
        assert row["train_gain"] == result.gain.value


def test_a_judge_without_scores_in_train_has_a_row_that_says_so() -> None:
    units, quality = simulated(80, seed=1, split=None)
    scores = np.where(units.is_in("train"), NAN, harsh(quality))
    [row] = calibration_rows(replace(units, scores={"gpt": scores}), "gpt")

    assert row["verdict"] == "not_evaluable"
    assert "judge_value" not in row
