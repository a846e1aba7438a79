"""Claims, leases and attempts: nothing is asked twice, and nothing that was answered is lost."""

import dataclasses
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from eval_assets.errors import StoreError
from eval_assets.ledger import Attempt, Batch, CallSubject, Refusal, Reply
from eval_assets.store.ledger._tables import attempts, claims, requests, workers
from eval_assets.store.ledger.engine import SqlLedger
from eval_assets.store.ledger.limits import spent_in_month
from eval_assets.store.ledger.opening import open_ledger
from eval_assets.store.ledger.workers import Worker
from tests.unit.store.ledger.conftest import NOW, attempt, failed, request_for


@pytest.fixture
def worker(ledger: SqlLedger) -> Iterator[Worker]:
    """One who asks."""
    with Worker(ledger, asset="judge_scores", run_id="run-1") as worker:
        yield worker


@pytest.fixture
def other(ledger: SqlLedger) -> Iterator[Worker]:
    """Another one who asks."""
    with Worker(ledger, asset="judge_scores", run_id="run-2") as worker:
        yield worker


def stored(ledger: SqlLedger, table: sa.Table) -> list[sa.Row[tuple[object, ...]]]:
    with ledger.read_transaction() as connection:
        return list(connection.execute(sa.select(table)).all())


def let_lease_run_out(ledger: SqlLedger, run_id: str) -> None:
    """Put back the clock of a worker."""
    with ledger.write_transaction() as connection:
        connection.execute(
            sa.update(workers).where(workers.c.run_id == run_id),
            {"lease_until": datetime.now(UTC) - timedelta(seconds=1)},
        )


def test_a_request_is_claimed_by_one_worker_at_a_time(worker: Worker, other: Worker) -> None:
    assert worker.claim([request_for("a"), request_for("b")]) == {"a": "claimed", "b": "claimed"}
    assert other.claim([request_for("b"), request_for("c")]) == {"b": "held", "c": "claimed"}


def test_a_worker_may_claim_again_what_it_holds(worker: Worker) -> None:
    worker.claim([request_for("a")])

    assert worker.claim([request_for("a")]) == {"a": "claimed"}


def test_a_recorded_reply_ends_the_claim_and_goes_to_whoever_waits(
    worker: Worker, other: Worker
) -> None:
    worker.claim([request_for("a")])
    worker.record([attempt("a", raw_output="I say 4.")])

    assert other.claim([request_for("a")]) == {"a": Reply("I say 4.", "ok")}
    assert other.replies(["a", "b"]) == {"a": Reply("I say 4.", "ok")}


def test_a_failed_attempt_keeps_the_claim_until_it_is_released(
    worker: Worker, other: Worker
) -> None:
    worker.claim([request_for("a")])
    worker.record([failed("a")])
    while_retrying = other.claim([request_for("a")])
    worker.release(["a"])

    assert while_retrying == {"a": "held"}
    assert other.claim([request_for("a")]) == {"a": "claimed"}


def test_nobody_releases_what_another_holds(worker: Worker, other: Worker) -> None:
    worker.claim([request_for("a")])
    other.release(["a"])

    assert other.claim([request_for("a")]) == {"a": "held"}


def test_a_worker_that_ends_leaves_no_claim(ledger: SqlLedger, other: Worker) -> None:
    with Worker(ledger, asset="judge_scores") as worker:
        worker.claim([request_for("a")])

    assert other.claim([request_for("a")]) == {"a": "claimed"}


def test_claims_are_taken_over_when_the_lease_has_run_out(
    ledger: SqlLedger, worker: Worker, other: Worker
) -> None:
    worker.claim([request_for("a")])
    let_lease_run_out(ledger, "run-1")

    assert other.claim([request_for("a")]) == {"a": "claimed"}


def test_a_clock_that_is_ahead_takes_over_no_claims(
    tmp_path: Path, setting: str | None, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker.claim([request_for("a")])
    ahead = datetime.now(UTC) + timedelta(seconds=90)
    monkeypatch.setattr("eval_assets.store.ledger.engine.wall_clock", lambda: ahead)
    database = tmp_path / "out" / "eval.duckdb"
    with (
        open_ledger(tmp_path, evaluation="poems", database=database, setting=setting) as ledger,
        Worker(ledger, asset="judge_scores") as other,
    ):
        assert other.claim([request_for("a")]) == {"a": "held"}


def test_claims_hold_no_more_once_the_lease_was_not_renewed(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = worker.holds_since
    assert before is not None
    monkeypatch.setattr("eval_assets.store.ledger.workers._RECENT_SECONDS", 0.0)
    assert worker.holds_since is None
    worker.claim([request_for("a")])
    monkeypatch.setattr("eval_assets.store.ledger.workers._RECENT_SECONDS", 20.0)
    assert worker.holds_since not in {None, before}


def test_a_batch_of_requests_that_another_run_took_over_is_not_submitted(
    ledger: SqlLedger, worker: Worker, other: Worker
) -> None:
    worker.claim([request_for("a")])
    let_lease_run_out(ledger, "run-1")
    other.claim([request_for("a")])
    with pytest.raises(StoreError, match="nothing was submitted"):
        worker.intend_batch(Batch("i", "gpt", ("a",), NOW))


def test_a_late_reply_to_a_claim_that_was_lost_is_kept_and_spares_the_other_run(
    ledger: SqlLedger, worker: Worker, other: Worker
) -> None:
    worker.claim([request_for("a")])
    let_lease_run_out(ledger, "run-1")
    other.claim([request_for("a")])

    worker.record([attempt("a")])

    assert other.claim([request_for("a")]) == {"a": Reply("4", "ok")}


def test_claims_of_a_process_that_is_gone_are_free_at_once(ledger: SqlLedger) -> None:
    """A run that was killed is continued without waiting for its lease."""
    closed = Worker(ledger, asset="judge_scores", run_id="killed")
    with closed:
        closed.claim([request_for("a")])
        with ledger.write_transaction() as connection:
            connection.execute(
                sa.update(workers).where(workers.c.run_id == "killed"),
                {"process": process_that_ended()},
            )
        with Worker(ledger, asset="judge_scores") as worker:
            assert worker.claim([request_for("a")]) == {"a": "claimed"}


def process_that_ended() -> int:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return child


def test_the_lease_is_renewed_while_a_worker_waits(
    ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eval_assets.store.ledger.workers._RENEWAL_SECONDS", 0.01)
    with Worker(ledger, asset="judge_scores", run_id="slow"):
        let_lease_run_out(ledger, "slow")
        deadline = threading.Event()
        for _ in range(1000):
            [row] = stored(ledger, workers)
            if row.lease_until > datetime.now(UTC):
                break
            deadline.wait(0.01)
        else:
            pytest.fail("the lease was not renewed")


def test_many_workers_at_once_claim_every_request_exactly_once(
    tmp_path: Path, setting: str | None
) -> None:
    """Each with a connection of its own, all claiming the same, in orders of their own."""
    keys = [f"k{number}" for number in range(60)]
    together = threading.Barrier(4, timeout=300)  # if one fails, so do the others

    def claim_all(place: int) -> list[str]:
        database = tmp_path / "out" / "eval.duckdb"
        with (
            open_ledger(tmp_path, evaluation="poems", database=database, setting=setting) as ledger,
            Worker(ledger, asset="judge_scores") as worker,
        ):
            together.wait()
            first = []
            for start in range(0, len(keys), 5):
                turned = keys[start:] + keys[:start] if place % 2 else keys[::-1]
                answers = worker.claim([request_for(key) for key in turned])
                first += [key for key, state in answers.items() if state == "claimed"]
            together.wait()  # claims hold until everybody has tried
            return sorted(set(first))

    with ThreadPoolExecutor(4) as pool:
        claimed = list(pool.map(claim_all, range(4)))

    assert sorted(key for item in claimed for key in item) == sorted(keys)


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


def test_the_latest_reply_to_a_request_counts(worker: Worker) -> None:
    later = NOW + timedelta(seconds=1)
    worker.record([attempt("a", raw_output="5", started_at=later), attempt("a"), failed("a")])

    assert worker.replies(["a"]) == {"a": Reply("5", "ok")}


def test_a_prompt_is_kept_once_also_if_its_request_is_claimed_again(
    ledger: SqlLedger, worker: Worker
) -> None:
    worker.claim([request_for("a")])
    worker.release(["a"])
    worker.claim([request_for("a"), request_for("b")])

    assert {row.call_key: row.prompt for row in stored(ledger, requests)} == {
        "a": request_for("a").prompt,
        "b": request_for("b").prompt,
    }


def test_as_many_keys_as_a_large_run_has_are_looked_up_at_once(worker: Worker) -> None:
    worker.record([attempt("k7")])

    assert worker.replies([f"k{number}" for number in range(40_000)]).keys() == {"k7"}


def test_what_an_endpoint_refuses_for_a_model_is_remembered(worker: Worker) -> None:
    worker.record_refusals([Refusal("http://a", "m", "json_schema", "400: not supported")])
    worker.record_refusals(
        [Refusal("http://a", "m", "json_schema", "again"), Refusal("http://a", "m", "seed", "")]
    )

    assert worker.refused_capabilities("http://a", "m") == {"json_schema", "seed"}
    assert worker.refused_capabilities("http://b", "m") == frozenset()


def test_requests_of_a_batch_stay_claimed_after_its_run_until_it_is_closed(
    ledger: SqlLedger, other: Worker
) -> None:
    batch = Batch("intent-1", "gpt", ("a", "b"), NOW, most_usd=0.5)
    with Worker(ledger, asset="judge_scores", run_id="run-1") as worker:
        worker.claim([request_for("a"), request_for("b")])
        worker.intend_batch(batch)
        assert other.open_batches("gpt") == []  # it is about to be submitted

    assert other.claim([request_for("a")]) == {"a": "in_batch"}
    assert other.open_batches("gpt") == [batch]
    [opened] = other.open_batches("gpt")
    requested = request_for("a")
    assert opened.subjects["a"] == CallSubject(
        requested.operation, requested.response_id, requested.question_id, requested.replicate
    )
    assert other.open_batches("haiku") == []
    other.confirm_batch("intent-1", "batch-1")
    assert other.open_batches("gpt") == [dataclasses.replace(batch, batch_id="batch-1")]
    assert other.known_batches() == {"batch-1"}
    assert spent_in_month(ledger, NOW.date()) == pytest.approx(0.5)

    other.record([attempt("a", in_batch=True), failed("b", in_batch=True)])
    other.close_batch("intent-1")

    assert other.open_batches("gpt") == []
    assert other.claim([request_for("a"), request_for("b")]) == {
        "a": Reply("4", "ok"),
        "b": "claimed",
    }


def test_a_worker_whose_work_fails_reports_that_and_not_its_own_end(ledger: SqlLedger) -> None:
    def fail() -> None:
        with Worker(ledger, asset="judge_scores"):
            with ledger.write_transaction() as connection:
                connection.execute(sa.text("DROP TABLE claims" if given_file else "SELECT 1"))
            raise ZeroDivisionError

    given_file = ledger.place.endswith("ledger.sqlite")
    with pytest.raises(ZeroDivisionError):
        fail()
    assert claims.name == "claims"


def test_a_withdrawn_reply_is_a_failure_and_is_asked_for_again(
    worker: Worker, other: Worker
) -> None:
    worker.record([attempt("a"), attempt("b")])
    other.withdraw(["b"], "not its own")
    worker.withdraw(["a"], "the server repeated it")
    assert worker.replies(["a", "b"]).keys() == {"b"}
    assert other.claim([request_for("a")]) == {"a": "claimed"}
