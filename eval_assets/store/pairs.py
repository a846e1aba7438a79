"""Pairs of judges: the scores they are measured on, and the results."""

import duckdb
import numpy as np
import pandas as pd

from eval_assets.agreement import JudgedUnits
from eval_assets.store.tables import replace_rows

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
        "SELECT judge_id, model, fingerprint FROM judges ORDER BY position, judge_id"
    ).fetchall()
    unit = _UNIT_SQL if len(judges) > 1 else f"{_UNIT_SQL} LIMIT 0"
    questions = connection.execute(
        "SELECT question_id, scale_min, scale_max FROM rubric_questions ORDER BY position"
    ).df()
    responses = connection.execute(f"FROM ({unit}) ORDER BY response").df()
    prompt_of, prompts = pd.factorize(responses["prompt_id"], sort=True)
    text_of, texts = pd.factorize(responses["prompt_text"])
    asked = {"questions": list(questions["question_id"])}
    found = connection.execute(
        f"""SELECT list_position($questions, question_id)::INTEGER - 1 AS question, response
            FROM asked_units JOIN ({unit}) USING (response_id)""",  # noqa: S608 - a constant of ours
        asked,
    ).df()
    order = np.lexsort((found["response"], prompt_of[found["response"]], found["question"]))
    question, response = found.to_numpy()[order].T
    place = np.full((len(questions["question_id"]), len(prompt_of)), -1)
    place[question, response] = np.arange(len(order))
    scores = {}
    for judge_id, _, _ in judges:
        given = connection.execute(
            f"""SELECT list_position($questions, question_id)::INTEGER - 1 AS question, response,
                       score
                FROM judge_scores JOIN ({unit}) USING (response_id)
                WHERE judge_id = $judge AND status = 'ok'
                  AND list_contains($questions, question_id)""",  # noqa: S608 - a constant of ours
            {**asked, "judge": judge_id},
        ).df()
        at = place[given["question"], given["response"]]
        scores[judge_id] = np.full(len(order), np.nan)
        scores[judge_id][at[at >= 0]] = given["score"].to_numpy()[at >= 0]
    return JudgedUnits(
        # Texts as categories: they are the same for many units.
        units=pd.DataFrame(
            {
                "prompt_id": pd.Categorical.from_codes(prompt_of[response], pd.Index(prompts)),
                "query": pd.Categorical.from_codes(text_of[response], pd.Index(texts)),
                "response_id": pd.Categorical.from_codes(
                    response, pd.Index(responses["response_id"])
                ),
                "question_id": pd.Categorical.from_codes(
                    question, pd.Index(questions["question_id"])
                ),
                "scale_min": questions["scale_min"].to_numpy()[question],
                "scale_max": questions["scale_max"].to_numpy()[question],
            }
        ),
        scores=scores,
        models={judge_id: model for judge_id, model, _ in judges},
        fingerprints={judge_id: fingerprint for judge_id, _, fingerprint in judges},
    )


def write_pair_measures(
    connection: duckdb.DuckDBPyConnection, *, prompts: pd.DataFrame, disagreements: pd.DataFrame
) -> None:
    """Replace the measures of pairs of judges."""
    replace_rows(connection, "prompt_judgements", prompts)
    replace_rows(connection, "judge_disagreements", disagreements)
