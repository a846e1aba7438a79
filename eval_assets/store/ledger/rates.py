"""Rate limits that all processes on a ledger share."""

import time
from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from eval_assets.rate_limits import GRANT_SECONDS, Amount, Grant, RateLimits
from eval_assets.store.ledger._tables import rate_grants
from eval_assets.store.ledger.engine import SqlLedger

WINDOW_SECONDS = 60.0 + GRANT_SECONDS + 0.5
"""Seconds over which a rate is held. What is sent within a minute was granted within this: a grant
may be used late, and requests sent a minute apart may arrive a little closer."""

_BURST_SECONDS = 1.0
"""Lead of grants over an even pace: vendors also enforce a rate by the second."""


def grant(
    ledger: SqlLedger,
    limits: RateLimits,
    wanted: Amount,
    *,
    unused: Mapping[int, Amount],
    delay_seconds: float,
) -> Grant:
    """Grant the next requests to a model from the first moment at which its limits allow them.

    The clock is the ledger's own, the same for every machine.

    Args:
        ledger: The ledger.
        limits: The limits, and whose they are.
        wanted: What is to be sent.
        unused: What earlier grants turned out to leave, by their number; it is given back.
        delay_seconds: Time from now in which nothing can be sent yet.
    """
    is_same = rate_grants.c.account == limits.account
    with ledger.writing(is_durable=False) as connection:
        if connection.dialect.name == "postgresql":
            lock = sa.func.pg_advisory_xact_lock(sa.func.hashtext(limits.account))
            connection.execute(sa.select(lock))
        now, read_at = ledger.now(connection).timestamp(), time.monotonic()
        for grant_id, left in unused.items():
            used = {
                "requests": rate_grants.c.requests - left.requests,
                "tokens": rate_grants.c.tokens - left.tokens,
            }
            connection.execute(
                sa.update(rate_grants).where(rate_grants.c.id == grant_id).values(used)
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
            start_of(wanted.requests, limits.requests_per_minute, requests, now=usable_at),
            start_of(wanted.tokens, limits.input_tokens_per_minute, tokens, now=usable_at),
        )
        row = {"account": limits.account, "starts_at": starts_at, **vars(wanted)}
        new = connection.execute(sa.insert(rate_grants).returning(rate_grants.c.id), row)
        grant_id = new.scalar_one()
    return Grant(grant_id, wanted, starts_at - now - (time.monotonic() - read_at))


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
