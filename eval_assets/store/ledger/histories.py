"""What happened and cannot be computed again, beside requests and replies."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

import pandas as pd
import sqlalchemy as sa

from eval_assets.agreement import StageChange, Validation
from eval_assets.ledger import SealReading
from eval_assets.store.connection import StoreError
from eval_assets.store.ledger._engine import SqlLedger
from eval_assets.store.ledger._tables import (
    agreement_history,
    dual_judge_validation,
    dual_judgements,
    staged_mode,
    test_set_uses,
)


@dataclass(frozen=True)
class DualJudgement:
    """What two judges say of a query's documents; a row of `dual_judgements`.

    Args:
        query_id: Number of the query.
        query: The query.
        expected_docs: Ids of the documents.
        judge1_score: First judge's score of each document, in [0, 1]; None where there is none.
        judge2_score: Likewise the second's.
        judge1_model: The first judge's model; None where it scored no document.
        judge2_model: Likewise the second's.
        kappa: Cohen's kappa of scores above 0.5 against the rest; None where undefined.
        kappa_reason: Why there is no kappa; None where there is one.
        status: `success` where every score is there, `error` where none is, else `partial`.
        created_at: When, UTC.
    """

    query_id: int
    query: str
    expected_docs: Sequence[int]
    judge1_score: Sequence[float | None]
    judge2_score: Sequence[float | None]
    judge1_model: str | None
    judge2_model: str | None
    kappa: float | None
    kappa_reason: str | None
    status: str
    created_at: datetime


def record_agreement(ledger: SqlLedger, rows: pd.DataFrame) -> None:
    """Add rows of `agreement_history`: run_id, measured_at, scope and the figures."""
    _add(
        ledger,
        agreement_history,
        [{str(name): value for name, value in row.items()} for row in rows.to_dict("records")],
    )


def record_validation(ledger: SqlLedger, validation: Validation) -> None:
    """Add a row of `dual_judge_validation`."""
    _add(ledger, dual_judge_validation, [asdict(validation)])


def validation_history(ledger: SqlLedger, *, most: int) -> pd.DataFrame:
    """Return the latest rows of `dual_judge_validation`, newest first."""
    return history_of(ledger, dual_judge_validation).iloc[::-1].head(most)


def record_dual_judgement(ledger: SqlLedger, judged: DualJudgement) -> None:
    """Add what two judges say of a query; earlier answers to it are kept too."""
    _add(ledger, dual_judgements, [asdict(judged)])


def record_reading(ledger: SqlLedger, reading: SealReading) -> None:
    """Add a reading of a sealed test, before anything of it is shown.

    Raises:
        StoreError: If that reading was taken by somebody else meanwhile.
    """
    row = asdict(reading) | {"candidates": list(reading.candidates)}
    row |= {"evaluation": ledger.evaluation}
    new = ledger.upsert(test_set_uses).on_conflict_do_nothing().returning(test_set_uses.c.k)
    with ledger.writing() as connection:
        if connection.scalar(new, row) is None:
            raise StoreError(
                f"{ledger.place}: reading {reading.k} of the test of {reading.question_id} was "
                "taken by another run meanwhile. Run again."
            )


def release_reading(ledger: SqlLedger, reading: SealReading) -> None:
    """Remember what a reading printed."""
    is_it = (
        (test_set_uses.c.seal_id == reading.seal_id)
        & (test_set_uses.c.question_id == reading.question_id)
        & (test_set_uses.c.k == reading.k)
    )
    with ledger.writing() as connection:
        connection.execute(
            sa.update(test_set_uses).where(is_it), {"released": dict(reading.released or {})}
        )


def readings_of(ledger: SqlLedger, seal_id: str, question_id: str) -> list[SealReading]:
    """Return the readings of a sealed test so far, first to last, by whichever evaluation."""
    query = (
        sa.select(test_set_uses)
        .where((test_set_uses.c.seal_id == seal_id) & (test_set_uses.c.question_id == question_id))
        .order_by(test_set_uses.c.k)
    )
    with ledger.reading() as connection:
        return [
            SealReading(
                seal_id=row.seal_id,
                question_id=row.question_id,
                k=row.k,
                judge_set=row.judge_set,
                level=row.level,
                candidates=tuple(row.candidates),
                released=row.released,
                read_at=row.read_at,
            )
            for row in connection.execute(query)
        ]


def write_staged_mode(ledger: SqlLedger, changes: Sequence[StageChange], *, at: datetime) -> None:
    """Replace the changes of mode; one that was known before keeps its time."""
    is_ours = staged_mode.c.evaluation == ledger.evaluation
    with ledger.writing() as connection:
        known = connection.execute(
            sa.select(staged_mode.c.position, staged_mode.c.mode, staged_mode.c.since).where(
                is_ours
            )
        )
        since = {(position, mode): time for position, mode, time in known}
        connection.execute(sa.delete(staged_mode).where(is_ours))
        rows = [
            {
                **asdict(change),
                "kappa": _null(change.kappa),
                "evaluation": ledger.evaluation,
                "since": since.get((change.position, change.mode), at),
            }
            for change in changes
        ]
        if rows:
            connection.execute(sa.insert(staged_mode), rows)


def history_of(ledger: SqlLedger, table: sa.Table) -> pd.DataFrame:
    """Return the rows of a table that are this evaluation's, oldest first, NULL as None."""
    query = (
        sa.select(table)
        .where(table.c.evaluation == ledger.evaluation)
        .order_by(*table.primary_key.columns)
    )
    with ledger.reading() as connection:
        found = connection.execute(query)
        rows = pd.DataFrame(found.all(), columns=list(found.keys()), dtype=object)
    return rows.drop(columns=["evaluation", "id"], errors="ignore")


def _add(ledger: SqlLedger, table: sa.Table, rows: Sequence[dict[str, object]]) -> None:
    """Add rows on this evaluation's account; NaN is NULL."""
    owned = [
        {name: _null(value) for name, value in row.items()} | {"evaluation": ledger.evaluation}
        for row in rows
    ]
    if owned:
        with ledger.writing() as connection:
            connection.execute(sa.insert(table), owned)


def _null(value: object) -> object:
    """Return None for what is undefined."""
    return None if isinstance(value, float) and math.isnan(value) else value
