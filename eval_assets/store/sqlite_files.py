"""SQLite files of other libraries, kept open while they are used."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa


@contextmanager
def keep_sqlite_open(folder: Path) -> Iterator[None]:
    """Keep the SQLite files of a folder open, which Dagster opens and closes for every event.

    The last connection that closes a file writes its log back and waits for the disk. Without
    `FULL`, no commit waits for it either; only a power failure can then take the last events.
    """
    files: dict[Path, sqlite3.Connection] = {}

    def keep(connection: object, _record: object) -> None:
        if not isinstance(connection, sqlite3.Connection):  # records may be in PostgreSQL
            return
        file = Path(connection.execute("PRAGMA database_list").fetchone()[2])
        if file.is_relative_to(folder.resolve()):
            connection.execute("PRAGMA synchronous=NORMAL")
            if file not in files:
                files[file] = sqlite3.connect(file, check_same_thread=False)
            files[file].execute("SELECT 1 FROM sqlite_master").fetchone()

    sa.event.listen(sa.pool.NullPool, "connect", keep)
    try:
        yield
    finally:
        sa.event.remove(sa.pool.NullPool, "connect", keep)
        for connection in files.values():
            connection.close()
