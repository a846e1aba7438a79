"""Pairs of judges: the scores they are measured on, and the results."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

import duckdb
import numpy as np
import pandas as pd

from eval_assets.agreement import JudgedUnits, StageChange, Validation
from eval_assets.store.tables import insert_rows, replace_rows


@dataclass(frozen=True)
class DualJudgement:
    """Two judges' scores of a query's documents; a row of `dual_judgements`.

    Args:
        query_id: Number of the query.
        query: The query.
        expected_docs: Ids of the documents.
        judge1_score: First judge's score of each document, in [0, 1]; None if there is none.
        judge2_score: Likewise the second's.
        judge1_model: The first judge's model; None if it scored no document.
        judge2_model: Likewise the second's.
        kappa: Cohen's kappa of scores above 0.5 against the rest; None if undefined.
        kappa_reason: Why there is no kappa; None if there is one.
        status: `success` if every score is there, `error` if none is, else `partial`.
        created_at: When, UTC.
    """

    query_id: int
    query: str
    expected_docs: Sequence[int]
    judge1_score: Sequence[float | None]
    judge2_score: Sequence[float | None]
    judge1_model: str | None
    judge2_model: str | None
    kappa: float | None
    kappa_reason: str | None
    status: str
    created_at: datetime


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
    connection: duckdb.DuckDBPyConnection,
    *,
    prompts: pd.DataFrame,
    disagreements: pd.DataFrame,
    validation: Validation | None,
) -> None:
    """Replace the measures of pairs of judges, and add to the history of the first pair."""
    replace_rows(connection, "prompt_judgements", prompts)
    replace_rows(connection, "judge_disagreements", disagreements)
    if validation is not None:
        insert_rows(connection, "dual_judge_validation", pd.DataFrame([asdict(validation)]))


def validation_history(connection: duckdb.DuckDBPyConnection, *, most: int) -> pd.DataFrame:
    """Return the latest rows of `dual_judge_validation`, newest first."""
    return connection.execute(
        "SELECT * FROM dual_judge_validation ORDER BY timestamp DESC LIMIT ?", [most]
    ).df()


def write_dual_judgement(connection: duckdb.DuckDBPyConnection, judged: DualJudgement) -> None:
    """Store two judges' scores of a query, in place of earlier ones."""
    connection.execute("DELETE FROM dual_judgements WHERE query_id = ?", [judged.query_id])
    row = asdict(judged)
    columns, marks = ", ".join(row), ", ".join("?" for _ in row)
    connection.execute(
        f"INSERT INTO dual_judgements ({columns}) VALUES ({marks})",  # noqa: S608 - fields of ours
        list(row.values()),
    )


def write_staged_mode(
    connection: duckdb.DuckDBPyConnection, changes: Sequence[StageChange], *, at: datetime
) -> None:
    """Replace the changes of mode; a change that was stored before keeps its time."""
    known = connection.execute("SELECT position, mode, since FROM staged_mode").fetchall()
    since = {(position, mode): time for position, mode, time in known}
    rows = [
        {**asdict(change), "since": since.get((change.position, change.mode), at)}
        for change in changes
    ]
    replace_rows(connection, "staged_mode", pd.DataFrame(rows))
