"""The database of an evaluation, a file or a lake: opened late, closed early, waited for."""

import hashlib
import logging
import shlex
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from eval_assets.store._database_file import DAMAGED, HOLDER, LOCKED, file_error, open_file
from eval_assets.store.lakes import (
    Lake,
    absolute_lake,
    attach_lake,
    claim_table,
    close_lake,
    is_away,
    is_conflict,
    is_lake,
    is_of_bucket,
    lake_error,
    lake_of,
    open_lake,
    quoted,
)
from eval_assets.store.schema import column_comments, schema
from eval_assets.store.store_errors import DamagedError, StoreError

logger = logging.getLogger(__name__)

Database = Path | Lake
"""Where the tables of an evaluation are."""

SCHEMA_VERSION = 1
"""Raised when a database must not be opened by an older program any more."""

_KEPT = ("judge_calls", "judge_batches", "dual_judgements")
"""Tables that a new ledger takes over: a change to one needs an ALTER TABLE in schema.sql."""

_FIRST_PAUSE_SECONDS = 0.05
_LONGEST_PAUSE_SECONDS = 1.0
_SECONDS_BETWEEN_MESSAGES = 10.0
_SERVER_SECONDS = 120.0
"""How long a lake's catalog may be away."""

# A commit that the disk refuses is told as a TransactionException.
_FAULTS = (
    duckdb.IOException,
    duckdb.FatalException,
    duckdb.OutOfMemoryException,
    duckdb.TransactionException,
)


def database_of(
    folder: Path, *, given: str | None, files: str | None, evaluation: Callable[[], str]
) -> Database:
    """Return where the tables of an evaluation folder are.

    Args:
        folder: The evaluation folder.
        given: What EVAL_DATABASE holds: a path, or `ducklake:` and a catalog; None or empty for
            `out/eval.duckdb` in the folder.
        files: What EVAL_DATA_PATH holds: where a lake keeps its files.
        evaluation: Returns the name of the evaluation, which a lake goes by.

    Raises:
        StoreError: If a lake's address holds a password, or no schema can have the name.
    """
    if given and is_lake(given):
        return lake_of(given, files=files, evaluation=evaluation())
    return Path(given) if given else folder / "out" / "eval.duckdb"


def absolute(given: str) -> str:
    """Return what EVAL_DATABASE holds with a path that means the same in every folder."""
    return absolute_lake(given) if is_lake(given) else str(Path(given).resolve())


@contextmanager
def connect(
    database: Database, *, folder: Path | None = None, wait_seconds: float = 600.0
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open the database, wait while it is held or away, and close it whatever happens.

    Args:
        database: The DuckDB file, or a lake; made, with its tables, if it does not exist.
        folder: Evaluation folder that the database must belong to; None to open any.
        wait_seconds: How long to wait for another process, which is said in the log meanwhile; for
            a lake's catalog that is away two minutes at most.

    Raises:
        StoreError: If it stays locked, cannot be written, is no database or is of a newer schema.
        LostError: If a lake's catalog is away, or another process wrote first.
        DamagedError: If it cannot be read.
    """
    try:
        connection = _patiently(
            lambda: _connect(database, folder and folder.resolve()),
            database,
            wait_seconds=wait_seconds,
        )
    except (OSError, duckdb.Error) as error:
        raise _store_error(database, error) from error
    try:
        yield connection
    except duckdb.Error as error:
        if isinstance(error, _FAULTS) or _is_foreseen(error):
            raise _store_error(database, error) from error
        raise
    finally:
        _close(connection, database)


@contextmanager
def connect_to_lake(lake: Lake) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a lake as a whole, whatever evaluations are in it."""
    try:
        connection = _patiently(lambda: attach_lake(lake), lake, wait_seconds=_SERVER_SECONDS)
    except (OSError, duckdb.Error) as error:
        raise lake_error(lake, error) from error
    try:
        yield connection
    except duckdb.Error as error:
        raise lake_error(lake, error) from error
    finally:
        close_lake(connection, lake)


def is_stored(database: Database) -> bool:
    """Return whether anything is stored: a file exists, or a lake holds what was imported."""
    if isinstance(database, Path):
        return database.exists()
    with connect(database) as connection:
        [(n_imports,)] = connection.execute("SELECT count(*) FROM imports").fetchall()
    return bool(n_imports)


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
        with suppress(duckdb.Error):  # of a connection that is lost: nothing was committed
            connection.rollback()
        raise
    connection.commit()


def _patiently(
    open_: Callable[[], duckdb.DuckDBPyConnection], database: Database, *, wait_seconds: float
) -> duckdb.DuckDBPyConnection:
    """Retry while another process is in the way: no pool of workers can replace that."""
    started = time.monotonic()
    said_at = -_SECONDS_BETWEEN_MESSAGES
    pause = _FIRST_PAUSE_SECONDS
    while True:
        try:
            return open_()
        except duckdb.Error as error:
            waited = time.monotonic() - started
            reason, longest = _passing(error)
            if reason is None or waited >= min(wait_seconds, longest):
                raise
            if waited - said_at >= _SECONDS_BETWEEN_MESSAGES:
                so_far = f" ({waited:.0f} s so far)" if said_at >= 0 else ""
                logger.warning("%s %s%s", database, reason, so_far)
                said_at = waited
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)


def _passing(error: duckdb.Error) -> tuple[str | None, float]:
    """Return what is waited for after an error and how long at most; None if it is final."""
    if LOCKED.search(str(error)):
        holder = HOLDER.search(str(error))
        by = holder[1] if holder else "another process"
        return f"is in use by {by}; waiting for it to be closed", float("inf")
    if is_conflict(error):
        return "is being made by another process", _SERVER_SECONDS
    if is_away(error):
        return "cannot be reached; waiting for its catalog to be back", _SERVER_SECONDS
    return None, 0.0


def _connect(database: Database, folder: Path | None) -> duckdb.DuckDBPyConnection:
    """Open the database with its tables, which must belong to the folder if there is one."""
    connection = open_file(database) if isinstance(database, Path) else open_lake(database)
    try:
        _prepare(connection, database)
        if folder is not None:
            _belong_to(connection, database, folder)
    except BaseException:
        _close(connection, database)
        raise
    return connection


def _close(connection: duckdb.DuckDBPyConnection, database: Database) -> None:
    if isinstance(database, Lake):
        close_lake(connection, database)
    else:
        connection.close()


def _prepare(connection: duckdb.DuckDBPyConnection, database: Database) -> None:
    """Make the tables of a new database or an older schema; refuse a newer one."""
    connection.execute("SET enable_progress_bar = false; SET TimeZone = 'UTC'")
    version, fingerprint = _stored_schema(connection)
    if version is not None and version > SCHEMA_VERSION:
        raise StoreError(
            f"{database}: written by a newer eval-assets (schema {version}, this one reads "
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


def _belong_to(connection: duckdb.DuckDBPyConnection, database: Database, folder: Path) -> None:
    """Record whose database it is; raise StoreError if it is another folder's.

    One that lies in the folder is the folder's own, also after the folder was moved or copied.
    """
    owners = connection.execute("SELECT path FROM evaluation_folder").fetchall()
    if owners == [(str(folder),)]:
        return
    is_own = isinstance(database, Path) and database.resolve().is_relative_to(folder)
    if owners and not is_own:
        remedy = "Set EVAL_DATABASE to another file."
        if isinstance(database, Lake):
            remedy = (
                "Give this one another name in evaluation.yaml; or, if it is the same and was "
                f"moved, run eval-assets lake drop {shlex.quote(database.schema)}."
            )
        raise StoreError(
            f"{database}: holds the evaluation in {owners[0][0]}, not the one in {folder}. {remedy}"
        )
    with transaction(connection):
        connection.execute("DELETE FROM evaluation_folder")
        if not owners:
            claim_table(connection, "evaluation_folder")
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
             AND schema_name = current_schema()
           UNION ALL
           SELECT 'TABLE', table_name FROM duckdb_tables()
           WHERE database_name = current_database() AND schema_name = current_schema()"""
    ).fetchall()
    for kind, name in found:
        if name not in _KEPT:
            connection.execute(f'DROP {kind} "{name}"')


def set_aside(database: Database) -> Path | None:
    """Move a damaged file aside, so that the next run makes a new one.

    Returns:
        Where it is now; None if it can be read after all: another run has made it again.
    """
    if isinstance(database, Lake):
        return None
    try:
        with connect(database) as connection:
            for (table,) in connection.execute("SHOW TABLES").fetchall():
                read_all = f'SELECT count(hash(t)) FROM "{table}" t'  # noqa: S608 - our own tables
                connection.execute(read_all).fetchall()
    except DamagedError:
        at = f"{datetime.now(UTC):%Y%m%dT%H%M%S}"
        aside = database.with_name(f"{database.name}.damaged-{at}")
        database.rename(aside)
        wal = database.with_name(f"{database.name}.wal")
        if wal.exists():
            wal.rename(aside.with_name(f"{aside.name}.wal"))
        return aside
    return None


def _is_foreseen(error: duckdb.Error) -> bool:
    """Return whether an error that DuckDB has no class of its own for is one of the database."""
    return bool(DAMAGED.search(str(error))) or is_away(error) or is_of_bucket(error)


def _store_error(database: Database, error: Exception) -> StoreError:
    """Return the error as one line, with what to do."""
    if isinstance(database, Lake):
        return lake_error(database, error)
    return file_error(database, error)
