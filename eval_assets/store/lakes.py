"""A lake: tables as Parquet files with one catalog, each evaluation in a schema of its own.

What DuckLake cannot hold, schema.sql does without, so that the same statements make the tables of
a file and of a lake: no primary keys, unique constraints, indexes, sequences, enums, UNIONs, CHECKs
or generated columns, and no ON CONFLICT.

A name that a schema lacks, DuckDB looks up in `main` of the same lake. So a lake of ours has no
schema `main`, and no evaluation can come to read or empty the tables of another.
"""

import hashlib
import os
import re
import tempfile
import threading
from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import duckdb

from eval_assets.store._database_file import one_line
from eval_assets.store.store_errors import LostError, StoreError

_PREFIX = "ducklake:"
_POSTGRES = "postgres:"

_PASSWORD = re.compile(r"\bpassword\s*=|//[^/@]*:[^/@]*@", re.IGNORECASE)
_NO_SCHEMAS = ("main", "temp", "system", "pg_catalog", "information_schema")
"""Schemas that names of every evaluation are looked up in."""

_CONFLICT = re.compile(
    "Transaction conflict|already exists|duplicate key|not found in DuckLakeCatalog"
)
_AWAY = re.compile(
    "Unable to connect to Postgres|server closed the connection|terminating connection"
    '|connection to server|no connection to the server|SSL SYSCALL error|query "ROLLBACK"'
)
_WRONG = re.compile(
    r'FATAL:\s+(?:database|role) ".*" does not exist|authentication failed|no password supplied'
    "|no pg_hba.conf entry"
)
_OTHER_PLACE = re.compile("DATA_PATH parameter .* does not match existing data path")


@dataclass(frozen=True)
class Lake:
    """An evaluation's schema in a lake.

    Args:
        catalog: What DuckLake attaches: a file, or `postgres:` and what libpq takes.
        files: Folder or bucket of the Parquet files; None if the catalog says.
        schema: Name of the schema.
    """

    catalog: str
    files: str | None
    schema: str

    def __str__(self) -> str:
        return f"{_PREFIX}{self.catalog} ({self.schema})"

    @property
    def alias(self) -> str:
        """What the lake is called in this process."""
        return "lake_" + hashlib.sha256(self.catalog.encode()).hexdigest()[:12]

    @property
    def full_name(self) -> str:
        """The schema as SQL names it."""
        name = self.schema.replace('"', '""')
        return f'{self.alias}."{name}"'

    @property
    def is_served(self) -> bool:
        """Whether the catalog is on a server; else it is a file that one process opens."""
        return self.catalog.startswith(_POSTGRES)


def is_lake(given: str) -> bool:
    """Return whether EVAL_DATABASE names a lake and not a file."""
    return given.startswith(_PREFIX)


def absolute_lake(given: str) -> str:
    """Return a lake's address with a path that means the same in every folder."""
    catalog = given.removeprefix(_PREFIX)
    if not catalog or catalog.startswith(_POSTGRES):
        return given
    return f"{_PREFIX}{Path(catalog).resolve()}"


def lake_of(given: str, *, files: str | None, evaluation: str) -> Lake:
    """Return the part of a lake that an evaluation has.

    Args:
        given: What EVAL_DATABASE holds: `ducklake:`, and a file or `postgres:dbname=...`.
        files: What EVAL_DATA_PATH holds: a folder, or a bucket such as s3://name/folder.
        evaluation: Name of the evaluation, and so of its schema.

    Raises:
        StoreError: If it holds a password, or no schema can have this name.
    """
    catalog = absolute_lake(given).removeprefix(_PREFIX)
    if _PASSWORD.search(catalog):
        raise StoreError(
            "EVAL_DATABASE holds a password, which would turn up in messages. Leave it out and set "
            "PGPASSWORD or PGPASSFILE."
        )
    if not catalog.removeprefix(_POSTGRES):
        raise StoreError(
            "EVAL_DATABASE names no catalog. Write ducklake:postgres:dbname=... or "
            "ducklake:catalog.ducklake."
        )
    schema = evaluation.strip().casefold()  # DuckDB takes names that differ in case for the same
    if schema in _NO_SCHEMAS:
        raise StoreError(
            f"an evaluation in a lake cannot be called {schema}, which DuckDB uses itself. "
            "Change name in evaluation.yaml."
        )
    if files and "://" not in files:
        files = str(Path(files).resolve())
    return Lake(catalog, files or None, schema)


def open_lake(lake: Lake) -> duckdb.DuckDBPyConnection:
    """Open an evaluation's schema; make it, and the lake, if they do not exist.

    Close it with `close_lake`.
    """
    connection = attach_lake(lake)
    try:
        _enter(connection, lake)
    except BaseException:
        close_lake(connection, lake)
        raise
    return connection


def attach_lake(lake: Lake) -> duckdb.DuckDBPyConnection:
    """Open a lake as a whole, under its alias; close it with `close_lake`."""
    instance = _instance(os.getpid())
    with instance.lock:
        if lake.alias not in instance.attached:
            _attach(instance.connection, lake)
        instance.attached[lake.alias] += 1
        connection = instance.connection.cursor()
    connection.execute("RESET memory_limit")  # which somebody may have set for all of the process
    return connection


def close_lake(connection: duckdb.DuckDBPyConnection, lake: Lake) -> None:
    """Close a connection, and let go of a catalog in a file with the last one.

    As long as it is attached, no other process can open it. A catalog on a server stays attached.
    """
    connection.close()
    instance = _instance(os.getpid())
    with instance.lock:
        instance.attached[lake.alias] -= 1
        if not lake.is_served and not instance.attached[lake.alias]:
            instance.connection.execute(f"DETACH {lake.alias}")
            del instance.attached[lake.alias]


class _Instance:
    """A DuckDB in memory, to which lakes are attached; by lake, how many connections use it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.attached: Counter[str] = Counter()
        spilled = Path(tempfile.gettempdir()) / f"eval-assets-lake-{os.getuid()}"
        self.connection = duckdb.connect(
            config={
                "autoinstall_known_extensions": "false",
                "temp_directory": str(spilled),
            }
        )


@cache
def _instance(process: int) -> _Instance:  # noqa: ARG001 - a process that is forked has its own
    """Return the one of this process."""
    return _Instance()


def _attach(connection: duckdb.DuckDBPyConnection, lake: Lake) -> None:
    _load(connection, "ducklake")
    if lake.is_served:
        _load(connection, "postgres_scanner")
    else:
        Path(lake.catalog).parent.mkdir(parents=True, exist_ok=True)
    if lake.files and "://" in lake.files:
        _load(connection, "httpfs")
    at = f"(DATA_PATH {quoted(lake.files)})" if lake.files else ""
    connection.execute(f"ATTACH {quoted(_PREFIX + lake.catalog)} AS {lake.alias} {at}")


def _enter(connection: duckdb.DuckDBPyConnection, lake: Lake) -> None:
    """Make the evaluation's schema if it does not exist, and look up names in it alone."""
    schemas = schemas_of(connection, lake)
    if "main" in schemas:
        _drop_main(connection, lake)
    if lake.schema not in schemas:
        connection.execute(f"CREATE SCHEMA {lake.full_name}")
    connection.execute(f"USE {lake.full_name}")


def schemas_of(connection: duckdb.DuckDBPyConnection, lake: Lake) -> list[str]:
    """Return the schemas of a lake that is attached."""
    found = connection.execute(
        "SELECT schema_name FROM duckdb_schemas() WHERE database_name = ? ORDER BY ALL",
        [lake.alias],
    ).fetchall()
    return [name for (name,) in found]


def _drop_main(connection: duckdb.DuckDBPyConnection, lake: Lake) -> None:
    """Drop the schema `main`, which DuckLake makes; raise StoreError if it holds anything."""
    try:
        connection.execute(f"DROP SCHEMA {lake.alias}.main")
    except duckdb.CatalogException as error:
        if "depend" not in str(error):
            raise
        raise StoreError(
            f"{_PREFIX}{lake.catalog}: its schema main holds tables, so another program uses this "
            "lake. Set EVAL_DATABASE to a catalog of its own."
        ) from error


def _load(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    """Load an extension from the package that brings it, never from the network."""
    package = find_spec(f"duckdb_extension_{name}")
    folder = Path(package.origin).parent if package and package.origin else Path()
    file = folder / "extensions" / f"v{duckdb.__version__}" / f"{name}.duckdb_extension"
    if not file.is_file():
        raise StoreError(
            f"EVAL_DATABASE names a lake, and DuckDB {duckdb.__version__} lacks its extension "
            f"{name}. Run: pip install 'eval-assets[scale]'"
        )
    connection.execute(f"LOAD {quoted(str(file))}")


def claim_table(connection: duckdb.DuckDBPyConnection, table: str) -> None:
    """Let no other transaction write to an empty table of a lake meanwhile.

    DuckLake finds conflicts between changes of rows or of tables. Two transactions that replace the
    rows of an empty table only insert some, and it would keep those of both.
    """
    [(kind,)] = connection.execute(
        "SELECT type FROM duckdb_databases() WHERE database_name = current_database()"
    ).fetchall()
    if kind == "ducklake":
        connection.execute(f"COMMENT ON TABLE \"{table}\" IS 'written by one at a time'")


def is_away(error: Exception) -> bool:
    """Return whether the catalog's server could not be reached, but may be back soon."""
    text = str(error)
    return bool(_AWAY.search(text)) and not _WRONG.search(text)


def is_conflict(error: Exception) -> bool:
    """Return whether another process changed the same tables or schema meanwhile."""
    return bool(_CONFLICT.search(str(error)))


def lake_error(lake: Lake, error: Exception) -> StoreError:
    """Return the error as one line, with what to do."""
    text = " ".join(str(error).split("LINE ")[0].split())
    if is_conflict(error):
        return LostError(f"{lake}: another process changed the same tables. Run again. ({text})")
    if is_away(error):
        return LostError(
            f"{lake}: the catalog cannot be reached. See whether its server runs. ({text})"
        )
    if _OTHER_PLACE.search(text):
        return StoreError(
            f"{lake}: EVAL_DATA_PATH is {lake.files}, and this lake keeps its files elsewhere. "
            f"Unset EVAL_DATA_PATH. ({text})"
        )
    return StoreError(one_line(str(lake), text))


def quoted(text: str) -> str:
    """Return the text as a SQL literal, for statements that take no parameter."""
    return "'" + text.replace("'", "''") + "'"
