"""A pull request is held up by what it broke, and not by noise or by what was broken before."""

import json
import math
from pathlib import Path

import click
import pytest

from eval_assets.agreement.gates.decision import (
    GateEvidence,
    GateFigure,
    GateOutcome,
    evaluate_gates,
)
from eval_assets.cli.pull_request import Base, comment, decide, read_base
from eval_assets.config.evaluation import Gate


def outcome(value: float, half: float = 0.03, question_id: str = "clarity") -> GateOutcome:
    """Return the gate human_a_hh on one question with this value and interval."""
    figures = tuple(
        GateFigure(question, value, value - half, value + half, 72)
        for question in (None, question_id)
    )
    [result] = evaluate_gates(
        {"human_a_hh": GateEvidence(figures, "v1")}, {"human_a_hh": Gate(minimum=0.75)}
    )
    return result


def base(value: float) -> Base:
    return Base(json.loads(json.dumps([outcome(value).to_json()])))


@pytest.mark.parametrize(
    ("before", "now", "decision"),
    [
        (0.85, 0.84, "pass"),
        (0.85, 0.60, "fail"),
        (0.60, 0.55, "cannot tell"),  # it was closed before
        (0.76, 0.74, "cannot tell"),  # the interval holds the minimum
        (0.76, 0.71, "cannot tell"),  # the intervals meet
        (0.85, math.nan, "cannot tell"),
        (None, 0.60, "fail"),
        (None, 0.74, "cannot tell"),
    ],
)
def test_only_a_gate_that_closes_by_more_than_noise_fails(
    before: float | None, now: float, decision: str
) -> None:
    assert decide([outcome(now)], base(before) if before else None) == decision


def test_the_comment_lists_certificates_and_what_changed() -> None:
    certificate = {
        "judge_id": "gpt",
        "question_id": "clarity",
        "fitness": "fit",
        "improvement": None,
        "stale_because": "labels changed",
        "reason": "",
    }
    text = comment("pilot", [outcome(0.6)], certificates=[certificate], base=base(0.85))

    assert text.startswith("### pilot: gates closed: human_a_hh\n")
    assert "| gpt | clarity | stale (was fit) | not asked | stale: labels changed |" in text
    assert "**human_a_hh is closed now**" in text
    assert "human_a_hh, clarity: 0.850 → 0.600" in text
    assert "this holds up the pull request" in text


def test_nothing_is_listed_if_nothing_changed() -> None:
    text = comment("pilot", [outcome(0.85)], base=base(0.85))

    assert "No figure changed." in text
    assert "holds up" not in text


def test_questions_that_one_side_lacks_are_named() -> None:
    text = comment("pilot", [outcome(0.85, question_id="tone")], base=base(0.85))

    assert "- human_a_hh, tone is new: 0.850" in text
    assert "- human_a_hh, clarity is gone" in text


def test_the_title_names_undecided_gates() -> None:
    assert comment("pilot", [outcome(0.77)]).startswith("### pilot: gates undecided: human_a_hh")
    assert comment("pilot", [outcome(0.85)]).startswith("### pilot: gates open")


def test_a_gate_that_the_base_lacks_is_new() -> None:
    assert "human_a_hh is new" in comment("pilot", [outcome(0.85)], base=Base([]))


@pytest.mark.parametrize("text", ["", "[]", "{}", '[{"gate": "x"}]', "no JSON"])
def test_a_file_that_holds_no_gates_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "base.json").write_text(text)

    with pytest.raises(click.UsageError, match="does not hold the gates"):
        read_base(tmp_path / "base.json")


def test_an_open_gate_passes_whatever_the_base_was() -> None:
    assert decide([outcome(0.8)], base(0.6)) == "pass"
