"""Connections to the DuckDB file of an evaluation, which one process holds at a time.

Outside a session a connection is opened late and closed early. Within a session (a run) the process
keeps the file open between uses, and closes it as soon as another process waits for it.
"""

import hashlib
import logging
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
from duckdb import DuckDBPyConnection as Connection

from eval_assets.errors import DamagedError, StoreError
from eval_assets.store.database_file import is_writable
from eval_assets.store.schema import schema

logger = logging.getLogger(__name__)

SCHEMA_VERSION = 1
"""Schema version, increased when older programs must not open a database any more."""

_READABLE_FROM = "v1.0.0"
"""Oldest DuckDB that opens the file, whichever version writes it."""

_MEMORY_LIMIT = "1GB"
"""Memory of DuckDB, which moves the rest to disk: Python needs as much for the same ratings, and by
default DuckDB takes four fifths of the machine's."""

_SETTINGS = "SET enable_progress_bar = false; SET TimeZone = 'UTC'"

_FIRST_PAUSE_SECONDS = 0.02
_LONGEST_PAUSE_SECONDS = 0.5
_SECONDS_BETWEEN_MESSAGES = 10.0
_SECONDS_BETWEEN_LOOKS = 0.05
"""Interval at which an idle session looks for a waiting process."""

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

# A commit that the disk refuses is reported as a TransactionException.
_FAULTS = (
    duckdb.IOException,
    duckdb.FatalException,
    duckdb.OutOfMemoryException,
    duckdb.TransactionException,
)


@dataclass(eq=False)
class _Session:
    """Database files that this process keeps open.

    Attributes:
        depth: Sessions that have begun and not ended; outside of them nothing is kept open.
        owners: Evaluation folder that each of these was checked to belong to.
        n_uses: Uses of each file now; only an unused file is closed for another process.
        n_openings: Files opened so far, in a session or not.
    """

    depth: int = 0
    files: dict[Path, Connection] = field(default_factory=dict)
    owners: dict[Path, Path | None] = field(default_factory=dict)
    n_uses: Counter[Path] = field(default_factory=Counter)
    n_openings: int = 0
    lock: threading.RLock = field(default_factory=threading.RLock)


_session = _Session()


@contextmanager
def session() -> Iterator[None]:
    """Keep databases open between uses until the end, or until another process waits for one."""
    with _session.lock:
        _session.depth += 1
        if _session.depth == 1:
            threading.Thread(target=_give_way, daemon=True).start()
    try:
        yield
    finally:
        with _session.lock:
            _session.depth -= 1
            if not _session.depth:
                release()


def n_openings() -> int:
    """Return the number of files opened so far.

    While it stays the same, no other process has written to a file that is open.
    """
    return _session.n_openings


def release() -> None:
    """Close the open databases that are not in use."""
    with _session.lock:
        for path in [path for path in _session.files if not _session.n_uses[path]]:
            _session.files.pop(path).close()


def _give_way() -> None:
    """Close idle files for processes that wait for them, until the session ends."""
    while _session.depth:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
        with _session.lock:
            for path in [path for path in _session.files if not _session.n_uses[path]]:
                if _waiting_file(path).exists():
                    _session.files.pop(path).close()
                    _waiting_file(path).unlink(missing_ok=True)


def _waiting_file(path: Path) -> Path:
    """Return the file that a waiting process creates anew with every try."""
    return path.with_name(f"{path.name}.waiting")


@contextmanager
def connect(
    path: Path,
    *,
    folder: Path | None = None,
    wait_seconds: float = 600.0,
    is_reading: bool = False,
) -> Iterator[Connection]:
    """Open the database, waiting while another process holds it, and release it at the end.

    Args:
        path: The DuckDB file; made, with its tables, if it does not exist.
        folder: Evaluation folder that the database must belong to; None to open any.
        wait_seconds: How long to wait for another process; the log says so meanwhile.
        is_reading: Whether nothing is stored, so that the file need not be writable; if there is
            none, an empty database is opened, and no file is made.

    Raises:
        StoreError: If it stays locked, cannot be written, is no database or is of a newer schema.
        DamagedError: If it cannot be read.
    """
    path = path if str(path) == ":memory:" else path.resolve()
    if is_reading and not path.exists():
        path = Path(":memory:")
    is_read_only = is_reading and path.exists() and not is_writable(path)
    owner = folder and folder.resolve()
    try:
        connection = _acquire(path, owner, wait_seconds=wait_seconds, is_read_only=is_read_only)
    except (OSError, duckdb.Error) as error:
        raise _store_error(path, error) from error
    try:
        yield connection
    except (RuntimeError, duckdb.Error) as error:
        # DuckDB raises no specific class if Ctrl-C ends a query, or a handler of Dagster's does.
        if re.match(r"Query interrupted$|KeyboardInterrupt|DagsterExecutionInter", str(error)):
            raise KeyboardInterrupt from error
        if isinstance(error, _FAULTS) or _DAMAGED.search(str(error)):
            raise _store_error(path, error) from error
        raise
    finally:
        connection.close()
        with _session.lock:
            _session.n_uses[path] -= 1


def _acquire(
    path: Path, owner: Path | None, *, wait_seconds: float, is_read_only: bool
) -> Connection:
    """Return a separate connection for one use of a file."""
    with _session.lock:
        if path in _session.files:
            if owner not in (None, _session.owners[path]):
                _belong_to(_session.files[path], path, owner)
                _session.owners[path] = owner
            _session.n_uses[path] += 1
            return _cursor(_session.files[path])
    connection = _patiently(path, wait_seconds=wait_seconds, is_read_only=is_read_only)
    try:
        _prepare(connection, path, owner, is_read_only=is_read_only)
    except BaseException:
        connection.close()
        raise
    with _session.lock:
        _session.n_openings += 1
        _session.n_uses[path] += 1
        if not _session.depth or str(path) == ":memory:":
            return connection
        _session.files[path], _session.owners[path] = connection, owner
        return _cursor(connection)


def _cursor(connection: Connection) -> Connection:
    cursor = connection.cursor()
    cursor.execute(_SETTINGS)
    return cursor


@contextmanager
def connect_in_memory(tables: str | None = None) -> Iterator[Connection]:
    """Open a database in memory with these tables, or empty ones of schema.sql."""
    with duckdb.connect() as connection:
        connection.execute(schema() if tables is None else tables)
        yield connection


@contextmanager
def transaction(connection: Connection) -> Iterator[None]:
    """Commit all changes inside at once, or none of them."""
    connection.begin()
    try:
        yield
    except BaseException:
        with suppress(duckdb.Error):  # of a connection that is lost: nothing was committed
            connection.rollback()
        raise
    connection.commit()


def quoted(text: str) -> str:
    """Return a text as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


def _patiently(path: Path, *, wait_seconds: float, is_read_only: bool) -> Connection:
    started = time.monotonic()
    logged_at = -_SECONDS_BETWEEN_MESSAGES
    pause = _FIRST_PAUSE_SECONDS
    while True:
        try:
            return _open(path, is_read_only=is_read_only)
        except duckdb.Error as error:
            waited = time.monotonic() - started
            if not _LOCKED.search(str(error)) or waited >= wait_seconds:
                raise
            with suppress(OSError):
                _waiting_file(path).touch()
            if waited - logged_at >= _SECONDS_BETWEEN_MESSAGES:
                holder = _HOLDER.search(str(error))
                name = holder[1] if holder else "another process"
                duration = f" ({waited:.0f} s so far)" if logged_at >= 0 else ""
                logger.warning(
                    "%s is in use by %s; waiting for it to be closed%s", path, name, duration
                )
                logged_at = waited
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)


def _open(path: Path, *, is_read_only: bool) -> Connection:
    """Open a DuckDB file; make it, with its folder, if it does not exist."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = duckdb.connect(
        f"duckdb:{path}",  # nothing else: a CSV file would open as a database in memory
        read_only=is_read_only,
        config={
            "autoinstall_known_extensions": "false",
            "storage_compatibility_version": _READABLE_FROM,
            "memory_limit": _MEMORY_LIMIT,
            # Several add numbers in any order, so that figures would differ in their last digits.
            "threads": "1",
            # By default beside a file whose name begins with "duckdb:", where there is no folder.
            "temp_directory": f"{path}.tmp",
        },
    )
    connection.execute(_SETTINGS)
    return connection


def _prepare(connection: Connection, path: Path, owner: Path | None, *, is_read_only: bool) -> None:
    """Create the tables of a new database or an older schema; refuse a newer schema."""
    row: tuple[Any, ...] = ()
    with suppress(duckdb.CatalogException):  # a new file has no tables
        row = connection.execute("SELECT * FROM schema_version").fetchall()[0]
    if row and row[0] > SCHEMA_VERSION:
        raise StoreError(
            f"{path}: written by a newer eval-assets (schema {row[0]}, this one reads "
            f"{SCHEMA_VERSION}). Upgrade eval-assets, or set EVAL_DATABASE to another file."
        )
    current = hashlib.sha256(schema().encode()).hexdigest()
    if row != (SCHEMA_VERSION, current):
        if is_read_only:
            raise StoreError(
                f"{path}: written by another version of eval-assets, and cannot be brought up to "
                "date. Give write access or set EVAL_DATABASE."
            )
        _make_tables(connection, current)
    if owner is not None and not is_read_only:
        _belong_to(connection, path, owner)


def _make_tables(connection: Connection, fingerprint: str) -> None:
    with transaction(connection):
        # Of another schema; the next run makes them again.
        names = connection.execute(
            """SELECT 'VIEW', view_name FROM duckdb_views()
               WHERE NOT internal AND database_name = current_database()
                 AND schema_name = current_schema()
               UNION ALL
               SELECT 'TABLE', table_name FROM duckdb_tables()
               WHERE database_name = current_database() AND schema_name = current_schema()"""
        ).fetchall()
        for kind, name in names:
            connection.execute(f'DROP {kind} "{name}"')
        connection.execute(schema())
        connection.execute(
            "CREATE TABLE schema_version (version INTEGER NOT NULL, fingerprint VARCHAR NOT NULL)"
        )
        # No parameters: to convert one, DuckDB imports pandas.
        values = f"{SCHEMA_VERSION}, {quoted(fingerprint)}"
        connection.execute(f"INSERT INTO schema_version VALUES ({values})")  # noqa: S608 - quoted


def _belong_to(connection: Connection, path: Path, folder: Path) -> None:
    """Record the owner of a database; raise StoreError if it is another folder's.

    A file in the folder is the folder's own, also after the folder was moved or copied.
    """
    owners = connection.execute("SELECT path FROM evaluation_folder").fetchall()
    if owners == [(str(folder),)]:
        return
    if owners and not path.is_relative_to(folder):
        raise StoreError(
            f"{path}: holds the evaluation in {owners[0][0]}, not the one in {folder}. Set "
            "EVAL_DATABASE to another file."
        )
    with transaction(connection):
        connection.execute("DELETE FROM evaluation_folder")
        connection.execute(f"INSERT INTO evaluation_folder VALUES ({quoted(str(folder))})")  # noqa: S608 - quoted


def set_aside(path: Path) -> Path | None:
    """Move a damaged file aside, so that the next run makes a new one.

    Returns:
        Its new path; None if it can be read after all: another run has made it again.
    """
    release()
    try:
        with connect(path) as connection:
            for (table,) in connection.execute("SHOW TABLES").fetchall():
                read_all = f'SELECT count(hash(t)) FROM "{table}" t'  # noqa: S608 - our own tables
                connection.execute(read_all).fetchall()
    except DamagedError:
        release()
        at = f"{datetime.now(UTC):%Y%m%dT%H%M%S}"
        copy = path.with_name(f"{path.name}.damaged-{at}")
        path.rename(copy)
        wal = path.with_name(f"{path.name}.wal")
        if wal.exists():
            wal.rename(copy.with_name(f"{copy.name}.wal"))
        return copy
    return None


def _store_error(path: Path, error: Exception) -> StoreError:
    text = " ".join(str(error).split())
    # Everything in out/ is the program's own; elsewhere a path may have been mistyped.
    is_own = path.parent.name == "out"
    if _DAMAGED.search(text) or (is_own and path.is_file() and _NO_DATABASE.search(text)):
        return DamagedError(
            f"{path}: cannot be read. `eval-assets run` moves it aside and makes a new one, "
            f"without a single request. ({text})"
        )
    for pattern, remedy in (
        (_LOCKED, "still in use by another process. Close it and run again"),
        (_FULL, "the disk is full; what was stored before is kept. Free space"),
        (_READ_ONLY, "cannot be written. Give write access or set EVAL_DATABASE"),
        (_NO_DATABASE, "this is not a DuckDB database. Move it away or set EVAL_DATABASE"),
    ):
        if pattern.search(text):
            return StoreError(f"{path}: {remedy}. ({text})")
    return StoreError(f"{path}: {text}")
