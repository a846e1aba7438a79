"""Batches in progress at vendors, and their requests."""

from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from eval_assets.errors import StoreError
from eval_assets.ledger import Batch, CallSubject
from eval_assets.store.ledger._tables import batches, claims, workers
from eval_assets.store.ledger.claims import in_portions
from eval_assets.store.ledger.engine import SqlLedger


def open_batches(ledger: SqlLedger, judge_id: str) -> list[Batch]:
    """Return a judge's batches that are not closed, oldest first.

    Those that a living run is about to submit are left out: their requests are claimed.
    """
    with ledger.reading() as connection:
        now = ledger.now(connection)
        lapsed = sa.select(workers.c.worker).where(workers.c.lease_until <= now)
        is_open = (
            (batches.c.evaluation == ledger.evaluation)
            & (batches.c.judge_id == judge_id)
            & batches.c.closed_at.is_(None)
            & (batches.c.batch_id.is_not(None) | batches.c.worker.in_(lapsed))
        )
        rows = connection.execute(
            sa.select(batches).where(is_open).order_by(batches.c.intended_at)
        ).all()
        return [_batch(connection, row) for row in rows]


def known_batches(ledger: SqlLedger) -> frozenset[str]:
    """Return the vendors' names of all batches that were ever submitted."""
    named = sa.select(batches.c.batch_id).where(batches.c.batch_id.is_not(None))
    with ledger.reading() as connection:
        return frozenset(connection.scalars(named))


def add_batch(connection: sa.Connection, batch: Batch, *, evaluation: str, worker: int) -> None:
    """Store a batch that is about to be submitted; its requests stay claimed until it is closed."""
    row = {
        "intent_id": batch.intent_id,
        "evaluation": evaluation,
        "worker": worker,
        "judge_id": batch.judge_id,
        "batch_id": batch.batch_id,
        "n_requests": len(batch.call_keys),
        "most_usd": batch.most_usd,
        "intended_at": batch.intended_at,
        "day": batch.intended_at.astimezone(UTC).date(),
    }
    connection.execute(sa.insert(batches), row)
    n_held = 0
    for keys in in_portions(batch.call_keys):
        is_mine = claims.c.call_key.in_(keys) & (claims.c.worker == worker)
        updated = connection.execute(sa.update(claims).where(is_mine), {"batch": batch.intent_id})
        n_held += updated.rowcount
    if n_held < len(batch.call_keys):
        raise StoreError(
            "another run has taken over requests of a batch, because this process was asleep. "
            "Run again: nothing was submitted"
        )


def confirm_batch(ledger: SqlLedger, intent_id: str, batch_id: str) -> None:
    """Remember the vendor's name of a batch that was submitted."""
    with ledger.writing() as connection:
        connection.execute(
            sa.update(batches).where(batches.c.intent_id == intent_id), {"batch_id": batch_id}
        )


def close_batch(ledger: SqlLedger, intent_id: str) -> None:
    """Forget a batch whose results are all recorded, or that the vendor does not have."""
    with ledger.writing() as connection:
        connection.execute(
            sa.update(batches).where(batches.c.intent_id == intent_id),
            {"closed_at": datetime.now(UTC)},
        )
        connection.execute(sa.delete(claims).where(claims.c.batch == intent_id))


def forget_batch(ledger: SqlLedger, batch_id: str) -> int:
    """Close an open batch by the vendor's name; return how many requests are sent again."""
    with ledger.reading() as connection:
        intents = connection.scalars(
            sa.select(batches.c.intent_id).where(
                (batches.c.evaluation == ledger.evaluation)
                & (batches.c.batch_id == batch_id)
                & batches.c.closed_at.is_(None)
            )
        ).all()
        in_flight = sa.select(sa.func.count()).where(claims.c.batch.in_(intents))
        n_requests = connection.scalar(in_flight) or 0
    for intent_id in intents:
        close_batch(ledger, intent_id)
    return n_requests


def _batch(connection: sa.Connection, row: sa.Row[Any]) -> Batch:
    """Return a batch with the requests that it still has in flight."""
    of = claims.c
    in_flight = connection.execute(
        sa.select(of.call_key, of.operation, of.response_id, of.question_id, of.replicate)
        .where(of.batch == row.intent_id)
        .order_by(of.call_key)
    )
    subjects = {key: CallSubject(*subject) for key, *subject in in_flight}
    return Batch(
        intent_id=row.intent_id,
        judge_id=row.judge_id,
        call_keys=tuple(subjects),
        intended_at=row.intended_at,
        most_usd=row.most_usd,
        batch_id=row.batch_id,
        subjects=subjects,
    )
