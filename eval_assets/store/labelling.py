"""Tables of labelling: adjudications, history, quality, and examples for new guidelines."""

from collections.abc import Iterable, Mapping
from typing import Any

import duckdb
import pandas as pd

from eval_assets.frame_columns import RESPONSE_COLUMNS
from eval_assets.store.connection import quoted
from eval_assets.store.schema import release_memory, replace_rows, rows_of

_COLUMNS = ["response_id", "question_id", "value", "source", "excluded", "reason", "decided_by"]
_COLUMNS += ["decided_at", "own_rating", "ratings", "is_override"]


def write_adjudicated_labels(
    connection: duckdb.DuckDBPyConnection, decisions: Iterable[Mapping[str, Any]]
) -> int:
    """Replace the settled labels; return the number of those whose response is not stored."""
    rows = pd.DataFrame(list(decisions), columns=_COLUMNS)
    typed = {"value": float, "own_rating": float, "excluded": bool, "is_override": bool}
    replace_rows(connection, "adjudicated_labels", rows.astype(typed))
    [(n_unknown,)] = connection.execute(
        """DELETE FROM adjudicated_labels
           WHERE response_id NOT IN (SELECT response_id FROM responses)"""
    ).fetchall()
    return int(n_unknown)


def write_label_history(connection: duckdb.DuckDBPyConnection, answers: pd.DataFrame) -> None:
    """Replace the history: answers in sessions that do not count, and ratings of earlier rounds."""
    replace_rows(connection, "label_history", answers)
    connection.execute("""
        INSERT INTO label_history BY NAME
        WITH rated AS (
            SELECT response_id, question_id, rater_id, round, value, labelled_at FROM earlier_labels
            UNION ALL
            SELECT response_id, question_id, rater_id, round, value, labelled_at
            FROM human_labels SEMI JOIN earlier_labels USING (response_id, question_id, rater_id)
        ), following AS (
            SELECT *, lag(value) OVER again AS before, row_number() OVER again AS n
            FROM rated WINDOW again AS (
                PARTITION BY response_id, question_id, rater_id ORDER BY round
            )
        )
        SELECT response_id, question_id, rater_id, round, 'round' AS kind, before, value AS after,
               labelled_at AS changed_at
        FROM following WHERE n > 1
    """)


def stored_labels(connection: duckdb.DuckDBPyConnection, question_id: str) -> pd.DataFrame:
    """Return ratings and skips of one question in the latest rounds, with raters' confidence.

    Returns:
        Columns response_id, rater_id, confidence (all three categorical), value (NaN if skipped),
        skipped, labelled_at; sorted by response and rater.
    """
    unit = "SELECT response_id, row_number() OVER (ORDER BY response_id) - 1 AS i FROM responses"
    rows = connection.execute(
        f"""
        WITH unit AS ({unit}), given AS (
            SELECT response_id, question_id, rater_id, value, false AS skipped, confidence,
                   labelled_at
            FROM human_labels
            UNION ALL BY NAME
            SELECT response_id, question_id, rater_id, NULL::DOUBLE AS value, true AS skipped,
                   NULL::VARCHAR AS confidence, labelled_at
            FROM skipped_labels
        )
        SELECT i AS response_id, value, skipped, labelled_at,
               {_as_categories(connection, "rater_id")},
               {_as_categories(connection, "confidence")}
        FROM given JOIN unit USING (response_id)
        WHERE question_id = ? ORDER BY i, rater_id
        """,  # noqa: S608 - constants of ours, and quoted values
        [question_id],
    ).df()
    ids = connection.execute("SELECT response_id FROM responses ORDER BY ALL").df()["response_id"]
    release_memory(connection)
    return rows.assign(
        response_id=pd.Categorical.from_codes(rows["response_id"].to_numpy(), pd.Index(ids)),
        labelled_at=rows["labelled_at"].where(rows["labelled_at"].notna(), None),
    )


def _as_categories(connection: duckdb.DuckDBPyConnection, column: str) -> str:
    """Return SQL for a column of few different texts, which are then stored once in memory."""
    rows = connection.execute(
        f"""SELECT {column} FROM human_labels WHERE {column} IS NOT NULL
            UNION SELECT {column} FROM skipped_labels WHERE {column} IS NOT NULL ORDER BY ALL"""  # noqa: S608 - constants of ours
    ).fetchall()
    values = ", ".join(quoted(value) for (value,) in rows)
    return f"{column}::ENUM({values}) AS {column}" if values else f"NULL AS {column}"


def stored_responses(connection: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """Return all responses in `RESPONSE_COLUMNS`, given and generated."""
    rows = connection.execute("SELECT * FROM responses ORDER BY rowid").df()
    turns = rows["turn_index"].astype("Int64")
    plain = rows.astype(object).where(rows.notna(), None)
    return plain.assign(turn_index=turns)[list(RESPONSE_COLUMNS)]


_ANCHORS_SQL = """
WITH settled AS (
    SELECT response_id, value,
           concat('settled by ', decided_by, if(reason = '', '', ': ' || reason)) AS source,
           0 AS place, 0 AS n
    FROM adjudicated_labels WHERE question_id = $question AND NOT excluded
), equal AS (
    SELECT response_id, min(value) AS value,
           concat('all ', count(*), ' raters gave ', printf('%g', min(value))) AS source,
           1 AS place, count(*) AS n
    FROM human_labels WHERE question_id = $question
    GROUP BY response_id HAVING count(*) > 1 AND min(value) = max(value)
)
SELECT value, response_id, response_text, source
FROM (FROM settled UNION ALL FROM equal) JOIN responses USING (response_id)
WHERE response_text <> ''
QUALIFY row_number() OVER (
    PARTITION BY value ORDER BY place, n DESC, abs(length(response_text) - 200), response_id
) = 1
ORDER BY value
"""


def anchor_rows(connection: duckdb.DuckDBPyConnection, question_id: str) -> list[dict[str, Any]]:
    """Return an example response for each value: a settled one, or else a unanimous one.

    Rows have value, response_id, response_text and source.
    """
    return rows_of(connection.execute(_ANCHORS_SQL, {"question": question_id}))
