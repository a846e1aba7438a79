"""Files of databases: the place of an evaluation's, and the records of Dagster."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from eval_assets.errors import StoreError


def database_path(folder: Path, *, setting: str | None) -> Path:
    """Return the DuckDB file of an evaluation folder.

    Args:
        folder: The evaluation folder.
        setting: Value of EVAL_DATABASE; None or empty for `out/eval.duckdb` in the folder.

    Raises:
        StoreError: If it names a lake, which is not supported any more.
    """
    if setting and setting.startswith("ducklake:"):
        raise StoreError(
            f"{setting}: DuckLake is not supported any more. Unset EVAL_DATABASE and run again: "
            "every table is made again from the files and the ledger, without a request."
        )
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
    is_inside: dict[str, bool] = {}
    files: dict[str, sqlite3.Connection] = {}

    def keep(
        dialect: sa.Dialect, _record: object, arguments: list[str], options: dict[str, object]
    ) -> object:
        if dialect.name != "sqlite":  # records may be in PostgreSQL
            return None
        file = arguments[0]
        if file not in is_inside:
            is_inside[file] = Path(file).resolve().is_relative_to(folder)
        if not is_inside[file]:
            return None
        connection = dialect.connect(*arguments, **options)
        connection.execute("PRAGMA synchronous=NORMAL")
        if file not in files:
            files[file] = sqlite3.connect(file, check_same_thread=False)
        # It holds the log open only once it has read the file in that mode.
        files[file].execute("SELECT 1 FROM sqlite_master").fetchone()
        return connection

    sa.event.listen(sa.Engine, "do_connect", keep)
    try:
        yield
    finally:
        sa.event.remove(sa.Engine, "do_connect", keep)
        for connection in files.values():
            connection.close()
