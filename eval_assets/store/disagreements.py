"""Responses on which raters lie far apart."""

import duckdb
import pandas as pd


def write_label_disagreements(connection: duckdb.DuckDBPyConnection) -> None:
    """Replace `label_disagreements` from the stored labels.

    A response is listed where its ratings span the whole scale, or their population standard
    deviation exceeds 3/8 of the scale's width: 1.5 points on a 1-5 scale, so that the rule
    holds on every scale.
    """
    connection.execute("DELETE FROM label_disagreements")
    connection.execute("""
        INSERT INTO label_disagreements
        WITH unit AS (
            SELECT response_id, question_id, count(*) AS n_ratings,
                   max(value) - min(value) AS range,
                   stddev_pop(value) AS standard_deviation,
                   to_json(
                       map(list(rater_id ORDER BY rater_id), list(value ORDER BY rater_id))
                   ) AS ratings
            FROM human_labels GROUP BY ALL HAVING count(*) > 1
        )
        SELECT response_id, question_id, n_ratings, range, standard_deviation, ratings,
               CASE WHEN range < scale_max - scale_min - 1e-9
                   THEN 'standard deviation above 3/8 of the scale''s width'
                   WHEN scale_values = [0, 1] THEN 'pass against fail'
                   ELSE 'from one end of the scale to the other'
               END AS reason
        FROM unit JOIN rubric_questions USING (question_id)
        WHERE range >= scale_max - scale_min - 1e-9
           OR standard_deviation > 0.375 * (scale_max - scale_min)
        ORDER BY standard_deviation / (scale_max - scale_min) DESC, response_id, question_id
    """)


def worst_disagreements(connection: duckdb.DuckDBPyConnection, *, most: int) -> pd.DataFrame:
    """The worst of `label_disagreements` with what was asked and answered."""
    return connection.execute(
        """
        SELECT label_disagreements.*, model_name, prompt_text, response_text
        FROM label_disagreements
        JOIN responses USING (response_id) JOIN rubric_questions USING (question_id)
        ORDER BY standard_deviation / (scale_max - scale_min) DESC, response_id, question_id
        LIMIT ?
        """,
        [most],
    ).df()


def count_disagreements(connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Responses listed in `label_disagreements`, by question."""
    found = connection.execute(
        "SELECT question_id, count(*) FROM label_disagreements GROUP BY question_id"
    ).fetchall()
    return {str(question_id): int(n) for question_id, n in found}
