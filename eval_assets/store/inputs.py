"""Stored rubric, responses and labels, with the fingerprints of their files."""

from __future__ import annotations

from datetime import UTC, datetime
from shlex import quote
from typing import TYPE_CHECKING, Any

import duckdb
from duckdb import DuckDBPyConnection as Connection

from eval_assets.errors import StoreError
from eval_assets.frame_columns import REJECTED_COLUMNS, RESPONSE_COLUMNS
from eval_assets.store.schema import (
    columns_of,
    count_rows,
    empty_table,
    insert_rows,
    replace_rows,
    rows_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    import pandas as pd

    from eval_assets.config.operations import Currency
    from eval_assets.config.rubric import RubricQuestion


def write_rubric(connection: Connection, rubric: Iterable[RubricQuestion]) -> None:
    """Replace the rubric questions, and their limits to some responses."""
    import pandas as pd

    rubric = list(rubric)
    limits = [
        (question.id, column, value)
        for question in rubric
        for column, values in question.applies_to.items()
        for value in values
    ]
    columns = ["question_id", "column_name", "value"]
    replace_rows(connection, "question_limits", pd.DataFrame(limits, columns=columns, dtype=str))
    rows: list[dict[str, Any]] = [
        {
            "question_id": question.id,
            "question": question.question,
            "scale_min": question.scale.low,
            "scale_max": question.scale.high,
            "scale_values": question.scale.values and list(question.scale.values),
            "level": question.level,
            "guidelines": question.guidelines,
            "scored_by": question.scored_by,
            "position": position,
        }
        for position, question in enumerate(rubric)
    ]
    replace_rows(connection, "rubric_questions", pd.DataFrame(rows))


def are_stored_questions(connection: Connection, declared: Iterable[RubricQuestion]) -> bool:
    """Return whether the stored questions have the wording that is declared."""
    rows = connection.execute("SELECT question_id, question, guidelines FROM rubric_questions")
    return set(rows.fetchall()) == {(q.id, q.question, q.guidelines) for q in declared}


def are_stored_scales(connection: Connection, declared: Iterable[RubricQuestion]) -> bool:
    """Return whether the stored questions are those declared, on their scales."""
    rows = connection.execute(
        "SELECT question_id, scale_min, scale_max, scale_values FROM rubric_questions"
    )
    scales = {(*scale, values and tuple(values)) for *scale, values in rows.fetchall()}
    return scales == {(q.id, q.scale.low, q.scale.high, q.scale.values) for q in declared}


def write_currency(connection: Connection, currency: Currency) -> None:
    """Replace the currency of costs."""
    import pandas as pd

    rows = pd.DataFrame([{"code": currency.code, "per_usd": currency.per_usd}])
    replace_rows(connection, "currency", rows)


def write_labels(
    connection: Connection,
    labels: pd.DataFrame,
    *,
    earlier: pd.DataFrame | None = None,
    rejected: pd.DataFrame | None = None,
    unrated: pd.DataFrame | None = None,
) -> None:
    """Replace the human labels, units that raters skipped or left blank, and rejected rows."""
    import pandas as pd

    earlier = labels.head(0) if earlier is None else earlier
    rejected = pd.DataFrame(columns=list(REJECTED_COLUMNS)) if rejected is None else rejected
    is_skipped = labels["skipped"].astype(bool)
    for table, rows in (
        ("human_labels", labels[~is_skipped]),
        ("skipped_labels", labels[is_skipped]),
        ("earlier_labels", earlier),
    ):
        empty_table(connection, table)
        names = {column.name for column in columns_of(connection, table)}
        values = {name: name for name in rows if name in names and rows[name].notna().any()}
        columns = {**values, "source": "concat(file, ':', line)"}
        in_sheets = rows["line"].dtype == object
        as_stored = rows.assign(line=rows["line"].map(str)) if in_sheets else rows
        insert_rows(connection, table, as_stored, columns=columns)
    replace_rows(connection, "rejected_rows", rejected)
    unrated = labels.head(0) if unrated is None else unrated
    replace_rows(connection, "unrated_labels", unrated[["response_id", "question_id", "rater_id"]])


def n_changed_labels(connection: Connection, labels: pd.DataFrame) -> int:
    """Return the number of stored labels whose value will change."""
    if labels.empty or not count_rows(connection, "human_labels"):
        return 0
    row = connection.execute(
        """SELECT count(*) FROM labels JOIN human_labels AS stored
           USING (response_id, question_id, rater_id, round)
           WHERE labels.value <> stored.value AND NOT isnan(labels.value)"""
    ).fetchone()
    return row[0] if row else 0


def labels_by_version(
    connection: Connection,
) -> dict[str, dict[str, list[tuple[str, str, int]]]]:
    """Return stored labels by question and fingerprint of its wording: response, rater, round."""
    rows = connection.execute(
        """
        WITH label AS (
            SELECT question_id, rubric_version AS version, response_id, rater_id, round
            FROM human_labels UNION ALL
            SELECT question_id, rubric_version, response_id, rater_id, round FROM skipped_labels
            UNION ALL
            SELECT question_id, rubric_version, response_id, rater_id, round FROM earlier_labels
        )
        SELECT question_id, fingerprint,
               list((response_id, rater_id, round) ORDER BY response_id, rater_id, round)
        FROM label JOIN (SELECT DISTINCT question_id, version, fingerprint FROM rubric_wordings)
            USING (question_id, version)
        GROUP BY ALL
        """
    ).fetchall()
    labels: dict[str, dict[str, list[tuple[str, str, int]]]] = {}
    for question_id, fingerprint, keys in rows:
        labels.setdefault(question_id, {})[fingerprint] = keys
    return labels


def read_generated_responses(connection: Connection) -> pd.DataFrame:
    """Return generated responses in `RESPONSE_COLUMNS`, without failed ones."""
    rows = connection.execute(
        """
        SELECT response_id, prompt_text, response_text, generator_id AS model_name,
               NULL AS group_id, indicator_id, convo_id, turn_index, seed, difficulty,
               'assistant' AS role, NULL AS timestamp, attributes
        FROM generated_responses WHERE status = 'ok' ORDER BY rowid
        """
    ).df()
    return as_read(rows)[list(RESPONSE_COLUMNS)]


def as_read(responses: pd.DataFrame) -> pd.DataFrame:
    """Return rows of responses as they are read from files: NULL is None, turns are Int64."""
    turns = responses["turn_index"].astype("Int64")
    return responses.astype(object).where(responses.notna(), None).assign(turn_index=turns)


def labels_by_file(connection: Connection) -> dict[str, int]:
    """Return the number of stored labels of each label file."""
    rows = connection.execute(
        r"""SELECT regexp_replace(source, ':([^:]+!)?\d+$', '') AS file, count(*) FROM human_labels
            WHERE source IS NOT NULL GROUP BY ALL ORDER BY ALL"""
    ).fetchall()
    return {str(file): int(n) for file, n in rows}


def rejected_labels(connection: Connection) -> pd.DataFrame:
    """Return the numbers of rejected labels, most first: rater_id, question_id, n."""
    return connection.execute(
        """SELECT rater_id, question_id, count(DISTINCT (file, sheet, line, "column")) AS n
           FROM rejected_rows GROUP BY ALL ORDER BY n DESC, rater_id, question_id"""
    ).df()


def response_keys(connection: Connection, *, further: Sequence[str] = ()) -> pd.DataFrame:
    """Return the columns by which labels and scores name a response; turns are Int64."""
    key_columns = ("response_id", "indicator_id", "convo_id", "turn_index", "model_name", "seed")
    relation = connection.table("responses")
    selected = []
    for column in dict.fromkeys((*key_columns, *further)):
        cells: duckdb.Expression = duckdb.ColumnExpression(column)
        if column not in relation.columns:  # an attribute
            path = duckdb.ConstantExpression(column)
            attributes = duckdb.ColumnExpression("attributes")
            cells = duckdb.FunctionExpression("json_extract_string", attributes, path)
        selected.append(cells.alias(column))
    return as_read(relation.select(*selected).order("response_id").df())


def import_fingerprint(connection: Connection, table: str) -> str | None:
    """Return the fingerprint of the sources of `table`; None if nothing was imported."""
    rows = connection.execute(
        "SELECT fingerprint FROM imports WHERE table_name = ?", [table]
    ).fetchall()
    return str(rows[0][0]) if rows else None


TABLE_OF_ASSET = {"model_responses": "responses"}
"""Tables that are not called like their assets."""


def check_imported(connection: Connection, asset: str, folder: Path) -> None:
    """Raise StoreError if an asset of a file was never materialized.

    Raises:
        StoreError: If there is no record of its table.
    """
    if import_fingerprint(connection, TABLE_OF_ASSET.get(asset, asset)) is None:
        remedy = f"Run eval-assets run --data {quote(str(folder))}, or materialize it in the UI"
        raise StoreError(f"{asset}: not materialized yet. {remedy}")


def is_imported(connection: Connection, table: str, *, fingerprint: str) -> bool:
    """Return whether `table` was made from files and settings of this `fingerprint`."""
    return import_fingerprint(connection, table) == fingerprint


def record_import(connection: Connection, table: str, *, fingerprint: str, sources: str) -> None:
    """Record the fingerprints of the sources of `table`: of all of them, and of the files alone."""
    connection.execute("DELETE FROM imports WHERE table_name = ?", [table])
    connection.execute(
        "INSERT INTO imports VALUES (?, ?, ?, ?)",
        [table, fingerprint, sources, datetime.now(tz=UTC)],
    )


def changed_tables(connection: Connection, sources: Mapping[str, str]) -> tuple[str, ...]:
    """Return the tables whose files have changed."""
    rows = connection.execute("SELECT table_name, sources FROM imports ORDER BY ALL").fetchall()
    return tuple(
        table
        for table, loaded_sources in rows
        if sources.get(table, loaded_sources) != loaded_sources
    )


def response_counts(connection: Connection) -> dict[str, int]:
    """Return what the table of responses holds, by name."""
    query = """SELECT count(DISTINCT model_name) AS n_models,
                      (SELECT count(*) FROM generated_responses) AS n_generated,
                      count(*) FILTER (response_text = '') AS n_empty_responses
               FROM responses"""
    return rows_of(connection.execute(query))[0]


def label_counts(connection: Connection) -> dict[str, int]:
    """Return what the tables of human labels hold, by name."""
    query = """SELECT count(DISTINCT rater_id) AS n_raters,
                      count(DISTINCT response_id) AS n_responses,
                      (SELECT count(*) FROM skipped_labels) AS n_skipped,
                      (SELECT count(*) FROM rejected_rows) AS n_rejected,
                      (SELECT count(*) FROM earlier_labels) AS n_earlier
               FROM human_labels"""
    return rows_of(connection.execute(query))[0]
