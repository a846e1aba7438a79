"""Versions of tuned judges, and evaluations of their held-out tests."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from eval_assets.errors import StoreError
from eval_assets.store.ledger._tables import judge_versions, test_set_uses
from eval_assets.store.ledger.engine import SqlLedger
from eval_assets.tuning.history import HeldOutEvaluation
from eval_assets.tuning.versions import JudgeVersion, number_version, version_from_json

_RECORDED = (
    *("candidates", "groups", "content", "rule"),
    *("responses", "evidence", "parts"),
)
"""Parts of an evaluation that are stored before the test is read."""


class JudgeLedger:
    """Versions of one evaluation's judges and evaluations of its held-out tests."""

    def __init__(self, ledger: SqlLedger) -> None:
        self._ledger = ledger

    def versions(self) -> list[JudgeVersion]:
        """Return all versions of this evaluation's judges, oldest first."""
        with self._ledger.read_transaction() as connection:
            return _versions(self._ledger, connection)

    def register(
        self, versions: Sequence[tuple[JudgeVersion, Mapping[str, object]]], *, at: datetime
    ) -> list[JudgeVersion]:
        """Number versions and store the new ones; return them in the same order.

        Raises:
            StoreError: If another run took one of the numbers meanwhile.
        """
        ledger = self._ledger
        numbered: list[JudgeVersion] = []
        new = ledger.upsert(judge_versions).on_conflict_do_nothing()
        with ledger.write_transaction() as connection:
            known_versions = {
                version.definition_hash: version for version in _versions(ledger, connection)
            }
            for version, notes in versions:
                if version.definition_hash not in known_versions:
                    history = [
                        version_before
                        for version_before in known_versions.values()
                        if version_before.judge_id == version.judge_id
                    ]
                    parent = version.parent or (history[-1].version if history else None)
                    numbered_version = replace(
                        version, version=number_version(history, version), parent=parent
                    )
                    known_versions[numbered_version.definition_hash] = numbered_version
                    if not connection.execute(
                        new, _row(ledger, numbered_version, notes, at=at)
                    ).rowcount:
                        raise StoreError(
                            f"{ledger.place}: another run registered {numbered_version.judge_id} "
                            f"{numbered_version.version} meanwhile. Run again."
                        )
                elif (
                    not version.trained_on
                    <= (same := known_versions[version.definition_hash]).trained_on
                ):
                    trained_on = version.trained_on | same.trained_on
                    known_versions[version.definition_hash] = replace(same, trained_on=trained_on)
                    _add_training(ledger, connection, known_versions[version.definition_hash])
                numbered.append(known_versions[version.definition_hash])
        return numbered

    def evaluations(self, question_id: str) -> list[HeldOutEvaluation]:
        """Return all evaluations of a question's tests in this folder."""
        is_own = test_set_uses.c.evaluation == self._ledger.evaluation
        is_of_question = test_set_uses.c.question_id == question_id
        return list(_readings(self._ledger, is_own & is_of_question))

    def evaluations_elsewhere(self, question_id: str) -> Iterator[HeldOutEvaluation]:
        """Yield those of questions of this name in other folders on the ledger."""
        is_elsewhere = test_set_uses.c.evaluation != self._ledger.evaluation
        return _readings(self._ledger, is_elsewhere & (test_set_uses.c.question_id == question_id))

    def record(self, held_out: HeldOutEvaluation) -> None:
        """Store an evaluation before the test is read.

        Raises:
            StoreError: If another run made that evaluation meanwhile.
        """
        ledger, fields = self._ledger, held_out.as_json()
        row = {
            "seal_id": _test_id(ledger, held_out),
            "question_id": held_out.question_id,
            "k": held_out.number,
            "evaluation": ledger.evaluation,
            "judge_set": held_out.content,
            "level": held_out.level,
            "candidates": {name: fields[name] for name in _RECORDED},
            "released": None,
            "read_at": held_out.read_at,
        }
        new = ledger.upsert(test_set_uses).on_conflict_do_nothing().returning(test_set_uses.c.k)
        with ledger.write_transaction() as connection:
            if connection.scalar(new, row) is None:
                raise StoreError(
                    f"{ledger.place}: another run took evaluation {held_out.number} of the test of "
                    f"{held_out.question_id} meanwhile. Run again."
                )

    def release(self, held_out: HeldOutEvaluation) -> None:
        """Store the rows and certificates of a recorded evaluation."""
        fields = held_out.as_json()
        is_same = (
            (test_set_uses.c.seal_id == _test_id(self._ledger, held_out))
            & (test_set_uses.c.question_id == held_out.question_id)
            & (test_set_uses.c.k == held_out.number)
        )
        released = {name: fields[name] for name in ("rows", "certificates")}
        with self._ledger.write_transaction() as connection:
            connection.execute(sa.update(test_set_uses).where(is_same), {"released": released})


def _readings(ledger: SqlLedger, condition: sa.ColumnElement[bool]) -> Iterator[HeldOutEvaluation]:
    query = (
        sa.select(test_set_uses)
        .where(condition)
        .order_by(test_set_uses.c.read_at, test_set_uses.c.k)
    )
    with ledger.read_transaction() as connection:
        for row in connection.execute(query):
            yield HeldOutEvaluation.from_json(
                {**row.candidates, **(row.released or {"rows": [], "certificates": {}})},
                question_id=row.question_id,
                seal=int(row.seal_id.rpartition("/")[2]),
                number=row.k,
                level=row.level,
                read_at=row.read_at,
            )


def _test_id(ledger: SqlLedger, held_out: HeldOutEvaluation) -> str:
    """Return the name of a test, which no other evaluation on a shared ledger has."""
    return f"{ledger.evaluation}/{held_out.seal}"


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
                "trained_on": frozenset(row.notes.get(_TRAINED_ON, ())),
            }
        )
        for row in connection.execute(query)
    ]


_TRAINED_ON = "trained_on"


def _training(version: JudgeVersion) -> dict[str, list[str]]:
    return {_TRAINED_ON: sorted(version.trained_on)} if version.trained_on else {}


def _add_training(ledger: SqlLedger, connection: sa.Connection, version: JudgeVersion) -> None:
    """Keep that a known version was made again from other responses, under another split."""
    table = judge_versions
    is_same = (
        (table.c.evaluation == ledger.evaluation)
        & (table.c.judge_id == version.judge_id)
        & (table.c.version == version.version)
    )
    notes = connection.scalars(sa.select(table.c.notes).where(is_same)).one()
    changed = {"notes": {**notes, **_training(version)}}
    connection.execute(sa.update(table).where(is_same), changed)


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
        "notes": {**notes, **_training(version)},
        "created_at": at,
    }
