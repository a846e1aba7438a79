"""Verdicts of sealed tests: what was released is shown, what the seal keeps is not."""

import json
from typing import Any

import pandas as pd
import pytest

from eval_assets.render.document import Bullets, Fold
from eval_assets.report.sections import certified
from tests.unit.report.builder import Case, with_tables
from tests.unit.report.lookup import blocks_in, notes, table
from tests.unit.tuning.made_up import certificate

TEST = {"n_units": 130, "n_groups": 65, "level": 0.025, "reason": "agrees"}
CLAIMS: dict[str, dict[str, object]] = {
    "fitness": {**TEST, "verdict": "fit"}
    | {"gap": -0.012, "gap_low": -0.05, "gap_high": 0.026, "margin": 0.1}
    | {"kappa": 0.688, "kappa_people": 0.7}
    | {"ratio": 0.78, "ratio_low": 0.65, "ratio_high": 0.94},
    "improvement": {**TEST, "verdict": "accepted"}
    | {"gain": 0.2, "gain_low": 0.12, "gain_high": 0.28, "kappa": 0.7, "kappa_baseline": 0.5},
}


def stored(**fields: object) -> str:
    """A certificate as the table holds it."""
    content = {
        "summary": "gpt 1.0.1 may stand in for a rater on clarity.",
        "cost_per_1000_usd": 0.25,
        "cautions": ["Tests do not hold the rare."],
        "claims": CLAIMS,
    }
    return json.dumps(certificate("clarity", **(content | fields)).as_json())


ROW = {
    "judge_id": "gpt",
    "version": "1.0.1",
    "question_id": "clarity",
    "fitness": "fit",
    "improvement": "accepted",
    "reason": "agrees",
    "n_groups": 65,
    "n_readings": 2,
    "certificate": stored(),
    "stale_because": None,
}
LABEL = "Judges on their sealed tests"


def section_of(*rows: dict[str, Any]) -> Any:
    section = certified.section(
        with_tables(Case().data(), judge_certificates=pd.DataFrame(list(rows)))
    )
    assert section is not None
    return section


def test_a_certificate_says_first_what_holds_and_last_what_it_cannot_exclude() -> None:
    section = section_of(ROW)
    lists = [block for block in blocks_in(section.blocks) if isinstance(block, Bullets)]

    assert [item.text for entry in lists for item in entry.items] == [
        "gpt 1.0.1 may stand in for a rater on clarity.",
        (
            "gpt on clarity: agrees; kappa 0.500 before, 0.700 now; "
            "fit by a distance ratio of 0.780, 0.650 to 0.940, which lies below 1"
        ),
        "Tests do not hold the rare.",
    ]
    assert any(isinstance(block, Fold) for block in blocks_in(section.blocks))


def test_a_certified_judge_shows_its_figures_and_price() -> None:
    section = section_of(ROW)
    [row] = table(section, LABEL)

    assert (row["May stand in"], row["Better than before"]) == ("fit", "accepted")
    assert (row["Judge minus people"], row["Gain"]) == ("-0.012", "+0.200")
    assert (row["Groups"], row["Readings"], row["Per 1,000 scores"]) == ("65", "2", "0.2500")
    assert "-0.050 to +0.026; distance ratio 0.780, 0.650 to 0.940" in notes(section, LABEL)[0]
    assert "+0.120 to +0.280" in notes(section, LABEL)[0]


@pytest.mark.parametrize("verdict", ["unfit", "undecided", "not_evaluable"])
def test_a_judge_without_a_certificate_has_verdicts_and_no_figure(verdict: str) -> None:
    [row] = table(section_of({**ROW, "fitness": verdict, "certificate": None}), LABEL)

    assert row["May stand in"] == verdict.replace("_", " ")
    assert (row["Judge minus people"], row["Gain"]) == ("sealed", "sealed")


def test_a_stale_certificate_is_not_recommended() -> None:
    section = section_of({**ROW, "stale_because": "human ratings in the test changed"})
    [reason] = [block for block in blocks_in(section.blocks) if isinstance(block, Bullets)]

    assert [item.text for item in reason.items] == [
        "gpt on clarity: stale, because human ratings in the test changed"
    ]


def test_before_any_test_there_is_no_section() -> None:
    assert certified.section(Case().data()) is None


def test_costs_are_shown_only_if_some_judge_has_any() -> None:
    free = {**ROW, "certificate": stored(cost_per_1000_usd=None)}

    assert "Per 1,000 scores" in table(section_of(ROW), LABEL)[0]
    assert "Per 1,000 scores" not in table(section_of(free), LABEL)[0]


@pytest.mark.parametrize(
    ("threshold", "expected"), [(1.0, ["50 %", "80 %", "84 %"]), (0.0, ["50 %", "80 %"])]
)
def test_a_certified_part_shows_its_share_and_what_was_tried(
    threshold: float, expected: list[str]
) -> None:
    """The test of another part than the chosen one is not a row of that part's table."""
    claim = {**TEST, "verdict": "fit", "share": 0.84, "kappa": 0.61, "kappa_people": 0.6}
    claim |= {"doubt_source": "haiku", "doubt_threshold": threshold}
    row = {
        **ROW,
        "fitness": "undecided",
        "claim": "fit_in_part",
        "share": 0.84,
        "certificate": stored(claims={**CLAIMS, "fitness_in_part": claim}),
    }
    part = {"judge_id": "gpt", "question_id": "clarity", "doubt_source": "haiku"}
    tried = [
        {**part, "doubt_threshold": 0.0, "share": 0.5, "kappa": 0.65, "kappa_people": 0.62},
        {**part, "doubt_threshold": 1.0, "share": 0.8, "kappa": 0.63, "kappa_people": 0.62},
    ]
    data = with_tables(
        Case().data(),
        judge_certificates=pd.DataFrame([row]),
        stand_in_parts=pd.DataFrame(
            [{**line, "is_chosen": line["share"] == 0.8, "stale_because": None} for line in tried]
        ),
    )
    section = certified.section(data)
    assert section is not None
    [judged] = table(section, LABEL)
    shares = table(section, "Share of responses that a judge scores, against agreement")

    assert judged["May stand in"] == "on 84 %"
    assert [line["Share"] for line in shares if "Share" in line] == expected
