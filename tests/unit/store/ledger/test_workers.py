"""Workers and their slots: nothing is asked twice, and nothing that was answered is lost."""

import dataclasses
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import sqlalchemy as sa

from eval_assets.errors import StoreError
from eval_assets.ledger import N_SLOTS, WHOLE, Attempt, EndpointMemory, Reply, Shard
from eval_assets.store.ledger._tables import attempts, requests, slots
from eval_assets.store.ledger.attempts import spent_in_month
from eval_assets.store.ledger.engine import SqlLedger
from eval_assets.store.ledger.opening import open_ledger
from eval_assets.store.ledger.workers import Worker
from tests.processes import processes
from tests.unit.store.ledger.conftest import NOW, attempt, batch_of, failed, prompts_of

if TYPE_CHECKING:
    from tests.postgres import Postgres


@pytest.fixture
def other(ledger: SqlLedger) -> Iterator[Worker]:
    """Another one who asks, without the slots of a judge."""
    with Worker(ledger, asset="judge_scores", run_id="run-2") as worker:
        yield worker


def stored(ledger: SqlLedger, table: sa.Table) -> list[sa.Row[tuple[object, ...]]]:
    with ledger.transaction() as connection:
        return list(connection.execute(sa.select(table)).all())


def asking(
    ledger: SqlLedger, *judge_ids: str, run_id: str = "run-1", shard: Shard = WHOLE
) -> Worker:
    """Return one who asks judges and does not wait for them."""
    return Worker(
        ledger,
        asset="judge_scores",
        run_id=run_id,
        judge_ids=judge_ids,
        shard=shard,
        is_waiting=False,
    )


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval_assets.store.ledger.workers._PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr("eval_assets.store.ledger.workers._POLL_SECONDS", 0.01)


def test_a_judge_is_asked_by_one_worker_at_a_time(ledger: SqlLedger) -> None:
    with asking(ledger, "gpt", "haiku", run_id="first-run"):
        with asking(ledger, "gemini"):
            pass
        with (
            pytest.raises(
                StoreError, match=r"run first-ru \(judge_scores, process \d+ on .*\) asks"
            ),
            asking(ledger, "gpt"),
        ):
            pass
    with asking(ledger, "gpt"):
        pass


def test_shards_hold_parts_of_the_slots_whatever_their_number(ledger: SqlLedger) -> None:
    with ExitStack() as stack:
        for index in range(3):
            stack.enter_context(asking(ledger, "gpt", shard=Shard(index, 3)))
        for shard in (Shard(1, 3), Shard(0, 4), WHOLE):
            with pytest.raises(StoreError), asking(ledger, "gpt", shard=shard):
                pass
    with asking(ledger, "gpt", shard=Shard(0, 2)), asking(ledger, "gpt", shard=Shard(3, 4)):
        pass


def test_whoever_waits_says_for_whom_and_goes_on_after_their_end(
    ledger: SqlLedger, caplog: pytest.LogCaptureFixture
) -> None:
    has_begun = threading.Event()

    def wait() -> None:
        with Worker(ledger, asset="judge_scores", judge_ids=["gpt"]):
            has_begun.set()

    with caplog.at_level(logging.WARNING), asking(ledger, "gpt", run_id="run-7"):
        thread = threading.Thread(target=wait)
        thread.start()
        while "waiting" not in caplog.text:
            assert thread.is_alive()
        assert not has_begun.is_set()
    thread.join()
    assert has_begun.is_set()
    [message] = caplog.messages
    assert message.startswith("run run-7 (judge_scores, process ")
    assert message.endswith(" asks gpt: waiting for its end")


def hold(folder: Path, setting: str | None, has_begun: Event) -> None:
    """Hold the slots of a judge until the end of the process."""
    with (
        open_ledger(folder, evaluation="poems", setting=setting) as ledger,
        asking(ledger, "gpt", run_id="killed"),
    ):
        has_begun.set()
        threading.Event().wait()


@pytest.fixture
def start(tmp_path: Path, setting: str | None) -> Iterator[Callable[[], None]]:
    """Start a process that holds the slots of a judge; call the result to kill it."""
    context = processes(__name__)
    has_begun = context.Event()
    process = context.Process(target=hold, args=(tmp_path, setting, has_begun))
    process.start()
    while not has_begun.wait(0.1):
        assert process.is_alive()

    def kill() -> None:
        process.kill()
        process.join()

    yield kill
    kill()


def test_a_process_that_is_killed_holds_nothing(
    ledger: SqlLedger, start: Callable[[], None]
) -> None:
    with pytest.raises(StoreError, match="run killed"), asking(ledger, "gpt"):
        pass
    assert len(stored(ledger, slots)) == N_SLOTS
    start()
    with Worker(ledger, asset="judge_scores", judge_ids=["gpt"]):
        pass
    assert stored(ledger, slots) == []


@pytest.mark.slow
def test_a_worker_that_lost_its_session_gets_its_slots_back(
    postgres: "Postgres", tmp_path: Path
) -> None:
    setting = postgres.new_database()
    with (
        open_ledger(tmp_path, evaluation="poems", setting=setting) as ledger,
        asking(ledger, "gpt", run_id="first") as worker,
    ):
        postgres.drop_connections()
        # Nobody knows whether it waits for replies: it is alive.
        with pytest.raises(StoreError, match="run first"), asking(ledger, "gpt"):
            pass
        worker.record([attempt("a")])
        assert worker.replies(["a"]).keys() == {"a"}
        with pytest.raises(StoreError, match="run first"), asking(ledger, "gpt"):
            pass


@pytest.mark.slow
def test_a_worker_whose_slots_another_has_taken_stores_replies_and_sends_nothing(
    postgres: "Postgres", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    setting = postgres.new_database()
    with (
        open_ledger(tmp_path, evaluation="poems", setting=setting) as ledger,
        asking(ledger, "gpt", run_id="first") as worker,
    ):
        postgres.drop_connections()
        monkeypatch.setattr("eval_assets.store.ledger.workers._RETURN_SECONDS", 0.0)
        with asking(ledger, "gpt", run_id="second") as successor:
            worker.record([attempt("a")])
            assert successor.replies(["a"]).keys() == {"a"}
            with pytest.raises(StoreError, match="run second"):
                worker.replies(["a"])


def test_every_field_of_an_attempt_is_stored(ledger: SqlLedger, worker: Worker) -> None:
    inputs = attempt(
        "a",
        attempt=3,
        replicate=2,
        model_returned="gpt-6-luna-2026",
        http_status=200,
        reasoning_tokens=7,
        cached_input_tokens=5,
        cache_write_tokens=3,
        in_batch=True,
        request_id="req-1",
        error="odd",
    )
    worker.record([inputs])

    [row] = stored(ledger, attempts)
    result = {field.name: getattr(row, field.name) for field in dataclasses.fields(Attempt)}
    assert result == vars(inputs)


def test_texts_that_databases_refuse_are_stored_all_the_same(
    ledger: SqlLedger, worker: Worker
) -> None:
    raw = '{"content": "4\\ud83d"}\0'
    worker.record([attempt("a", raw_output="4 \ud83d\0 caf\u00e9 \U0001f600", raw_reply=raw)])

    [row] = stored(ledger, attempts)
    assert row.raw_output == "4 \ufffd\ufffd caf\u00e9 \U0001f600"
    assert row.raw_reply == '{"content": "4\\ud83d"}\ufffd'


def test_attempts_are_stored_all_or_none(ledger: SqlLedger, worker: Worker) -> None:
    impossible = dataclasses.replace(attempt("b"), judge_id=None)  # type: ignore[arg-type]

    with pytest.raises(StoreError):
        worker.record([attempt("a"), impossible])
    assert stored(ledger, attempts) == []


def test_a_second_reply_to_a_request_is_kept_and_does_not_count(
    ledger: SqlLedger, worker: Worker, other: Worker
) -> None:
    later = NOW + timedelta(seconds=1)
    worker.record([failed("a"), attempt("a", attempt=2)])
    other.record([attempt("a", raw_output="5", started_at=later)])
    other.record([attempt("b"), attempt("b", raw_output="5", started_at=later)])

    assert worker.replies(["a", "b"]) == {"a": Reply("4", "ok"), "b": Reply("4", "ok")}
    rows = stored(ledger, attempts)
    assert [row.status for row in rows] == ["api_error", "ok", "repeated", "ok", "repeated"]
    assert spent_in_month(ledger, NOW.date()) == pytest.approx(0.04)


def test_attempts_that_were_committed_before_are_stored_once(
    ledger: SqlLedger, worker: Worker
) -> None:
    """A server may go away before it says that it has committed them."""
    worker.record([failed("a"), attempt("a", attempt=2)])
    worker.record([failed("a"), attempt("a", attempt=2), attempt("b")])

    assert [row.status for row in stored(ledger, attempts)] == ["api_error", "ok", "ok"]


def test_a_prompt_is_kept_once(ledger: SqlLedger, worker: Worker) -> None:
    worker.record([failed("a")], prompts_of("a"))
    worker.record([attempt("a", attempt=2), attempt("b")], prompts_of("a", "b"))

    assert {row.call_key: row.prompt for row in stored(ledger, requests)} == prompts_of("a", "b")


def test_as_many_keys_as_a_large_run_has_are_looked_up_at_once(worker: Worker) -> None:
    worker.record([attempt("k7")])

    assert worker.replies([f"k{number}" for number in range(40_000)]).keys() == {"k7"}


def test_what_was_found_out_about_an_endpoint_is_remembered(worker: Worker) -> None:
    first = EndpointMemory({"json_schema": "400: not supported"}, in_flight=2)
    worker.remember_endpoint("http://a", "m", first)
    worker.remember_endpoint("http://a", "m", EndpointMemory({"json_schema": "?", "seed": "400"}))
    worker.remember_endpoint("http://a", "m", EndpointMemory(in_flight=4))

    refused = {"json_schema": "400: not supported", "seed": "400"}
    assert worker.endpoint_memory("http://a", "m") == EndpointMemory(refused, in_flight=4)
    assert worker.endpoint_memory("http://b", "m") == EndpointMemory()


def test_requests_of_a_batch_are_asked_by_nobody_until_it_is_closed(
    ledger: SqlLedger, other: Worker
) -> None:
    batch = batch_of("intent-1", "a", "b", most_usd=0.5)
    with Worker(ledger, asset="judge_scores", run_id="run-1") as worker:
        worker.store_batch(batch, prompts_of("a", "b"))

    assert other.keys_in_batches(["a", "c"]) == {"a"}
    assert other.open_batches("gpt") == [batch]
    assert other.open_batches("haiku") == []
    batch = dataclasses.replace(batch, batch_id="batch-1")
    other.store_batch(batch)
    assert other.open_batches("gpt") == [batch]
    assert other.known_batches() == {"batch-1"}
    assert spent_in_month(ledger, NOW.date()) == pytest.approx(0.5)

    other.record([attempt("a", in_batch=True), failed("b", in_batch=True)])
    other.store_batch(dataclasses.replace(batch, is_closed=True))

    assert other.open_batches("gpt") == []
    assert other.keys_in_batches(["a", "b"]) == frozenset()
    assert len(stored(ledger, requests)) == 2


def test_a_shard_leaves_batches_to_whoever_asks_about_all_units(ledger: SqlLedger) -> None:
    with Worker(ledger, asset="judge_scores", run_id="run-1") as worker:
        worker.store_batch(batch_of("intent-1", "a"))
    with Worker(ledger, asset="judge_scores", run_id="run-1", shard=Shard(0, 2)) as shard:
        assert shard.open_batches("gpt") == []
        assert shard.keys_in_batches(["a"]) == {"a"}


def test_a_worker_whose_work_fails_reports_that_and_not_its_own_end(ledger: SqlLedger) -> None:
    def fail() -> None:
        with Worker(ledger, asset="judge_scores", judge_ids=["gpt"]):
            with ledger.transaction(is_writing=True) as connection:
                connection.execute(sa.text("DROP TABLE slots"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
