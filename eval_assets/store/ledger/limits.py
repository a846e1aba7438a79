"""Limits of requests: spending, the rest of caps, and rates that processes share."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, Literal, assert_never

import sqlalchemy as sa

from eval_assets.ledger import GRANT_SECONDS, Amount, Grant, RateLimits
from eval_assets.store.ledger._tables import attempts, batches, claims, rate_grants, workers
from eval_assets.store.ledger.claims import in_portions
from eval_assets.store.ledger.engine import dead_workers

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from eval_assets.config.evaluation import Evaluation
    from eval_assets.store.ledger.engine import SqlLedger

SpendingBy = Literal["judge", "model", "day", "run"]

_PORTIONS = 20

_RESERVING = 0x72657376
"""Key of the lock under which portions of caps are reserved on PostgreSQL."""

_ROUNDING_USD = 1e-9


def costs_of(ledger: SqlLedger, call_keys: Collection[str]) -> dict[str, float | None]:
    """Return the cost of requests in USD, all attempts together; None if some is not known.

    Requests that were never sent are left out.
    """
    costs: dict[str, float | None] = {}
    is_known = sa.func.count(attempts.c.cost_usd) == sa.func.count()
    spent = sa.select(attempts.c.call_key, sa.func.sum(attempts.c.cost_usd), is_known)
    with ledger.read_transaction() as connection:
        for keys in in_portions(call_keys):
            is_selected = attempts.c.call_key.in_(keys) & (
                attempts.c.evaluation == ledger.evaluation
            )
            rows = connection.execute(spent.where(is_selected).group_by(attempts.c.call_key))
            costs |= {key: cost if known else None for key, cost, known in rows}
    return costs


def spent_in_month(ledger: SqlLedger, day: date) -> float:
    """Return the spending that counts towards the budget of a day's month (UTC), in USD.

    A batch counts with the most that it can cost until it is closed.
    """
    with ledger.read_transaction() as connection:
        return _spent_in_month(connection, ledger.evaluation, day)


def reserved(ledger: SqlLedger) -> float:
    """Return the unspent reservations of living workers, in USD."""
    with ledger.read_transaction() as connection:
        now = ledger.now(connection)
        is_of_evaluation = workers.c.evaluation == ledger.evaluation
        is_dead = workers.c.worker.in_(dead_workers(connection, now))
        return _reserved_by(connection, is_of_evaluation & ~is_dead, now=now)


def left_of_caps(
    ledger: SqlLedger,
    connection: sa.Connection,
    caps: Evaluation,
    *,
    is_of_run: sa.ColumnElement[bool],
) -> list[tuple[float, float]]:
    """Return the rest of each declared cap, and its reservations by living workers.

    Args:
        ledger: The ledger.
        connection: A transaction. To reserve some of what is left, it must write.
        caps: Declares the caps of a run and of a month.
        is_of_run: Condition on workers: those of the run.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_RESERVING)))
    # Reservations are read before spending. Recording turns one into the other: what is recorded
    # in between then counts twice, not never.
    remaining = []
    account, now = ledger.evaluation, ledger.now(connection)
    if (cap := caps.budget_usd) is not None:
        reserved_usd = _reserved_by(connection, is_of_run, now=now)
        remaining.append((cap - _spent_by(connection, is_of_run), reserved_usd))
    if (cap := caps.month_cap_usd) is not None:
        is_of_account = workers.c.evaluation == account
        reserved_usd = _reserved_by(connection, is_of_account, now=now)
        spent_usd = _spent_in_month(connection, account, datetime.now(UTC).date())
        remaining.append((cap - spent_usd, reserved_usd))
    return remaining


def portion_of(left_usd: float, *, needed_usd: float) -> float:
    """Return the part of the rest that a worker reserves at once; 0 if it needs more.

    A small share, so that others find something, and few portions are reserved all the same.
    """
    if needed_usd > left_usd + _ROUNDING_USD:
        return 0.0
    return max(needed_usd, left_usd / _PORTIONS)


def mean_reply_usd(ledger: SqlLedger, judge_id: str) -> float | None:
    """Return the mean cost of a judge's replies; None if none is known."""
    mean = sa.select(sa.func.avg(attempts.c.cost_usd)).where(
        (attempts.c.evaluation == ledger.evaluation) & (attempts.c.judge_id == judge_id)
    )
    with ledger.read_transaction() as connection:
        return connection.scalar(mean)


def spending_table(ledger: SqlLedger, *, by: SpendingBy) -> list[dict[str, Any]]:
    """Return the spending, a row for each judge, model, day or run.

    Returns:
        The column that it is by; n_attempts, n_replies, input_tokens, output_tokens; cost_usd, as
        far as it is known; n_unknown, the attempts whose cost is not known though they may be
        billed; charged_usd, which counts these at the most they can cost.
    """
    joined = attempts.outerjoin(workers, attempts.c.worker == workers.c.worker)
    is_unknown = attempts.c.cost_usd.is_(None) & (attempts.c.charged_usd > 0)
    key = _column(by).label(by)
    query = (
        sa.select(
            key,
            sa.func.count().label("n_attempts"),
            _count(attempts.c.raw_output.is_not(None)).label("n_replies"),
            sa.func.sum(attempts.c.input_tokens).label("input_tokens"),
            sa.func.sum(attempts.c.output_tokens).label("output_tokens"),
            sa.func.sum(attempts.c.cost_usd).label("cost_usd"),
            _count(is_unknown).label("n_unknown"),
            sa.func.sum(attempts.c.charged_usd).label("charged_usd"),
        )
        .select_from(joined)
        .where(attempts.c.evaluation == ledger.evaluation)
        .group_by(key)
        .order_by(sa.func.max(attempts.c.started_at).desc(), key)
    )
    return _rows_of(ledger, query)


def in_flight(ledger: SqlLedger) -> list[dict[str, Any]]:
    """Return requests of living workers and in batches: judge_id, model, worker and counts."""
    columns = (
        *(claims.c.judge_id, claims.c.model, claims.c.worker),
        *(workers.c.asset, workers.c.run_id, workers.c.lease_until),
        *(claims.c.batch, batches.c.batch_id),
    )
    with ledger.read_transaction() as connection:
        now = ledger.now(connection)
        dead = dead_workers(connection, now)
    is_alive = (workers.c.lease_until > now) & workers.c.worker.not_in(dead)
    query = (
        sa.select(
            *columns,
            sa.func.count().label("n_requests"),
            sa.func.min(claims.c.claimed_at).label("since"),
            sa.func.sum(claims.c.most_usd).label("most_usd"),
        )
        .select_from(
            claims.join(workers, claims.c.worker == workers.c.worker).outerjoin(
                batches, claims.c.batch == batches.c.intent_id
            )
        )
        .where(workers.c.evaluation == ledger.evaluation)
        .where(claims.c.batch.is_not(None) | is_alive)
        .group_by(*columns)
        .order_by(sa.text("since"))
    )
    return _rows_of(ledger, query)


def _spent_by(connection: sa.Connection, is_of_run: sa.ColumnElement[bool]) -> float:
    """Return the spending of workers; a batch counts when it is submitted."""
    its = sa.select(workers.c.worker).where(is_of_run)
    live = _sum(attempts.c.charged_usd).where(
        attempts.c.worker.in_(its) & attempts.c.in_batch.is_(False)
    )
    submitted = _sum(batches.c.most_usd).where(batches.c.worker.in_(its))
    return connection.scalars(live).one() + connection.scalars(submitted).one()


def _spent_in_month(connection: sa.Connection, account: str, day: date) -> float:
    """Return the spending of an evaluation in a month; a batch counts until it is closed."""
    first = day.replace(day=1)
    next_first = date(day.year + day.month // 12, day.month % 12 + 1, 1)

    def of_month(table: sa.Table) -> sa.ColumnElement[bool]:
        return (table.c.evaluation == account) & (table.c.day >= first) & (table.c.day < next_first)

    paid = _sum(attempts.c.charged_usd).where(of_month(attempts))
    open_ = _sum(batches.c.most_usd).where(of_month(batches) & batches.c.closed_at.is_(None))
    return connection.scalars(paid).one() + connection.scalars(open_).one()


def _reserved_by(
    connection: sa.Connection, condition: sa.ColumnElement[bool], *, now: datetime
) -> float:
    is_alive = workers.c.lease_until > now
    return connection.scalars(_sum(workers.c.reserved_usd).where(condition & is_alive)).one()


def _rows_of(ledger: SqlLedger, query: sa.Executable) -> list[dict[str, Any]]:
    with ledger.read_transaction() as connection:
        return [dict(row) for row in connection.execute(query).mappings()]


def _column(by: SpendingBy) -> sa.ColumnElement[object]:
    match by:
        case "judge":
            return attempts.c.judge_id
        case "model":
            return attempts.c.model_requested
        case "day":
            return attempts.c.day
        case "run":
            return workers.c.run_id
        case _ as unreachable:
            assert_never(unreachable)


def _sum(column: sa.Column[float]) -> sa.Select[float]:
    return sa.select(sa.func.coalesce(sa.func.sum(column), 0.0))


def _count(condition: sa.ColumnElement[bool]) -> sa.ColumnElement[int]:
    return sa.func.count(sa.case((condition, 1)))


WINDOW_SECONDS = 60.0 + GRANT_SECONDS + 0.5
"""Seconds over which a rate is held. What is sent within a minute was granted within this: a grant
may be used late, and requests sent a minute apart may arrive a little closer."""

_BURST_SECONDS = 1.0
"""Lead of grants over an even pace: vendors also enforce a rate by the second."""


def grant(
    ledger: SqlLedger,
    limits: RateLimits,
    demand: Amount,
    *,
    unused: Mapping[int, Amount],
    delay_seconds: float,
) -> Grant:
    """Grant the next requests to a model from the first moment at which its limits allow them.

    The clock is the ledger's own, the same for every machine.
    """
    is_same = rate_grants.c.account == limits.account
    with ledger.write_transaction(is_durable=False) as connection:
        if connection.dialect.name == "postgresql":
            lock = sa.func.pg_advisory_xact_lock(sa.func.hashtext(limits.account))
            connection.execute(sa.select(lock))
        now, read_at = ledger.now(connection).timestamp(), time.monotonic()
        for grant_id, amount_left in unused.items():
            consumption = {
                "requests": rate_grants.c.requests - amount_left.requests,
                "tokens": rate_grants.c.tokens - amount_left.tokens,
            }
            connection.execute(
                sa.update(rate_grants).where(rate_grants.c.id == grant_id).values(consumption)
            )
        is_over = is_same & (rate_grants.c.starts_at <= now - WINDOW_SECONDS)
        connection.execute(sa.delete(rate_grants).where(is_over))
        granted = connection.execute(
            sa.select(rate_grants.c.starts_at, rate_grants.c.requests, rate_grants.c.tokens)
            .where(is_same)
            .order_by(rate_grants.c.starts_at)
        ).all()
        requests = [(start, n_requests) for start, n_requests, _ in granted]
        tokens = [(start, n_tokens) for start, _, n_tokens in granted]
        usable_at = now + delay_seconds
        starts_at = max(
            start_of(demand.requests, limits.requests_per_minute, requests, now=usable_at),
            start_of(demand.tokens, limits.input_tokens_per_minute, tokens, now=usable_at),
        )
        row = {"account": limits.account, "starts_at": starts_at, **vars(demand)}
        new = connection.execute(sa.insert(rate_grants).returning(rate_grants.c.id), row)
        grant_id = new.scalar_one()
    return Grant(grant_id, demand, starts_at - now - (time.monotonic() - read_at))


def start_of(
    amount: float,
    per_minute: float | None,
    granted: Sequence[tuple[float, float]],
    *,
    now: float,
) -> float:
    """Return when so much more may start, at the earliest `now`.

    Args:
        amount: How much more; more than a minute may hold counts as all that it may hold.
        per_minute: Most that any minute may hold; None for no limit.
        granted: When each grant of the last minute starts, in this order, and how much it is.
        now: The time in seconds.
    """
    if per_minute is None:
        return now
    paced_until = 0.0
    for start, item in granted:
        paced_until = max(paced_until, start) + item * WINDOW_SECONDS / per_minute
    starts_at = max(now, paced_until - _BURST_SECONDS)
    excess = sum(item for _, item in granted) + min(amount, per_minute) - per_minute
    for start, item in granted:
        if excess <= 0:
            break
        excess -= item
        starts_at = max(starts_at, start + WINDOW_SECONDS)
    return starts_at
