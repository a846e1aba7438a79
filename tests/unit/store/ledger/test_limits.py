"""Spending, the part of it that counts towards budgets, and shared rates."""

import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import given as for_any
from hypothesis import strategies as st

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.rubric import RubricQuestion
from eval_assets.ledger import Amount, Batch, RateLimits
from eval_assets.scale import Scale
from eval_assets.store.ledger._tables import rate_grants, workers
from eval_assets.store.ledger.engine import SqlLedger
from eval_assets.store.ledger.limits import (
    WINDOW_SECONDS,
    in_flight,
    reserved,
    spending_table,
    spent_in_month,
    start_of,
)
from eval_assets.store.ledger.opening import open_ledger
from eval_assets.store.ledger.workers import Worker
from tests.unit.store.ledger.conftest import NOW, attempt, failed, request_for


@pytest.fixture
def worker(ledger: SqlLedger) -> Iterator[Worker]:
    """A worker of a run."""
    with Worker(ledger, asset="judge_scores", run_id="run-1") as worker:
        yield worker


def caps(per_run: float | None, per_month: float | None) -> Evaluation:
    """Return an evaluation that declares caps."""
    question = RubricQuestion("q", "?", Scale(low=0, high=1), "interval")
    return Evaluation("t", Path(), (question,), budget_usd=per_run, budget_usd_per_month=per_month)


def spent_in_run(ledger: SqlLedger, run_id: str) -> float:
    """Return what a run has spent of a cap."""
    with Worker(ledger, asset="report", run_id=run_id, caps=caps(5.0, None)) as later:
        left_usd = later.left_usd()
    assert left_usd is not None
    return 5.0 - left_usd


def test_unknown_cost_counts_as_the_most_it_can_be(ledger: SqlLedger, worker: Worker) -> None:
    unknown = attempt("b", cost_usd=None, charged_usd=0.05)
    worker.record([attempt("a"), unknown, failed("c")])

    assert spent_in_run(ledger, "run-1") == pytest.approx(0.06)
    assert spent_in_month(ledger, NOW.date()) == pytest.approx(0.06)


def test_a_run_is_charged_for_what_its_own_workers_asked(ledger: SqlLedger, worker: Worker) -> None:
    worker.record([attempt("a")])
    with Worker(ledger, asset="generated_responses", run_id="run-1") as generating:
        generating.record([attempt("b")])
    with Worker(ledger, asset="judge_scores", run_id="run-2") as other:
        other.record([attempt("c")])

    assert spent_in_run(ledger, "run-1") == pytest.approx(0.02)
    assert spent_in_run(ledger, "run-3") == 0


@pytest.mark.parametrize(
    ("at", "counts"),
    [
        (datetime(2026, 11, 1, tzinfo=UTC), True),
        (datetime(2026, 11, 30, 23, 59, 59, tzinfo=UTC), True),
        (datetime(2026, 10, 31, 23, 59, 59, tzinfo=UTC), False),
        (datetime(2026, 12, 1, tzinfo=UTC), False),
        (datetime(2025, 11, 21, tzinfo=UTC), False),
    ],
)
def test_a_month_is_one_of_the_calendar_in_utc(
    ledger: SqlLedger, worker: Worker, at: datetime, *, counts: bool
) -> None:
    worker.record([attempt("a", started_at=at)])

    assert bool(spent_in_month(ledger, date(2026, 11, 21))) is counts


@pytest.mark.parametrize(
    ("per_run", "per_month", "left_usd"),
    [
        (None, None, None),
        (0.05, None, 0.04),
        (None, 0.05, 0.03),
        (0.05, 0.05, 0.03),
        (0.015, 0.05, 0.005),
        (0.005, None, 0.0),
    ],
)
def test_the_cap_that_has_less_left_decides_what_may_be_spent(
    ledger: SqlLedger,
    worker: Worker,
    per_run: float | None,
    per_month: float | None,
    left_usd: float | None,
) -> None:
    now = datetime.now(UTC)
    worker.record([attempt("a", started_at=now)])
    with Worker(ledger, asset="judge_scores", run_id="run-2") as other:
        other.record([attempt("b", started_at=now)])

    with Worker(ledger, asset="report", run_id="run-1", caps=caps(per_run, per_month)) as later:
        assert later.is_capped is (left_usd is not None)
        assert later.left_usd() == (left_usd if left_usd is None else pytest.approx(left_usd))


@pytest.mark.parametrize(("per_run", "per_month"), [(1.0, None), (None, 1.0), (1.0, 5.0)])
def test_workers_that_spend_at_once_never_reserve_more_than_the_cap_together(
    ledger: SqlLedger, per_run: float | None, per_month: float | None
) -> None:
    declared = caps(per_run, per_month)
    with ExitStack() as stack:
        shards = [
            stack.enter_context(Worker(ledger, asset="shard", run_id="run-1", caps=declared))
            for _ in range(4)
        ]

        def spend(number: int) -> float:
            """Spend a cent a request, of two that are reserved, until nothing is granted."""
            granted, n = 0.0, 0
            while (portion := shards[number].reserve(0.02)) > 0:
                granted += portion
                while 0.01 * n + 0.02 <= granted:
                    key, n = f"{number}-{n}", n + 1
                    shards[number].record([attempt(key, started_at=datetime.now(UTC))])
            return 0.01 * n

        with ThreadPoolExecutor(4) as pool:
            spent = sum(pool.map(spend, range(4)))

        assert spent_in_run(ledger, "run-1") == pytest.approx(spent)
        assert 0.9 < spent + reserved(ledger) <= 1.0 + 1e-9
        assert spent > 0.8


def test_what_is_recorded_comes_out_of_what_was_reserved(ledger: SqlLedger) -> None:
    with Worker(ledger, asset="judge_scores", run_id="run-1", caps=caps(1.0, None)) as one:
        assert one.reserve(0.3) == 0.3
        one.record([attempt("a", cost_usd=0.1, charged_usd=0.1)])

        assert reserved(ledger) == pytest.approx(0.2)
        assert one.left_usd() == pytest.approx(0.9)  # reservations are not spent
        with Worker(ledger, asset="shard", run_id="run-1", caps=caps(1.0, None)) as other:
            assert other.reserve(0.8) == 0.0
            assert other.reserve(0.7) == pytest.approx(0.7)


def test_a_batch_comes_out_of_what_was_reserved_when_it_is_submitted(ledger: SqlLedger) -> None:
    with Worker(ledger, asset="judge_scores", run_id="run-1", caps=caps(1.0, 1.0)) as one:
        one.reserve(0.3)
        one.intend_batch(Batch("b1", "gpt", (), datetime.now(UTC), most_usd=0.3))
        assert reserved(ledger) == 0
        one.record([attempt("a", in_batch=True)])

        assert one.left_usd() == pytest.approx(0.69)  # a batch that is not closed counts in full


def test_a_worker_gives_back_in_the_end_what_it_reserved(
    tmp_path: Path, setting: str | None
) -> None:
    """At once, also for a process that opens the ledger afterwards and goes by its time."""
    for _ in range(3):
        database = tmp_path / "out" / "eval.duckdb"
        with (
            open_ledger(tmp_path, evaluation="poems", database=database, setting=setting) as ledger,
            Worker(ledger, asset="shard", run_id="run-1", caps=caps(1.0, None)) as worker,
        ):
            assert worker.reserve(1.0) == 1.0


def test_a_file_goes_by_the_clock_of_the_machine_when_nobody_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The requests of a run ten minutes ago use up nothing of this minute."""
    minute = Amount(requests=60, tokens=6000)
    for minutes_ago in (10, 0):
        now = datetime.now(UTC) - timedelta(minutes=minutes_ago)
        monkeypatch.setattr("eval_assets.store.ledger.engine.wall_clock", lambda now=now: now)
        database = tmp_path / "out" / "eval.duckdb"
        with (
            open_ledger(tmp_path, evaluation="poems", database=database, setting=None) as ledger,
            Worker(ledger, asset="judge_scores") as worker,
        ):
            assert worker.grant(LIMITS, minute, unused={}).wait_seconds <= 0


def test_what_a_dead_worker_reserved_is_free_when_its_lease_runs_out(ledger: SqlLedger) -> None:
    dead = Worker(ledger, asset="judge_scores", run_id="run-1", caps=caps(None, 1.0))
    with dead, Worker(ledger, asset="shard", run_id="run-2", caps=caps(None, 1.0)) as other:
        dead.reserve(0.9)
        assert other.reserve(0.2) == 0.0
        with ledger.write_transaction() as connection:
            its = sa.update(workers).where(workers.c.run_id == "run-1")
            connection.execute(its, {"lease_until": datetime.now(UTC) - timedelta(seconds=1)})
        assert other.reserve(0.2) == 0.2


def test_december_ends_with_the_year(ledger: SqlLedger, worker: Worker) -> None:
    worker.record([attempt("a", started_at=datetime(2026, 12, 31, tzinfo=UTC))])
    worker.record([attempt("b", started_at=datetime(2027, 1, 1, tzinfo=UTC))])

    assert spent_in_month(ledger, date(2026, 12, 5)) == pytest.approx(0.01)


def test_spending_is_summed_by_whatever_is_asked_for(ledger: SqlLedger, worker: Worker) -> None:
    worker.record([attempt("a"), attempt("b", judge_id="haiku", model_requested="haiku-5")])
    worker.record([failed("c"), attempt("d", cost_usd=None, charged_usd=0.05)])

    by_judge = {row.pop("judge"): row for row in spending_table(ledger, by="judge")}
    assert by_judge["gpt"] == {
        "n_attempts": 3,
        "n_replies": 2,
        "input_tokens": 300,
        "output_tokens": 30,
        "cost_usd": pytest.approx(0.01),
        "n_unknown": 1,
        "charged_usd": pytest.approx(0.06),
    }
    models = [row["model"] for row in spending_table(ledger, by="model")]
    assert models == ["gpt-6-luna", "haiku-5"]
    assert [row["day"] for row in spending_table(ledger, by="day")] == [NOW.date()]
    assert [row["run"] for row in spending_table(ledger, by="run")] == ["run-1"]


def test_an_empty_ledger_has_spent_nothing(ledger: SqlLedger) -> None:
    assert spending_table(ledger, by="judge") == []
    assert spent_in_month(ledger, NOW.date()) == 0


def test_what_is_in_flight_is_shown_by_worker_and_batch(ledger: SqlLedger, worker: Worker) -> None:
    worker.claim([request_for("a"), request_for("b")])
    worker.claim([request_for("c", judge_id="haiku")])
    worker.intend_batch(Batch("intent-1", "haiku", ("c",), NOW))
    worker.confirm_batch("intent-1", "batch-1")

    rows = [(row["judge_id"], row["batch_id"], row["n_requests"]) for row in in_flight(ledger)]
    assert sorted(rows) == [("gpt", None, 2), ("haiku", "batch-1", 1)]


def test_a_killed_process_has_nothing_in_flight_except_batches(
    ledger: SqlLedger, worker: Worker
) -> None:
    worker.claim([request_for("a"), request_for("b")])
    worker.intend_batch(Batch("intent-1", "gpt", ("b",), NOW))
    ended = subprocess.Popen(["true"])
    ended.wait()
    with ledger.write_transaction() as connection:
        killed = {"process": ended.pid, "reserved_usd": 0.5}
        connection.execute(sa.update(workers).values(killed))

    assert [(row["batch"], row["n_requests"]) for row in in_flight(ledger)] == [("intent-1", 1)]
    assert reserved(ledger) == 0


LIMITS = RateLimits("account", requests_per_minute=60, input_tokens_per_minute=6000)


def test_the_first_grant_starts_at_once_and_the_next_ones_at_the_pace_of_the_limit(
    worker: Worker,
) -> None:
    first = worker.grant(LIMITS, Amount(10, 100), unused={})
    second = worker.grant(LIMITS, Amount(10, 100), unused={})
    assert first.wait_seconds <= 0
    ten_seconds = 10 * WINDOW_SECONDS / 60
    assert ten_seconds - 2 < second.wait_seconds <= ten_seconds


def test_tokens_are_limited_as_requests_are(worker: Worker) -> None:
    worker.grant(LIMITS, Amount(1, 3000), unused={})
    assert worker.grant(LIMITS, Amount(1, 3000), unused={}).wait_seconds > 25


def test_what_is_given_back_is_granted_to_others(worker: Worker) -> None:
    first = worker.grant(LIMITS, Amount(30, 300), unused={})
    later = worker.grant(LIMITS, Amount(1, 10), unused={first.id: Amount(29, 290)})
    assert later.wait_seconds < 1


def test_accounts_do_not_share_limits(worker: Worker) -> None:
    worker.grant(LIMITS, Amount(60, 600), unused={})
    other = RateLimits("another account", 60, 6000)
    assert worker.grant(other, Amount(60, 600), unused={}).wait_seconds <= 0


def test_a_grant_starts_when_whoever_asks_can_use_it(worker: Worker) -> None:
    grant = worker.grant(LIMITS, Amount(1, 10), unused={}, delay_seconds=3.0)
    assert grant.wait_seconds > 1


def test_grants_that_are_over_are_forgotten(ledger: SqlLedger, worker: Worker) -> None:
    worker.grant(LIMITS, Amount(60, 600), unused={})
    with ledger.write_transaction() as connection:
        connection.execute(
            sa.update(rate_grants).values(starts_at=rate_grants.c.starts_at - WINDOW_SECONDS)
        )
    assert worker.grant(LIMITS, Amount(60, 600), unused={}).wait_seconds <= 0
    with ledger.read_transaction() as connection:
        assert connection.scalar(sa.select(sa.func.count()).select_from(rate_grants)) == 1


def test_workers_that_ask_at_the_same_time_get_grants_one_after_the_other(
    ledger: SqlLedger, worker: Worker
) -> None:
    with ThreadPoolExecutor(8) as threads:
        requested = [
            threads.submit(worker.grant, LIMITS, Amount(6, 60), unused={}) for _ in range(30)
        ]
        for item in requested:
            item.result()
    with ledger.read_transaction() as connection:
        starts = connection.scalars(
            sa.select(rate_grants.c.starts_at).order_by(rate_grants.c.starts_at)
        ).all()
    assert all(
        later - sooner >= WINDOW_SECONDS - 0.01
        for sooner, later in zip(starts, starts[10:], strict=False)
    )


@for_any(
    per_minute=st.integers(1, 200),
    requested=st.lists(st.tuples(st.integers(0, 30), st.integers(1, 300)), min_size=1, max_size=60),
)
def test_no_window_holds_more_than_the_limit(
    per_minute: int, requested: list[tuple[int, int]]
) -> None:
    now, granted = 0.0, list[tuple[float, float]]()
    for pause, amount in requested:
        now += pause / 10
        current_window = [item for item in granted if item[0] > now - WINDOW_SECONDS]
        start = start_of(amount, per_minute, sorted(current_window), now=now)
        assert start >= now
        granted.append((start, min(amount, per_minute)))
    for start, _ in granted:
        window = [item for at, item in granted if start <= at < start + WINDOW_SECONDS - 1e-6]
        assert sum(window) <= per_minute
