"""Pairs of judges: the scores they are measured on, and the results."""

import duckdb
import numpy as np
import pandas as pd

from eval_assets.agreement import JudgedUnits
from eval_assets.store.tables import replace_rows


def judged_units(connection: duckdb.DuckDBPyConnection) -> JudgedUnits:
    """Return every unit that judges are asked about, with the stored scores."""
    units = connection.execute(
        """
        SELECT prompt_id, prompt_text AS query, response_id, question_id, scale_min, scale_max
        FROM asked_units
        JOIN responses USING (response_id) JOIN response_groups USING (response_id)
        JOIN rubric_questions USING (question_id)
        ORDER BY position, prompt_id, response_id
        """
    ).df()
    connection.register("_units", units[["response_id", "question_id"]].assign(i=range(len(units))))
    scored = connection.execute(
        """SELECT judge_id, i, score FROM judge_scores
           JOIN _units USING (response_id, question_id) WHERE status = 'ok'"""
    ).fetchnumpy()
    connection.unregister("_units")
    judges = connection.execute(
        "SELECT judge_id, model, fingerprint FROM judges ORDER BY position, judge_id"
    ).fetchall()
    judge_of, place = np.asarray(scored["judge_id"], dtype=object), np.asarray(scored["i"])
    score = np.asarray(scored["score"], dtype=np.float64)
    scores = {}
    for judge_id, _, _ in judges:
        scores[judge_id] = np.full(len(units), np.nan)
        is_its = judge_of == judge_id
        scores[judge_id][place[is_its]] = score[is_its]
    return JudgedUnits(
        units=units,
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
