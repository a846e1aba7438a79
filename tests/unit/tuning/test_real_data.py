"""Judges of code responses on 184 groups of data/code, to six digits."""

import csv
import gzip
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from eval_assets.scale import Scale
from eval_assets.stats import non_inferiority
from eval_assets.tuning.calibration import calibrate
from eval_assets.tuning.claim_results import judge_fitness, judge_improvement
from eval_assets.tuning.partial_automation import (
    JudgePart,
    chosen_part,
    doubts_by_source,
    partial_comparison,
    tried_parts,
)
from eval_assets.tuning.rated import RatedUnits
from tests.unit.tuning.made_up import rated_units

CODE = Path(__file__).parents[3] / "data" / "code"
LEVEL = 0.025


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
    """All rated responses, and the scores of each judge."""

    def rows(name: str) -> list[dict[str, str]]:
        opened = gzip.open if name.endswith(".gz") else open
        with opened(CODE / name, "rt", encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    group = {row["response_id"]: row["group_id"] for row in rows("responses.csv")}
    unit = {item: k for k, item in enumerate(group)}
    labels = rows("labels.csv")
    rater = {name: k for k, name in enumerate(sorted({row["rater_id"] for row in labels}))}
    ratings = np.full((len(unit), len(rater)), np.nan)
    for row in labels:
        ratings[unit[row["response_id"]], rater[row["rater_id"]]] = float(row["rating"])
    scores = {f"{name}": np.full(len(unit), np.nan) for name in EXPECTED}
    for row in rows("judge_scores.csv.gz"):
        if row["score"]:
            name = row["judge_model"].split("/")[1]
            scores[name][unit[row["response_id"]]] = float(row["score"])
    scale = Scale.from_steps(low=0, high=4)
    return rated_units(ratings, groups=list(group.values()), scale=scale), scores


@pytest.mark.parametrize("name", EXPECTED)
def test_a_judge_of_code_responses_gets_its_map_and_both_verdicts(
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
    actual = improvement.compared
    assert actual.gain.n_groups == 184
    assert (actual.baseline.value, actual.candidate.value) == pytest.approx(
        expected.figures, abs=1e-6
    )
    assert improvement.verdict == expected.improvement
    if expected.gain:
        assert (actual.gain.value, actual.gain.standard_error) == pytest.approx(
            expected.gain, abs=1e-6
        )
    for inputs, gap, verdict in zip((raw, mapped), expected.gaps, expected.fitness, strict=True):
        fitness = judge_fitness(test, inputs, margin=0.1, significance=LEVEL, people_agree=True)
        assert fitness.compared.gap.value == pytest.approx(gap, abs=1e-6)
        assert fitness.verdict == verdict


@pytest.mark.parametrize(
    ("name", "statistic", "df", "p_value"),
    [
        ("ice-score-only-noref", (0.1545844, 0.0394041), 93, 0.000084),
        ("ice-score-only-ref", (0.0901579, 0.0475411), 33, 0.033344),
        ("ice-cot-noref", (0.2372839, 0.0351536), 42, 0.0),
        ("ice-cot-ref", (0.2634753, 0.0365526), 50, 0.0),
    ],
)
def test_fitness_counts_the_groups_that_decide(
    conala: tuple[RatedUnits, dict[str, np.ndarray]],
    name: str,
    statistic: tuple[float, float],
    df: int,
    p_value: float,
) -> None:
    """Satterthwaite's degrees of freedom: a fifth to a half of the 183 of all groups."""
    units, scores = conala
    test = units.part("test")
    mapped = calibrate(units.part("train"), scores[name][units.splits == "train"]).fitted(
        scores[name][units.splits == "test"]
    )
    compared = non_inferiority(
        test.ratings, mapped, margin=0.1, level="ordinal", groups=test.group_codes
    )

    shortfall = compared.shortfall
    assert (shortfall.value, shortfall.standard_error) == pytest.approx(statistic, abs=1e-7)
    assert (shortfall.n_groups, shortfall.df) == (184, df)
    assert shortfall.p_above == pytest.approx(p_value, abs=1e-6)


@pytest.mark.parametrize(
    ("source", "threshold", "share", "statistic", "kappas", "whole"),
    [
        (
            "ice-score-only-noref",
            1,
            0.9054,
            (0.1258245, 0.0400700),
            (0.5625346, 0.5944218),
            (0.0902, 0.0475),
        ),
        (
            "ice-cot-noref",
            2,
            0.9407,
            (0.1583510, 0.0405565),
            (0.5748401, 0.5959604),
            (0.0870, 0.0478),
        ),
        (
            "ice-cot-ref",
            1,
            0.8416,
            (0.2347270, 0.0302495),
            (0.6147782, 0.5970262),
            (0.0893, 0.0480),
        ),
    ],
)
def test_an_undecided_judge_is_fit_on_the_part_that_train_and_dev_choose(  # noqa: PLR0913, PLR0917
    conala: tuple[RatedUnits, dict[str, np.ndarray]],
    source: str,
    threshold: float,
    share: float,
    statistic: tuple[float, float],
    kappas: tuple[float, float],
    whole: tuple[float, float],
) -> None:
    units, scores = conala
    train, is_test = units.part("train"), units.splits == "test"
    mapped = {
        name: calibrate(train, values[units.splits == "train"]).fitted(values)
        for name, values in scores.items()
        if name in ("ice-score-only-ref", source)
    }
    judge = mapped["ice-score-only-ref"]
    doubts = doubts_by_source("ice-score-only-ref", mapped, None, is_ordered=True)
    tried = tried_parts(units, judge, doubts, margin=0.1, significance=LEVEL)
    chosen = chosen_part(tried)
    assert chosen is not None
    assert chosen.part == JudgePart(source, threshold)

    test = units.part("test")
    result = judge_fitness(
        test,
        judge[is_test],
        doubts=doubts[source][is_test],
        part=chosen.part,
        margin=0.1,
        significance=LEVEL,
        people_agree=True,
    )
    compared = result.compared
    shortfall = compared.shortfall
    assert result.verdict == "fit"
    assert compared.share == pytest.approx(share, abs=5e-5)
    assert (shortfall.value, shortfall.standard_error) == pytest.approx(statistic, abs=1e-6)
    assert (compared.judge.value, compared.people.value) == pytest.approx(kappas, abs=1e-6)

    complete = JudgePart(source, 4.0)
    compared = partial_comparison(
        test, judge[is_test], doubts[source][is_test], complete, margin=0.1
    )
    shortfall = compared.shortfall
    assert compared.share == 1
    assert (shortfall.value, shortfall.standard_error) == pytest.approx(whole, abs=1e-4)
