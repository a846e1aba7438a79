"""Histories that cannot be recomputed, such as agreement by run."""

from __future__ import annotations

import json
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
