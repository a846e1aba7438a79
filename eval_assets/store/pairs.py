"""Scores of pairs of judges, and the results measured on them."""

import duckdb
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from eval_assets.agreement.ratings import JudgedUnits
from eval_assets.store.tables import replace_rows

_SCORES_SQL = """
    SELECT response_id, question_id, score AS value
    FROM judge_scores WHERE judge_id = $judge AND status = 'ok'
"""

_REFERENCES_SQL = """
    SELECT response_id, question_id, value FROM unsealed_reference_values WHERE NOT excluded
"""

_UNIT_SQL = """
    SELECT response_id, prompt_id, prompt_text,
           row_number() OVER (ORDER BY response_id)::INTEGER - 1 AS response
    FROM responses JOIN response_groups USING (response_id)
"""


def judged_units(connection: duckdb.DuckDBPyConnection) -> JudgedUnits:
    """Return every unit that judges are asked about, with the stored scores.

    Without a second judge there are no pairs, and no units are returned.
    """
    judges = connection.execute(
        """SELECT judge_id, model, fingerprint FROM judges WHERE NOT is_backup
           ORDER BY position, judge_id"""
    ).fetchall()
    unit = _UNIT_SQL if len(judges) > 1 else f"{_UNIT_SQL} LIMIT 0"
    questions = connection.execute(
        "SELECT question_id, scale_min, scale_max FROM rubric_questions ORDER BY position"
    ).df()
    responses = connection.execute(f"FROM ({unit}) ORDER BY response").df()
    prompt_of, prompts = pd.factorize(responses["prompt_id"], sort=True)
    text_of, texts = pd.factorize(responses["prompt_text"])
    names = list(questions["question_id"])
    rows = connection.execute(
        f"""SELECT list_position($questions, question_id)::INTEGER - 1 AS question, response
            FROM asked_units JOIN ({unit}) USING (response_id)""",  # noqa: S608 - a constant of ours
        {"questions": names},
    ).df()
    order = np.lexsort((rows["response"], prompt_of[rows["response"]], rows["question"]))
    question, response = rows.to_numpy()[order].T
    place = np.full((len(names), len(prompt_of)), -1)
    place[question, response] = np.arange(len(order))

    def values_of(sql: str, **parameters: str) -> NDArray[np.float64]:
        return _values(connection, sql, unit, names, place=place, n_units=len(order), **parameters)

    return JudgedUnits(
        # Texts as categories: they are the same for many units.
        units=pd.DataFrame(
            {
                "prompt_id": pd.Categorical.from_codes(prompt_of[response], pd.Index(prompts)),
                "query": pd.Categorical.from_codes(text_of[response], pd.Index(texts)),
                "response_id": pd.Categorical.from_codes(
                    response, pd.Index(responses["response_id"])
                ),
                "question_id": pd.Categorical.from_codes(question, pd.Index(names)),
                "scale_min": questions["scale_min"].to_numpy()[question],
                "scale_max": questions["scale_max"].to_numpy()[question],
            }
        ),
        references=values_of(_REFERENCES_SQL),
        scores={judge_id: values_of(_SCORES_SQL, judge=judge_id) for judge_id, _, _ in judges},
        models={judge_id: model for judge_id, model, _ in judges},
        fingerprints={judge_id: fingerprint for judge_id, _, fingerprint in judges},
    )


def _values(  # noqa: PLR0913 - which values, of which units, and in which order
    connection: duckdb.DuckDBPyConnection,
    sql: str,
    unit: str,
    question_ids: list[str],
    *,
    place: NDArray[np.int64],
    n_units: int,
    **parameters: str,
) -> NDArray[np.float64]:
    """Return one value for each unit, NaN if it is missing.

    Args:
        connection: The database.
        sql: Query of response_id, question_id and value.
        unit: SQL of the responses and their numbers.
        question_ids: The questions.
        place: Place of each unit by question and response, -1 if it is none.
        n_units: Number of units.
        parameters: Parameters of the query.
    """
    rows = connection.execute(
        f"""SELECT list_position($questions, question_id)::INTEGER - 1 AS question, response, value
            FROM ({sql}) JOIN ({unit}) USING (response_id)
            WHERE list_contains($questions, question_id)""",  # noqa: S608 - constants of ours
        {"questions": question_ids, **parameters},
    ).df()
    at = place[rows["question"], rows["response"]]
    values = np.full(n_units, np.nan)
    values[at[at >= 0]] = rows["value"].to_numpy()[at >= 0]
    return values


def write_pair_measures(
    connection: duckdb.DuckDBPyConnection, *, prompts: pd.DataFrame, disagreements: pd.DataFrame
) -> None:
    """Replace the measures of pairs of judges."""
    replace_rows(connection, "prompt_judgements", prompts)
    replace_rows(connection, "judge_disagreements", disagreements)
