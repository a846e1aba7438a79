"""Attempts with their replies and costs, the rest of caps, batches, and rates that are shared.

Functions of a connection are a part of its transaction.
"""

import math
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any, Literal, get_args

import sqlalchemy as sa

from eval_assets.ledger import USABLE_SECONDS, RateLimits, Reply, ReplyStatus, Shard
from eval_assets.store.ledger._tables import attempts, batch_requests, batches, rates, workers
from eval_assets.store.ledger.engine import SqlLedger

_KEYS_PER_STATEMENT = 5_000

REPLIES = get_args(ReplyStatus)

# Built once: SQLAlchemy takes longer to build a statement than SQLite to run it.
_REPLIES_TO = sa.select(attempts.c.call_key, attempts.c.raw_output, attempts.c.status).where(
    attempts.c.call_key.in_(sa.bindparam("keys", expanding=True)) & attempts.c.status.in_(REPLIES)
)


def replies_to(connection: sa.Connection, call_keys: Collection[str]) -> dict[str, Reply]:
    """Return the reply to each request that has one."""
    records: dict[str, Reply] = {}
    for keys in in_portions(call_keys):
        rows = connection.execute(_REPLIES_TO, {"keys": keys})
        records |= {key: Reply(text or "", status) for key, text, status in rows}
    return records


def store_attempts(
    connection: sa.Connection, ledger: SqlLedger, rows: Sequence[dict[str, Any]]
) -> None:
    """Store the attempts that are not stored yet.

    A second reply to a request is paid and kept, and counts as `repeated`.
    """
    # The server may have committed them before, and gone away before it said so.
    new = ledger.upsert(attempts).on_conflict_do_nothing(
        index_elements=["call_key", "attempt", "started_at"]
    )
    replies = [row for row in rows if row["status"] in REPLIES]
    answered = set(replies_to(connection, [row["call_key"] for row in replies]))
    for row in replies:
        if row["call_key"] in answered:
            row["status"] = "repeated"
        answered.add(row["call_key"])
    if rows:
        connection.execute(new, rows)


def in_portions(keys: Collection[str]) -> Iterator[list[str]]:
    """Split keys into as many as a statement takes."""
    all_keys = list(keys)
    for start in range(0, len(all_keys), _KEYS_PER_STATEMENT):
        yield all_keys[start : start + _KEYS_PER_STATEMENT]


SpendingBy = Literal["judge", "model", "day", "run"]


def costs_of(ledger: SqlLedger, call_keys: Collection[str]) -> dict[str, float | None]:
    """Return the cost of requests in USD, all attempts together; None if some is not known.

    Requests that were never sent are left out.
    """
    costs: dict[str, float | None] = {}
    is_known = sa.func.count(attempts.c.cost_usd) == sa.func.count()
    spent = sa.select(attempts.c.call_key, sa.func.sum(attempts.c.cost_usd), is_known)
    with ledger.transaction() as connection:
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
    with ledger.transaction() as connection:
        return spent(connection, *in_month(ledger.evaluation, day))


def part_left(
    cap_usd: float, spent_usd: float, spent_by_shard: Mapping[int, float], shard: Shard
) -> float:
    """Return what a shard may still spend: every other one may spend its part, or has spent more.

    `spent_usd` is all that counts towards the cap, `spent_by_shard` that of the run's shards.

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


def mean_reply_usd(ledger: SqlLedger, judge_id: str) -> float | None:
    """Return the mean cost of a judge's replies; None if none is known."""
    mean = sa.select(sa.func.avg(attempts.c.cost_usd)).where(
        (attempts.c.evaluation == ledger.evaluation) & (attempts.c.judge_id == judge_id)
    )
    with ledger.transaction() as connection:
        mean_usd: float | None = connection.scalar(mean)
    return mean_usd


def spending_table(ledger: SqlLedger, *, by: SpendingBy) -> list[dict[str, Any]]:
    """Return the spending, a row for each judge, model, day or run.

    Returns:
        The column that it is by; n_attempts, n_replies, input_tokens, output_tokens; cost_usd, as
        far as it is known; n_unknown, the attempts whose cost is not known though they may be
        billed; charged_usd, which counts these at the most they can cost.
    """
    is_unknown = attempts.c.cost_usd.is_(None) & (attempts.c.charged_usd > 0)
    columns = {
        "judge": attempts.c.judge_id,
        "model": attempts.c.model_requested,
        "day": attempts.c.day,
        "run": workers.c.run_id,
    }
    key = columns[by].label(by)
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
        .select_from(attempts.outerjoin(workers, attempts.c.worker == workers.c.worker))
        .where(attempts.c.evaluation == ledger.evaluation)
        .group_by(key)
        .order_by(sa.func.max(attempts.c.started_at).desc(), key)
    )
    with ledger.transaction() as connection:
        return [dict(row) for row in connection.execute(query).mappings()]


def close_batch(connection: sa.Connection, intent_id: str) -> None:
    """Forget a batch whose results are all recorded, or that the vendor does not have."""
    is_same = batches.c.intent_id == intent_id
    connection.execute(sa.update(batches).where(is_same), {"closed_at": datetime.now(UTC)})
    connection.execute(sa.delete(batch_requests).where(batch_requests.c.batch == intent_id))


def batches_under_way(ledger: SqlLedger) -> list[dict[str, Any]]:
    """Return batches that are not closed: judge_id, run_id, batch, since and counts."""
    name = sa.func.coalesce(batches.c.batch_id, batches.c.intent_id).label("batch")
    query = (
        sa.select(
            *(batches.c.judge_id, workers.c.run_id, name, batches.c.intent_id),
            batches.c.intended_at.label("since"),
            *(batches.c.n_requests, batches.c.most_usd),
        )
        .select_from(batches.join(workers, batches.c.worker == workers.c.worker))
        .where((batches.c.evaluation == ledger.evaluation) & batches.c.closed_at.is_(None))
        .order_by(batches.c.intended_at)
    )
    with ledger.transaction() as connection:
        return [dict(row) for row in connection.execute(query).mappings()]


def forget_batch(ledger: SqlLedger, batch_id: str) -> int:
    """Close open batches of a vendor's name; return the number of requests to send again."""
    rows = [row for row in batches_under_way(ledger) if row["batch"] == batch_id]
    with ledger.transaction(is_writing=True) as connection:
        for row in rows:
            close_batch(connection, row["intent_id"])
    return sum(row["n_requests"] for row in rows)


def spent(
    connection: sa.Connection, paid: sa.ColumnElement[bool], in_batches: sa.ColumnElement[bool]
) -> float:
    """Return the charges of some attempts, and the most that some batches can cost."""
    sums = (
        sa.select(sa.func.sum(column)).where(condition)
        for column, condition in ((attempts.c.charged_usd, paid), (batches.c.most_usd, in_batches))
    )
    return math.fsum(connection.scalar(query) or 0.0 for query in sums)


def in_month(account: str, day: date) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    """Return conditions on attempts and on open batches: those of a day's month (UTC)."""
    first = day.replace(day=1)
    next_first = date(day.year + day.month // 12, day.month % 12 + 1, 1)
    paid, submitted = (
        (table.c.evaluation == account) & (table.c.day >= first) & (table.c.day < next_first)
        for table in (attempts, batches)
    )
    return paid, submitted & batches.c.closed_at.is_(None)


def _count(condition: sa.ColumnElement[bool]) -> sa.ColumnElement[int]:
    return sa.func.count(sa.case((condition, 1)))


WINDOW_SECONDS = 60.0 + 1.0 + USABLE_SECONDS + 0.5
"""Seconds over which a rate is held. What is sent within a minute was taken within this: it counts
from the beginning of its second on, may be used late, and may arrive a little sooner."""

_LONGEST_LEAD_SECONDS = 3600
_BURST_SECONDS = 1.0
"""Lead over an even pace: vendors also enforce a rate by the second."""


def take_of_rates(
    connection: sa.Connection,
    ledger: SqlLedger,
    limits: RateLimits,
    tokens: Sequence[int],
    *,
    delay_seconds: float,
) -> list[float]:
    """Take requests with so many tokens from the first moment on that the limits allow.

    The clock is the ledger's own, the same for every machine. Returns the seconds until then; see
    `starts_of`.
    """
    now = time.time()
    if connection.dialect.name == "postgresql":
        lock = sa.func.pg_advisory_xact_lock(sa.func.hashtext(limits.account))
        connection.execute(sa.select(lock))
        moment = sa.func.clock_timestamp(type_=sa.DateTime(timezone=True))
        now = connection.scalars(sa.select(moment)).one().timestamp()
    read_at = time.monotonic()
    of, is_same = rates.c, rates.c.account == limits.account
    # Those far ahead are from before a clock was put back.
    is_over = (of.second <= now - WINDOW_SECONDS) | (of.second > now + _LONGEST_LEAD_SECONDS)
    connection.execute(sa.delete(rates).where(is_same & is_over))
    query = sa.select(of.second, of.requests, of.tokens).where(is_same)
    load = {second: (n, amount) for second, n, amount in connection.execute(query)}
    starts = starts_of(tokens, limits, load, now=now + delay_seconds)
    rows = [
        {"account": limits.account, "second": second, "requests": n, "tokens": amount}
        for second, (n, amount) in load.items()
    ]
    new = ledger.upsert(rates)
    counts = {name: new.excluded[name] for name in ("requests", "tokens")}
    changed = new.on_conflict_do_update(index_elements=["account", "second"], set_=counts)
    connection.execute(changed, rows)
    return [start - now - (time.monotonic() - read_at) for start in starts]


def starts_of(
    tokens: Iterable[int],
    limits: RateLimits,
    load: dict[int, tuple[int, int]],
    *,
    now: float,
) -> list[float]:
    """Return when requests may start, in order, and add them to what was sent.

    That is the number of requests and tokens in each second of the last minute. What starts more
    than a second after the first is left out: others may come first.
    """
    starts: list[float] = []
    for amount in tokens:
        seconds = sorted(load.items())
        by_requests = [(second, n) for second, (n, _) in seconds]
        by_tokens = [(second, n) for second, (_, n) in seconds]
        start = max(
            start_of(1, limits.requests_per_minute, by_requests, now=now),
            start_of(amount, limits.input_tokens_per_minute, by_tokens, now=now),
        )
        if starts and start > starts[0] + 1.0:
            break
        starts.append(start)
        n_requests, n_tokens = load.get(int(start), (0, 0))
        load[int(start)] = n_requests + 1, n_tokens + amount
    return starts


def start_of(
    amount: float,
    per_minute: float | None,
    earlier: Sequence[tuple[float, float]],
    *,
    now: float,
) -> float:
    """Return when so much more may start, at the earliest `now`, in seconds.

    `earlier` are start and amount of each part of the last minute, in order. More than a minute may
    hold counts as all that it may hold; None is no limit.
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
