"""Ratings of humans by round of labelling, and by version of the question."""

from typing import Literal

import duckdb
import numpy as np
from numpy.typing import NDArray

from eval_assets.agreement.ratings import LongRatings
from eval_assets.agreement.rounds import RewordedRatings
from eval_assets.config.evaluation import Evaluation
from eval_assets.store._long_ratings import group_codes, ratings_from

_EVERY_LABEL = """
    SELECT question_id, response_id, rater_id, value, round, rubric_version FROM human_labels
    UNION ALL
    SELECT question_id, response_id, rater_id, value, round, rubric_version FROM earlier_labels
    WHERE value IS NOT NULL
"""


def ratings_by_round(
    connection: duckdb.DuckDBPyConnection, evaluation: Evaluation
) -> dict[str, dict[int, LongRatings]]:
    """Return the ratings of each round, by question: of those rated in several rounds."""
    return _ratings_by(connection, evaluation, "round")


def reworded_ratings(
    connection: duckdb.DuckDBPyConnection, evaluation: Evaluation
) -> RewordedRatings:
    """Return the ratings under each version of the questions that have several."""
    versions = _ratings_by(connection, evaluation, "rubric_version")
    if not versions:
        return RewordedRatings({}, np.empty(0, np.int64))
    texts = _text_numbers(connection)
    return RewordedRatings(versions, texts, _rescaled_versions(connection, evaluation))


def _text_numbers(connection: duckdb.DuckDBPyConnection) -> NDArray[np.int64]:
    """Return a number for each unit index, the same for responses with equal text.

    A response without text, and a conversation, is equal to no other.
    """
    rows = connection.execute(
        """
        SELECT CASE WHEN trim(coalesce(response_text, '')) = '' THEN -row_number() OVER ()
                    ELSE dense_rank() OVER (ORDER BY trim(response_text)) END AS number
        FROM response_groups LEFT JOIN responses USING (response_id) ORDER BY response_id
        """
    ).fetchnumpy()
    return np.asarray(rows["number"], dtype=np.int64)


def _rescaled_versions(
    connection: duckdb.DuckDBPyConnection, evaluation: Evaluation
) -> frozenset[tuple[str, int]]:
    """Return the questions and versions with another scale than the question has now."""
    scales = {question.id: question.scale.described() for question in evaluation.rubric}
    rows = connection.execute("SELECT question_id, version, scale FROM rubric_versions").fetchall()
    return frozenset(
        (question_id, version)
        for question_id, version, scale in rows
        if scales.get(question_id, scale) != scale
    )


def _ratings_by(
    connection: duckdb.DuckDBPyConnection,
    evaluation: Evaluation,
    column: Literal["round", "rubric_version"],
) -> dict[str, dict[int, LongRatings]]:
    """Return the ratings by question and number; of a rater's ratings the latest round's."""
    rows = connection.execute(
        f"""SELECT question_id, list(DISTINCT {column} ORDER BY {column})
            FROM ({_EVERY_LABEL}) WHERE {column} IS NOT NULL
            GROUP BY question_id HAVING count(DISTINCT {column}) > 1"""  # noqa: S608 - ours
    ).fetchall()
    if not rows:
        return {}
    group = group_codes(connection)
    asked = {question.id for question in evaluation.rubric}
    of_number = f"""SELECT question_id, response_id, rater_id, arg_max(value, round) AS value
                    FROM ({_EVERY_LABEL}) WHERE {column} = {{number:d}} GROUP BY ALL"""  # noqa: S608
    return {
        question_id: {
            number: ratings_from(
                connection, of_number.format(number=number), [question_id], group=group
            )[question_id]
            for number in numbers
        }
        for question_id, numbers in rows
        if question_id in asked
    }
