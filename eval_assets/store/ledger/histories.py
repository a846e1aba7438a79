"""Histories that cannot be recomputed, such as agreement by run."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import sqlalchemy as sa

from eval_assets.store.ledger._tables import attempts, histories, staged_mode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

    from eval_assets.agreement.staged import StageChange
    from eval_assets.store.ledger.engine import SqlLedger

HistoryTable = Literal[
    "agreement_history",
    "dual_judge_validation",
    "dual_judgements",
    "drift_anchors",
    "judge_drift",
    "rubric_wordings",
    "staged_responses",
]
"""Tables of the database that the ledger keeps row by row, for ever."""


@dataclass(frozen=True)
class DualJudgement:
    """Scores of two judges for a query's documents; a row of `dual_judgements`.

    Args:
        query_id: Number of the query.
        query: The query.
        docs: Ids of the documents.
        expected_docs: Ids of those that people marked as relevant; None without marks.
        content_hashes: Of the text of each document, so that another one is noticed.
        judge1_score: First judge's score of each document, in [0, 1]; None if there is none.
        judge2_score: Likewise the second's.
        judge1_model: The first judge's model; None if it scored no document.
        judge2_model: Likewise the second's.
        kappa: Cohen's kappa of scores above 0.5 against the rest; None if undefined.
        kappa_reason: Why there is no kappa; None if there is one.
        status: `success` if every score is there, `error` if none is, else `partial`.
        created_at: When, UTC.
    """

    query_id: int
    query: str
    docs: Sequence[int]
    expected_docs: Sequence[int] | None
    content_hashes: Sequence[str]
    judge1_score: Sequence[float | None]
    judge2_score: Sequence[float | None]
    judge1_model: str | None
    judge2_model: str | None
    kappa: float | None
    kappa_reason: str | None
    status: str
    created_at: datetime


def append_history(
    ledger: SqlLedger, table: HistoryTable, rows: Iterable[Mapping[str, object]]
) -> None:
    """Add rows to a table that is only ever added to; undefined is NULL."""
    with ledger.write_transaction() as connection:
        add_rows(connection, rows, table=table, evaluation=ledger.evaluation)


def add_rows(
    connection: sa.Connection,
    rows: Iterable[Mapping[str, object]],
    *,
    table: HistoryTable,
    evaluation: str,
) -> None:
    """Add rows to a table that is only ever added to, in a transaction that is under way."""
    added = [{"evaluation": evaluation, "history": table, "row": _in_json(row)} for row in rows]
    if added:
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
    with ledger.read_transaction() as connection:
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
        with ledger.read_transaction() as connection:
            order = sorted(filter(None, connection.scalars(query)))
    known_ids = set(order)
    new = [name for name in response_ids if name not in known_ids]
    if new:
        first = [] if len(rows) else order
        append_history(ledger, "staged_responses", [{"response_ids": [*first, *new]}])
    return {name: position for position, name in enumerate([*order, *new])}


def write_staged_mode(ledger: SqlLedger, changes: Sequence[StageChange], *, at: datetime) -> None:
    """Replace the changes of mode; one that was known before keeps its time."""
    is_ours = staged_mode.c.evaluation == ledger.evaluation
    with ledger.write_transaction() as connection:
        known_modes = connection.execute(
            sa.select(staged_mode.c.position, staged_mode.c.mode, staged_mode.c.since).where(
                is_ours
            )
        )
        starts = {(position, mode): time for position, mode, time in known_modes}
        connection.execute(sa.delete(staged_mode).where(is_ours))
        rows = [
            {
                **asdict(change),
                "kappa": _plain(change.kappa),
                "evaluation": ledger.evaluation,
                "since": starts.get((change.position, change.mode), at),
            }
            for change in changes
        ]
        if rows:
            connection.execute(sa.insert(staged_mode), rows)


def _in_json(row: Mapping[str, object]) -> dict[str, object]:
    return {name: _plain(value) for name, value in row.items()}


def _plain(value: object) -> object:
    import pandas as pd

    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    return None if value is pd.NA or (isinstance(value, float) and math.isnan(value)) else value
