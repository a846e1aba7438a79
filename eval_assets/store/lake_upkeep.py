"""Upkeep of a lake: what is in it, what is old, and evaluations that are gone."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import duckdb

from eval_assets.store.connection import connect_to_lake
from eval_assets.store.lakes import Lake, quoted, schemas_of
from eval_assets.store.store_errors import StoreError


@dataclass(frozen=True)
class EvaluationInLake:
    """An evaluation in a lake, and how much of it is in Parquet files now."""

    schema: str
    folder: str
    n_files: int
    n_bytes: int


def evaluations_in_lake(lake: Lake) -> list[EvaluationInLake]:
    """Return every evaluation of a lake, by name."""
    with connect_to_lake(lake) as connection:
        return [
            EvaluationInLake(schema, _folder_of(connection, replace(lake, schema=schema)), *files)
            for schema, *files in connection.execute(_FILES_SQL.format(lake=lake.alias)).fetchall()
        ]


def drop_from_lake(lake: Lake) -> None:
    """Drop an evaluation's schema with all of its tables.

    Raises:
        StoreError: If the lake has no such schema.
    """
    with connect_to_lake(lake) as connection:
        found = schemas_of(connection, lake)
        if lake.schema not in found:
            raise StoreError(f"{lake}: there is no such evaluation. There are: {', '.join(found)}.")
        connection.execute(f"DROP SCHEMA {lake.full_name} CASCADE")


def keep_lake(lake: Lake, *, days: float) -> tuple[int, int]:
    """Merge small files, forget earlier states of the tables, and delete files of forgotten ones.

    Whoever reads an earlier state has as long again until its files are deleted.
    Files that no catalog knows, such as those of a writer that was killed, are left alone: nobody
    can tell them from files that somebody put there.

    Returns:
        How many snapshots were forgotten, and how many files were deleted.
    """
    until = quoted((datetime.now(tz=UTC) - timedelta(days=days)).isoformat())
    before = f"older_than => {until}::TIMESTAMPTZ"
    with connect_to_lake(lake) as connection:

        def call(function: str, *arguments: str) -> int:
            given = ", ".join([quoted(lake.alias), *arguments])
            return len(connection.execute(f"CALL ducklake_{function}({given})").fetchall())

        call("flush_inlined_data")
        n_snapshots = call("expire_snapshots", before)
        call("merge_adjacent_files")
        call("rewrite_data_files")
        return n_snapshots, call("cleanup_old_files", before)


def _folder_of(connection: duckdb.DuckDBPyConnection, part: Lake) -> str:
    """Return the folder that owns an evaluation; empty if none does."""
    found = connection.execute(f"SELECT path FROM {part.full_name}.evaluation_folder").fetchall()  # noqa: S608 - names of ours
    return str(found[0][0]) if found else ""


_FILES_SQL = """
    SELECT schema_name, coalesce(sum(file_count), 0)::BIGINT,
           coalesce(sum(file_size_bytes), 0)::BIGINT
    FROM __ducklake_metadata_{lake}.ducklake_schema
    LEFT JOIN ducklake_table_info('{lake}') USING (schema_id)
    WHERE end_snapshot IS NULL AND schema_name <> 'main'
    GROUP BY schema_name ORDER BY schema_name
"""
