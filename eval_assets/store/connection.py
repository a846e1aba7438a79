"""The database file: opened late, closed early, waited for while another process holds it."""

import hashlib
import logging
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from eval_assets.store.schema import column_comments, schema

logger = logging.getLogger(__name__)

SCHEMA_VERSION = 1
"""Raised when a database must not be opened by an older program any more."""

_KEPT = ("judge_calls", "judge_batches", "dual_judgements")
"""Tables that a new ledger takes over: a change to one needs an ALTER TABLE in schema.sql."""

_READABLE_FROM = "v1.0.0"
"""Oldest DuckDB that opens the file, whichever version writes it."""

_FIRST_PAUSE_SECONDS = 0.05
_LONGEST_PAUSE_SECONDS = 1.0
_SECONDS_BETWEEN_MESSAGES = 10.0

# A commit that the disk refuses is told as a TransactionException.
_FAULTS = (
    duckdb.IOException,
    duckdb.FatalException,
    duckdb.OutOfMemoryException,
    duckdb.TransactionException,
)
# Messages name the file too: a path may hold words like "block" or "disk".
_LOCKED = re.compile("Could not set lock|Conflicting lock")
_HOLDER = re.compile(r"held in (.+? \(PID \d+\))")
_FULL = re.compile("No space left on device|File too large|Disk quota exceeded")
_READ_ONLY = re.compile("Permission denied|Read-only file system")
_NO_DATABASE = re.compile("not a valid DuckDB database|sqlite_scanner")
_DAMAGED = re.compile(
    "Corrupt database file|Failure while replaying WAL|Could not read enough bytes"
    "|Failed to deserialize|database file with version number"
)


class StoreError(RuntimeError):
    """The database or the ledger cannot be used; the message is one line with what to do."""


class DamagedError(StoreError):
    """The database cannot be read, and is to be made again from files and ledger."""


@contextmanager
def connect(
    path: Path, *, folder: Path | None = None, wait_seconds: float = 600.0
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open the database, wait while another process holds it, and close it whatever happens.

    Args:
        path: The DuckDB file; made, with its folder and tables, if it does not exist.
        folder: Evaluation folder that the database must belong to; None to open any.
        wait_seconds: How long to wait for another process, which is said in the log meanwhile.

    Raises:
        StoreError: If the file stays locked, cannot be written, is no database or is of a newer
            schema.
        DamagedError: If it cannot be read.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = _connect_patiently(path, wait_seconds=wait_seconds)
    except (OSError, duckdb.Error) as error:
        raise _store_error(path, error) from error
    try:
        _prepare(connection, path)
        if folder is not None:
            _belong_to(connection, path, folder.resolve())
        yield connection
    except duckdb.Error as error:
        if isinstance(error, _FAULTS) or _DAMAGED.search(str(error)):
            raise _store_error(path, error) from error
        raise
    finally:
        connection.close()


@contextmanager
def connect_in_memory() -> Iterator[duckdb.DuckDBPyConnection]:
    """Open an empty database that is gone in the end."""
    with duckdb.connect() as connection:
        connection.execute(schema())
        yield connection


@contextmanager
def transaction(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Commit everything done inside at once, or nothing of it."""
    connection.begin()
    try:
        yield
    except BaseException:
        connection.rollback()
        raise
    connection.commit()


def _connect_patiently(path: Path, *, wait_seconds: float) -> duckdb.DuckDBPyConnection:
    """Retry while another process holds the lock: no pool of workers can replace that."""
    started = time.monotonic()
    said_at = -_SECONDS_BETWEEN_MESSAGES
    pause = _FIRST_PAUSE_SECONDS
    while True:
        try:
            return duckdb.connect(
                f"duckdb:{path}",  # nothing else: a CSV file would open as a database in memory
                config={
                    "autoinstall_known_extensions": "false",
                    "storage_compatibility_version": _READABLE_FROM,
                },
            )
        except duckdb.IOException as error:
            waited = time.monotonic() - started
            if not _LOCKED.search(str(error)) or waited >= wait_seconds:
                raise
            if waited - said_at >= _SECONDS_BETWEEN_MESSAGES:
                holder = _HOLDER.search(str(error))
                logger.warning(
                    "%s is in use by %s; waiting for it to be closed%s",
                    path,
                    holder[1] if holder else "another process",
                    f" ({waited:.0f} s so far)" if said_at >= 0 else "",
                )
                said_at = waited
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)


def _prepare(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Make the tables of a new file or an older schema; refuse a newer one."""
    connection.execute("SET enable_progress_bar = false; SET TimeZone = 'UTC'")
    version, fingerprint = _stored_schema(connection)
    if version is not None and version > SCHEMA_VERSION:
        raise StoreError(
            f"{path}: written by a newer eval-assets (schema {version}, this one reads "
            f"{SCHEMA_VERSION}). Upgrade eval-assets, or set EVAL_DATABASE to another file."
        )
    now = hashlib.sha256(schema().encode()).hexdigest()
    if (version, fingerprint) == (SCHEMA_VERSION, now):
        return
    with transaction(connection):
        _drop_what_a_run_makes_again(connection)
        connection.execute(schema())
        for table, column, comment in column_comments():
            connection.execute(f'COMMENT ON COLUMN "{table}"."{column}" IS {quoted(comment)}')
        connection.execute(
            "CREATE TABLE schema_version (version INTEGER NOT NULL, fingerprint VARCHAR NOT NULL)"
        )
        connection.execute("INSERT INTO schema_version VALUES (?, ?)", [SCHEMA_VERSION, now])


def _belong_to(connection: duckdb.DuckDBPyConnection, path: Path, folder: Path) -> None:
    """Record whose database it is; raise StoreError if it is another folder's.

    One that lies in the folder is the folder's own, also after the folder was moved or copied.
    """
    owners = connection.execute("SELECT path FROM evaluation_folder").fetchall()
    if owners == [(str(folder),)]:
        return
    if owners and not path.resolve().is_relative_to(folder):
        raise StoreError(
            f"{path}: holds the evaluation in {owners[0][0]}, not the one in {folder}. "
            "Set EVAL_DATABASE to another file."
        )
    with transaction(connection):
        connection.execute("DELETE FROM evaluation_folder")
        connection.execute("INSERT INTO evaluation_folder VALUES (?)", [str(folder)])


def _stored_schema(connection: duckdb.DuckDBPyConnection) -> tuple[int | None, str | None]:
    """Return version and fingerprint of the tables; None in a new file."""
    try:
        rows = connection.execute("SELECT * FROM schema_version").fetchall()
    except duckdb.CatalogException:
        return None, None
    version, *fingerprint = rows[0]
    return int(version), str(fingerprint[0]) if fingerprint else None


def _drop_what_a_run_makes_again(connection: duckdb.DuckDBPyConnection) -> None:
    """Drop tables and views of another schema; the next run makes them again."""
    found = connection.execute(
        """SELECT 'VIEW', view_name FROM duckdb_views()
           WHERE NOT internal AND database_name = current_database()
           UNION ALL
           SELECT 'TABLE', table_name FROM duckdb_tables()
           WHERE database_name = current_database()"""
    ).fetchall()
    for kind, name in found:
        if name not in _KEPT:
            connection.execute(f'DROP {kind} "{name}"')


def quoted(text: str) -> str:
    """Return the text as a SQL literal, for statements that take no parameter."""
    return "'" + text.replace("'", "''") + "'"


def set_aside(path: Path) -> Path | None:
    """Move a damaged database aside, so that the next run makes a new one.

    Returns:
        Where it is now; None if it can be read after all: another run has made it again.
    """
    try:
        with connect(path) as connection:
            for (table,) in connection.execute("SHOW TABLES").fetchall():
                read_all = f'SELECT count(hash(t)) FROM "{table}" t'  # noqa: S608 - our own tables
                connection.execute(read_all).fetchall()
    except DamagedError:
        at = f"{datetime.now(UTC):%Y%m%dT%H%M%S}"
        aside = path.with_name(f"{path.name}.damaged-{at}")
        path.rename(aside)
        wal = path.with_name(f"{path.name}.wal")
        if wal.exists():
            wal.rename(aside.with_name(f"{aside.name}.wal"))
        return aside
    return None


def _store_error(path: Path, error: Exception) -> StoreError:
    """Return the error as one line, with what to do."""
    text = " ".join(str(error).split())
    # Everything in out/ is the program's own; elsewhere a path may have been mistyped.
    is_own = path.parent.name == "out"
    if _DAMAGED.search(text) or (is_own and path.is_file() and _NO_DATABASE.search(text)):
        return DamagedError(
            f"{path}: cannot be read. `eval-assets run` moves it aside and makes a new one, "
            f"without a single request. ({text})"
        )
    return StoreError(_one_line(path, text))


def _one_line(path: Path, text: str) -> str:
    if _LOCKED.search(text):
        return f"{path}: still in use by another process. Close it and run again. ({text})"
    if _FULL.search(text):
        return f"{path}: the disk is full; what was stored before is kept. Free space. ({text})"
    if _READ_ONLY.search(text):
        return f"{path}: cannot be written. Give write access or set EVAL_DATABASE. ({text})"
    if _NO_DATABASE.search(text):
        return f"{path}: this is no DuckDB database. Move it away or set EVAL_DATABASE. ({text})"
    return f"{path}: {text}"
