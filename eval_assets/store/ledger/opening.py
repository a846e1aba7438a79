"""Opening of the ledger that belongs to an evaluation folder."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from eval_assets.store.ledger.engine import SqlLedger, connect_ledger
from eval_assets.store.ledger.takeover import is_taken_over, take_over

logger = logging.getLogger(__name__)


@contextmanager
def open_ledger(
    folder: Path, *, evaluation: str, database: Path, setting: str | None
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

    Raises:
        StoreError: If it cannot be opened, is of a newer version, or its URL holds a password.
    """
    ledger = connect_ledger(folder, evaluation=evaluation, setting=setting)
    try:
        if not is_taken_over(ledger):
            _take_over(ledger, database, folder)
        yield ledger
    finally:
        ledger.close()


def _take_over(ledger: SqlLedger, database: Path, folder: Path) -> None:
    """Take over what the database holds, and log it if it is anything."""
    from eval_assets.store.connection import connect, is_stored

    if not is_stored(database):
        take_over(ledger, None)
        return
    with connect(database, folder=folder) as connection:
        n_new = take_over(ledger, connection)
    if n_new:
        logger.info("%s: took over %d requests and replies of %s", ledger.place, n_new, database)
