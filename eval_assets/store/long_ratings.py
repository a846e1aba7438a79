"""Ratings of humans or judges as arrays, also by round and by version of the question."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from duckdb import DuckDBPyConnection as Connection
from numpy.typing import NDArray

from eval_assets.agreement.ratings import LongRatings
from eval_assets.agreement.rounds import RewordedRatings
from eval_assets.config.evaluation import Evaluation

_UNSETTLED_SQL = """SELECT human_labels.response_id, human_labels.question_id, rater_id,
                           human_labels.value
                    FROM human_labels ANTI JOIN ({settled}) USING (response_id, question_id)"""
_CONSENSUS_SQL = """SELECT response_id, question_id, 'consensus' AS rater_id, value
                    FROM adjudicated_labels WHERE NOT excluded"""

RatingSource = Literal[
    "human",
    "judge",
    "unmapped_judge",
    "replicate_spread",
    "compared_judge",
    "conversation_judge",
    "reference",
    "human_outside_test",
    "judge_outside_test",
    "reference_outside_test",
    "reference_outside_test_with_excluded",
    "conversation_reference",
]
_OF_RESPONSES_SQL = """SELECT response_id, question_id, judge_id AS rater_id, score AS value
                       FROM judge_scores WHERE status = 'ok'"""
OF_CONVERSATIONS_SQL = """SELECT conversation_id AS response_id, question_id, judge_id AS rater_id,
                                  score AS value
                           FROM conversation_scores"""
_OUTSIDE_TEST = "ANTI JOIN held_out_units USING (response_id, question_id)"
_REFERENCE_SQL = (
    _UNSETTLED_SQL.format(settled="FROM adjudicated_labels") + f" UNION ALL {_CONSENSUS_SQL}"
)

RATINGS_SQL: dict[RatingSource, str] = {
    "human": "SELECT response_id, question_id, rater_id, value FROM human_labels",
    "judge": _OF_RESPONSES_SQL,
    "unmapped_judge": """SELECT response_id, question_id, judge_id AS rater_id, raw_score AS value
                         FROM judge_scores WHERE status = 'ok'""",
    # Of a judge that rates with a tuned prompt, the replicates are not those of the declared one.
    "replicate_spread": """SELECT response_id, question_id, judge_id AS rater_id, spread AS value
                           FROM judge_scores
                           WHERE status = 'ok' AND spread IS NOT NULL AND judge_id NOT IN (
                               SELECT judge_id
                               FROM judges JOIN judge_versions USING (judge_id, version)
                               WHERE step NOT IN ('declared', 'calibration')
                           )""",
    # One judge who scores conversations takes the others there, each with its mean over the turns.
    "compared_judge": f"""
        FROM (
        WITH question AS (SELECT DISTINCT question_id FROM conversation_scores)
        FROM ({_OF_RESPONSES_SQL}) ANTI JOIN question USING (question_id)
        UNION ALL
        SELECT conversation_id, question_id, rater_id, avg(value)
        FROM ({_OF_RESPONSES_SQL})
        JOIN conversations USING (response_id) SEMI JOIN question USING (question_id)
        GROUP BY ALL
        UNION ALL {OF_CONVERSATIONS_SQL}
        )
        ANTI JOIN (SELECT judge_id AS rater_id FROM judges WHERE is_backup) USING (rater_id)
        ANTI JOIN (SELECT question_id FROM rubric_questions WHERE scored_by = 'function')
        USING (question_id)""",  # noqa: S608 - constants of ours
    "conversation_judge": OF_CONVERSATIONS_SQL,
    "reference": _REFERENCE_SQL,
    "conversation_reference": f"""
        SELECT conversation_id AS response_id, question_id, 'people' AS rater_id,
               avg(value) AS value
        FROM ({_REFERENCE_SQL}) JOIN conversations USING (response_id)
        ANTI JOIN held_out_units USING (response_id, question_id)
        GROUP BY ALL""",  # noqa: S608 - constants of ours
    "human_outside_test": "SELECT response_id, question_id, rater_id, value FROM human_labels "  # noqa: S608
    + _OUTSIDE_TEST,
    "judge_outside_test": f"FROM ({_OF_RESPONSES_SQL}) {_OUTSIDE_TEST}",
    "reference_outside_test": f"FROM ({_REFERENCE_SQL}) {_OUTSIDE_TEST}",
    "reference_outside_test_with_excluded": "FROM ("
    + _UNSETTLED_SQL.format(settled="FROM adjudicated_labels WHERE NOT excluded")
    + f" UNION ALL {_CONSENSUS_SQL}) {_OUTSIDE_TEST}",
}


def long_ratings(
    connection: Connection,
    kind: RatingSource,
    question_ids: Iterable[str],
    *,
    group: NDArray[np.integer[Any]],
) -> dict[str, LongRatings]:
    """Return the ratings by all raters of one kind, by question.

    `group` is the response group of each stored response, as `group_codes` returns them.
    """
    return ratings_from(connection, RATINGS_SQL[kind], question_ids, group=group)


def ratings_from(
    connection: Connection,
    source: str,
    question_ids: Iterable[str],
    *,
    group: NDArray[np.integer[Any]],
) -> dict[str, LongRatings]:
    """Return the ratings that a query gives: response_id, question_id, rater_id, value."""
    names = list(question_ids)
    raters = connection.execute(
        f"SELECT DISTINCT rater_id FROM ({source}) ORDER BY rater_id"  # noqa: S608
    ).fetchall()
    rater_ids = tuple(str(rater) for (rater,) in raters)
    rows = connection.execute(
        f"""
        WITH unit AS (
            SELECT response_id, (row_number() OVER (ORDER BY response_id) - 1)::INTEGER AS unit
            FROM responses
        )
        SELECT (list_position($questions, question_id) - 1)::INTEGER AS question, unit,
               (list_position($raters, rater_id) - 1)::INTEGER AS rater, value
        FROM ({source}) JOIN unit USING (response_id)
        WHERE question IS NOT NULL ORDER BY question, unit, rater
        """,  # noqa: S608 - constants of ours
        {"questions": names, "raters": list(rater_ids)},
    ).fetchnumpy()
    columns = (np.asarray(rows[name]) for name in ("question", "unit", "rater", "value"))
    question, unit, rater, value = columns
    bounds = np.searchsorted(question, np.arange(len(names) + 1)).tolist()
    return {
        name: LongRatings(
            unit=unit[start:end],
            rater=rater[start:end],
            value=value[start:end].astype(np.float64, copy=False),
            rater_ids=rater_ids,
            group=group,
        )
        for name, (start, end) in zip(names, pairwise(bounds), strict=True)
    }


def group_codes(connection: Connection) -> NDArray[np.int32]:
    """Return the response group of each unit index, numbered from 0."""
    rows = connection.execute(
        """SELECT (dense_rank() OVER (ORDER BY group_id) - 1)::INTEGER AS code
           FROM response_groups ORDER BY response_id"""
    ).fetchnumpy()
    return np.asarray(rows["code"], dtype=np.int32)


_EVERY_LABEL = """
    SELECT question_id, response_id, rater_id, value, round, rubric_version FROM human_labels
    UNION ALL
    SELECT question_id, response_id, rater_id, value, round, rubric_version FROM earlier_labels
    WHERE value IS NOT NULL
"""


def ratings_by_round(
    connection: Connection, evaluation: Evaluation
) -> dict[str, dict[int, LongRatings]]:
    """Return the ratings of each round, by question: of those rated in several rounds."""
    return _ratings_by(connection, evaluation, "round")


def reworded_ratings(connection: Connection, evaluation: Evaluation) -> RewordedRatings:
    """Return the ratings under each version of the questions that have several."""
    versions = _ratings_by(connection, evaluation, "rubric_version")
    if not versions:
        return RewordedRatings({}, np.empty(0, np.int64))
    # Responses with equal text have one number; one without text, and a conversation, its own.
    numbers = connection.execute(
        """
        SELECT CASE WHEN trim(coalesce(response_text, '')) = '' THEN -row_number() OVER ()
                    ELSE dense_rank() OVER (ORDER BY trim(response_text)) END AS number
        FROM response_groups LEFT JOIN responses USING (response_id) ORDER BY response_id
        """
    ).fetchnumpy()
    scales = {question.id: question.scale.described() for question in evaluation.rubric}
    rows = connection.execute("SELECT question_id, version, scale FROM rubric_versions").fetchall()
    rescaled = frozenset(
        (question_id, version)
        for question_id, version, scale in rows
        if scales.get(question_id, scale) != scale
    )
    return RewordedRatings(versions, np.asarray(numbers["number"], dtype=np.int64), rescaled)


def _ratings_by(
    connection: Connection,
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
    question_ids = {question.id for question in evaluation.rubric}
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
        if question_id in question_ids
    }
