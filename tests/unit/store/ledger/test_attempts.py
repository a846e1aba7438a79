"""Spending, the part of it that counts towards budgets, and shared rates."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import given as for_any
from hypothesis import strategies as st

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.rubric import RubricQuestion
from eval_assets.errors import StoreError
from eval_assets.ledger import RateLimits, Shard
from eval_assets.scale import Scale
from eval_assets.store.ledger._tables import rates
from eval_assets.store.ledger.attempts import (
    WINDOW_SECONDS,
    batches_under_way,
    part_left,
    spending_table,
    spent_in_month,
    start_of,
)
from eval_assets.store.ledger.engine import SqlLedger
from eval_assets.store.ledger.workers import Worker
from tests.unit.store.ledger.conftest import NOW, attempt, batch_of, failed


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
        assert later.left_usd() == (left_usd if left_usd is None else pytest.approx(left_usd))


@pytest.mark.parametrize(("per_run", "per_month"), [(1.0, None), (None, 1.0), (1.0, 5.0)])
def test_shards_have_equal_parts_of_what_is_left_when_they_begin(
    ledger: SqlLedger, per_run: float | None, per_month: float | None
) -> None:
    declared, now = caps(per_run, per_month), datetime.now(UTC)

    def shard(index: int) -> Worker:
        part = Shard(index, 4)
        return Worker(ledger, asset="shard", run_id="run-1", caps=declared, shard=part)

    with Worker(ledger, asset="generated_responses", run_id="run-1", caps=declared) as before:
        before.record([attempt("a", started_at=now, charged_usd=0.2)])
    with shard(0) as first, shard(1) as second:
        assert [first.left_usd(), second.left_usd()] == pytest.approx([0.2, 0.2])
        first.record([attempt("b", started_at=now, charged_usd=0.15)])
        assert [first.left_usd(), second.left_usd()] == pytest.approx([0.05, 0.2])
    with shard(0) as restarted:
        assert restarted.left_usd() == pytest.approx(0.05)
    with Worker(ledger, asset="collect", run_id="run-1", caps=declared) as collecting:
        assert collecting.left_usd() == pytest.approx(0.65)


def test_whoever_spends_from_a_cap_does_so_alone(ledger: SqlLedger) -> None:
    declared = caps(None, 1.0)
    with Worker(ledger, asset="judge_scores", judge_ids=["gpt"], caps=declared):
        with Worker(ledger, asset="judge_scores", judge_ids=["haiku"]):
            pass
        with (
            pytest.raises(StoreError, match="Wait for its end"),
            Worker(ledger, asset="x", judge_ids=["haiku"], caps=declared, is_waiting=False),
        ):
            pass


@for_any(
    cap=st.floats(0.5, 2.0),
    n=st.integers(2, 8),
    spending=st.lists(st.tuples(st.integers(0, 8), st.floats(0.0, 1.0)), max_size=40),
)
def test_parts_together_never_exceed_the_cap(
    cap: float, n: int, spending: list[tuple[int, float]]
) -> None:
    """Shards one by one, and somebody else between them, each spend a share of what is theirs."""
    by_shard, other_usd = dict[int, float](), 0.0
    for index, share in spending:
        spent = other_usd + sum(by_shard.values())
        shard = Shard(index, n) if index < n else Shard()
        left_usd = part_left(cap, spent, by_shard, shard)
        if index < n:
            by_shard[index] = by_shard.get(index, 0.0) + max(0.0, left_usd) * share
        else:
            other_usd += max(0.0, left_usd) * share
    assert other_usd + sum(by_shard.values()) <= cap + 1e-9


def test_a_batch_counts_with_the_most_it_can_cost_until_it_is_closed(ledger: SqlLedger) -> None:
    with Worker(ledger, asset="judge_scores", run_id="run-1", caps=caps(1.0, 1.0)) as one:
        batch = replace(batch_of("b1", "a", most_usd=0.3), intended_at=datetime.now(UTC))
        one.store_batch(batch)
        one.record([attempt("a", in_batch=True, started_at=datetime.now(UTC))])
        assert one.left_usd() == pytest.approx(0.69)
        one.store_batch(replace(batch, is_closed=True))
        assert one.left_usd() == pytest.approx(0.7)  # of the run's cap: it was submitted


def test_a_clock_that_is_put_back_does_not_hold_requests_for_long(
    ledger: SqlLedger, worker: Worker
) -> None:
    take(worker, 6000)
    with ledger.transaction(is_writing=True) as connection:
        connection.execute(sa.update(rates).values(second=rates.c.second + 7200))
    assert take(worker, 6000) <= 0


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


def test_batches_are_shown_until_they_are_closed(ledger: SqlLedger, worker: Worker) -> None:
    first, second = (batch_of(f"intent-{n}", f"k{n}", judge_id="haiku") for n in (1, 2))
    for batch in (first, second, replace(first, batch_id="batch-1")):
        worker.store_batch(batch)
    rows = [(row["batch"], row["run_id"], row["n_requests"]) for row in batches_under_way(ledger)]
    assert rows == [("batch-1", "run-1", 1), ("intent-2", "run-1", 1)]
    worker.store_batch(replace(second, is_closed=True))
    assert [row["batch"] for row in batches_under_way(ledger)] == ["batch-1"]


LIMITS = RateLimits("account", requests_per_minute=60, input_tokens_per_minute=6000)


def take(worker: Worker, *tokens: int, delay_seconds: float = 0.0) -> float:
    """Take requests with so many tokens; return the seconds until the last one's start."""
    return max([worker.take(LIMITS, [n], delay_seconds=delay_seconds)[0] for n in tokens])


def test_the_first_requests_start_at_once_and_the_next_ones_at_the_pace_of_the_limit(
    worker: Worker,
) -> None:
    assert take(worker, 10) <= 0
    ten_seconds = 10 * WINDOW_SECONDS / 60
    assert ten_seconds - 3 < take(worker, *[10] * 10) <= ten_seconds


def test_tokens_are_limited_as_requests_are(worker: Worker) -> None:
    take(worker, 3000)
    assert take(worker, 3000) > 25


def test_accounts_do_not_share_limits(worker: Worker) -> None:
    take(worker, 6000)
    other = RateLimits("another account", 60, 6000)
    assert worker.take(other, [6000], delay_seconds=0.0)[0] <= 0


def test_requests_start_when_whoever_takes_them_can_send(worker: Worker) -> None:
    assert take(worker, 10, delay_seconds=3.0) > 1


def test_what_was_taken_long_ago_is_forgotten(ledger: SqlLedger, worker: Worker) -> None:
    take(worker, 6000)
    with ledger.transaction(is_writing=True) as connection:
        connection.execute(sa.update(rates).values(second=rates.c.second - int(WINDOW_SECONDS) - 1))
    assert take(worker, 6000) <= 0
    with ledger.transaction() as connection:
        assert connection.scalar(sa.select(sa.func.count()).select_from(rates)) == 1


def test_workers_that_take_at_the_same_time_send_one_after_the_other(
    ledger: SqlLedger, worker: Worker
) -> None:
    with ThreadPoolExecutor(8) as threads:
        for item in [threads.submit(take, worker, 600) for _ in range(30)]:
            item.result()
    with ledger.transaction() as connection:
        rows = connection.execute(sa.select(rates.c.second, rates.c.tokens)).all()
    assert sum(tokens for _, tokens in rows) == 30 * 600
    for first, _ in rows:
        window = [tokens for second, tokens in rows if 0 <= second - first < WINDOW_SECONDS - 1]
        assert sum(window) <= 6000


@for_any(
    per_minute=st.integers(1, 200),
    requested=st.lists(st.tuples(st.integers(0, 30), st.integers(1, 300)), min_size=1, max_size=60),
)
def test_no_window_holds_more_than_the_limit(
    per_minute: int, requested: list[tuple[int, int]]
) -> None:
    now, parts = 0.0, list[tuple[float, float]]()
    for pause, amount in requested:
        now += pause / 10
        current_window = [item for item in parts if item[0] > now - WINDOW_SECONDS]
        start = start_of(amount, per_minute, sorted(current_window), now=now)
        assert start >= now
        parts.append((start, min(amount, per_minute)))
    for start, _ in parts:
        window = [item for at, item in parts if start <= at < start + WINDOW_SECONDS - 1e-6]
        assert sum(window) <= per_minute
