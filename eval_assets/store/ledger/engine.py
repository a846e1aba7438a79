"""The open ledger on SQLite or PostgreSQL, with its errors."""

from __future__ import annotations

import os
import sqlite3
import time
import uuid
from contextlib import contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa

from eval_assets.errors import StoreError, UnreachableError
from eval_assets.store.ledger._tables import (
    FIRST_VERSION,
    SCHEMA,
    VERSION,
    ledger_version,
    metadata,
    upgrade,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sqlalchemy.dialects import postgresql, sqlite

_WAIT_SECONDS = 60
"""Time that SQLite waits for another process's transaction, which takes milliseconds."""

_MAKING_SECONDS = 1.0
"""Time in which another process writes into a file that it made."""

_CREATING = 0x6576616C
"""Key of the lock under which tables are made and first filled on PostgreSQL."""

_SQLITE_REMEDIES = {
    "SQLITE_BUSY": "another program holds it locked. Close that program and run again",
    "SQLITE_FULL": "the disk is full; what was stored before is kept. Free space",
    "SQLITE_IOERR": "it cannot be written. Free space, or see whether its disk is sound",
    "SQLITE_READONLY": "it cannot be written. Give write access or set EVAL_LEDGER",
    "SQLITE_CANTOPEN": "it cannot be written. Give write access or set EVAL_LEDGER",
    "SQLITE_NOTADB": "this is not a ledger. Move it away or set EVAL_LEDGER",
    "SQLITE_CORRUPT": "it is damaged. Restore it from a copy, or repair it with "
    "`sqlite3 ledger.sqlite .recover`",
}

_DISK_FULL = "53100"
"""PostgreSQL's code of the error."""

_CONNECTION_CLASSES = ("08", "57")
"""Begin of PostgreSQL's codes for lost connections, and for a server that stops or starts."""

_REPLY_MEANWHILE = "23505"
"""PostgreSQL's code of a second reply that another evaluation stored at the same time: it counts as
repeated when it is stored again."""

_KEEPALIVE: Mapping[str, object] = {"idle": 10, "interval": 5, "count": 4}
"""A machine that is gone holds its locks for 30 seconds, not for hours."""


class SqlLedger:
    """A ledger of requests, replies, spending and histories.

    `place` is its name in messages, without a password; `evaluation` whose accounts are kept, empty
    in a folder's own ledger.
    """

    def __init__(self, engine: sa.Engine, *, place: str, evaluation: str) -> None:
        self.place = place
        self.evaluation = evaluation
        self._engine = engine

    @property
    def file(self) -> Path | None:
        """The file; None on a server."""
        url = self._engine.url
        return Path(url.database or "") if url.get_backend_name() == "sqlite" else None

    def connect(self) -> sa.Connection:
        """Open a connection that the caller closes."""
        with self._errors():
            return self._engine.connect()

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    @contextmanager
    def transaction(
        self, session: sa.Connection | None = None, *, is_writing: bool = False
    ) -> Iterator[sa.Connection]:
        """Open a transaction: all of it is committed at the end, or nothing.

        A session that is lost is not opened again unnoticed. One that only reads never waits.
        """
        with (
            self._errors(),
            self._engine.connect() if session is None else nullcontext(session) as connection,
        ):
            try:
                connection.execution_options(is_writing=is_writing)
                with connection.begin():
                    yield connection
            except sa.exc.SQLAlchemyError as error:
                if session is not None and _may_pass(error):
                    session.invalidate()
                raise

    def upsert(self, table: sa.Table) -> sqlite.Insert | postgresql.Insert:
        """Return an INSERT of the database's own dialect, which takes ON CONFLICT."""
        if self._engine.dialect.name == "sqlite":
            from sqlalchemy.dialects.sqlite import insert

            return insert(table)
        from sqlalchemy.dialects import postgresql  # takes a fifth of `eval-assets ledger`

        return postgresql.insert(table)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn errors of the database into StoreErrors of one line."""
        try:
            yield
        except sa.exc.SQLAlchemyError as error:
            kind = UnreachableError if _may_pass(error) else StoreError
            raise kind(f"{self.place}: {_reason(error)}") from error


def connect_ledger(folder: Path, *, evaluation: str, setting: str | None) -> SqlLedger:
    """Connect to the ledger of an evaluation folder, and make its tables if it is new.

    See `open_ledger` for arguments and errors.
    """
    path = ledger_file(folder, setting)
    is_new = path is not None and not path.exists()
    if path is None:
        engine, address = _postgresql(setting or "")
    else:
        if not setting:
            with suppress(OSError):  # a folder that is not there is reported below
                folder.mkdir(parents=True, exist_ok=True)
        engine, address = _sqlite(path), str(path)
    is_own = address == str(ledger_file(folder, None))
    ledger = SqlLedger(engine, place=address, evaluation="" if is_own else evaluation)
    try:
        _prepare(ledger)
        if path is not None and os.access(path, os.W_OK):
            _check_daily(ledger)
    except BaseException:
        ledger.close()
        if is_new and path is not None:
            with suppress(OSError):  # made but not written, as on a full disk, it is no lost ledger
                if path.stat().st_size == 0:
                    path.unlink()
        raise
    return ledger


def ledger_file(folder: Path, setting: str | None) -> Path | None:
    """Return the SQLite file of a ledger; None if EVAL_LEDGER names a server."""
    if setting and "://" in setting:
        return None
    return Path(setting) if setting else folder / "ledger.sqlite"


def _check_daily(ledger: SqlLedger) -> None:
    """Let SQLite check the file once a day: damage is found while there still is a copy.

    The day is the file's own `user_version`.
    """
    today = datetime.now(UTC).date().toordinal()
    with ledger.transaction() as connection:
        if connection.exec_driver_sql("PRAGMA user_version").scalar() == today:
            return
        result = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar()
    if result != "ok":
        raise StoreError(f"{ledger.place}: {_SQLITE_REMEDIES['SQLITE_CORRUPT']}. ({result})")
    with ledger.transaction(is_writing=True) as connection:
        connection.exec_driver_sql(f"PRAGMA user_version = {today}")


def _sqlite(path: Path) -> sa.Engine:
    """Return the engine of a file: readers never wait, and a commit is on the disk."""
    if not path.parent.is_dir():
        raise StoreError(f"{path}: its folder does not exist. Create it or set EVAL_LEDGER.")
    _require_whole(path)
    engine = sa.create_engine(
        sa.URL.create("sqlite", database=str(path)),
        connect_args={"timeout": _WAIT_SECONDS, "isolation_level": None},
    )

    @sa.event.listens_for(engine, "connect")
    def _on_connect(connection: sqlite3.Connection, _: object) -> None:
        _write_ahead(connection)
        connection.execute("PRAGMA synchronous = FULL")

    @sa.event.listens_for(engine, "begin")
    def _on_begin(connection: sa.Connection) -> None:
        # Whoever will write says so at once: a reader that turns writer may have to give up.
        is_writing = connection.get_execution_options().get("is_writing", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if is_writing else "BEGIN")

    return engine


def _require_whole(path: Path) -> None:
    """Raise StoreError if a ledger is gone but for its log, which SQLite would delete, or is empty.

    SQLite takes an empty file for a new ledger, and what was paid would be bought again. It is so
    for a moment where another process makes it, which makes the file before its log.
    """
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size and not path.exists():
        raise StoreError(
            f"{path}: it is gone, and its log {log.name} is left, which may hold the latest "
            f"replies. Put {path.name} back from a copy. To begin a new ledger, which has none of "
            f"them, delete {log.name} and {path.name}-shm."
        )
    deadline = time.monotonic() + _MAKING_SECONDS
    while path.exists() and path.stat().st_size == 0:
        if time.monotonic() > deadline:
            raise StoreError(
                f"{path}: the file is empty. Put it back from a copy. To begin a new ledger, "
                "delete it."
            )
        time.sleep(0.01)


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Turn write-ahead logging on; if others do so for a new file, SQLite itself does not wait."""
    deadline = time.monotonic() + _WAIT_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _postgresql(setting: str) -> tuple[sa.Engine, str]:
    """Return the engine of a PostgreSQL database and its name.

    Raises:
        StoreError: If it is not a PostgreSQL URL, holds a password, or the driver is missing.
    """
    try:
        url = sa.make_url(setting)
    except sa.exc.ArgumentError:
        raise StoreError(
            "EVAL_LEDGER is not a URL. Write postgresql://user@host/database, or a path."
        ) from None
    if url.password is not None or "password" in url.query:
        raise StoreError(
            "EVAL_LEDGER holds a password, which would turn up in messages. Leave it out and set "
            "PGPASSWORD or PGPASSFILE."
        )
    if url.get_backend_name() not in ("postgresql", "postgres"):
        raise StoreError(
            f"EVAL_LEDGER names {url.drivername}, which is not supported. "
            "Write postgresql://user@host/database, or a path."
        )
    options: dict[str, object] = {"search_path": SCHEMA}
    options |= {f"tcp_keepalives_{name}": value for name, value in _KEEPALIVE.items()}
    arguments: dict[str, object] = {f"keepalives_{n}": v for n, v in _KEEPALIVE.items()}
    arguments["options"] = " ".join(f"-c {name}={value}" for name, value in options.items())
    try:
        engine = sa.create_engine(
            url.set(drivername="postgresql+psycopg"),
            connect_args={"connect_timeout": 10, **arguments},
        )
    except ModuleNotFoundError as error:
        raise StoreError(
            "EVAL_LEDGER needs a PostgreSQL driver. Run: pip install 'eval-assets[postgres]'"
        ) from error
    return engine, url.set(query={}).render_as_string()


def _prepare(ledger: SqlLedger) -> None:
    """Make the tables of a new ledger, bring an older one up to date, refuse a newer one."""
    with ledger.transaction() as connection:
        version = _version(connection)
    if version == VERSION:
        return
    with ledger.transaction(is_writing=True) as connection:
        lock_tables(connection)
        if connection.dialect.name == "postgresql":
            connection.execute(sa.schema.CreateSchema(SCHEMA, if_not_exists=True))
        version = _version(connection)
        if version is not None and version > VERSION:
            raise StoreError(
                f"{ledger.place}: written by a newer eval-assets (ledger {version}, this one "
                f"reads {VERSION}). Upgrade eval-assets."
            )
        if version is None:
            metadata.create_all(connection, checkfirst=False)
            row = {"version": VERSION, "identity": uuid.uuid4().hex}
            connection.execute(sa.insert(ledger_version), row)
            return
        if version < FIRST_VERSION:
            raise StoreError(
                f"{ledger.place}: written by an eval-assets of before November 22, 2026 (ledger "
                f"{version}). Open it once with one of that week, then with this one."
            )
        upgrade(connection)
        connection.execute(sa.update(ledger_version), {"version": VERSION})


def lock_tables(connection: sa.Connection) -> None:
    """Let nobody else make or fill tables until the transaction ends, as SQLite does anyway."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_CREATING)))


def _version(connection: sa.Connection) -> int | None:
    if not sa.inspect(connection).has_table(ledger_version.name):
        return None
    return connection.scalar(sa.select(ledger_version.c.version))


def _reason(error: sa.exc.SQLAlchemyError) -> str:
    """Return the problem and its remedy in one line, without SQL or values."""
    cause = error.orig if isinstance(error, sa.exc.DBAPIError) else error
    text = " ".join(str(cause).split())
    if isinstance(cause, sqlite3.Error):
        # An extended code, such as SQLITE_IOERR_WRITE, begins with the plain one.
        name = getattr(cause, "sqlite_errorname", "")
        for code, remedy in _SQLITE_REMEDIES.items():
            if name.startswith(code):
                return f"{remedy}. ({text})"
    if getattr(cause, "sqlstate", None) == _DISK_FULL:
        return f"the disk of its server is full; what was stored before is kept. ({text})"
    if isinstance(error, sa.exc.OperationalError):
        return f"the ledger cannot be reached. See whether its server runs. ({text})"
    return text


def _may_pass(error: sa.exc.SQLAlchemyError) -> bool:
    """Return whether the disk is full, or a server ended the connection, restarts, or takes none.

    Nothing is sent while the writer waits, and replies that arrive are kept.
    """
    if isinstance(error, sa.exc.IntegrityError):
        return getattr(error.orig, "sqlstate", None) == _REPLY_MEANWHILE
    if not isinstance(error, sa.exc.OperationalError | sa.exc.InterfaceError):
        return False
    cause = error.orig
    if isinstance(cause, sqlite3.Error):
        return cause.sqlite_errorcode == sqlite3.SQLITE_FULL
    code = getattr(cause, "sqlstate", None)
    return code is None or code == _DISK_FULL or code.startswith(_CONNECTION_CLASSES)
