"""Copies of the ledger: its tables in DuckDB, and all attempts in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import sqlalchemy as sa

from eval_assets.store.connection import connect_in_memory
from eval_assets.store.inputs import import_fingerprint, record_import
from eval_assets.store.ledger._tables import attempts, ledger_version, metadata, requests, workers
from eval_assets.store.ledger.histories import HistoryTable, history_of, queries_of
from eval_assets.store.schema import (
    columns_of,
    copy_rows,
    count_rows,
    define_ground_truth,
    insert_rows,
    replace_rows,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pandas as pd
    from duckdb import DuckDBPyConnection as Connection

    from eval_assets.store.ledger.engine import SqlLedger
    from eval_assets.store.schema import ExportFormat

_ATTEMPTS_AT_ONCE = 5_000

_NOT_COPIED = {"id", "evaluation", "worker", "day", "raw_reply"}

_ATTEMPTS = (
    sa.select(
        *(column for column in attempts.c if column.name not in _NOT_COPIED),
        *(workers.c.run_id, workers.c.asset, attempts.c.id.label("ledger_id")),
    )
    .select_from(attempts.outerjoin(workers, attempts.c.worker == workers.c.worker))
    .where(
        (attempts.c.evaluation == sa.bindparam("evaluation"))
        & (attempts.c.id > sa.bindparam("after"))
    )
    .order_by(attempts.c.id)
    .execution_options(yield_per=_ATTEMPTS_AT_ONCE)
)
_WITH_TEXTS = _ATTEMPTS.join(
    requests, attempts.c.call_key == requests.c.call_key, isouter=True
).add_columns(requests.c.prompt, attempts.c.raw_reply)

LedgerTable = HistoryTable | Literal["judge_calls", "judge_versions", "test_set_uses"]
"""A table that mirrors the ledger."""

_LEDGER_TABLES: tuple[LedgerTable, ...] = (
    *get_args(HistoryTable),
    *("judge_calls", "judge_versions", "test_set_uses"),
)


def copy_ledger(ledger: SqlLedger, connection: Connection, *tables: LedgerTable) -> None:
    """Bring tables that mirror the ledger up to date; call it within a transaction.

    The tables are those that were written since they were copied; none for all. All are copied if
    the database holds copies of another ledger, or none.
    """
    with ledger.transaction() as source:
        identity = source.scalars(sa.select(ledger_version.c.identity)).one()
    fingerprint = f"{identity} {ledger.evaluation}"
    if import_fingerprint(connection, "ledger") != fingerprint:
        tables = _LEDGER_TABLES
        record_import(connection, "ledger", fingerprint=fingerprint, sources="")
    for name in tables or _LEDGER_TABLES:
        match name:
            case "judge_calls":
                _copy_attempts(ledger, connection, fingerprint)
            case "test_set_uses" | "judge_versions":
                replace_rows(connection, name, _rows(ledger, metadata.tables[name]))
            case _:
                is_dual = name == "dual_judgements"
                rows = queries_of(ledger) if is_dual else history_of(ledger, name)
                columns = {column.name for column in columns_of(connection, name)}
                replace_rows(connection, name, rows[[c for c in rows if c in columns]])
                if is_dual:
                    define_ground_truth(connection)
        if name == "judge_versions":
            # Not generated columns: after a kill DuckDB cannot read back a table that has any.
            connection.execute(
                """UPDATE judge_versions SET dev_kappa = json_extract(notes, '$.dev_kappa'),
                       cost_usd = CAST(json_extract_string(notes, '$.cost_usd') AS DOUBLE)"""
            )


def _copy_attempts(ledger: SqlLedger, connection: Connection, fingerprint: str) -> None:
    """Copy the attempts that are new; all of them if the copies are another ledger's."""
    with ledger.transaction() as source:
        of_ours = attempts.c.evaluation == ledger.evaluation
        n_there = source.scalars(sa.select(sa.func.count()).where(of_ours)).one()
        is_same = import_fingerprint(connection, "judge_calls") == fingerprint
        if is_same:
            latest = "SELECT coalesce(max(ledger_id), 0) FROM judge_calls"
            [(number,)] = connection.execute(latest).fetchall()
            for rows in _portions(ledger, source, _ATTEMPTS, after=number):
                insert_rows(connection, "judge_calls", rows)
        # Numbers are given before a commit, and commits may overtake one another: then the count
        # is wrong, and everything is copied again.
        if not is_same or count_rows(connection, "judge_calls") != n_there:
            connection.execute("DELETE FROM judge_calls")
            for rows in _portions(ledger, source, _ATTEMPTS, after=0):
                insert_rows(connection, "judge_calls", rows)
    record_import(connection, "judge_calls", fingerprint=fingerprint, sources="")


def _portions(
    ledger: SqlLedger,
    source: sa.Connection,
    query: sa.Select[tuple[object, ...]],
    *,
    after: int,
) -> Iterator[pd.DataFrame]:
    import pandas as pd

    result = source.execute(query, {"evaluation": ledger.evaluation, "after": after})
    columns = list(result.keys())
    for rows in result.partitions():
        yield pd.DataFrame(rows, columns=columns, dtype=object)


def _rows(ledger: SqlLedger, table: sa.Table) -> pd.DataFrame:
    """Return this evaluation's rows of a table, in order; JSON as text."""
    import pandas as pd

    columns = [
        sa.func.nullif(sa.cast(column, sa.Text), "null").label(column.name)
        if isinstance(column.type, sa.JSON)
        else column
        for column in table.c
        if column.name != "evaluation"
    ]
    query = (
        sa.select(*columns)
        .where(table.c.evaluation == ledger.evaluation)
        .order_by(*table.primary_key.columns)
    )
    with ledger.transaction() as connection:
        result = connection.execute(query)
        return pd.DataFrame(result.all(), columns=list(result.keys()), dtype=object)


def export_ledger(ledger: SqlLedger, path: Path, *, form: ExportFormat) -> None:
    """Write every attempt to a file: the columns of `judge_calls`, and all others.

    These are `prompt`, what was sent, as JSON; and `raw_reply`, the body of
    the answer, with keys masked.
    """
    with connect_in_memory() as connection, ledger.transaction() as source:
        connection.execute("CREATE TABLE exported AS FROM judge_calls LIMIT 0")
        for name in ("prompt", "raw_reply"):
            connection.execute(f"ALTER TABLE exported ADD COLUMN {name} VARCHAR")
        columns = [column.name for column in columns_of(connection, "exported")]
        for rows in _portions(ledger, source, _WITH_TEXTS, after=0):
            insert_rows(connection, "exported", rows[columns])
        copy_rows(connection, "exported", path, form=form)
