"""Attempts to ask models, and their replies; every function is a part of a transaction."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, get_args

import sqlalchemy as sa

from eval_assets.ledger import Reply, ReplyStatus
from eval_assets.store.ledger._tables import attempts, requests

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from eval_assets.store.ledger.engine import SqlLedger

_KEYS_PER_STATEMENT = 5_000

REPLIES = get_args(ReplyStatus)

# Built once: SQLAlchemy takes longer to build a statement than SQLite to run it.
_OF_KEYS = attempts.c.call_key.in_(sa.bindparam("keys", expanding=True))
_REPLIES_TO = sa.select(attempts.c.call_key, attempts.c.raw_output, attempts.c.status).where(
    _OF_KEYS & attempts.c.status.in_(REPLIES)
)
_ANSWERED = sa.select(attempts.c.call_key).where(_OF_KEYS & attempts.c.status.in_(REPLIES))


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
    keys = [row["call_key"] for row in rows if row["status"] in REPLIES]
    answered = set(connection.scalars(_ANSWERED, {"keys": keys})) if keys else set()
    new_rows = []
    for row in rows:
        is_reply = row["status"] in REPLIES
        is_repeated = is_reply and row["call_key"] in answered
        new_rows.append(row | {"status": "repeated"} if is_repeated else row)
        if is_reply:
            answered.add(row["call_key"])
    if new_rows:
        connection.execute(new, new_rows)


def store_prompts(connection: sa.Connection, ledger: SqlLedger, prompts: Mapping[str, str]) -> None:
    """Store what is asked, once for each request."""
    if prompts:
        now = datetime.now(UTC)
        rows = [
            {"call_key": key, "prompt": prompt, "first_asked_at": now}
            for key, prompt in sorted(prompts.items())  # in one order everywhere: no deadlock
        ]
        connection.execute(ledger.upsert(requests).on_conflict_do_nothing(), rows)


def in_portions(keys: Collection[str]) -> Iterator[list[str]]:
    """Split keys into as many as a statement takes."""
    all_keys = list(keys)
    for start in range(0, len(all_keys), _KEYS_PER_STATEMENT):
        yield all_keys[start : start + _KEYS_PER_STATEMENT]
