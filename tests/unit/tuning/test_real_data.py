"""Judges of code answers on 184 groups of public data, as spec'd to six digits.

The data are not part of the repository: set EVAL_ASSETS_REAL_DATA to the folder that holds
`conala_code`.
"""

import csv
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from eval_assets.scale import Scale
from eval_assets.tuning._fitness import judge_fitness
from eval_assets.tuning._improvement import judge_improvement
from eval_assets.tuning.calibration import calibrate
from eval_assets.tuning.rated import RatedUnits
from tests.unit.tuning.made_up import rated_units

REAL_DATA = os.environ.get("EVAL_ASSETS_REAL_DATA")
LEVEL = 0.025

pytestmark = pytest.mark.skipif(not REAL_DATA, reason="EVAL_ASSETS_REAL_DATA is not set")


@dataclass(frozen=True)
class Expected:
    """Figures of one judge, raw first and mapped second."""

    mapped: tuple[int, ...]
    figures: tuple[float, float]
    gain: tuple[float, float] | None
    improvement: str
    gaps: tuple[float, float]
    fitness: tuple[str, str]


EXPECTED = {
    "ice-score-only-noref": Expected(
        (0, 0, 1, 2, 4),
        (0.4974854, 0.5888919),
        (0.0914065, 0.0106087),
        "accepted",
        (-0.1160971, -0.0276670),
        ("undecided", "fit"),
    ),
    "ice-score-only-ref": Expected(
        (0, 0, 1, 3, 4),
        (0.5329966, 0.5642399),
        (0.0312432, 0.0080301),
        "accepted",
        (-0.0838126, -0.0564125),
        ("undecided", "undecided"),
    ),
    "ice-cot-noref": Expected(
        (0, 1, 2, 3, 4),
        (0.6196946, 0.6196946),
        None,
        "unchanged",
        (0.0063512, 0.0063512),
        ("fit", "fit"),
    ),
    "ice-cot-ref": Expected(
        (0, 1, 2, 3, 4),
        (0.6329429, 0.6329429),
        None,
        "unchanged",
        (0.0163709, 0.0163709),
        ("fit", "fit"),
    ),
}


@pytest.fixture(scope="module")
def conala() -> tuple[RatedUnits, dict[str, np.ndarray]]:
    """All rated answers, and the scores of each judge."""
    folder = Path(REAL_DATA or "") / "conala_code"

    def rows(name: str) -> list[dict[str, str]]:
        with (folder / name).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    group = {row["item_id"]: row["group"] for row in rows("responses.csv")}
    unit = {item: k for k, item in enumerate(group)}
    labels = rows("labels.csv")
    rater = {name: k for k, name in enumerate(sorted({row["rater_id"] for row in labels}))}
    ratings = np.full((len(unit), len(rater)), np.nan)
    for row in labels:
        ratings[unit[row["item_id"]], rater[row["rater_id"]]] = float(row["rating"])
    scores = {f"{name}": np.full(len(unit), np.nan) for name in EXPECTED}
    for row in rows("judge_scores.csv"):
        if row["score"]:
            name = row["judge_model"].split("/")[1]
            scores[name][unit[row["item_id"]]] = float(row["score"])
    scale = Scale.from_steps(low=0, high=4)
    return rated_units(ratings, groups=list(group.values()), scale=scale), scores


@pytest.mark.parametrize("name", EXPECTED)
def test_a_judge_of_code_answers_gets_its_map_and_both_verdicts(
    conala: tuple[RatedUnits, dict[str, np.ndarray]], name: str
) -> None:
    units, scores = conala
    expected = EXPECTED[name]
    train, test = units.part("train"), units.part("test")
    calibration = calibrate(train, scores[name][units.splits == "train"])
    assert tuple(calibration.fitted([0, 1, 2, 3, 4])) == expected.mapped

    raw = scores[name][units.splits == "test"]
    mapped = calibration.fitted(raw)
    improvement = judge_improvement(
        test, mapped, raw, significance=LEVEL, n_train_groups=train.n_groups
    )
    found = improvement.compared
    assert found.gain.n_groups == 184
    assert (found.baseline.value, found.candidate.value) == pytest.approx(
        expected.figures, abs=1e-6
    )
    assert improvement.verdict == expected.improvement
    if expected.gain:
        assert (found.gain.value, found.gain.standard_error) == pytest.approx(
            expected.gain, abs=1e-6
        )
    for given, gap, verdict in zip((raw, mapped), expected.gaps, expected.fitness, strict=True):
        fitness = judge_fitness(test, given, margin=0.1, significance=LEVEL, people_agree=True)
        assert fitness.compared.gap.value == pytest.approx(gap, abs=1e-6)
        assert fitness.verdict == verdict
