"""Units that judges rate, and their scores on the way into the database."""

import itertools
from dataclasses import replace

import duckdb
import pandas as pd

from eval_assets.ledger import Shard
from eval_assets.store.inputs import write_rubric
from eval_assets.store.schema import replace_rows
from eval_assets.store.scores import (
    earlier_turns,
    next_units,
    other_models,
    status_counts,
    write_judge_scores,
)
from tests.unit.store.conftest import CLARITY, responses, scores

Connection = duckdb.DuckDBPyConnection


def test_turns_before_a_response_are_those_of_its_own_conversation(connection: Connection) -> None:
    turns = responses("a1", "a2", "a3", "b1", convo_id="c", model_name="m")
    turns["turn_index"] = [3, 1, 2, 1]
    turns.loc[3, "model_name"] = "other"
    replace_rows(connection, "responses", turns)

    assert earlier_turns(connection) == {
        "a3": (("Prompt a", "Answer a2"),),
        "a1": (("Prompt a", "Answer a2"), ("Prompt a", "Answer a3")),
    }
    assert earlier_turns(connection, of={"a2", "a3"}) == {"a3": (("Prompt a", "Answer a2"),)}


def test_every_unit_is_in_one_shard_and_comes_once_by_question(connection: Connection) -> None:
    write_rubric(connection, [replace(CLARITY, id="z"), replace(CLARITY, id="a")])
    replace_rows(connection, "responses", responses(*(f"a{k:02}" for k in range(40))))

    def units_of(shard: int, n_shards: int) -> list[tuple[str, str, str, str]]:
        result, after = list[tuple[str, str, str, str]](), None
        while more := next_units(connection, after=after, n=7, shard=Shard(shard, n_shards)):
            assert len(more) <= 7
            result, after = result + more, more[-1][:2]
        return result

    rows = units_of(0, 1)
    assert [unit[:2] for unit in rows] == [(f"a{k:02}", q) for q in "za" for k in range(40)]
    shards = [units_of(shard, 3) for shard in range(3)]
    assert sorted(itertools.chain(*shards)) == sorted(rows)
    assert all(len(shard) > 10 for shard in shards)


def test_scores_are_replaced_by_those_of_all_judges(connection: Connection) -> None:
    first = scores(("a1", "clarity", "j", 2.5, "ok"), ("a2", "clarity", "j", None, "missing"))
    second = scores(("a1", "safety", "k", 1.0, "ok")).assign(raw_output='{"score": "1\u2028"}')

    write_judge_scores(connection, [scores(("a3", "clarity", "old", 3.0, "ok"))])
    write_judge_scores(connection, [first, second])

    rows = connection.execute(
        "SELECT response_id, judge_id, score, raw_output FROM judge_scores"
    ).fetchall()
    assert rows == [
        ("a1", "j", 2.5, None),
        ("a2", "j", None, None),
        ("a1", "k", 1.0, '{"score": "1\u2028"}'),
    ]
    assert status_counts(connection).to_numpy().tolist() == [
        ["j", "missing", 1],
        ["j", "ok", 1],
        ["k", "ok", 1],
    ]


def test_other_models_are_those_that_are_no_version_of_the_requested_one(
    connection: Connection,
) -> None:
    returned = ["gpt-4o-2024-08-06", "gpt-4o-mini", "openai/gpt-4o", None, "gpt-4o"]
    calls = pd.DataFrame(
        {
            "call_key": [f"k{n}" for n in range(5)],
            "attempt": 1,
            "judge_id": "gpt",
            "operation": "judging",
            "provider": "openai",
            "model_requested": "gpt-4o",
            "model_returned": returned,
            "status": "ok",
            "in_batch": False,
            "replicate": 0,
            "base_url": "http://127.0.0.1",
            "latency_seconds": 0.1,
            "started_at": pd.Timestamp("2026-11-21", tz="UTC"),
        }
    )
    replace_rows(connection, "judge_calls", calls)
    assert other_models(connection) == {("gpt", "gpt-4o"): "gpt-4o-mini"}
