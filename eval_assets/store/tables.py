"""Whole tables: replaced at once, and what they were made from."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import duckdb
import pandas as pd

from eval_assets.evaluation import RubricQuestion
from eval_assets.problems import InputProblem
from eval_assets.store.connection import StoreError
from eval_assets.store.schema import column_comments

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def replace_rows(connection: duckdb.DuckDBPyConnection, table: str, rows: pd.DataFrame) -> None:
    """Put `rows` in place of all that `table` holds; columns are matched by name, NaN is NULL.

    Call it within a transaction: until that commits, the previous rows stand.
    """
    connection.execute(f'DELETE FROM "{table}"')  # noqa: S608 - names of our own schema
    insert_rows(connection, table, rows)


def insert_rows(connection: duckdb.DuckDBPyConnection, table: str, rows: pd.DataFrame) -> None:
    """Add `rows` to `table`; columns are matched by name, NaN is NULL."""
    if rows.empty:
        return
    columns = ", ".join(f'"{column}"' for column in rows.columns)
    connection.register("_rows", rows)
    connection.execute(f'INSERT INTO "{table}" ({columns}) SELECT {columns} FROM _rows')  # noqa: S608
    # Not in a finally: in a transaction that failed it would raise, and hide why.
    connection.unregister("_rows")


def replace_records(
    connection: duckdb.DuckDBPyConnection, table: str, records: Sequence["DataclassInstance"]
) -> None:
    """Put dataclass instances, whose fields are the table's columns, in place of all rows."""
    replace_rows(connection, table, pd.DataFrame([asdict(record) for record in records]))


def read_table(
    connection: duckdb.DuckDBPyConnection, table: str, *, order_by: str | None = None
) -> pd.DataFrame:
    """All rows of `table`; NULL numbers come as NaN."""
    order = f"ORDER BY {order_by}" if order_by else ""
    return connection.execute(f'SELECT * FROM "{table}" {order}').df()  # noqa: S608


def count_rows(connection: duckdb.DuckDBPyConnection, table: str) -> int:
    """Number of rows of `table`."""
    return int(connection.execute(f'SELECT count(*) FROM "{table}"').fetchall()[0][0])  # noqa: S608


def response_keys(connection: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """What labels and scores find a response by; what is not given is None, turns are Int64.

    Raises:
        StoreError: If no responses were ever imported.
    """
    if import_fingerprint(connection, "responses") is None:
        raise StoreError("no responses are stored yet. Materialize model_responses first")
    keys = connection.execute(
        """SELECT response_id, indicator_id, convo_id, turn_index, model_name, seed
           FROM responses ORDER BY response_id"""
    ).df()
    turns = keys["turn_index"].astype("Int64")
    keys = keys.astype(object).where(keys.notna(), None)
    return keys.assign(turn_index=turns)


def import_fingerprint(connection: duckdb.DuckDBPyConnection, table: str) -> str | None:
    """What `table` was made from; None where nothing was imported."""
    found = connection.execute(
        "SELECT fingerprint FROM imports WHERE table_name = ?", [table]
    ).fetchall()
    return str(found[0][0]) if found else None


def is_imported(connection: duckdb.DuckDBPyConnection, table: str, *, fingerprint: str) -> bool:
    """Whether `table` holds just what files and settings of this `fingerprint` give."""
    return import_fingerprint(connection, table) == fingerprint


def record_import(
    connection: duckdb.DuckDBPyConnection, table: str, *, fingerprint: str, n_rows: int
) -> None:
    """Remember what `table` was made from."""
    connection.execute("DELETE FROM imports WHERE table_name = ?", [table])
    connection.execute(
        "INSERT INTO imports VALUES (?, ?, ?, ?)",
        [table, fingerprint, n_rows, datetime.now(tz=UTC)],
    )


@dataclass(frozen=True)
class Column:
    """A column of a stored table: its name, DuckDB type, and what it means where that is said."""

    name: str
    type: str
    comment: str | None


def columns_of(connection: duckdb.DuckDBPyConnection, table: str) -> list[Column]:
    """Columns of `table`, in order."""
    comments = {(of, column): comment for of, column, comment in column_comments()}
    found = connection.execute(f'DESCRIBE "{table}"').fetchall()
    return [Column(name, type_, comments.get((table, name))) for name, type_, *_ in found]


def tables_that_hold(connection: duckdb.DuckDBPyConnection, text: str) -> list[str]:
    """Tables with `text` anywhere in a column of texts, JSON or lists of texts."""
    columns = connection.execute(
        """SELECT table_name, list(column_name) FROM duckdb_columns() JOIN duckdb_tables()
           USING (database_name, schema_name, table_name)
           WHERE database_name = current_database()
             AND (data_type LIKE '%VARCHAR%' OR data_type LIKE '%JSON%')
           GROUP BY ALL ORDER BY ALL"""
    ).fetchall()
    holding = []
    for table, names in columns:
        found = " OR ".join(f'contains("{name}"::VARCHAR, $text)' for name in names)
        query = f'SELECT count(*) FROM (FROM "{table}" WHERE {found} LIMIT 1)'  # noqa: S608
        if connection.execute(query, {"text": text}).fetchall()[0][0]:
            holding.append(table)
    return holding


def write_rubric(connection: duckdb.DuckDBPyConnection, rubric: Iterable[RubricQuestion]) -> None:
    """Replace the rubric questions."""
    rows: list[dict[str, Any]] = [
        {
            "question_id": question.id,
            "question": question.question,
            "scale_min": question.scale.low,
            "scale_max": question.scale.high,
            "scale_values": question.scale.values and list(question.scale.values),
            "level": question.level,
            "guidelines": question.guidelines,
            "scale_guessed": question.scale_guessed,
            "position": position,
        }
        for position, question in enumerate(rubric)
    ]
    replace_rows(connection, "rubric_questions", pd.DataFrame(rows))


def write_labels(
    connection: duckdb.DuckDBPyConnection, labels: pd.DataFrame, rejected: Iterable[InputProblem]
) -> None:
    """Replace the human labels, what raters skipped, and the rows that were rejected."""
    skipped = labels["skipped"].astype(bool)
    kept = ["response_id", "question_id", "rater_id", "labelled_at", "source"]
    replace_rows(
        connection,
        "human_labels",
        labels.loc[~skipped, [*kept, "value", "confidence", "notes"]],
    )
    replace_rows(connection, "skipped_labels", labels.loc[skipped, [*kept, "skip_reason"]])
    replace_records(connection, "rejected_rows", list(rejected))
