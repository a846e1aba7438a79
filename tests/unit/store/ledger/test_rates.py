"""Grants: all processes on a ledger keep a model's limits together."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa
from hypothesis import given as for_any
from hypothesis import strategies as st

from eval_assets.rate_limits import Amount, RateLimits
from eval_assets.store.ledger._tables import rate_grants
from eval_assets.store.ledger.engine import SqlLedger
from eval_assets.store.ledger.rates import WINDOW_SECONDS, start_of
from eval_assets.store.ledger.workers import Worker

LIMITS = RateLimits("account", requests_per_minute=60, input_tokens_per_minute=6000)


@pytest.fixture
def worker(ledger: SqlLedger) -> Iterator[Worker]:
    """One who asks."""
    with Worker(ledger, asset="judge_scores", run_id="run-1") as worker:
        yield worker


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
    then = worker.grant(LIMITS, Amount(1, 10), unused={first.id: Amount(29, 290)})
    assert then.wait_seconds < 1


def test_accounts_do_not_share_limits(worker: Worker) -> None:
    worker.grant(LIMITS, Amount(60, 600), unused={})
    other = RateLimits("another account", 60, 6000)
    assert worker.grant(other, Amount(60, 600), unused={}).wait_seconds <= 0


def test_a_grant_starts_when_whoever_asks_can_use_it(worker: Worker) -> None:
    grant = worker.grant(LIMITS, Amount(1, 10), unused={}, delay_seconds=3.0)
    assert grant.wait_seconds > 1


def test_grants_that_are_over_are_forgotten(ledger: SqlLedger, worker: Worker) -> None:
    worker.grant(LIMITS, Amount(60, 600), unused={})
    with ledger.writing() as connection:
        connection.execute(
            sa.update(rate_grants).values(starts_at=rate_grants.c.starts_at - WINDOW_SECONDS)
        )
    assert worker.grant(LIMITS, Amount(60, 600), unused={}).wait_seconds <= 0
    with ledger.reading() as connection:
        assert connection.scalar(sa.select(sa.func.count()).select_from(rate_grants)) == 1


def test_workers_that_ask_at_the_same_time_get_grants_one_after_the_other(
    ledger: SqlLedger, worker: Worker
) -> None:
    with ThreadPoolExecutor(8) as threads:
        asked = [threads.submit(worker.grant, LIMITS, Amount(6, 60), unused={}) for _ in range(30)]
        for each in asked:
            each.result()
    with ledger.reading() as connection:
        starts = connection.scalars(
            sa.select(rate_grants.c.starts_at).order_by(rate_grants.c.starts_at)
        ).all()
    assert all(
        later - sooner >= WINDOW_SECONDS - 0.01
        for sooner, later in zip(starts, starts[10:], strict=False)
    )


@for_any(
    per_minute=st.integers(1, 200),
    asked=st.lists(st.tuples(st.integers(0, 30), st.integers(1, 300)), min_size=1, max_size=60),
)
def test_no_window_holds_more_than_the_limit(per_minute: int, asked: list[tuple[int, int]]) -> None:
    now, granted = 0.0, list[tuple[float, float]]()
    for pause, amount in asked:
        now += pause / 10
        kept = [each for each in granted if each[0] > now - WINDOW_SECONDS]
        start = start_of(amount, per_minute, sorted(kept), now=now)
        assert start >= now
        granted.append((start, min(amount, per_minute)))
    for start, _ in granted:
        window = [each for at, each in granted if start <= at < start + WINDOW_SECONDS - 1e-6]
        assert sum(window) <= per_minute
