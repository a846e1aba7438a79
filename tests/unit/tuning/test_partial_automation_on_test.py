"""Parts of the responses in the evaluation of a sealed test."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from eval_assets.tuning.certificate_contents import Background
from eval_assets.tuning.held_out_test import (
    candidates_for,
    completed_evaluation,
    due_evaluation,
    with_tested_parts,
)
from eval_assets.tuning.history import HeldOutEvaluation, QuestionTest
from eval_assets.tuning.rated import RatedUnits
from eval_assets.tuning.steps import TunedJudge, declared_version, mapped_judge
from tests.unit.tuning.made_up import partly_wrong

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
BACKGROUND = Background(
    margin=0.1,
    people_agree=True,
    human_agreement={},
    cost_per_1000_usd={},
    models_returned={},
    stand_in=True,
)


def judges_of(scores: dict[str, np.ndarray]) -> list[TunedJudge]:
    return [
        mapped_judge(
            replace(declared_version(name, fingerprint=name, prompt_text=""), version="1.0.0"),
            {"q": values},
            replaced={},
        )
        for name, values in scores.items()
    ]


def read(
    units: RatedUnits,
    scores: dict[str, np.ndarray],
    background: Background = BACKGROUND,
    past: list[HeldOutEvaluation] | None = None,
) -> HeldOutEvaluation:
    seal = QuestionTest.of(past or [])
    candidates = candidates_for(units, seal, judges_of(scores))
    candidates = with_tested_parts(units, candidates, seal, background)
    reading, _ = due_evaluation(units, candidates, seal, on_request=True, now=NOW)
    return completed_evaluation(reading, units, candidates, background)


def test_a_judge_that_is_expected_to_be_fit_gets_no_part() -> None:
    units, scores = partly_wrong()
    reading = read(units, {"right": scores["right"], "broken": scores["broken"]})

    assert set(reading.parts) == {"broken"}


def test_a_part_shares_the_level_and_is_certified() -> None:
    units, scores = partly_wrong()
    reading = read(units, scores)
    rows = {(row["judge_id"], row["kind"]): row for row in reading.rows}
    certificate = reading.certificates["broken"]

    assert reading.level == pytest.approx(0.025 / 3)
    assert rows["broken", "fitness"]["verdict"] != "fit"
    part = rows["broken", "fitness_in_part"]
    assert (part["verdict"], part["doubt_source"]) == ("fit", "right")
    assert certificate.claim == "fit_in_part"
    assert certificate.claims.fitness_in_part is not None
    assert certificate.claims.fitness_in_part.share == part["share"]
    assert certificate.evidence.doubts is not None
    assert "can replace a rater on" in certificate.summary


def test_no_part_is_tested_where_it_is_declared_off_or_people_disagree() -> None:
    units, scores = partly_wrong()

    assert not read(units, scores, replace(BACKGROUND, stand_in=False)).parts
    assert not read(units, scores, replace(BACKGROUND, people_agree=False)).parts


def test_the_parts_of_a_reading_stay_when_it_is_repeated() -> None:
    units, scores = partly_wrong()
    first = read(units, scores)
    repeat = read(units, scores, past=[first])

    assert (repeat.number, repeat.parts, repeat.content) == (1, first.parts, first.content)
    assert (
        HeldOutEvaluation.from_json(
            first.as_json(), question_id="q", seal=1, number=1, level=first.level, read_at=NOW
        ).parts
        == first.parts
    )
