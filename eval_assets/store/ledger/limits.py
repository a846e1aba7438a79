"""Limits of requests: spending, the rest of caps, and rates that processes share."""

from __future__ import annotations

import math
import time
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, Literal, assert_never

import sqlalchemy as sa

from eval_assets.ledger import USABLE_SECONDS, RateLimits, Shard
from eval_assets.store.ledger._tables import attempts, batches, rate_grants, workers
from eval_assets.store.ledger.attempts import in_portions

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from eval_assets.config.evaluation import Evaluation
    from eval_assets.store.ledger.engine import SqlLedger

SpendingBy = Literal["judge", "model", "day", "run"]


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


def left_of_caps(
    connection: sa.Connection,
    caps: Evaluation,
    *,
    account: str,
    is_of_run: sa.ColumnElement[bool],
    shard: Shard,
) -> float:
    """Return what is left of the caps of a run and of a month, at least 0.

    To a shard that is what is left of its part. As nobody else spends from a cap at the same time,
    all parts together are within it, and so is what others have spent between two shards.

    Args:
        connection: A transaction.
        caps: Declares the caps.
        account: Name of the evaluation in the ledger.
        is_of_run: Condition on workers: those of the run.
        shard: The shard.
    """
    is_of_shards = is_of_run & (workers.c.n_shards == shard.n_shards)
    remaining = []
    if (cap := caps.budget_usd) is not None:
        by_shard = _spent_by_shards(connection, is_of_shards)
        remaining.append(part_left(cap, _spent_by(connection, is_of_run), by_shard, shard))
    if (cap := caps.month_cap_usd) is not None:
        today = datetime.now(UTC).date()
        by_shard = _spent_by_shards(connection, is_of_shards & _of_month(attempts, account, today))
        spent_usd = _spent_in_month(connection, account, today)
        remaining.append(part_left(cap, spent_usd, by_shard, shard))
    return max(0.0, min(remaining))


def part_left(
    cap_usd: float, spent_usd: float, spent_by_shard: Mapping[int, float], shard: Shard
) -> float:
    """Return what a shard may still spend: every other one may spend its part, or has spent more.

    Args:
        cap_usd: The cap.
        spent_usd: All that counts towards it.
        spent_by_shard: What counts towards it of the run's shards.
        shard: The shard.

    Examples:
        >>> part_left(1.0, 0.2, {}, Shard())
        0.8
        >>> part_left(1.0, 0.3, {0: 0.1}, Shard(1, 2))
        0.4
    """
    if shard.n_shards == 1:
        return cap_usd - spent_usd
    left_usd = cap_usd - (spent_usd - math.fsum(spent_by_shard.values()))
    part_usd = left_usd / shard.n_shards
    others_usd = math.fsum(
        max(part_usd, spent_by_shard.get(index, 0.0))
        for index in range(shard.n_shards)
        if index != shard.index
    )
    return left_usd - others_usd - spent_by_shard.get(shard.index, 0.0)


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


def batches_under_way(ledger: SqlLedger) -> list[dict[str, Any]]:
    """Return batches that are not closed: judge_id, run_id, batch, since and counts."""
    name = sa.func.coalesce(batches.c.batch_id, batches.c.intent_id).label("batch")
    query = (
        sa.select(
            *(batches.c.judge_id, workers.c.run_id, name),
            batches.c.intended_at.label("since"),
            *(batches.c.n_requests, batches.c.most_usd),
        )
        .select_from(batches.join(workers, batches.c.worker == workers.c.worker))
        .where((batches.c.evaluation == ledger.evaluation) & batches.c.closed_at.is_(None))
        .order_by(batches.c.intended_at)
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


def _spent_by_shards(
    connection: sa.Connection, condition: sa.ColumnElement[bool]
) -> dict[int, float]:
    """Return the spending of each shard; shards submit no batches."""
    query = (
        sa.select(workers.c.shard, sa.func.sum(attempts.c.charged_usd).label("spent_usd"))
        .select_from(attempts.join(workers, attempts.c.worker == workers.c.worker))
        .where(condition)
        .group_by(workers.c.shard)
    )
    return {row.shard: row.spent_usd for row in connection.execute(query)}


def _spent_in_month(connection: sa.Connection, account: str, day: date) -> float:
    """Return the spending of an evaluation in a month; a batch counts until it is closed."""
    paid = _sum(attempts.c.charged_usd).where(_of_month(attempts, account, day))
    open_ = _sum(batches.c.most_usd).where(
        _of_month(batches, account, day) & batches.c.closed_at.is_(None)
    )
    return connection.scalars(paid).one() + connection.scalars(open_).one()


def _of_month(table: sa.Table, account: str, day: date) -> sa.ColumnElement[bool]:
    """Return the condition on rows of an evaluation in a day's month (UTC)."""
    first = day.replace(day=1)
    next_first = date(day.year + day.month // 12, day.month % 12 + 1, 1)
    return (table.c.evaluation == account) & (table.c.day >= first) & (table.c.day < next_first)


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


WINDOW_SECONDS = 60.0 + USABLE_SECONDS + 0.5
"""Seconds over which a rate is held. What is sent within a minute was taken within this: it may be
used late, and requests sent a minute apart may arrive a little closer."""

_LONGEST_LEAD_SECONDS = 3600.0
_BURST_SECONDS = 1.0
"""Lead over an even pace: vendors also enforce a rate by the second."""


def take_of_rates(
    ledger: SqlLedger, limits: RateLimits, *, requests: int, tokens: int, delay_seconds: float
) -> float:
    """Take requests from the first moment on at which a model's limits allow them.

    The clock is the ledger's own, the same for every machine. Returns the seconds until then.
    """
    is_same = rate_grants.c.account == limits.account
    with ledger.write_transaction(is_durable=False) as connection:
        if connection.dialect.name == "postgresql":
            lock = sa.func.pg_advisory_xact_lock(sa.func.hashtext(limits.account))
            connection.execute(sa.select(lock))
        now, read_at = _now(connection), time.monotonic()
        # Those far ahead are from before a clock was put back.
        is_over = (rate_grants.c.starts_at <= now - WINDOW_SECONDS) | (
            rate_grants.c.starts_at > now + _LONGEST_LEAD_SECONDS
        )
        connection.execute(sa.delete(rate_grants).where(is_same & is_over))
        earlier = connection.execute(
            sa.select(rate_grants.c.starts_at, rate_grants.c.requests, rate_grants.c.tokens)
            .where(is_same)
            .order_by(rate_grants.c.starts_at)
        ).all()
        usable_at = now + delay_seconds
        starts_at = max(
            start_of(
                requests,
                limits.requests_per_minute,
                [(start, n_requests) for start, n_requests, _ in earlier],
                now=usable_at,
            ),
            start_of(
                tokens,
                limits.input_tokens_per_minute,
                [(start, n_tokens) for start, _, n_tokens in earlier],
                now=usable_at,
            ),
        )
        row = {"account": limits.account, "starts_at": starts_at}
        row |= {"requests": requests, "tokens": tokens}
        connection.execute(sa.insert(rate_grants), row)
    return starts_at - now - (time.monotonic() - read_at)


def _now(connection: sa.Connection) -> float:
    """Return the time that holds on every machine: of the server, or of a file's only one."""
    if connection.dialect.name != "postgresql":
        return time.time()
    moment = sa.func.clock_timestamp(type_=sa.DateTime(timezone=True))
    return connection.scalars(sa.select(moment)).one().timestamp()


def start_of(
    amount: float,
    per_minute: float | None,
    earlier: Sequence[tuple[float, float]],
    *,
    now: float,
) -> float:
    """Return when so much more may start, at the earliest `now`.

    Args:
        amount: How much more; more than a minute may hold counts as all that it may hold.
        per_minute: Most that any minute may hold; None for no limit.
        earlier: When each part of the last minute starts, in this order, and how much it is.
        now: The time in seconds.
    """
    if per_minute is None:
        return now
    paced_until = 0.0
    for start, item in earlier:
        paced_until = max(paced_until, start) + item * WINDOW_SECONDS / per_minute
    starts_at = max(now, paced_until - _BURST_SECONDS)
    excess = sum(item for _, item in earlier) + min(amount, per_minute) - per_minute
    for start, item in earlier:
        if excess <= 0:
            break
        excess -= item
        starts_at = max(starts_at, start + WINDOW_SECONDS)
    return starts_at
