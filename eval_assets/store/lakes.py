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
from pathlib import Path

import duckdb

from eval_assets.store._database_file import one_line
from eval_assets.store._lake_storage import is_bucket, load_extension, open_bucket
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
_NO_LAKE = re.compile("Existing DuckLake .* does not exist")
_UNNAMED_BUCKET = re.compile("required extension '(?:httpfs|azure)'")
_BUCKET = re.compile(r"HTTP Error|error for HTTP|Azure\w*FileSystem|Fail to get a new connection")


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
        return f"{_PREFIX}{self.catalog}" + (f" ({self.schema})" if self.schema else "")

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
    if files and not is_bucket(files):
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
            del instance.attached[lake.alias]
            try:
                instance.connection.execute(f"DETACH {lake.alias}")
            except duckdb.Error as error:  # it is detached, and all commits are in its log
                raise lake_error(lake, error) from error


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
    load_extension(connection, "ducklake")
    if lake.files and is_bucket(lake.files):
        open_bucket(connection, lake.files)
    attach = f"ATTACH {quoted(_PREFIX + lake.catalog)} AS {lake.alias} "
    options = [f"DATA_PATH {quoted(lake.files)}"] if lake.files else []
    if lake.is_served:
        load_extension(connection, "postgres_scanner")
    elif Path(lake.catalog).exists():
        # DuckLake would add its own tables to any DuckDB file.
        existing = ", ".join([*options, "CREATE_IF_NOT_EXISTS false"])
        try:
            connection.execute(f"{attach} ({existing})")
        except duckdb.InvalidInputException as error:
            if not _NO_LAKE.search(str(error)) or _holds_tables(connection, lake.catalog):
                raise
        else:
            return
    else:
        Path(lake.catalog).parent.mkdir(parents=True, exist_ok=True)
    connection.execute(attach + (f"({options[0]})" if options else ""))


def _holds_tables(connection: duckdb.DuckDBPyConnection, file: str) -> bool:
    """Return whether a DuckDB file is more than what a process left that was killed at once."""
    # Without the prefix, a CSV file would be opened as a database in memory.
    connection.execute(f"ATTACH {quoted('duckdb:' + file)} AS catalog_file (READ_ONLY)")
    try:
        [(n_tables,)] = connection.execute(
            "SELECT count(*) FROM duckdb_tables() WHERE database_name = 'catalog_file'"
        ).fetchall()
    finally:
        connection.execute("DETACH catalog_file")
    return bool(n_tables)


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


def is_of_bucket(error: Exception) -> bool:
    """Return whether a bucket could not be read or written."""
    return bool(_BUCKET.search(str(error)))


def lake_error(lake: Lake, error: Exception) -> StoreError:
    """Return the error as one line, with what to do."""
    text = " ".join(str(error).split("LINE ")[0].split())
    if is_conflict(error):
        return LostError(f"{lake}: another process changed the same tables. Run again. ({text})")
    if is_away(error):
        return LostError(
            f"{lake}: the catalog cannot be reached. See whether its server runs. ({text})"
        )
    return StoreError(_final(lake, text))


def _final(lake: Lake, text: str) -> str:
    """Return what is wrong with a lake until somebody acts, and what to do."""
    if _OTHER_PLACE.search(text):
        return (
            f"{lake}: EVAL_DATA_PATH is {lake.files}, and this lake keeps its files elsewhere. "
            f"Set it to the existing data path. ({text})"
        )
    if _UNNAMED_BUCKET.search(text):
        return f"{lake}: keeps its files in a bucket. Set EVAL_DATA_PATH to it."
    if _NO_LAKE.search(text):
        return (
            f"{lake}: this DuckDB file is not the catalog of a lake, and was left as it is. Set "
            "EVAL_DATABASE to the path of a new file; or, to this file's own tables, without "
            "ducklake:."
        )
    if _BUCKET.search(text):
        return (
            f"{lake}: {lake.files} cannot be used. See whether the bucket exists, whether its "
            f"server runs, and what the credentials permit. ({text})"
        )
    return one_line(str(lake), text)


def quoted(text: str) -> str:
    """Return the text as a SQL literal, for statements that take no parameter."""
    return "'" + text.replace("'", "''") + "'"
