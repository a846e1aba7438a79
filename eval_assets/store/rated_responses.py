"""Ratings of a question beside features of the responses and of the labels."""

import duckdb
import numpy as np
from numpy.typing import NDArray

from eval_assets.agreement.causes import RatedResponses
from eval_assets.agreement.compared_labels import compared_units
from eval_assets.agreement.copied_texts import text_codes
from eval_assets.agreement.ratings import LongRatings

_POSITION_SQL = """
    SELECT response_id, rater_id,
           percent_rank() OVER (PARTITION BY rater_id ORDER BY try_cast(labelled_at AS TIMESTAMPTZ))
               AS position
    FROM human_labels
    WHERE question_id = $question AND try_cast(labelled_at AS TIMESTAMPTZ) IS NOT NULL
"""


def rated_responses(
    connection: duckdb.DuckDBPyConnection, question_id: str, ratings: LongRatings
) -> RatedResponses:
    """Return the ratings of a question with what may explain disagreement.

    Args:
        connection: The database.
        question_id: The question.
        ratings: Its human ratings.
    """
    responses = connection.execute(
        """SELECT response_id, coalesce(length(response_text), 0)::DOUBLE AS length,
                  coalesce(model_name, '') AS model
           FROM responses ORDER BY response_id"""
    ).df()
    timed = connection.execute(_POSITION_SQL, {"question": question_id}).df()
    position = np.full((ratings.n_responses, len(ratings.rater_ids)), np.nan)
    unit = responses["response_id"].searchsorted(timed["response_id"])
    rater = np.searchsorted(np.array(ratings.rater_ids), timed["rater_id"].to_numpy(dtype=str))
    position[unit, rater] = timed["position"]
    return RatedResponses(
        ratings=ratings,
        response_ids=responses["response_id"].to_numpy(dtype=object),
        lengths=responses["length"].to_numpy(dtype=np.float64),
        models=responses["model"].to_numpy(dtype=object),
        positions=position[ratings.unit, ratings.rater],
        texts=_texts(connection, responses["response_id"].to_numpy(dtype=object), ratings),
    )


def _texts(
    connection: duckdb.DuckDBPyConnection, response_ids: NDArray[np.object_], ratings: LongRatings
) -> NDArray[np.int64]:
    """Return the number of each response's text; responses that are not compared share none."""
    compared = compared_units(ratings)
    rows = connection.execute(
        """SELECT coalesce(response_text, '') FROM responses
           WHERE list_contains($ids, response_id) ORDER BY response_id""",
        {"ids": response_ids[compared].tolist()},
    ).fetchall()
    texts = len(compared) + np.arange(len(response_ids))
    texts[compared] = text_codes([text for (text,) in rows])
    return texts
