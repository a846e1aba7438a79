"""Ratings as arrays, and the version of the data."""

from typing import Literal

import duckdb
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from eval_assets.agreement import (
    Coded,
    HumanRatings,
    JudgeRatings,
    LongRatings,
    RaterKind,
    measures_version,
)
from eval_assets.evaluation import Evaluation
from eval_assets.raters import judge_set_fingerprint
from eval_assets.rubric import RubricQuestion
from eval_assets.scale import Scale
from eval_assets.stats import RatingPatterns
from eval_assets.store.connection import StoreError
from eval_assets.store.scores import check_judges, judge_fingerprints
from eval_assets.store.summaries import count_disagreements
from eval_assets.store.tables import content_fingerprint

_BITS = 4
_MOST_RATINGS = 2**_BITS - 1
_MOST_VALUES = 62 // _BITS

_UNSETTLED_SQL = """SELECT human_labels.response_id, human_labels.question_id, rater_id,
                           human_labels.value
                    FROM human_labels ANTI JOIN ({settled}) USING (response_id, question_id)"""
_CONSENSUS_SQL = """SELECT response_id, question_id, 'consensus' AS rater_id, value
                    FROM adjudicated_labels WHERE NOT excluded"""

_RatingSource = Literal[
    "human",
    "judge",
    "unmapped_judge",
    "compared_judge",
    "conversation_judge",
    "reference",
    "reference_with_excluded",
    "conversation_reference",
]
_OF_RESPONSES_SQL = """SELECT response_id, question_id, judge_id AS rater_id, score AS value
                       FROM judge_scores WHERE status = 'ok'"""
_OF_CONVERSATIONS_SQL = """SELECT conversation_id AS response_id, question_id, judge_id AS rater_id,
                                  score AS value
                           FROM conversation_scores"""
_REFERENCE_SQL = (
    _UNSETTLED_SQL.format(settled="FROM adjudicated_labels") + f" UNION ALL {_CONSENSUS_SQL}"
)

_RATINGS_SQL: dict[_RatingSource, str] = {
    "human": "SELECT response_id, question_id, rater_id, value FROM human_labels",
    "judge": _OF_RESPONSES_SQL,
    "unmapped_judge": """SELECT response_id, question_id, judge_id AS rater_id, raw_score AS value
                         FROM judge_scores WHERE status = 'ok'""",
    # One judge who scores conversations takes the others there, each with its mean over the turns.
    "compared_judge": f"""
        WITH question AS (SELECT DISTINCT question_id FROM conversation_scores)
        FROM ({_OF_RESPONSES_SQL}) ANTI JOIN question USING (question_id)
        UNION ALL
        SELECT conversation_id, question_id, rater_id, avg(value)
        FROM ({_OF_RESPONSES_SQL})
        JOIN conversations USING (response_id) SEMI JOIN question USING (question_id)
        GROUP BY ALL
        UNION ALL {_OF_CONVERSATIONS_SQL}""",  # noqa: S608 - constants of ours
    "conversation_judge": _OF_CONVERSATIONS_SQL,
    "reference": _REFERENCE_SQL,
    "conversation_reference": f"""
        SELECT conversation_id AS response_id, question_id, 'people' AS rater_id,
               avg(value) AS value
        FROM ({_REFERENCE_SQL}) JOIN conversations USING (response_id) GROUP BY ALL""",  # noqa: S608 - constants of ours
    "reference_with_excluded": _UNSETTLED_SQL.format(
        settled="FROM adjudicated_labels WHERE NOT excluded"
    )
    + f" UNION ALL {_CONSENSUS_SQL}",
}


def human_ratings(connection: duckdb.DuckDBPyConnection, evaluation: Evaluation) -> HumanRatings:
    """Return everything that agreement between humans is measured on.

    Raises:
        StoreError: If stored ratings are off their scale, because the declaration changed.
    """
    ratings = _of_people(connection, evaluation, "human")
    return HumanRatings(
        ratings=ratings,
        patterns={q.id: _patterns(connection, q, ratings[q.id]) for q in evaluation.rubric},
        n_skipped=count_skips(connection),
        n_disagreements=count_disagreements(connection),
        data_version=measures_version(
            evaluation, "human", data_version=data_version(connection, "human")
        ),
    )


def reference_ratings(
    connection: duckdb.DuckDBPyConnection, evaluation: Evaluation
) -> dict[str, LongRatings]:
    """Return what judges are compared with, by question.

    Of a response that was adjudicated it is the consensus alone; responses that were left out as
    ambiguous are not among them; of all others it is what their raters gave.
    """
    return _of_people(connection, evaluation, "reference")


def reference_ratings_with_excluded(
    connection: duckdb.DuckDBPyConnection, evaluation: Evaluation
) -> dict[str, LongRatings]:
    """Return the same with the responses that were left out, by their raters' own ratings."""
    return _of_people(connection, evaluation, "reference_with_excluded")


def judge_ratings(connection: duckdb.DuckDBPyConnection, evaluation: Evaluation) -> JudgeRatings:
    """Return everything that agreement between judges is measured on.

    Raises:
        StoreError: If the stored scores belong to other judges than those declared.
    """
    check_judges(connection, evaluation.judges)
    responses = responses_in_order(connection)
    group = responses["group"].to_numpy(dtype=np.int64)
    return JudgeRatings(
        scores={
            q.id: long_ratings(connection, "compared_judge", q.id, group=group)
            for q in evaluation.rubric
        },
        response_ids=responses["response_id"].to_numpy(dtype=object),
        prompts=responses["prompt"].to_numpy(dtype=np.int64),
        judge_set_fingerprint=judge_set_fingerprint(judge_fingerprints(connection)),
        data_version=measures_version(
            evaluation, "judge", data_version=data_version(connection, "judge")
        ),
    )


def scores_of_responses(
    connection: duckdb.DuckDBPyConnection, evaluation: Evaluation
) -> dict[str, LongRatings]:
    """Return the judges' scores of responses, by question."""
    check_judges(connection, evaluation.judges)
    group = group_codes(connection)
    return {q.id: long_ratings(connection, "judge", q.id, group=group) for q in evaluation.rubric}


def scored_conversations(
    connection: duckdb.DuckDBPyConnection, evaluation: Evaluation
) -> dict[str, tuple[LongRatings, LongRatings]]:
    """Return mean human ratings and judges' scores of conversations, by question.

    A conversation has the index of its first turn's response; questions on which no judge scores
    conversations are left out.
    """
    found = connection.execute("SELECT DISTINCT question_id FROM conversation_scores").fetchall()
    scored = {question_id for (question_id,) in found}
    group = group_codes(connection)
    return {
        q.id: (
            long_ratings(connection, "conversation_reference", q.id, group=group),
            long_ratings(connection, "conversation_judge", q.id, group=group),
        )
        for q in evaluation.rubric
        if q.id in scored
    }


def rating_patterns(
    connection: duckdb.DuckDBPyConnection, question_id: str, scale: Scale
) -> RatingPatterns | None:
    """Return patterns of human ratings, counted by one GROUP BY; None if it cannot count them.

    A response's counts are packed into one integer, four bits a value, which costs little more
    than counting its ratings. It needs a scale of equal steps, at most fifteen values and at most
    fifteen ratings a response.
    """
    if scale.values is None or scale.step is None or len(scale.values) > _MOST_VALUES:
        return None
    found = connection.execute(
        f"""
        SELECT if(n_ratings <= {_MOST_RATINGS}, packed, -1)::BIGINT AS packed, count(*) AS n_units
        FROM (
            SELECT sum(1::BIGINT << ({_BITS} * round((value - ?) / ?)::INTEGER)) AS packed,
                   count(*) AS n_ratings
            FROM human_labels WHERE question_id = ? GROUP BY response_id
        )
        GROUP BY ALL ORDER BY ALL
        """,  # noqa: S608 - constants of ours
        [scale.low, scale.step, question_id],
    ).fetchnumpy()
    packed = np.asarray(found["packed"], dtype=np.int64)
    if (packed < 0).any():
        return None
    shifts = _BITS * np.arange(len(scale.values), dtype=np.int64)
    return RatingPatterns.from_counts(
        scale.values, (packed[:, None] >> shifts) & _MOST_RATINGS, found["n_units"]
    )


def long_ratings(
    connection: duckdb.DuckDBPyConnection,
    kind: _RatingSource,
    question_id: str,
    *,
    group: NDArray[np.int64],
) -> LongRatings:
    """Return the ratings of one question by all raters of one kind.

    Args:
        connection: The database.
        kind: Whose ratings.
        question_id: The question.
        group: Response group of each stored response, as `group_codes` returns them.
    """
    return ratings_from(connection, _RATINGS_SQL[kind], question_id, group=group)


def ratings_from(
    connection: duckdb.DuckDBPyConnection,
    source: str,
    question_id: str,
    *,
    group: NDArray[np.int64],
) -> LongRatings:
    """Return the ratings of one question that a query gives: response, question, rater, value."""
    raters = connection.execute(
        f"SELECT DISTINCT rater_id FROM ({source}) ORDER BY rater_id"  # noqa: S608
    ).fetchall()
    found = connection.execute(
        f"""
        WITH unit AS (
            SELECT response_id, row_number() OVER (ORDER BY response_id) - 1 AS i FROM responses
        ), rating AS MATERIALIZED (
            {source}
        ), rater AS (
            SELECT rater_id, row_number() OVER (ORDER BY rater_id) - 1 AS i
            FROM (SELECT DISTINCT rater_id FROM rating)
        )
        SELECT unit.i AS unit, rater.i AS rater, value
        FROM rating
        JOIN unit USING (response_id) JOIN rater USING (rater_id)
        WHERE question_id = ? ORDER BY unit, rater
        """,  # noqa: S608 - constants of ours
        [question_id],
    ).fetchnumpy()
    return LongRatings(
        unit=np.asarray(found["unit"], dtype=np.int64),
        rater=np.asarray(found["rater"], dtype=np.int64),
        value=np.asarray(found["value"], dtype=np.float64),
        rater_ids=tuple(str(rater) for (rater,) in raters),
        group=group,
    )


def group_codes(connection: duckdb.DuckDBPyConnection) -> NDArray[np.int64]:
    """Return the response group of each unit index, numbered from 0."""
    found = connection.execute(
        """
        WITH grouped AS MATERIALIZED (
            FROM response_groups
        ), coded AS (
            SELECT group_id, row_number() OVER (ORDER BY group_id) - 1 AS code
            FROM (SELECT DISTINCT group_id FROM grouped)
        )
        SELECT code FROM grouped JOIN coded USING (group_id) ORDER BY response_id
        """
    ).fetchnumpy()
    return np.asarray(found["code"], dtype=np.int64)


def responses_in_order(connection: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """Return id, prompt and group of each unit index; prompts and groups are numbered from 0."""
    return connection.execute(
        """SELECT response_id, dense_rank() OVER (ORDER BY prompt_id) - 1 AS prompt,
                  dense_rank() OVER (ORDER BY group_id) - 1 AS "group"
           FROM response_groups ORDER BY response_id"""
    ).df()


def slices_in_order(connection: duckdb.DuckDBPyConnection) -> dict[str, Coded]:
    """Return every slice: a code for each unit index, -1 for no value, and the codes' meaning.

    Two of them always exist: `model_name` and `prompt_id`.
    """
    connection.execute("""
        CREATE OR REPLACE TEMP TABLE _sliced AS
        WITH unit AS (
            SELECT response_id, row_number() OVER (ORDER BY response_id) - 1 AS i FROM responses
        ), sliced AS (
            FROM response_slices WHERE slice <> 'all'
            UNION ALL SELECT response_id, 'prompt_id', prompt_id FROM response_groups
            UNION ALL SELECT response_id, 'model_name', model_name FROM responses
        )
        SELECT slice, i, slice_value FROM sliced JOIN unit USING (response_id)
        WHERE slice_value IS NOT NULL
    """)
    [[n_responses]] = connection.execute("SELECT count(*) FROM responses").fetchall()
    found = connection.execute("SELECT DISTINCT slice FROM _sliced").fetchall()
    names = sorted({"model_name", "prompt_id", *(name for (name,) in found)})
    slices = {name: _slice(connection, name, n_responses) for name in names}
    connection.execute("DROP TABLE _sliced")
    return slices


def _slice(connection: duckdb.DuckDBPyConnection, name: str, n_responses: int) -> Coded:
    """Return one slice of the table `_sliced`."""
    values = connection.execute(
        "SELECT DISTINCT slice_value FROM _sliced WHERE slice = ? ORDER BY slice_value", [name]
    ).fetchall()
    found = connection.execute(
        """SELECT i, dense_rank() OVER (ORDER BY slice_value) - 1 AS code
           FROM _sliced WHERE slice = ?""",
        [name],
    ).fetchnumpy()
    codes = np.full(n_responses, -1, dtype=np.int64)
    codes[found["i"]] = found["code"]
    return codes, [str(value) for (value,) in values]


def count_skips(connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Return the number of units that raters skipped, by question."""
    found = connection.execute(
        "SELECT question_id, count(*) FROM skipped_labels GROUP BY question_id"
    ).fetchall()
    return {question_id: int(n) for question_id, n in found}


def data_version(connection: duckdb.DuckDBPyConnection, kind: RaterKind) -> str:
    """Return a fingerprint of the stored ratings of one kind, with their scales.

    It does not depend on the order of rows, and covers everything that decides agreement: each
    unit, rater and value, which of the rated responses are in one group, each question's scale and
    level, and the judges' fingerprints. Of humans it covers how disagreements were settled too:
    judges are compared with that.
    """
    # Every gate asks for it, and it takes seconds of millions of ratings. That nothing changed is
    # seen in a tenth of the time, by hashes that hold for one version of DuckDB only.
    deciding = {**_DECIDING[kind], **_DECIDING_OF_ALL}
    now = kind, *(content_fingerprint(connection, *each) for each in deciding.items())
    if now not in _known_versions:
        _known_versions[now] = _data_version(connection, kind)
    return _known_versions[now]


_known_versions: dict[tuple[str, ...], str] = {}

_DECIDING: dict[RaterKind, dict[str, tuple[str, ...]]] = {
    "human": {
        "human_labels": ("response_id", "question_id", "rater_id", "value"),
        "adjudicated_labels": ("response_id", "question_id", "value", "excluded"),
    },
    "judge": {
        "judge_scores": ("response_id", "question_id", "judge_id", "score", "raw_score", "status"),
        "judges": ("judge_id", "fingerprint"),
    },
}
_DECIDING_OF_ALL = {
    "responses": (
        *("response_id", "prompt_text", "model_name", "group_id", "indicator_id", "convo_id"),
        *("turn_index", "seed", "attributes"),
    ),
    "rubric_questions": ("question_id", "scale_min", "scale_max", "scale_values", "level"),
}
"""Columns that data versions depend on, by table."""


def _data_version(connection: duckdb.DuckDBPyConnection, kind: RaterKind) -> str:
    """Compute a data version; see `data_version`."""
    ratings = _RATINGS_SQL[kind]
    ratings += f" UNION ALL {_OF_CONVERSATIONS_SQL}" if kind == "judge" else ""
    settled = "SELECT response_id, question_id, value, excluded FROM adjudicated_labels"
    settled += "" if kind == "human" else " WHERE false"
    judges = "SELECT judge_id, fingerprint FROM judges" if kind == "judge" else "SELECT 1 WHERE 0"
    found = connection.execute(
        f"""
        WITH ratings AS (
            {ratings}
        ), grouped AS (
            SELECT response_id, min(response_id) OVER same AS first_of_group
            FROM response_groups SEMI JOIN ratings USING (response_id)
            WINDOW same AS (PARTITION BY group_id)
            QUALIFY count(*) OVER same > 1
        ), parts AS (
            FROM (FROM ratings AS r SELECT md5_number(r::VARCHAR) AS h)
            UNION ALL
            FROM (FROM grouped AS g SELECT md5_number(g::VARCHAR) AS h)
            UNION ALL
            FROM (
                FROM (
                    SELECT question_id, scale_min, scale_max, scale_values, level
                    FROM rubric_questions
                ) AS q SELECT md5_number(q::VARCHAR) AS h
            )
            UNION ALL
            FROM (FROM ({judges}) AS j SELECT md5_number(j::VARCHAR) AS h)
            UNION ALL
            FROM (FROM ({settled}) AS s SELECT md5_number(s::VARCHAR) AS h)
        )
        SELECT md5(concat_ws(' ', count(*), bit_xor(h))) FROM parts
        """  # noqa: S608 - constants of ours
    ).fetchall()
    return str(found[0][0])[:16]


def _of_people(
    connection: duckdb.DuckDBPyConnection, evaluation: Evaluation, source: _RatingSource
) -> dict[str, LongRatings]:
    """Return ratings by question; raise StoreError if one is off the scale declared now."""
    group = group_codes(connection)
    ratings: dict[str, LongRatings] = {}
    for question in evaluation.rubric:
        given = long_ratings(connection, source, question.id, group=group)
        if not all(question.scale.contains(value) for value in np.unique(given.value)):
            raise StoreError(
                f"human_labels: holds ratings of {question.id} that are not on its scale as "
                f"declared now ({question.scale.described()}). Materialize rubric_questions and "
                "human_labels."
            )
        ratings[question.id] = given
    return ratings


def _patterns(
    connection: duckdb.DuckDBPyConnection, question: RubricQuestion, given: LongRatings
) -> RatingPatterns:
    """Return patterns counted by the database if it can, else from the ratings themselves."""
    if given.is_grouped:
        return RatingPatterns.from_matrix(given.matrix(), groups=given.group)
    counted = rating_patterns(connection, question.id, question.scale)
    return RatingPatterns.from_matrix(given.matrix()) if counted is None else counted
