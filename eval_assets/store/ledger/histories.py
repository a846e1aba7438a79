"""Histories that cannot be recomputed, versions of judges, and uses of held-out tests."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import sqlalchemy as sa

from eval_assets.errors import StoreError
from eval_assets.ledger import ReplyStatus
from eval_assets.store.ledger._tables import attempts, histories, judge_versions, test_set_uses
from eval_assets.store.ledger.engine import lock_tables
from eval_assets.tuning.history import HeldOutEvaluation
from eval_assets.tuning.versions import JudgeVersion, number_version, version_from_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pandas as pd

    from eval_assets.config.rubric import RubricQuestion
    from eval_assets.store.ledger.engine import SqlLedger

HistoryTable = Literal[
    "agreement_history",
    "dual_judge_validation",
    "dual_judgements",
    "drift_anchors",
    "judge_drift",
    "rubric_wordings",
    "prompt_columns",
    "staged_responses",
]
"""Tables of the database that the ledger keeps row by row, for ever."""


def append_history(
    ledger: SqlLedger, table: HistoryTable, rows: Iterable[Mapping[str, object]]
) -> None:
    """Add rows to a table that is only ever added to; undefined is NULL."""
    added = [
        {
            "evaluation": ledger.evaluation,
            "history": table,
            "row": {name: _plain(value) for name, value in row.items()},
        }
        for row in rows
    ]
    if added:
        with ledger.transaction(is_writing=True) as connection:
            connection.execute(sa.insert(histories), added)


def history_of(ledger: SqlLedger, table: HistoryTable) -> pd.DataFrame:
    """Return the rows that were added to a table, oldest first; times are text in ISO 8601."""
    import pandas as pd

    return pd.DataFrame(_rows(ledger, table), dtype=object)


def _rows(ledger: SqlLedger, table: HistoryTable) -> list[dict[str, Any]]:
    query = (
        sa.select(histories.c.row)
        .where((histories.c.evaluation == ledger.evaluation) & (histories.c.history == table))
        .order_by(histories.c.id)
    )
    with ledger.transaction() as connection:
        return list(connection.scalars(query))


def queries_of(ledger: SqlLedger) -> pd.DataFrame:
    """Return the latest judgement of each query; early ones call the documents expected_docs."""
    import pandas as pd

    rows = {row["query_id"]: row for row in _rows(ledger, "dual_judgements")}
    records = [
        row if row.get("docs") else {**row, "docs": row["expected_docs"], "expected_docs": None}
        for row in rows.values()
    ]
    return pd.DataFrame(records, dtype=object)


@dataclass(frozen=True)
class AcceptedPrompt:
    """What the judges' prompt shows: replies to it are paid, and stay valid.

    `columns` are those of the responses, None before the first reply; `wordings` the questions to
    which judges replied, each with `question`, `guidelines` and `scale` in words.
    """

    columns: tuple[str, ...] | None
    wordings: Mapping[str, Mapping[str, str]]


def accepted_prompt(ledger: SqlLedger) -> AcceptedPrompt:
    """Return what the judges' prompt shows, as it was accepted last or replied to before."""
    query = (
        sa.select(attempts.c.question_id, sa.func.max(attempts.c.started_at))
        .where(
            (attempts.c.evaluation == ledger.evaluation)
            & (attempts.c.operation == "judging")
            & attempts.c.status.in_(get_args(ReplyStatus))
        )
        .group_by(attempts.c.question_id)
    )
    with ledger.transaction() as connection:
        replied_at = dict(connection.execute(query).all())
    accepted = _rows(ledger, "prompt_columns")
    columns = tuple(accepted[-1]["shown_columns"]) if accepted else () if replied_at else None
    if accepted and "questions" in accepted[-1]:
        wordings = json.loads(accepted[-1]["questions"])
    else:  # by an earlier version: the wordings that were in use at the last reply
        wordings = {
            row["question_id"]: {
                "question": row["text"],
                "guidelines": row["guidelines"],
                "scale": row["scale"],
            }
            for row in _rows(ledger, "rubric_wordings")
            if row["question_id"] in replied_at
            and datetime.fromisoformat(row["first_seen_at"]) <= replied_at[row["question_id"]]
        }
    return AcceptedPrompt(columns, {q: text for q, text in wordings.items() if q in replied_at})


def accept_prompt(
    ledger: SqlLedger, columns: Sequence[str], questions: Iterable[RubricQuestion], *, at: datetime
) -> None:
    """Let the judges' prompt show these columns and wordings from now on."""
    wordings = {
        question.id: {
            "question": question.question,
            "guidelines": question.guidelines,
            "scale": question.scale.described(),
        }
        for question in questions
    }
    row = {"shown_columns": list(columns), "questions": json.dumps(wordings), "accepted_at": at}
    earlier = _rows(ledger, "prompt_columns")
    names = ("shown_columns", "questions")
    if not earlier or any(earlier[-1].get(name) != row[name] for name in names):
        append_history(ledger, "prompt_columns", [row])


def staged_order(ledger: SqlLedger, response_ids: Sequence[str]) -> dict[str, int]:
    """Return the positions of responses in staged judging; new ones are added at the end.

    Before positions were stored, responses went by their ids.
    """
    rows = history_of(ledger, "staged_responses")
    if len(rows):
        order = list(chain.from_iterable(rows["response_ids"]))
    else:
        is_ours = (attempts.c.evaluation == ledger.evaluation) & (attempts.c.operation == "judging")
        query = sa.select(attempts.c.response_id).where(is_ours).distinct()
        with ledger.transaction() as connection:
            order = sorted(filter(None, connection.scalars(query)))
    known_ids = set(order)
    new = [name for name in response_ids if name not in known_ids]
    if new:
        first = [] if len(rows) else order
        append_history(ledger, "staged_responses", [{"response_ids": [*first, *new]}])
    return {name: position for position, name in enumerate([*order, *new])}


def _plain(value: object) -> object:
    import pandas as pd

    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    return None if value is pd.NA or (isinstance(value, float) and math.isnan(value)) else value


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
        """Number versions and store the new ones; return them in the same order."""
        ledger = self._ledger
        numbered: list[JudgeVersion] = []
        with ledger.transaction(is_writing=True) as connection:
            lock_tables(connection)  # no number is given twice
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
                    connection.execute(sa.insert(judge_versions), row)
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
