"""Features of the responses, by which their ratings, and whether they are rated, are compared."""

from collections.abc import Sequence

import duckdb
import numpy as np
from numpy.typing import NDArray

from eval_assets.agreement.selection import ResponseFeatures, SelectionFeature, SelectionTest
from eval_assets.config.evaluation import Evaluation
from eval_assets.store.schema import read_rows
from eval_assets.tuning.rated import splits_of
from eval_assets.wording import or_nan


def partly_rated_questions(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """Return the questions of which some responses have two ratings and others have not."""
    rows = connection.execute(
        """
        WITH asked AS (
            SELECT question_id, count(*) AS n_asked FROM asked_units GROUP BY ALL
        ), rated AS (
            SELECT question_id, count(*) AS n_rated
            FROM (
                SELECT question_id FROM human_labels
                GROUP BY question_id, response_id HAVING count(*) > 1
            )
            GROUP BY ALL
        )
        SELECT question_id FROM asked JOIN rated USING (question_id) WHERE n_rated < n_asked
        ORDER BY question_id
        """
    ).fetchall()
    return [question_id for (question_id,) in rows]


def response_features(
    connection: duckdb.DuckDBPyConnection, evaluation: Evaluation, question_ids: Sequence[str]
) -> ResponseFeatures:
    """Return features of all responses; scores of judges only where no seal keeps them."""
    rows = connection.execute(
        """
        SELECT response_id, coalesce(length(response_text), 0)::DOUBLE AS length,
               length(prompt_text)::DOUBLE AS prompt_length,
               epoch(try_cast(timestamp AS TIMESTAMPTZ))::DOUBLE AS date,
               coalesce(model_name, '') AS model, response_groups.group_id
        FROM responses JOIN response_groups USING (response_id) ORDER BY response_id
        """
    ).df()
    groups = rows["group_id"].to_numpy(dtype=object)
    return ResponseFeatures(
        lengths=rows["length"].to_numpy(dtype=np.float64),
        prompt_lengths=rows["prompt_length"].to_numpy(dtype=np.float64),
        dates=rows["date"].to_numpy(dtype=np.float64),
        models=rows["model"].to_numpy(dtype=object),
        applicable={
            question: _is_applicable(connection, question, n_responses=len(rows))
            for question in question_ids
        },
        judge_scores={
            question: np.where(
                _sealed(connection, evaluation, question, groups),
                np.nan,
                _judge_scores(connection, question, n_responses=len(rows)),
            )
            for question in question_ids
        },
    )


def stored_selection(connection: duckdb.DuckDBPyConnection) -> tuple[SelectionTest, ...]:
    """Return the tests of the last run."""
    tests = []
    for row in read_rows(connection, "rated_response_selection", order_by="rowid"):
        row["feature"] = SelectionFeature._value2member_map_[row["feature"]]
        row["rated"], row["rest"] = or_nan(row["rated"]), or_nan(row["rest"])
        tests.append(SelectionTest(**row))
    return tuple(tests)


_UNIT = """unit AS (
    SELECT response_id, row_number() OVER (ORDER BY response_id) - 1 AS i FROM responses
)"""


def _is_applicable(
    connection: duckdb.DuckDBPyConnection, question: str, *, n_responses: int
) -> NDArray[np.bool_]:
    rows = connection.execute(
        f"""WITH {_UNIT}
            SELECT i FROM asked_units JOIN unit USING (response_id) WHERE question_id = ?""",  # noqa: S608
        [question],
    ).fetchnumpy()
    is_applicable = np.zeros(n_responses, np.bool_)
    is_applicable[rows["i"]] = True
    return is_applicable


def _judge_scores(
    connection: duckdb.DuckDBPyConnection, question: str, *, n_responses: int
) -> NDArray[np.float64]:
    """Return the mean score of the judges that scored most responses, on [0, 1].

    A judge that scored some responses only would make these differ from the rest.
    """
    rows = connection.execute(
        f"""
        WITH {_UNIT}, scored AS (
            SELECT response_id, judge_id, score FROM judge_scores
            WHERE question_id = $question AND status = 'ok'
        ), complete AS (
            SELECT judge_id FROM scored GROUP BY judge_id
            QUALIFY count(*) = max(count(*)) OVER ()
        )
        SELECT i, avg((score - scale_min) / (scale_max - scale_min)) AS score
        FROM scored SEMI JOIN complete USING (judge_id) JOIN unit USING (response_id),
             (SELECT scale_min, scale_max FROM rubric_questions WHERE question_id = $question)
        GROUP BY i
        """,  # noqa: S608 - a constant of ours
        {"question": question},
    ).fetchnumpy()
    scores = np.full(n_responses, np.nan)
    scores[rows["i"]] = rows["score"]
    return scores


def _sealed(
    connection: duckdb.DuckDBPyConnection,
    evaluation: Evaluation,
    question: str,
    groups: NDArray[np.object_],
) -> NDArray[np.bool_]:
    """Return whether the seal of a question keeps judges' figures of each response.

    Test groups without labels are no part of the seal yet, and count as sealed: their labels will
    be. A test group with labels that are not sealed was opened.
    """
    if not evaluation.seals_figures:
        return np.zeros(len(groups), np.bool_)
    rows = connection.execute(
        """
        SELECT DISTINCT group_id FROM response_groups
        SEMI JOIN (
            SELECT response_id FROM human_labels WHERE question_id = $question
        ) USING (response_id)
        WHERE group_id NOT IN (
            SELECT group_id FROM sealed_units JOIN response_groups USING (response_id)
            WHERE question_id = $question
        )
        """,
        {"question": question},
    ).fetchall()
    is_open = np.isin(groups.astype(str), [group for (group,) in rows])
    is_test = splits_of(groups.astype(str), evaluation.tuning.split) == "test"
    sealed: NDArray[np.bool_] = is_test & ~is_open
    return sealed
