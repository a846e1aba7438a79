"""Ratings of humans by round of labelling."""

import duckdb

from eval_assets.agreement.ratings import LongRatings
from eval_assets.config.evaluation import Evaluation
from eval_assets.store._long_ratings import group_codes, ratings_from

_OF_ROUND_SQL = """
    SELECT response_id, question_id, rater_id, value FROM human_labels WHERE round = {round:d}
    UNION ALL
    SELECT response_id, question_id, rater_id, value FROM earlier_labels
    WHERE round = {round:d} AND value IS NOT NULL
"""


def ratings_by_round(
    connection: duckdb.DuckDBPyConnection, evaluation: Evaluation
) -> dict[str, dict[int, LongRatings]]:
    """Return the ratings of each round, by question: of those rated in several rounds."""
    rows = connection.execute(
        """SELECT question_id, list(DISTINCT round ORDER BY round)
           FROM (SELECT question_id, round FROM human_labels UNION
                 SELECT question_id, round FROM earlier_labels WHERE value IS NOT NULL)
           GROUP BY question_id HAVING count(*) > 1"""
    ).fetchall()
    if not rows:
        return {}
    group = group_codes(connection)
    asked = {question.id for question in evaluation.rubric}
    return {
        question_id: {
            number: ratings_from(
                connection, _OF_ROUND_SQL.format(round=number), [question_id], group=group
            )[question_id]
            for number in rounds
        }
        for question_id, rounds in rows
        if question_id in asked
    }
