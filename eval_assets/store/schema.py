"""Tables of schema.sql with the comments on their columns; whole tables written and read."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal

from eval_assets.figures import RECORDS, fields_of
from eval_assets.store.figures import figure_views

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    import pandas as pd
    from _typeshed import DataclassInstance
    from duckdb import DuckDBPyConnection as Connection


_LARGEST_INTEGER = 2**31 - 1


def replace_rows(connection: Connection, table: str, rows: pd.DataFrame) -> None:
    """Replace all rows of `table`; columns are matched by name, NaN is NULL.

    Call it within a transaction: until that commits, the previous rows stand.
    """
    empty_table(connection, table)
    insert_rows(connection, table, rows)


def define_ground_truth(connection: Connection) -> None:
    """Let `ground_truth` show ids of documents as whole numbers where all are."""
    [(is_whole, largest)] = connection.execute(
        """SELECT bool_and(coalesce(TRY_CAST(doc AS BIGINT)::VARCHAR = doc, false)),
                  max(abs(TRY_CAST(doc AS BIGINT)))
           FROM (SELECT unnest(docs) AS doc FROM ground_truth_texts)"""
    ).fetchall()
    kind = "VARCHAR"
    if is_whole:
        kind = "INTEGER" if largest <= _LARGEST_INTEGER else "BIGINT"
    columns = ", ".join(f"{name}::{kind}[] AS {name}" for name in ("expected_docs", "docs"))
    shown = f"SELECT * REPLACE ({columns}) FROM ground_truth_texts"  # noqa: S608 - our own names
    connection.execute(f"CREATE OR REPLACE VIEW ground_truth AS {shown}")


def empty_table(connection: Connection, table: str) -> None:
    """Delete all rows of `table`."""
    connection.execute(f'DELETE FROM "{table}"')  # noqa: S608 - names of our own schema


def insert_rows(
    connection: Connection,
    table: str,
    rows: pd.DataFrame,
    *,
    columns: Mapping[str, str] | None = None,
) -> None:
    """Add `rows` to `table`; columns are matched by name, NaN is NULL.

    `columns` holds SQL for each column that is filled; None stands for the columns of `rows`.
    """
    if rows.empty:
        return
    columns = {str(name): f'"{name}"' for name in rows} if columns is None else columns
    names = ", ".join(f'"{name}"' for name in columns)
    # DuckDB finds `rows` by its name here. If it were registered, the transaction would keep it.
    selected = f"SELECT {', '.join(columns.values())} FROM rows"  # noqa: S608 - ours
    connection.execute(f'INSERT INTO "{table}" ({names}) {selected}')


def replace_records(
    connection: Connection, table: str, records: Sequence[DataclassInstance]
) -> None:
    """Replace all rows of `table` by dataclass instances whose fields are its columns."""
    import pandas as pd

    replace_rows(connection, table, pd.DataFrame([asdict(record) for record in records]))


def read_table(connection: Connection, table: str, *, order_by: str | None = None) -> pd.DataFrame:
    """Return all rows of `table`; NULL numbers come as NaN."""
    return _all_of(connection, table, order_by).df()


def read_rows(
    connection: Connection, table: str, *, order_by: str | None = None
) -> list[dict[str, Any]]:
    """Return all rows of `table` by column; NULL is None."""
    return rows_of(_all_of(connection, table, order_by))


def _all_of(connection: Connection, table: str, order_by: str | None) -> Connection:
    order = f"ORDER BY {order_by}" if order_by else ""
    return connection.execute(f'SELECT * FROM "{table}" {order}')  # noqa: S608 - our own names


def rows_of(result: Connection) -> list[dict[str, Any]]:
    """Return the rows of a query that was executed, by column; NULL is None."""
    names = [name for name, *_ in result.description or ()]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def count_rows(connection: Connection, table: str) -> int:
    """Return the number of rows of `table`."""
    return int(connection.execute(f'SELECT count(*) FROM "{table}"').fetchall()[0][0])  # noqa: S608


def content_fingerprint(connection: Connection, table: str, columns: Iterable[str]) -> str:
    """Return the number of rows of `table`, a hyphen and a fingerprint of columns, in any order.

    Another version of DuckDB may return another one.
    """
    names = ", ".join(f'"{name}"' for name in columns)
    query = f'SELECT count(*), sum(hash({names})::HUGEINT) FROM "{table}"'  # noqa: S608
    [(n_rows, total)] = connection.execute(query).fetchall()
    return f"{n_rows}-{total or 0:x}"


ExportFormat = Literal["csv", "jsonl", "parquet"]

_COPY_OPTIONS: dict[ExportFormat, str] = {
    "csv": "FORMAT csv, HEADER",
    "jsonl": "FORMAT json",
    "parquet": "FORMAT parquet",
}

_UNLIKE_FORMULA = r"""if(
    regexp_matches("{column}", '^\x27*[=+\-@\t\r]')
    AND NOT regexp_full_match("{column}", '[+-]?[0-9]+(\.[0-9]+)?'),
    concat(chr(39), "{column}"), "{column}"
)"""
"""The text of a column as annotation sheets write it; see `neutralised`."""


def copy_rows(connection: Connection, table: str, path: Path, *, form: ExportFormat) -> None:
    """Write all rows of a table to a file, also if it is temporary.

    In CSV, texts that a spreadsheet program would take for a formula begin with an apostrophe.
    """
    rows = f'FROM "{table}"'
    texts = [of.name for of in columns_of(connection, table) if of.type == "VARCHAR"]
    if form == "csv" and texts:
        escaped = (f'{_UNLIKE_FORMULA.format(column=name)} AS "{name}"' for name in texts)
        rows = f'SELECT * REPLACE ({", ".join(escaped)}) FROM "{table}"'  # noqa: S608 - names of the schema
    connection.execute(f"COPY ({rows}) TO $path ({_COPY_OPTIONS[form]})", {"path": str(path)})


@dataclass(frozen=True)
class TableColumn:
    """A column of a stored table: its name, DuckDB type, and its meaning if schema.sql gives it."""

    name: str
    type: str
    comment: str | None


def columns_of(connection: Connection, table: str) -> list[TableColumn]:
    """Return the columns of `table`, in order."""
    comments = _column_comments()
    rows = connection.execute(f'DESCRIBE "{table}"').fetchall()
    return [TableColumn(name, type_, comments.get((table, name))) for name, type_, *_ in rows]


_FIGURE_VIEWS = "-- {views on figures}"


@cache
def schema() -> str:
    """Return the text of schema.sql with the views on `figures`."""
    text = resources.files("eval_assets.store").joinpath("schema.sql").read_text("utf-8")
    return text.replace(_FIGURE_VIEWS, figure_views())


@cache
def _column_comments() -> dict[tuple[str, str], str]:
    comments = {
        (of.table, field.name): field.meaning
        for of in RECORDS
        for field in fields_of(of)
        if field.meaning
    }
    table = ""
    for line in schema().splitlines():
        if created := re.match(r"CREATE TABLE IF NOT EXISTS (\w+)", line):
            table = created[1]
        elif described := re.match(r"\s+\"?(\w+)\"? [^-]*-- (.+)", line):
            comments[table, described[1]] = described[2]
    return comments


@cache
def table_names() -> tuple[str, ...]:
    """Return the names of all tables and views that schema.sql declares, sorted."""
    declared = r"CREATE (?:TABLE IF NOT EXISTS|OR REPLACE VIEW) (\w+)"
    return tuple(sorted(re.findall(declared, schema())))
