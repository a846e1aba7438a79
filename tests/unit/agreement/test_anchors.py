"""Anchors: which responses are scored again, and when."""

from datetime import UTC, datetime, timedelta

import pandas as pd

from eval_assets.agreement.drift import ANCHOR_KEY, choose_anchors, due_anchors, new_anchors

DAY = datetime(2026, 1, 1, tzinfo=UTC)
NONE = pd.DataFrame()
SCORED = pd.DataFrame(
    [
        (judge, question, f"r{k}", f"g{k}", "Prompt", "Answer", float(k))
        for judge in ("gpt", "haiku")
        for question in ("clarity", "tone")
        for k in range(3)
    ],
    columns=[
        *("judge_id", "question_id", "response_id", "group_id"),
        *("prompt_text", "response_text", "score"),
    ],
)


def frozen(
    before: pd.DataFrame = NONE, *, judges: dict[str, str], rubrics: dict[str, str], most: int = 2
) -> pd.DataFrame:
    """Return anchors as the ledger has them: times are text."""
    rows = new_anchors(SCORED, before, judges=judges, rubrics=rubrics, most=most, at=DAY)
    return pd.DataFrame(rows).assign(frozen_at=DAY.isoformat())


def due(
    anchors: pd.DataFrame, rounds: pd.DataFrame = NONE, *, days: float, **now: dict[str, str]
) -> tuple[list[tuple[object, ...]], int]:
    """Return judge, question and round of what is due, and the number of tests."""
    result, n_tests = due_anchors(
        anchors,
        rounds,
        judges=now.get("judges", {"gpt": "f1"}),
        rubrics=now.get("rubrics", {"clarity": "q1", "tone": "q2"}),
        pause=timedelta(days=7),
        now=DAY + timedelta(days=days),
    )
    if result.empty:
        return [], n_tests
    of_tests = result[["judge_id", "question_id", "round"]].drop_duplicates()
    return sorted(of_tests.itertuples(index=False, name=None)), n_tests


def test_one_answer_of_each_group_becomes_an_anchor_whatever_the_order() -> None:
    responses, groups = ["a1", "a2", "b1", "c1"], ["a", "a", "b", "c"]
    chosen = {responses[k] for k in choose_anchors(responses, groups, question_id="q", most=9)}
    turned = choose_anchors(responses[::-1], groups[::-1], question_id="q", most=9)

    assert len(chosen & {"a1", "a2"}) == 1
    assert {"b1", "c1"} < chosen
    assert {responses[::-1][k] for k in turned} == chosen
    assert len(choose_anchors(responses, groups, question_id="q", most=2)) == 2


def test_anchors_are_frozen_once_for_each_judge_and_question() -> None:
    rubrics = {"clarity": "q1", "tone": "q2"}
    first = frozen(judges={"gpt": "f1"}, rubrics=rubrics)

    assert first.groupby(["judge_id", "question_id"]).size().tolist() == [2, 2]
    assert new_anchors(SCORED, first, judges={"gpt": "f1"}, rubrics=rubrics, most=3, at=DAY) == []
    other = frozen(first, judges={"gpt": "f2"}, rubrics=rubrics)
    assert set(other[ANCHOR_KEY[1]]) == {"f2"}
    reworded = frozen(first, judges={"gpt": "f1"}, rubrics={**rubrics, "tone": "q3"})
    assert set(reworded["question_id"]) == {"tone"}


def test_anchors_are_due_when_the_pause_since_the_last_round_is_over() -> None:
    anchors = frozen(judges={"gpt": "f1"}, rubrics={"clarity": "q1", "tone": "q2"})
    rated = {"judge_id": "gpt", "fingerprint": "f1", "question_id": "tone", "rubric": "q2"}
    rounds = pd.DataFrame(
        [
            {**rated, "round": number, "judged_at": (DAY + timedelta(days=day)).isoformat()}
            for number, day in ((1, 7), (2, 14))
        ]
    )

    assert due(anchors, days=6.9) == ([], 2)
    assert due(anchors, days=7) == ([("gpt", "clarity", 1), ("gpt", "tone", 1)], 2)
    assert due(anchors, rounds, days=20) == ([("gpt", "clarity", 1)], 2)
    assert due(anchors, rounds, days=21) == ([("gpt", "clarity", 1), ("gpt", "tone", 3)], 2)


def test_anchors_of_another_judge_or_question_are_not_rated_again() -> None:
    anchors = frozen(judges={"gpt": "f1"}, rubrics={"clarity": "q1"})

    assert due(anchors, days=9, judges={"gpt": "f2"}) == ([], 0)
    assert due(anchors, days=9, rubrics={"clarity": "q9"}) == ([], 0)
    assert due(NONE, days=9) == ([], 0)
