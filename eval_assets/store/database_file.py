"""Files of databases: the path of an evaluation's, and the records of Dagster."""

from __future__ import annotations

import os
import sqlite3
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

    files = _SqliteFiles(folder.resolve())
    sa.event.listen(sa.Engine, "do_connect", files.connect)
    sa.event.listen(sa.Engine, "engine_connect", files.share_statements)
    try:
        yield
    finally:
        sa.event.remove(sa.Engine, "do_connect", files.connect)
        sa.event.remove(sa.Engine, "engine_connect", files.share_statements)
        files.close()


class _SqliteFiles:
    """Connections to the SQLite files of a folder, and the statements compiled for them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._idle: dict[str, list[_KeptConnection] | None] = {}
        self._statements = _Statements()

    def connect(
        self,
        dialect: sa.Dialect,
        _record: object,
        arguments: list[str],
        options: dict[str, object],
    ) -> sqlite3.Connection | None:
        """Return a connection that is kept, or None to let SQLAlchemy make one."""
        if dialect.name != "sqlite":  # records may be in PostgreSQL
            return None
        file = arguments[0]
        if file not in self._idle:
            is_inside = Path(file).resolve().is_relative_to(self._folder)
            self._idle[file] = [] if is_inside else None
        idle = self._idle[file]
        if idle is None:
            return None
        if idle and Path(file).exists():
            return idle.pop()
        options = {**options, "check_same_thread": False, "factory": _KeptConnection}
        connection = cast("_KeptConnection", dialect.connect(*arguments, **options))
        connection.idle = idle
        connection.execute("PRAGMA synchronous=NORMAL")
        return connection

    def share_statements(self, connection: sa.Connection) -> None:
        """Let the engines of all events share compiled statements."""
        if connection.dialect.name == "sqlite":
            connection.execution_options(compiled_cache=self._statements)

    def close(self) -> None:
        """Close all connections."""
        for connection in chain.from_iterable(idle or () for idle in self._idle.values()):
            sqlite3.Connection.close(connection)


class _KeptConnection(sqlite3.Connection):
    """A connection that waits for its next use when it is closed."""

    idle: list[_KeptConnection]

    def close(self) -> None:
        self.idle.append(self)


class _Statements(dict[tuple[object, ...], object]):
    """Compiled statements, by their key without its first part, the dialect of an engine."""

    def get(self, key: tuple[object, ...], default: object = None) -> object:
        return super().get(key[1:], default)

    def __setitem__(self, key: tuple[object, ...], statement: object) -> None:
        super().__setitem__(key[1:], statement)
