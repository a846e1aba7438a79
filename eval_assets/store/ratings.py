"""Ratings as arrays, and the version of the data that they are."""

from dataclasses import dataclass
from typing import Literal

import duckdb
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from eval_assets.scale import Scale

RaterKind = Literal["human", "judge"]

_BITS = 4
_MOST_RATINGS = 2**_BITS - 1
_MOST_VALUES = 62 // _BITS

_RATINGS_SQL: dict[RaterKind, str] = {
    "human": "SELECT response_id, question_id, rater_id, value FROM human_labels",
    "judge": """SELECT response_id, question_id, judge_id AS rater_id, score AS value
                FROM judge_scores WHERE status = 'ok'""",
}


@dataclass(frozen=True)
class PatternCounts:
    """Distinct rating patterns of one question.

    Args:
        values: Values of the scale, shape (n_values,).
        counts: Ratings of each value in a response of each pattern, (n_patterns, n_values).
        n_units: Responses that show each pattern, (n_patterns,).
    """

    values: NDArray[np.float64]
    counts: NDArray[np.int64]
    n_units: NDArray[np.int64]


@dataclass(frozen=True)
class LongRatings:
    """Ratings of one question, one element a rating, in order of unit and rater.

    Args:
        unit: Index of the response among all stored ones, sorted by id; ascending.
        rater: Index into `rater_ids`.
        value: The ratings.
        rater_ids: All raters of this kind, sorted: the same for every question.
        n_responses: Stored responses, rated or not.
    """

    unit: NDArray[np.int64]
    rater: NDArray[np.int64]
    value: NDArray[np.float64]
    rater_ids: tuple[str, ...]
    n_responses: int

    def matrix(self) -> NDArray[np.float64]:
        """Ratings of shape (n_responses, n_raters), NaN where there is none."""
        ratings = np.full((self.n_responses, len(self.rater_ids)), np.nan)
        ratings[self.unit, self.rater] = self.value
        return ratings

    def by_rater(self) -> dict[str, NDArray[np.float64]]:
        """Ratings of each rater who rated this question."""
        order = np.argsort(self.rater, kind="stable")
        raters, starts = np.unique(self.rater[order], return_index=True)
        parts = np.split(self.value[order], starts[1:])
        return {self.rater_ids[r]: part for r, part in zip(raters, parts, strict=False)}


def rating_patterns(
    connection: duckdb.DuckDBPyConnection, question_id: str, scale: Scale
) -> PatternCounts | None:
    """Patterns of human ratings, counted by one GROUP BY; None where it cannot count them.

    A response's counts are packed into one integer, four bits a value, which costs little more
    than counting its ratings. That takes a scale of equal steps, at most fifteen values and at
    most fifteen ratings a response.
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
    return PatternCounts(
        values=np.array(scale.values),
        counts=(packed[:, None] >> shifts) & _MOST_RATINGS,
        n_units=np.asarray(found["n_units"], dtype=np.int64),
    )


def long_ratings(
    connection: duckdb.DuckDBPyConnection, kind: RaterKind, question_id: str
) -> LongRatings:
    """Ratings of one question by every rater of one kind."""
    source = _RATINGS_SQL[kind]
    raters = connection.execute(
        f"SELECT DISTINCT rater_id FROM ({source}) ORDER BY rater_id"  # noqa: S608
    ).fetchall()
    [[n_responses]] = connection.execute("SELECT count(*) FROM responses").fetchall()
    found = connection.execute(
        f"""
        WITH unit AS (
            SELECT response_id, row_number() OVER (ORDER BY response_id) - 1 AS i FROM responses
        ), rater AS (
            SELECT rater_id, row_number() OVER (ORDER BY rater_id) - 1 AS i
            FROM (SELECT DISTINCT rater_id FROM ({source}))
        )
        SELECT unit.i AS unit, rater.i AS rater, value
        FROM ({source}) AS rating
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
        n_responses=int(n_responses),
    )


def responses_in_order(connection: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """Every stored response in the order that unit indices count in: response_id, group_id."""
    return connection.execute(
        "SELECT response_id, group_id FROM response_groups ORDER BY response_id"
    ).df()


def count_skips(connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Units that raters skipped, by question."""
    found = connection.execute(
        "SELECT question_id, count(*) FROM skipped_labels GROUP BY question_id"
    ).fetchall()
    return {question_id: int(n) for question_id, n in found}


def data_version(connection: duckdb.DuckDBPyConnection, kind: RaterKind) -> str:
    """Fingerprint of the ratings of one kind as they are stored now, with their scales.

    It does not depend on the order of rows, and covers all that decides agreement: each unit,
    rater and value, each question's scale and level, and of judges who they are.
    """
    ratings = _RATINGS_SQL[kind]
    judges = "SELECT judge_id, fingerprint FROM judges" if kind == "judge" else "SELECT 1 WHERE 0"
    found = connection.execute(
        f"""
        WITH parts AS (
            FROM (FROM ({ratings}) AS r SELECT md5_number(r::VARCHAR) AS h)
            UNION ALL
            FROM (
                FROM (
                    SELECT question_id, scale_min, scale_max, scale_values, level
                    FROM rubric_questions
                ) AS q SELECT md5_number(q::VARCHAR) AS h
            )
            UNION ALL
            FROM (FROM ({judges}) AS j SELECT md5_number(j::VARCHAR) AS h)
        )
        SELECT md5(concat_ws(' ', count(*), bit_xor(h))) FROM parts
        """  # noqa: S608 - constants of ours
    ).fetchall()
    return str(found[0][0])[:16]
