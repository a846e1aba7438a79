"""Files of databases: the path of an evaluation's, and the records of Dagster."""

from __future__ import annotations

import os
import sqlite3
from collections import defaultdict
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Iterator

    import sqlalchemy as sa


def database_path(folder: Path, *, setting: str | None) -> Path:
    """Return the DuckDB file of an evaluation folder.

    `setting` is the value of EVAL_DATABASE; None or empty for `out/eval.duckdb` in the folder.
    """
    return Path(setting) if setting else folder / "out" / "eval.duckdb"


def is_writable(path: Path) -> bool:
    """Return whether a database file, and its log beside it, can be written or made."""
    folder = next(parent for parent in path.absolute().parents if parent.exists())
    return os.access(folder, os.W_OK) and (not path.exists() or os.access(path, os.W_OK))


@contextmanager
def keep_sqlite_open(folder: Path) -> Iterator[None]:
    """Keep the SQLite files of a folder open, which Dagster opens and closes for every event.

    The last connection that closes a file writes its log back and waits for the disk. Without
    `FULL`, no commit waits for it either; only a power failure can then take the last events.
    """
    import sqlalchemy as sa

    folder = folder.resolve()
    idle: defaultdict[str, list[_KeptConnection]] = defaultdict(list)

    def connect(
        dialect: sa.Dialect, _record: object, arguments: list[str], options: dict[str, object]
    ) -> sqlite3.Connection | None:
        """Return a connection that is kept, or None to let SQLAlchemy make one."""
        if dialect.name != "sqlite":  # records may be in PostgreSQL
            return None
        file = arguments[0]
        if file not in idle and not Path(file).resolve().is_relative_to(folder):
            return None
        if idle[file] and Path(file).exists():
            return idle[file].pop()
        options = {**options, "check_same_thread": False, "factory": _KeptConnection}
        connection = cast("_KeptConnection", dialect.connect(*arguments, **options))
        connection.idle = idle[file]
        connection.execute("PRAGMA synchronous=NORMAL")
        return connection

    sa.event.listen(sa.Engine, "do_connect", connect)
    try:
        yield
    finally:
        sa.event.remove(sa.Engine, "do_connect", connect)
        for connection in chain.from_iterable(idle.values()):
            sqlite3.Connection.close(connection)


class _KeptConnection(sqlite3.Connection):
    """A connection that waits for its next use when it is closed."""

    idle: list[_KeptConnection]

    def close(self) -> None:
        self.idle.append(self)
