"""Copies of the ledger in DuckDB, and on the server of a team."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import duckdb
import pytest

from eval_assets.ledger import Reply
from eval_assets.store.connection import connect, transaction
from eval_assets.store.ledger import copies as copies_module
from eval_assets.store.ledger.attempts import spending_table
from eval_assets.store.ledger.copies import copy_ledger
from eval_assets.store.ledger.engine import SqlLedger
from eval_assets.store.ledger.histories import (
    JudgeLedger,
    append_history,
    history_of,
)
from eval_assets.store.ledger.opening import open_ledger
from eval_assets.store.ledger.workers import Worker
from tests.unit.store.ledger.conftest import NOW, attempt, batch_of, failed, prompts_of
from tests.unit.store.ledger.test_judge_ledger import MAPPED, a_reading

Connection = duckdb.DuckDBPyConnection


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    """An open database."""
    with connect(tmp_path / "elsewhere.duckdb") as connection:
        yield connection


def copied(ledger: SqlLedger, connection: Connection, query: str) -> list[tuple[object, ...]]:
    with transaction(connection):
        copy_ledger(ledger, connection)
    return connection.execute(query).fetchall()


def judgement(query_id: int, *, kappa: float | None = 1.0) -> dict[str, object]:
    return {
        "query_id": query_id,
        "query": "What is it?",
        "docs": [7, 3],
        "expected_docs": None,
        "content_hashes": ["a1", "b2"],
        "judge1_score": [0.7, None],
        "judge2_score": [0.6, 0.1],
        "judge1_model": "gpt-6-luna",
        "judge2_model": "claude-haiku-5-5",
        "kappa": kappa,
        "kappa_reason": None if kappa is not None else "single_class",
        "status": "partial",
        "created_at": NOW,
    }


def test_attempts_are_copied_once_each(
    ledger: SqlLedger, worker: Worker, connection: Connection
) -> None:
    count = "SELECT count(*), count(DISTINCT ledger_id), sum(cost_usd) FROM judge_calls"
    worker.record([attempt("a"), failed("b")])
    first = copied(ledger, connection, count)
    worker.record([attempt("c")])

    assert first == [(2, 2, 0.01)]
    assert copied(ledger, connection, count) == [(3, 3, 0.02)]
    assert copied(ledger, connection, count) == [(3, 3, 0.02)]


def test_a_copy_has_every_column_of_an_attempt_with_its_run(
    ledger: SqlLedger, worker: Worker, connection: Connection
) -> None:
    worker.record([attempt("a", reasoning_tokens=7, cache_write_tokens=3)])

    [row] = copied(
        ledger,
        connection,
        "SELECT call_key, run_id, raw_output, started_at, in_batch, error, reasoning_tokens, "
        "cache_write_tokens, charged_usd FROM judge_calls",
    )
    assert row == ("a", "run-1", "4", NOW, False, None, 7, 3, 0.01)
    assert connection.execute("SELECT token_count FROM api_cost_log").fetchall() == [(110,)]


def test_many_attempts_are_copied_in_portions(
    ledger: SqlLedger, worker: Worker, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies_module, "_ATTEMPTS_AT_ONCE", 3)
    worker.record([attempt(f"k{number}") for number in range(9)])

    assert copied(ledger, connection, "SELECT count(*) FROM judge_calls") == [(9,)]


def test_copies_of_another_ledger_are_replaced(
    ledger: SqlLedger, worker: Worker, connection: Connection, tmp_path: Path
) -> None:
    worker.record([attempt("a")])
    copied(ledger, connection, "SELECT 1")
    with (
        open_ledger(tmp_path / "other", evaluation="poems", setting=None) as other,
        Worker(other, asset="judge_scores") as asking,
    ):
        asking.record([attempt("b")])
        assert copied(other, connection, "SELECT call_key FROM judge_calls") == [("b",)]


def test_another_evaluations_attempts_are_not_copied(
    ledger: SqlLedger, connection: Connection, tmp_path: Path
) -> None:
    """On a shared ledger; what the other has asked is not asked again all the same."""
    shared = str(tmp_path / "team.sqlite") if ledger.place.endswith(".sqlite") else ledger.place
    for name in ("poems", "songs"):
        with (
            open_ledger(tmp_path, evaluation=name, setting=shared) as first,
            Worker(first, asset="judge_scores") as asking,
        ):
            if name == "poems":
                asking.record([attempt("a")])
            else:
                assert asking.replies(["a"]) == {"a": Reply("4", "ok")}
                assert copied(first, connection, "SELECT count(*) FROM judge_calls") == [(0,)]


def test_spending_of_a_run_is_null_if_part_of_it_is_unknown(
    ledger: SqlLedger, worker: Worker, connection: Connection
) -> None:
    worker.record([attempt("a"), failed("b")])
    with Worker(ledger, asset="generated_responses", run_id="run-1") as generating:
        generating.record([attempt("c", cost_usd=None, charged_usd=0.05)])

    query = "SELECT asset, spent_usd, recorded_at FROM run_spending ORDER BY asset"
    assert copied(ledger, connection, query) == [
        ("generated_responses", None, NOW),
        ("judge_scores", 0.01, NOW),
    ]


def test_the_latest_answer_to_a_query_is_copied(ledger: SqlLedger, connection: Connection) -> None:
    answers = [judgement(1), judgement(2), judgement(1, kappa=None)]
    append_history(ledger, "dual_judgements", answers)

    query = "SELECT id, kappa, kappa_reason, judge1_score FROM ground_truth ORDER BY id"
    assert copied(ledger, connection, query) == [
        (1, None, "single_class", [0.7, None]),
        (2, 1.0, None, [0.7, None]),
    ]


def test_a_folders_own_ledger_moves_to_the_one_of_a_team(ledger: SqlLedger, tmp_path: Path) -> None:
    """With all that was paid and counted, once, and beside what others have there."""
    team = str(tmp_path / "team.sqlite") if ledger.evaluation == "" else ledger.place
    folder = tmp_path / "odes"
    with open_ledger(folder, evaluation="odes", setting=None) as earlier:
        with Worker(earlier, asset="judge_scores", run_id="run-1") as worker:
            worker.record([attempt("a"), failed("b")], prompts_of("a", "b"))
            worker.store_batch(replace(batch_of("intent-1", "c"), batch_id="batch-1"))
        append_history(earlier, "dual_judgements", [judgement(1)])
        JudgeLedger(earlier).register([(MAPPED, {})], at=NOW)
        JudgeLedger(earlier).record(reading := a_reading())
        JudgeLedger(earlier).release(reading)
    with (
        open_ledger(tmp_path / "other", evaluation="songs", setting=team) as other,
        Worker(other, asset="judge_scores", run_id="run-1") as asking,
    ):
        asking.record([attempt("a", started_at=NOW + timedelta(hours=1))])

    for _ in range(2):
        with open_ledger(folder, evaluation="odes", setting=team) as result:
            assert Worker(result, asset="x").replies(["a", "b"]) == {"a": Reply("4", "ok")}
            assert [batch.batch_id for batch in Worker(result, asset="x").open_batches("gpt")] == [
                "batch-1"
            ]
            assert JudgeLedger(result).evaluations("q") == [reading]
            assert JudgeLedger(result).versions() == [replace(MAPPED, version="1.0.0", parent=None)]
            assert [row["run"] for row in spending_table(result, by="run")] == ["run-1"]
            assert [row["charged_usd"] for row in spending_table(result, by="run")] == [0.01]
            assert len(history_of(result, "dual_judgements")) == 1


def test_a_history_is_copied_to_the_columns_that_its_table_has(
    ledger: SqlLedger, connection: Connection
) -> None:
    """Columns come and go with versions of the program; rows are kept for ever."""
    row = {"run_id": "run-1", "measured_at": NOW, "scope": "overall", "alpha": 0.5, "former": 1}
    append_history(ledger, "agreement_history", [row])

    query = "SELECT run_id, measured_at, alpha, a_hh FROM agreement_history"
    assert copied(ledger, connection, query) == [("run-1", NOW, 0.5, None)]
