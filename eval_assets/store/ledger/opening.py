"""Opening of the ledger that belongs to an evaluation folder."""

import logging
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from eval_assets.store.database_file import is_writable
from eval_assets.store.ledger.engine import SqlLedger, connect_ledger, ledger_file
from eval_assets.store.ledger.takeover import is_taken_over, take_over

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
    """Open the ledger of an evaluation folder, and close it whatever happens.

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
        place = folder, setting
        if is_reading and (file := ledger_file(folder, setting)) and not is_writable(file):
            copies = Path(stack.enter_context(TemporaryDirectory()))
            place = _copied(file, copies, is_own=not setting)
        ledger = connect_ledger(place[0], evaluation=evaluation, setting=place[1])
        stack.callback(ledger.close)
        if place != (folder, setting):
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
    """Take over what the database holds, and log it if it is anything."""
    from eval_assets.store.connection import connect, is_stored

    if not is_stored(database):
        take_over(ledger, None)
        return
    with connect(database, folder=folder, is_reading=is_reading) as connection:
        n_new = take_over(ledger, connection)
    if n_new:
        logger.info("%s: took over %d requests and replies of %s", ledger.place, n_new, database)
