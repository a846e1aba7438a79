"""Versions of judges that tuning made, and readings of the sealed tests that decide on them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from eval_assets.errors import StoreError
from eval_assets.store.ledger._tables import judge_versions, test_set_uses
from eval_assets.store.ledger.engine import SqlLedger
from eval_assets.tuning.history import Reading
from eval_assets.tuning.versions import JudgeVersion, number_version, version_from_json


def versions_of(ledger: SqlLedger) -> list[JudgeVersion]:
    """Return all versions of this evaluation's judges, oldest first."""
    with ledger.reading() as connection:
        return _versions(ledger, connection)


def register_versions(
    ledger: SqlLedger,
    made: Sequence[tuple[JudgeVersion, Mapping[str, object]]],
    *,
    at: datetime,
) -> list[JudgeVersion]:
    """Give versions their numbers and remember the new ones; return them in the same order.

    Args:
        ledger: The ledger.
        made: Versions without a number, with what else is to be remembered of each.
        at: When they were made.

    Raises:
        StoreError: If another run took one of the numbers meanwhile.
    """
    numbered: list[JudgeVersion] = []
    new = ledger.upsert(judge_versions).on_conflict_do_nothing()
    with ledger.writing() as connection:
        known = {version.definition_hash: version for version in _versions(ledger, connection)}
        for version, notes in made:
            if version.definition_hash not in known:
                own = [each for each in known.values() if each.judge_id == version.judge_id]
                parent = version.parent or (own[-1].version if own else None)
                done = version.numbered(number_version(own, version), parent=parent)
                known[done.definition_hash] = done
                if not connection.execute(new, _row(ledger, done, notes, at=at)).rowcount:
                    raise StoreError(
                        f"{ledger.place}: another run registered {done.judge_id} {done.version} "
                        "meanwhile. Run again."
                    )
            numbered.append(known[version.definition_hash])
    return numbered


def readings_of(ledger: SqlLedger, question_id: str) -> list[Reading]:
    """Return all readings of a question's test by this evaluation, under whichever seal."""
    return _readings(ledger, _is_own(ledger, question_id))


def readings_elsewhere(ledger: SqlLedger, question_id: str) -> list[Reading]:
    """Return all readings of other questions and evaluations on the ledger."""
    return _readings(ledger, ~_is_own(ledger, question_id))


def _is_own(ledger: SqlLedger, question_id: str) -> sa.ColumnElement[bool]:
    table = test_set_uses.c
    return (table.evaluation == ledger.evaluation) & (table.question_id == question_id)


def _readings(ledger: SqlLedger, which: sa.ColumnElement[bool]) -> list[Reading]:
    query = (
        sa.select(test_set_uses).where(which).order_by(test_set_uses.c.read_at, test_set_uses.c.k)
    )
    with ledger.reading() as connection:
        found = connection.execute(query).all()
    return [
        Reading.from_json(
            {**row.candidates, **(row.released or {"rows": [], "certificates": {}})},
            question_id=row.question_id,
            seal=int(row.seal_id.rpartition("/")[2]),
            number=row.k,
            level=row.level,
            read_at=row.read_at,
        )
        for row in found
    ]


def record_reading(ledger: SqlLedger, reading: Reading) -> None:
    """Write a reading down, before anything is read.

    Raises:
        StoreError: If somebody else took that reading meanwhile.
    """
    kept = reading.as_json()
    row = {
        "seal_id": _seal_id(ledger, reading),
        "question_id": reading.question_id,
        "k": reading.number,
        "evaluation": ledger.evaluation,
        "judge_set": reading.content,
        "level": reading.level,
        "candidates": {name: kept[name] for name in ("candidates", "groups", "content", "labels")},
        "released": None,
        "read_at": reading.read_at,
    }
    new = ledger.upsert(test_set_uses).on_conflict_do_nothing().returning(test_set_uses.c.k)
    with ledger.writing() as connection:
        if connection.scalar(new, row) is None:
            raise StoreError(
                f"{ledger.place}: another run took reading {reading.number} of the test of "
                f"{reading.question_id} meanwhile. Run again."
            )


def release_reading(ledger: SqlLedger, reading: Reading) -> None:
    """Remember what a reading shows."""
    kept = reading.as_json()
    is_it = (
        (test_set_uses.c.seal_id == _seal_id(ledger, reading))
        & (test_set_uses.c.question_id == reading.question_id)
        & (test_set_uses.c.k == reading.number)
    )
    shown = {name: kept[name] for name in ("rows", "certificates")}
    with ledger.writing() as connection:
        connection.execute(sa.update(test_set_uses).where(is_it), {"released": shown})


def _seal_id(ledger: SqlLedger, reading: Reading) -> str:
    """Return the name of a seal, which no other evaluation on a shared ledger has."""
    return f"{ledger.evaluation}/{reading.seal}"


def _versions(ledger: SqlLedger, connection: sa.Connection) -> list[JudgeVersion]:
    table = judge_versions
    query = (
        sa.select(table)
        .where(table.c.evaluation == ledger.evaluation)
        .order_by(table.c.created_at, table.c.judge_id, table.c.version)
    )
    return [
        version_from_json(
            {
                "judge_id": row.judge_id,
                "version": row.version,
                "step": row.step,
                "parent": row.parent,
                "prompt_text": row.prompt_text,
                "sources": row.sources,
                **{name: row.definition[name] for name in ("fingerprint", "maps", "weights")},
            }
        )
        for row in connection.execute(query)
    ]


def _row(
    ledger: SqlLedger, version: JudgeVersion, notes: Mapping[str, object], *, at: datetime
) -> dict[str, Any]:
    return {
        "evaluation": ledger.evaluation,
        "judge_id": version.judge_id,
        "version": version.version,
        "step": version.step,
        "parent": version.parent,
        "prompt_text": version.prompt_text,
        "prompt_hash": version.prompt_hash,
        "sources": list(version.sources),
        "definition": version.definition,
        "definition_hash": version.definition_hash,
        "notes": dict(notes),
        "created_at": at,
    }
