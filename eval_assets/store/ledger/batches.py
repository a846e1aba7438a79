"""Batches at vendors, whose requests nobody sends until they are closed."""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from eval_assets.ledger import Batch, CallSubject
from eval_assets.store.ledger._tables import batch_requests, batches
from eval_assets.store.ledger.attempts import in_portions, store_prompts
from eval_assets.store.ledger.engine import SqlLedger


def keys_in_batches(connection: sa.Connection, call_keys: Collection[str]) -> frozenset[str]:
    """Return the requests of these that are in a batch that is not closed."""
    names: set[str] = set()
    for keys in in_portions(call_keys):
        is_selected = batch_requests.c.call_key.in_(keys)
        names.update(connection.scalars(sa.select(batch_requests.c.call_key).where(is_selected)))
    return frozenset(names)


def open_batches(connection: sa.Connection, evaluation: str, judge_id: str) -> list[Batch]:
    """Return a judge's batches that are not closed, oldest first."""
    is_open = (
        (batches.c.evaluation == evaluation)
        & (batches.c.judge_id == judge_id)
        & batches.c.closed_at.is_(None)
    )
    rows = connection.execute(
        sa.select(batches).where(is_open).order_by(batches.c.intended_at)
    ).all()
    return [_batch(connection, row) for row in rows]


def known_batches(connection: sa.Connection) -> frozenset[str]:
    """Return the vendors' names of all batches that were ever submitted."""
    named = sa.select(batches.c.batch_id).where(batches.c.batch_id.is_not(None))
    return frozenset(connection.scalars(named))


def add_batch(
    connection: sa.Connection,
    ledger: SqlLedger,
    batch: Batch,
    *,
    prompts: Mapping[str, str],
    worker: int,
) -> None:
    """Store a batch that is about to be submitted, with its requests."""
    row = {
        "intent_id": batch.intent_id,
        "evaluation": ledger.evaluation,
        "worker": worker,
        "judge_id": batch.judge_id,
        "batch_id": batch.batch_id,
        "n_requests": len(batch.call_keys),
        "most_usd": batch.most_usd,
        "intended_at": batch.intended_at,
        "day": batch.intended_at.astimezone(UTC).date(),
    }
    connection.execute(sa.insert(batches), row)
    rows = [
        {"call_key": key, "batch": batch.intent_id, **vars(batch.subjects[key])}
        for key in batch.call_keys
    ]
    connection.execute(sa.insert(batch_requests), rows)
    store_prompts(connection, ledger, prompts)


def confirm_batch(connection: sa.Connection, intent_id: str, batch_id: str) -> None:
    """Remember the vendor's name of a batch that was submitted."""
    is_same = batches.c.intent_id == intent_id
    connection.execute(sa.update(batches).where(is_same), {"batch_id": batch_id})


def close_batch(connection: sa.Connection, intent_id: str) -> None:
    """Forget a batch whose results are all recorded, or that the vendor does not have."""
    is_same = batches.c.intent_id == intent_id
    connection.execute(sa.update(batches).where(is_same), {"closed_at": datetime.now(UTC)})
    connection.execute(sa.delete(batch_requests).where(batch_requests.c.batch == intent_id))


def forget_batch(ledger: SqlLedger, batch_id: str) -> int:
    """Close an open batch by the vendor's name; return the number of requests to send again."""
    with ledger.write_transaction() as connection:
        intents = connection.scalars(
            sa.select(batches.c.intent_id).where(
                (batches.c.evaluation == ledger.evaluation)
                & (batches.c.batch_id == batch_id)
                & batches.c.closed_at.is_(None)
            )
        ).all()
        is_open = batch_requests.c.batch.in_(intents)
        n_requests = connection.scalar(sa.select(sa.func.count()).where(is_open)) or 0
        for intent_id in intents:
            close_batch(connection, intent_id)
    return n_requests


def _batch(connection: sa.Connection, row: sa.Row[Any]) -> Batch:
    of = batch_requests.c
    requests = connection.execute(
        sa.select(of.call_key, of.operation, of.response_id, of.question_id, of.replicate)
        .where(of.batch == row.intent_id)
        .order_by(of.call_key)
    )
    subjects = {key: CallSubject(*subject) for key, *subject in requests}
    return Batch(
        intent_id=row.intent_id,
        judge_id=row.judge_id,
        call_keys=tuple(subjects),
        intended_at=row.intended_at,
        most_usd=row.most_usd,
        batch_id=row.batch_id,
        subjects=subjects,
    )
