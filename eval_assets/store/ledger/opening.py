"""Opening of an evaluation folder's ledger."""

from __future__ import annotations

import logging
import shutil
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from eval_assets.store.database_file import is_writable
from eval_assets.store.ledger._tables import (
    attempts,
    batch_requests,
    batches,
    histories,
    judge_versions,
    requests,
    staged_mode,
    test_set_uses,
    workers,
)
from eval_assets.store.ledger.attempts import store_attempts
from eval_assets.store.ledger.engine import SqlLedger, connect_ledger, ledger_file, lock_tables

if TYPE_CHECKING:
    from collections.abc import Iterator

logger = logging.getLogger(__name__)

_MOVED = (
    *(requests, attempts, batches, batch_requests),
    *(judge_versions, test_set_uses, staged_mode, histories),
)
"""Tables that move to a shared ledger. Features and speeds of endpoints are found out again."""

_ROWS_AT_ONCE = 5_000


@contextmanager
def open_ledger(
    folder: Path, *, evaluation: str, setting: str | None, is_reading: bool = False
) -> Iterator[SqlLedger]:
    """Open the ledger of an evaluation folder, and close it in any case.

    A ledger elsewhere that does not know the evaluation first takes over what the folder's own
    holds: nothing is paid for twice because a team moves to a server.

    Args:
        folder: The evaluation folder.
        evaluation: Name of the evaluation.
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
        elif ledger.evaluation and (folder / "ledger.sqlite").exists():
            with ledger.read_transaction() as connection:
                is_known = _is_known(connection, ledger.evaluation)
            if not is_known:
                earlier = connect_ledger(folder, evaluation=evaluation, setting=None)
                stack.callback(earlier.close)
                _move(earlier, ledger)
        yield ledger


def _copied(file: Path, copies: Path, *, is_own: bool) -> tuple[Path, str | None]:
    """Copy a ledger with its log to a folder; return folder and setting under which it opens."""
    for path in (file, file.with_name(f"{file.name}-wal")):
        if path.exists():
            shutil.copyfile(path, copies / path.name)
    return copies, None if is_own else str(copies / file.name)


def _is_known(connection: sa.Connection, evaluation: str) -> bool:
    """Return whether a ledger holds anything of an evaluation."""
    return any(
        connection.scalar(sa.select(sa.exists().where(table.c.evaluation == evaluation)))
        for table in (workers, histories, judge_versions, test_set_uses)
    )


def _move(earlier: SqlLedger, shared: SqlLedger) -> None:
    """Copy a folder's own ledger to a shared one that knows nothing of the evaluation."""
    with earlier.read_transaction() as source, shared.write_transaction() as connection:
        lock_tables(connection)
        if _is_known(connection, shared.evaluation):  # another process was first
            return
        numbers: dict[int | None, int] = {}
        new_worker = sa.insert(workers).returning(workers.c.worker)
        for row in source.execute(sa.select(workers)).mappings():
            values = _owned(shared, {name: row[name] for name in row if name != "worker"})
            numbers[row["worker"]] = connection.execute(new_worker, values).scalar_one()
        for table in _MOVED:
            columns = [column for column in table.c if column.name != "id"]
            query = sa.select(*columns).order_by(*table.primary_key.columns)
            for rows in source.execute(query).mappings().partitions(_ROWS_AT_ONCE):
                records = [_owned(shared, dict(row)) for row in rows]
                for values in records:
                    if "worker" in values:
                        values["worker"] = numbers.get(values["worker"])
                if table is attempts:  # another evaluation may have the reply as well
                    store_attempts(connection, shared, records)
                else:
                    connection.execute(shared.upsert(table).on_conflict_do_nothing(), records)
    logger.info("%s: copied what %s holds", shared.place, earlier.place)


def _owned(shared: SqlLedger, row: dict[str, Any]) -> dict[str, Any]:
    """Return a row under the evaluation's name, which tests of a shared ledger begin with."""
    if "evaluation" in row:
        row["evaluation"] = shared.evaluation
    if "seal_id" in row:
        row["seal_id"] = shared.evaluation + row["seal_id"]
    return row
