"""The table `figures` and its views: each record of `eval_assets.figures` is a row of a view."""

from __future__ import annotations

import hashlib
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar

from eval_assets.catalogue import Figure
from eval_assets.figures import RECORDS, FigureRecord, fields_of
from eval_assets.wording import or_nan

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import pandas as pd
    from duckdb import DuckDBPyConnection as Connection

Record = TypeVar("Record", bound=FigureRecord)

_N = ("n_responses", "n_units", "n", "n_prompts")
"""Fields that the column `n` of the table holds: the first of these in a record."""

_SHARED = {"n_groups": "n_groups", "interval_method": "method", "data_version": "data_version"}
"""Fields with a separate column in the table, by name; all others are in `key`."""

_SQL_TYPES = {int: "BIGINT", float: "DOUBLE", bool: "BOOLEAN"}


def view_sql(record: type[FigureRecord], *, condition: str = "") -> str:
    """Return the query that a view makes of `figures`: a column per field, a row per record."""
    n_field = _n_field(record)
    columns = []
    for field in fields_of(record):
        if field.statistic:
            for source, column in zip(("value", "low", "high"), field.columns, strict=False):
                columns.append(
                    f"any_value({source}) FILTER (statistic = '{field.name}') AS \"{column}\""
                )
        elif field.name == n_field:
            columns.append(f'any_value(n) AS "{field.name}"')
        elif field.name in _SHARED:
            columns.append(f'any_value({_SHARED[field.name]}) AS "{field.name}"')
        elif field.name == record.subject:  # by which DuckDB skips rows that a query leaves out
            columns.append(f'subject AS "{field.name}"')
        else:
            text = f"key ->> '{field.name}'"
            kind = _SQL_TYPES.get(field.type)
            columns.append(
                f'({text})::{kind} AS "{field.name}"' if kind else f'{text} AS "{field.name}"'
            )
    rows = f"figures WHERE table_name = '{record.table}'{condition}"
    grouped = 'GROUP BY "row", subject, key ORDER BY "row"'
    return f"SELECT {', '.join(columns)} FROM {rows} {grouped}"  # noqa: S608 - our own names


def figure_views() -> str:
    """Return the statements that create the views on `figures`."""
    return "\n".join(
        f"CREATE OR REPLACE VIEW {record.table} AS {view_sql(record)};" for record in RECORDS
    )


def _n_field(record: type[FigureRecord]) -> str:
    names = {field.name for field in fields_of(record)}
    return next(name for name in _N if name in names)


def replace_figures(connection: Connection, record: type[Record], rows: Sequence[Record]) -> None:
    """Replace all figures of a record type. Call it within a transaction."""
    import pandas as pd

    columns = [column for field in fields_of(record) for column in field.columns]
    flat = [list(row.columns().values()) for row in rows]
    frame = pd.DataFrame(flat, columns=columns, dtype=object)
    replace_figure_frame(connection, record, frame)
    connection.execute("DELETE FROM figure_fingerprints WHERE table_name = ?", [record.table])
    fingerprint = _fingerprint(connection, record)
    connection.execute("INSERT INTO figure_fingerprints VALUES (?, ?)", [record.table, fingerprint])


def is_as_measured(connection: Connection, record: type[FigureRecord]) -> bool:
    """Return whether the figures of a record type are those that were stored when measured.

    It notices edits of the database, and does not withstand an edit of the fingerprint too.
    """
    # with parameters DuckDB would import pandas
    fingerprints = connection.execute(
        f"SELECT fingerprint FROM figure_fingerprints WHERE table_name = '{record.table}'"  # noqa: S608 - names of our own records
    ).fetchall()
    return fingerprints == [(_fingerprint(connection, record),)]


def _fingerprint(connection: Connection, record: type[FigureRecord]) -> str:
    rows = connection.execute(
        f"""SELECT * FROM figures
            WHERE table_name = '{record.table}' AND subject IN ('overall', 'question')
            ORDER BY "row", statistic"""  # noqa: S608 - names of our own records
    ).fetchall()
    return hashlib.sha256(repr(rows).encode()).hexdigest()


def replace_figure_frame(
    connection: Connection, record: type[FigureRecord], rows: pd.DataFrame
) -> None:
    """Replace all figures of a record type by the rows of a frame with the columns of its view."""
    connection.execute("DELETE FROM figures WHERE table_name = ?", [record.table])
    append_figure_frame(connection, record, rows)


def append_figure_frame(
    connection: Connection, record: type[FigureRecord], rows: pd.DataFrame
) -> None:
    """Add the rows of a frame with columns of the view of a record type."""
    if not rows.empty:
        _insert(connection, record, "rows", set(rows.columns), rows=rows)


def replace_figures_by_query(
    connection: Connection, record: type[FigureRecord], query: str
) -> None:
    """Replace all figures of a record type by the rows of a query with the columns of its view."""
    connection.execute("DELETE FROM figures WHERE table_name = ?", [record.table])
    columns = {column for field in fields_of(record) for column in field.columns}
    described = {name for name, *_ in connection.execute(f"DESCRIBE {query}").fetchall()}
    _insert(connection, record, f"({query})", columns & described)


def _insert(
    connection: Connection,
    record: type[FigureRecord],
    source: str,
    columns: Collection[str],
    *,
    rows: pd.DataFrame | None = None,  # noqa: ARG001 - DuckDB finds it by its name
) -> None:
    """Insert a row per statistic of the source; other columns that it lacks are NULL."""

    def column(name: str, kind: str = "") -> str:
        return f'"{name}"{kind}' if name in columns else f"NULL{kind}"

    n_field = _n_field(record)
    statistics, key = [], []
    for field in fields_of(record):
        if field.statistic:
            value, low, high = (*field.columns, "", "")[:3]
            if value not in columns:
                continue
            statistics.append(
                f"{{'statistic': '{field.name}', 'value': {column(value, '::DOUBLE')}, "
                f"'low': {column(low, '::DOUBLE')}, 'high': {column(high, '::DOUBLE')}}}"
            )
        elif field.name != n_field and field.name not in _SHARED:
            key.append(f"'{field.name}', {column(field.name)}")
    connection.execute(
        f"""INSERT INTO figures BY NAME
            SELECT '{record.table}' AS table_name, "row", subject, key, f.statistic, f.value,
                   f.low, f.high, n, n_groups, method, data_version
            FROM (
                SELECT (SELECT coalesce(max("row"), 0) FROM figures
                        WHERE table_name = '{record.table}') + row_number() OVER () AS "row",
                       {column(record.subject)} AS subject,
                       json_object({", ".join(key)})::VARCHAR AS key,
                       {column(n_field)} AS n, {column("n_groups")} AS n_groups,
                       {column("interval_method")} AS method,
                       {column("data_version")} AS data_version,
                       unnest([{", ".join(statistics)}]) AS f
                FROM {source}
            )"""  # noqa: S608 - names of our own records
    )


def read_figures(
    connection: Connection,
    record: type[Record],
    *,
    subjects: Collection[str] | None = None,
) -> tuple[Record, ...]:
    """Return the stored records of a type, in the order in which they were written.

    `subjects` are values of its subject; None for all.
    """
    quoted = (subject.replace("'", "''") for subject in subjects or ())
    listed = ", ".join(f"'{subject}'" for subject in quoted) or "NULL"  # IN () is an error
    condition = f" AND subject IN ({listed})" if subjects is not None else ""
    rows = connection.execute(view_sql(record, condition=condition)).fetchall()
    return tuple(_record(record, row) for row in rows)


def _record(record: type[Record], row: Sequence[Any]) -> Record:
    """Return a row of the view as its record; NULL figures are NaN."""
    values: dict[str, Any] = {}
    cells = iter(row)
    for field in fields_of(record):
        if field.type is Figure:
            values[field.name] = Figure(*(or_nan(next(cells)) for _ in field.columns))
        else:
            value = next(cells)
            if field.statistic:
                value = or_nan(value)
            elif (
                value is not None and isinstance(field.type, type) and issubclass(field.type, Enum)
            ):
                value = field.type(value)
            values[field.name] = value
    return record(**values)
