"""Versions of tuned judges, and evaluations of their held-out tests."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

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

_COLUMNS = ("judge_id", "version", "step", "parent", "prompt_text", "sources")
_DERIVED = ("prompt_hash", "definition", "definition_hash")
"""Columns of a version's own values, and of what follows from them."""


class JudgeLedger:
    """Versions of one evaluation's judges and evaluations of its held-out tests."""

    def __init__(self, ledger: SqlLedger) -> None:
        self._ledger = ledger

    def versions(self) -> list[JudgeVersion]:
        """Return all versions of this evaluation's judges, oldest first."""
        with self._ledger.transaction() as connection:
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
        with ledger.transaction(is_writing=True) as connection:
            known = {version.definition_hash: version for version in _versions(ledger, connection)}
            for version, notes in versions:
                same = known.get(version.definition_hash)
                if same is None:
                    history = [
                        other for other in known.values() if other.judge_id == version.judge_id
                    ]
                    same = replace(
                        version,
                        version=number_version(history, version),
                        parent=version.parent or (history[-1].version if history else None),
                    )
                    row = {
                        **{name: getattr(same, name) for name in (*_COLUMNS, *_DERIVED)},
                        "evaluation": ledger.evaluation,
                        "notes": {**notes, **_training(same)},
                        "created_at": at,
                    }
                    if not connection.execute(new, row).rowcount:
                        raise StoreError(
                            f"{ledger.place}: another run registered {same.judge_id} "
                            f"{same.version} meanwhile. Run again."
                        )
                elif not version.trained_on <= same.trained_on:
                    # Made again from other responses, under another split.
                    same = replace(same, trained_on=version.trained_on | same.trained_on)
                    of = judge_versions.c
                    is_same = (
                        (of.evaluation == ledger.evaluation)
                        & (of.judge_id == same.judge_id)
                        & (of.version == same.version)
                    )
                    earlier = connection.scalars(sa.select(of.notes).where(is_same)).one()
                    changed = sa.update(judge_versions).where(is_same)
                    connection.execute(changed, {"notes": {**earlier, **_training(same)}})
                known[version.definition_hash] = same
                numbered.append(same)
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
        with ledger.transaction(is_writing=True) as connection:
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
        with self._ledger.transaction(is_writing=True) as connection:
            connection.execute(sa.update(test_set_uses).where(is_same), {"released": released})


def _readings(ledger: SqlLedger, condition: sa.ColumnElement[bool]) -> Iterator[HeldOutEvaluation]:
    query = (
        sa.select(test_set_uses)
        .where(condition)
        .order_by(test_set_uses.c.read_at, test_set_uses.c.k)
    )
    with ledger.transaction() as connection:
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
                **{name: getattr(row, name) for name in _COLUMNS},
                **{name: row.definition[name] for name in ("fingerprint", "maps", "weights")},
                "trained_on": frozenset(row.notes.get("trained_on", ())),
            }
        )
        for row in connection.execute(query)
    ]


def _training(version: JudgeVersion) -> dict[str, list[str]]:
    return {"trained_on": sorted(version.trained_on)} if version.trained_on else {}
