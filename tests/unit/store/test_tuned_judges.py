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
    test_rows = [row("improvement", improvement), row("fitness", fitness)]
    rows = evaluation_table(test_rows, agreed={"q"})

    assert [item["state"] for item in rows] == states
    assert [item["verdict"] for item in rows] == [improvement, fitness]


@pytest.mark.parametrize(
    ("n_units", "agreed", "state"),
    [(40, {"q"}, "need_more_data"), (40, {"other"}, "not_measured"), (None, {"q"}, "not_measured")],
)
def test_a_judge_on_too_few_groups_needs_more_data_where_people_agree(
    n_units: int | None, agreed: set[str], state: str
) -> None:
    few = row("fitness", "not_evaluable") | {"n_units": n_units}

    [result] = evaluation_table([few], agreed=agreed)

    assert result["state"] == state
