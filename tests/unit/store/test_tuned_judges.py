"""Verdicts of held-out tests as the tables have them."""

import pytest

from eval_assets.store.tuned_judges import evaluation_table


def row(kind: str, verdict: str) -> dict[str, object]:
    return {
        "judge_id": "gpt",
        "version": "1.0.0",
        "question_id": "q",
        "kind": kind,
        "verdict": verdict,
    }


@pytest.mark.parametrize(
    ("improvement", "fitness", "states"),
    [
        ("accepted", "fit", ["pass", "pass"]),
        ("rejected", "unfit", ["fail", "fail"]),
        ("inconclusive", "undecided", ["need_more_data", "need_more_data"]),
        ("not_evaluable", "not_evaluated", ["not_measured", "not_measured"]),
        ("unchanged", "fit", ["pass", "pass"]),
        ("unchanged", "undecided", ["need_more_data", "need_more_data"]),
    ],
)
def test_each_verdict_of_a_test_has_a_state(
    improvement: str, fitness: str, states: list[str]
) -> None:
    rows = evaluation_table([row("improvement", improvement), row("fitness", fitness)])

    assert [item["state"] for item in rows] == states
    assert [item["verdict"] for item in rows] == [improvement, fitness]
