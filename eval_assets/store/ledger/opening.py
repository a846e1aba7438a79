"""Opening of an evaluation folder's ledger."""

import logging
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import sqlalchemy as sa

from eval_assets.store.database_file import is_writable
from eval_assets.store.ledger._tables import (
    attempts,
    batch_requests,
    batches,
    histories,
    judge_versions,
    requests,
    test_set_uses,
    workers,
)
from eval_assets.store.ledger.attempts import store_attempts
from eval_assets.store.ledger.engine import SqlLedger, connect_ledger, ledger_file, lock_tables

logger = logging.getLogger(__name__)

_MOVED = (
    *(requests, attempts, batches, batch_requests),
    *(judge_versions, test_set_uses, histories),
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
        file, place = ledger_file(folder, setting), ""
        if is_reading and file and not is_writable(file):
            folder, place = Path(stack.enter_context(TemporaryDirectory())), str(file)
            for path in (file, file.with_name(f"{file.name}-wal")):
                if path.exists():
                    shutil.copyfile(path, folder / path.name)
            setting = str(folder / file.name) if setting else None
        ledger = connect_ledger(folder, evaluation=evaluation, setting=setting)
        stack.callback(ledger.close)
        if place:  # of what was copied
            ledger.place = place
        elif ledger.evaluation and (folder / "ledger.sqlite").exists():
            with ledger.transaction() as connection:
                is_known = _is_known(connection, ledger.evaluation)
            if not is_known:
                earlier = connect_ledger(folder, evaluation=evaluation, setting=None)
                stack.callback(earlier.close)
                _move(earlier, ledger)
        yield ledger


def _is_known(connection: sa.Connection, evaluation: str) -> bool:
    return any(
        connection.scalar(sa.select(sa.exists().where(table.c.evaluation == evaluation)))
        for table in (workers, histories, judge_versions, test_set_uses)
    )


def _move(earlier: SqlLedger, shared: SqlLedger) -> None:
    """Copy a folder's own ledger to a shared one that knows nothing of the evaluation."""
    with earlier.transaction() as source, shared.transaction(is_writing=True) as connection:
        lock_tables(connection)
        if _is_known(connection, shared.evaluation):  # another process was first
            return
        numbers: dict[int | None, int] = {}
        new_worker = sa.insert(workers).returning(workers.c.worker)
        for table in (workers, *_MOVED):
            query = sa.select(table).order_by(*table.primary_key.columns)
            for rows in source.execute(query).mappings().partitions(_ROWS_AT_ONCE):
                records = [dict(row) for row in rows]
                for row in records:
                    number = row.get("worker")
                    # Tests of a shared ledger begin with the evaluation.
                    seal_id = f"{shared.evaluation}{row.get('seal_id')}"
                    columns: dict[str, object] = {"evaluation": shared.evaluation}
                    columns |= {"seal_id": seal_id, "worker": numbers.get(number)}
                    row |= {name: value for name, value in columns.items() if name in row}
                    row.pop("id", None)
                    if table is workers:
                        del row["worker"]
                        numbers[number] = connection.execute(new_worker, row).scalar_one()
                if table is attempts:  # another evaluation may have the reply as well
                    store_attempts(connection, shared, records)
                elif table is not workers:
                    connection.execute(shared.upsert(table).on_conflict_do_nothing(), records)
    logger.info("%s: copied what %s holds", shared.place, earlier.place)
