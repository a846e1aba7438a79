"""Opening of an evaluation folder's ledger, with the content of older databases."""

from __future__ import annotations

import json
import logging
import shutil
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, get_args

import sqlalchemy as sa

from eval_assets.store.database_file import is_writable
from eval_assets.store.ledger._tables import (
    attempts,
    batch_requests,
    batches,
    histories,
    judge_versions,
    staged_mode,
    takeovers,
    test_set_uses,
    workers,
)
from eval_assets.store.ledger.attempts import store_attempts
from eval_assets.store.ledger.engine import SqlLedger, connect_ledger, ledger_file
from eval_assets.store.ledger.histories import HistoryTable, add_rows
from eval_assets.store.schema import read_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb

logger = logging.getLogger(__name__)


@contextmanager
def open_ledger(
    folder: Path,
    *,
    evaluation: str,
    database: Path,
    setting: str | None,
    is_reading: bool = False,
) -> Iterator[SqlLedger]:
    """Open the ledger of an evaluation folder, and close it in any case.

    A new ledger first takes over what the folder's database holds of an earlier one. Afterwards
    the database is not needed, whoever holds it open.

    Args:
        folder: The evaluation folder.
        evaluation: Name of the evaluation.
        database: Where the folder's tables are, which need not exist.
        setting: What EVAL_LEDGER holds: a path, or a postgresql:// URL; None or empty for
            `ledger.sqlite` in the folder.
        is_reading: Whether nothing is stored: of a file that cannot be written, a copy is opened.

    Raises:
        StoreError: If it cannot be opened, is of a newer version, or its URL holds a password.
    """
    with ExitStack() as stack:
        origin = folder, setting
        if is_reading and (file := ledger_file(folder, setting)) and not is_writable(file):
            copies = Path(stack.enter_context(TemporaryDirectory()))
            origin = _copied(file, copies, is_own=not setting)
        ledger = connect_ledger(origin[0], evaluation=evaluation, setting=origin[1])
        stack.callback(ledger.close)
        if origin != (folder, setting):
            ledger.place = str(file)
        if not is_taken_over(ledger):
            _take_over(ledger, database, folder, is_reading=is_reading)
        yield ledger


def _copied(file: Path, copies: Path, *, is_own: bool) -> tuple[Path, str | None]:
    """Copy a ledger with its log to a folder; return folder and setting under which it opens."""
    for path in (file, file.with_name(f"{file.name}-wal")):
        if path.exists():
            shutil.copyfile(path, copies / path.name)
    return copies, None if is_own else str(copies / file.name)


def _take_over(ledger: SqlLedger, database: Path, folder: Path, *, is_reading: bool) -> None:
    """Take over the content of the database, and log it unless it is empty."""
    from eval_assets.store.connection import connect, is_stored

    if not is_stored(database):
        take_over(ledger, None)
        return
    with connect(database, folder=folder, is_reading=is_reading) as connection:
        n_new = take_over(ledger, connection)
    if n_new:
        logger.info("%s: took over %d requests and replies of %s", ledger.place, n_new, database)


Row = dict[str, Any]
_ASSETS = {"judging": "judge_scores", "generation": "generated_responses"}


def is_taken_over(ledger: SqlLedger) -> bool:
    """Return whether the ledger took over the content of a database before."""
    query = sa.select(takeovers.c.evaluation).where(takeovers.c.evaluation == ledger.evaluation)
    with ledger.read_transaction() as connection:
        return connection.scalar(query) is not None


def take_over(ledger: SqlLedger, database: duckdb.DuckDBPyConnection | None) -> int:
    """Take over attempts, batches and histories that a database holds; return the attempts new.

    It happens once. Rows that the ledger has already are left out: they were copied from it. A
    ledger that was lost comes back this way, except prompts and raw replies.
    """
    row = {"evaluation": ledger.evaluation, "n_attempts": 0, "taken_over_at": datetime.now(UTC)}
    insert = ledger.upsert(takeovers).on_conflict_do_nothing().returning(takeovers.c.evaluation)
    with ledger.write_transaction() as connection:
        if connection.scalar(insert, row) is None or database is None:
            return 0
        n_new = _take_attempts(ledger, connection, read_rows(database, "judge_calls"))
        _take_batches(ledger, connection, read_rows(database, "judge_batches"))
        for table in (staged_mode, judge_versions, test_set_uses):
            _take_rows(ledger, connection, table, read_rows(database, table.name))
        for name in get_args(HistoryTable):
            _take_history(ledger, connection, name, read_rows(database, name))
        is_own = takeovers.c.evaluation == ledger.evaluation
        connection.execute(sa.update(takeovers).where(is_own), {"n_attempts": n_new})
    return n_new


def restore_readings(ledger: SqlLedger, database: duckdb.DuckDBPyConnection) -> None:
    """Add readings that the database has and the ledger lacks, as after a restored backup.

    A reading counts whatever became of the ledger. Each one that is added is logged.
    """
    key = (test_set_uses.c.seal_id, test_set_uses.c.question_id, test_set_uses.c.k)
    with ledger.write_transaction() as connection:
        known_keys = {tuple(row) for row in connection.execute(sa.select(*key))}
        lost = [
            row
            for row in read_rows(database, test_set_uses.name)
            if row["seal_id"].startswith(f"{ledger.evaluation}/")
            and tuple(row[column.name] for column in key) not in known_keys
        ]
        for row in lost:
            connection.execute(sa.insert(test_set_uses), _owned(ledger, test_set_uses, row))
            logger.warning(
                "%s lacked evaluation %d of the test of %s, which the database has: it counts",
                *(ledger.place, row["k"], row["question_id"]),
            )


def _take_attempts(ledger: SqlLedger, connection: sa.Connection, calls: list[Row]) -> int:
    n_attempts = sa.select(sa.func.count()).select_from(attempts)
    n_before = connection.scalar(n_attempts) or 0
    workers_of = {
        (run_id, operation): _absent_worker(ledger, connection, run_id, _ASSETS[operation])
        for run_id, operation in {(row["run_id"], row["operation"]) for row in calls}
    }
    rows = [
        {column.name: row.get(column.name) for column in attempts.c if column.name != "id"}
        | {
            "evaluation": ledger.evaluation,
            "worker": workers_of[row["run_id"], row["operation"]],
            "day": row["started_at"].astimezone(UTC).date(),
            "charged_usd": row["charged_usd"] or row["cost_usd"] or 0.0,
        }
        for row in calls
    ]
    store_attempts(connection, ledger, rows)
    return (connection.scalar(n_attempts) or 0) - n_before


def _take_batches(ledger: SqlLedger, connection: sa.Connection, open_: list[Row]) -> None:
    known_ids = set(connection.scalars(sa.select(batches.c.batch_id)))
    for row in open_:
        if row["batch_id"] in known_ids:
            continue
        worker = _absent_worker(ledger, connection, None, "judge_scores")
        batch = {
            "worker": worker,
            "judge_id": row["judge_id"],
            "most_usd": 0.0,
            "intent_id": row["batch_id"],
            "evaluation": ledger.evaluation,
            "batch_id": row["batch_id"],
            "n_requests": len(row["call_keys"]),
            "intended_at": row["submitted_at"],
            "day": row["submitted_at"].astimezone(UTC).date(),
        }
        connection.execute(sa.insert(batches), batch)
        request = {"batch": row["batch_id"], "operation": "judging", "replicate": 0}
        connection.execute(
            ledger.upsert(batch_requests).on_conflict_do_nothing(),
            [request | {"call_key": key} for key in row["call_keys"]],
        )


def _take_rows(
    ledger: SqlLedger, connection: sa.Connection, table: sa.Table, rows: list[Row]
) -> None:
    """Add rows, if the ledger has none of this evaluation."""
    is_ours = table.c.evaluation == ledger.evaluation
    if not rows or connection.scalar(sa.select(sa.func.count()).where(is_ours)):
        return
    owned = [_owned(ledger, table, row) for row in rows]
    connection.execute(ledger.upsert(table).on_conflict_do_nothing(), owned)


def _owned(ledger: SqlLedger, table: sa.Table, row: Row) -> Row:
    json_columns = {column.name for column in table.c if isinstance(column.type, sa.JSON)}
    values = {
        name: json.loads(value) if name in json_columns and isinstance(value, str) else value
        for name, value in row.items()
    }
    return values | {"evaluation": ledger.evaluation}


def _take_history(
    ledger: SqlLedger, connection: sa.Connection, table: HistoryTable, rows: list[Row]
) -> None:
    """Add a history, if the ledger has none of this evaluation."""
    is_there = (histories.c.evaluation == ledger.evaluation) & (histories.c.history == table)
    if not connection.scalar(sa.select(sa.func.count()).where(is_there)):
        add_rows(connection, rows, table=table, evaluation=ledger.evaluation)


def _absent_worker(
    ledger: SqlLedger, connection: sa.Connection, run_id: str | None, asset: str
) -> int:
    row = {
        "evaluation": ledger.evaluation,
        "run_id": run_id,
        "asset": asset,
        "machine": "",
        "process": 0,
        "started_at": datetime(1970, 1, 1, tzinfo=UTC),
    }
    new = sa.insert(workers).returning(workers.c.worker)
    return int(connection.execute(new, row).scalar_one())
