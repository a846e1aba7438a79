"""Responses that show the values of a question, and those on which raters disagree."""

from collections.abc import Sequence
from typing import Any

import duckdb

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
    """Return a response for each value: a settled one, else one that all raters gave the value.

    Rows have value, response_id, response_text and source.
    """
    return _rows(connection.execute(_ANCHORS_SQL, {"question": question_id}))


def rated_rows(
    connection: duckdb.DuckDBPyConnection, question_id: str, response_ids: Sequence[str]
) -> list[dict[str, Any]]:
    """Return responses in the given order, with their ratings by rater, also after a discussion."""
    return _rows(
        connection.execute(
            """
            SELECT response_id, response_text, ratings, second_ratings
            FROM (
                SELECT response_id, map(list(rater_id ORDER BY rater_id),
                                        list(value ORDER BY rater_id)) AS ratings
                FROM human_labels
                WHERE question_id = $question AND list_contains($ids, response_id)
                GROUP BY response_id
            ) JOIN responses USING (response_id) LEFT JOIN (
                SELECT response_id, map(list(rater_id ORDER BY rater_id),
                                        list(value ORDER BY rater_id)) AS second_ratings
                FROM (
                    SELECT response_id, rater_id, arg_max("after", round) AS value
                    FROM label_history
                    WHERE question_id = $question AND kind = 'discussion' AND "after" IS NOT NULL
                    GROUP BY ALL
                )
                GROUP BY response_id
            ) USING (response_id)
            ORDER BY list_position($ids, response_id)
            """,
            {"question": question_id, "ids": list(response_ids)},
        )
    )


def _rows(result: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    names = [name for name, *_ in result.description or ()]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]
