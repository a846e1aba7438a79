"""Histories that cannot be recomputed, such as agreement by run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import sqlalchemy as sa

from eval_assets.ledger import ReplyStatus
from eval_assets.store.ledger._tables import attempts, histories

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

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


@dataclass(frozen=True)
class DualJudgement:
    """Scores of two judges for a query's documents; a row of `dual_judgements` in schema.sql.

    Scores are in [0, 1] by document, None where there is none; `content_hashes` are of the texts,
    so that another one is noticed; `expected_docs` is None without marks of people.
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


def prompt_columns(ledger: SqlLedger, declared: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of the responses that the judges' prompt shows.

    They are those that were accepted last. Without any they are the declared ones, unless judges
    have replied to a prompt without them: replies that are paid stay valid.
    """
    rows = history_of(ledger, "prompt_columns")
    if len(rows):
        return tuple(rows["shown_columns"].iloc[-1])
    is_reply = (
        (attempts.c.evaluation == ledger.evaluation)
        & (attempts.c.operation == "judging")
        & attempts.c.status.in_(get_args(ReplyStatus))
    )
    with ledger.transaction() as connection:
        has_replies = connection.scalar(sa.select(sa.exists().where(is_reply)))
    return () if has_replies else tuple(declared)


def accept_columns(ledger: SqlLedger, columns: Sequence[str], *, at: datetime) -> None:
    """Let the judges' prompt show these columns from now on."""
    append_history(ledger, "prompt_columns", [{"shown_columns": list(columns), "accepted_at": at}])


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
