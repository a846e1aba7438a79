"""Requests in flight: claims, which prevent sending one twice, and batches at vendors."""

from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, get_args

import sqlalchemy as sa

from eval_assets.errors import StoreError
from eval_assets.ledger import Batch, CallSubject, ClaimState, Reply, ReplyStatus, Request
from eval_assets.store.ledger._tables import attempts, batches, claims, requests, workers
from eval_assets.store.ledger.engine import SqlLedger

_KEYS_PER_STATEMENT = 5_000

REPLIES = get_args(ReplyStatus)

# Built once: SQLAlchemy takes longer to build a statement than SQLite to run it.
_REPLIES_TO = (
    sa.select(attempts.c.call_key, attempts.c.raw_output, attempts.c.status)
    .where(
        attempts.c.call_key.in_(sa.bindparam("keys", expanding=True))
        & attempts.c.status.in_(REPLIES)
    )
    .order_by(attempts.c.started_at, attempts.c.id)
)
_REFUSED = sa.select(attempts.c.call_key).where(
    attempts.c.call_key.in_(sa.bindparam("keys", expanding=True))
    & attempts.c.http_status.in_((400, 413, 422))
    & attempts.c.status.not_in(REPLIES)
)
_END = sa.delete(claims).where(claims.c.call_key.in_(sa.bindparam("keys", expanding=True)))
_IN_BATCHES = sa.select(claims.c.call_key).where(
    claims.c.call_key.in_(sa.bindparam("keys", expanding=True)) & claims.c.batch.is_not(None)
)
_RELEASE = _END.where(claims.c.worker == sa.bindparam("me"))


class Claims:
    """The claims of a ledger; every method is a part of a transaction."""

    def __init__(self, ledger: SqlLedger) -> None:
        self._claim_free = _claim_free(ledger)
        self._keep_new = ledger.upsert(requests).on_conflict_do_nothing()

    def claim(
        self, connection: sa.Connection, requests: Sequence[Request], *, worker: int, now: datetime
    ) -> dict[str, Reply | ClaimState]:
        """Claim requests that are free, or held by a worker whose lease has run out.

        Returns:
            By request key: whether it is claimed, held or in a batch; the reply if there is one.
        """
        if not requests:
            return {}
        rows = [
            {
                **{name: value for name, value in vars(request).items() if name in claims.c},
                "worker": worker,
                "batch": None,
                "claimed_at": now,
                "now": now,
                "me": worker,
            }
            # In one order everywhere: two workers must not wait for one another's rows.
            for request in sorted(requests, key=lambda request: request.call_key)
        ]
        claimed = set(connection.scalars(self._claim_free, rows))
        result: dict[str, Reply | ClaimState] = dict.fromkeys(claimed, "claimed")
        other_keys = [request.call_key for request in requests if request.call_key not in claimed]
        result |= _states(connection, other_keys)
        # Only now: another worker may have recorded a reply and released it meanwhile.
        replies = replies_to(connection, claimed)
        release(connection, replies, worker=worker)
        self._keep(
            connection, [request for request in requests if request.call_key in claimed], now
        )
        return {**result, **replies}

    def _keep(self, connection: sa.Connection, requests: Sequence[Request], now: datetime) -> None:
        rows = [
            {"call_key": request.call_key, "prompt": request.prompt, "first_asked_at": now}
            for request in sorted(requests, key=lambda request: request.call_key)
        ]
        if rows:
            connection.execute(self._keep_new, rows)


def replies_to(connection: sa.Connection, call_keys: Collection[str]) -> dict[str, Reply]:
    """Return the latest reply to each request that has one."""
    records: dict[str, Reply] = {}
    for keys in in_portions(call_keys):
        rows = connection.execute(_REPLIES_TO, {"keys": keys})
        records |= {key: Reply(text or "", status) for key, text, status in rows}
    return records


def refused_keys(connection: sa.Connection, call_keys: Collection[str]) -> frozenset[str]:
    """Return the requests of these that a vendor refused as invalid."""
    return frozenset(
        key
        for keys in in_portions(call_keys)
        for key in connection.scalars(_REFUSED, {"keys": keys})
    )


def release(connection: sa.Connection, call_keys: Collection[str], *, worker: int) -> None:
    """Delete claims of one worker."""
    for keys in in_portions(call_keys):
        connection.execute(_RELEASE, {"keys": keys, "me": worker})


def end_claims(connection: sa.Connection, call_keys: Collection[str]) -> None:
    """Delete claims of any worker."""
    for keys in in_portions(call_keys):
        connection.execute(_END, {"keys": keys})


def in_portions(keys: Collection[str]) -> Iterator[list[str]]:
    """Split keys into as many as a statement takes."""
    all_keys = list(keys)
    for start in range(0, len(all_keys), _KEYS_PER_STATEMENT):
        yield all_keys[start : start + _KEYS_PER_STATEMENT]


def _claim_free(ledger: SqlLedger) -> sa.sql.dml.ReturningInsert[str]:
    """Return the statement that claims free requests and those of lapsed workers."""
    new = ledger.upsert(claims)
    lapsed = sa.select(workers.c.worker).where(workers.c.lease_until <= sa.bindparam("now"))
    is_free = claims.c.worker.in_(lapsed) | (claims.c.worker == sa.bindparam("me"))
    return new.on_conflict_do_update(
        index_elements=[claims.c.call_key],
        set_={column.name: new.excluded[column.name] for column in claims.c},
        where=claims.c.batch.is_(None) & is_free,
    ).returning(claims.c.call_key)


def _states(connection: sa.Connection, call_keys: Collection[str]) -> dict[str, ClaimState]:
    states: dict[str, ClaimState] = dict.fromkeys(call_keys, "held")
    for keys in in_portions(call_keys):
        rows = connection.scalars(_IN_BATCHES, {"keys": keys})
        states |= dict.fromkeys(rows, "in_batch")
    return states


def open_batches(ledger: SqlLedger, judge_id: str) -> list[Batch]:
    """Return a judge's batches that are not closed, oldest first.

    Those that a living run is about to submit are left out: their requests are claimed.
    """
    with ledger.read_transaction() as connection:
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
    with ledger.read_transaction() as connection:
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
        is_own = claims.c.call_key.in_(keys) & (claims.c.worker == worker)
        updated = connection.execute(sa.update(claims).where(is_own), {"batch": batch.intent_id})
        n_held += updated.rowcount
    if n_held < len(batch.call_keys):
        raise StoreError(
            "another run has taken over requests of a batch, because this process was asleep. "
            "Run again: nothing was submitted"
        )


def confirm_batch(ledger: SqlLedger, intent_id: str, batch_id: str) -> None:
    """Remember the vendor's name of a batch that was submitted."""
    with ledger.write_transaction() as connection:
        connection.execute(
            sa.update(batches).where(batches.c.intent_id == intent_id), {"batch_id": batch_id}
        )


def close_batch(ledger: SqlLedger, intent_id: str) -> None:
    """Forget a batch whose results are all recorded, or that the vendor does not have."""
    with ledger.write_transaction() as connection:
        connection.execute(
            sa.update(batches).where(batches.c.intent_id == intent_id),
            {"closed_at": datetime.now(UTC)},
        )
        connection.execute(sa.delete(claims).where(claims.c.batch == intent_id))


def forget_batch(ledger: SqlLedger, batch_id: str) -> int:
    """Close an open batch by the vendor's name; return the number of requests to send again."""
    with ledger.read_transaction() as connection:
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
