"""Scores of the responses that judges score again, and the rounds of judges as they are."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import duckdb
import pandas as pd

from eval_assets.agreement.drift import MeanScores
from eval_assets.store.scores import judge_fingerprints


def anchor_candidates(connection: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """Return all scores of single responses with their texts.

    Returns:
        judge_id, question_id, response_id, group_id, prompt_text, response_text and score.
    """
    return connection.execute(
        """
        SELECT judge_id, question_id, response_id, response_groups.group_id,
               coalesce(prompt_text, '') AS prompt_text,
               coalesce(response_text, '') AS response_text, raw_score AS score
        FROM judge_scores
        JOIN responses USING (response_id) JOIN response_groups USING (response_id)
        WHERE status = 'ok' ORDER BY ALL
        """
    ).df()


def scores_around(
    connection: duckdb.DuckDBPyConnection,
    judge_id: str,
    question_id: str,
    *,
    frozen_at: datetime,
    anchors: Sequence[str],
) -> MeanScores:
    """Return mean scores of responses other than a judge's anchors, before and since the freeze."""
    [(n_before, before, n_since, after)] = connection.execute(
        """
        WITH asked AS (
            SELECT response_id, min(started_at) > $at AS is_later FROM judge_calls
            WHERE judge_id = $judge AND question_id = $question AND operation = 'judging'
            GROUP BY response_id
        )
        SELECT count(*) FILTER (NOT is_later), avg(raw_score) FILTER (NOT is_later),
               count(*) FILTER (is_later), avg(raw_score) FILTER (is_later)
        FROM judge_scores JOIN asked USING (response_id)
        WHERE judge_id = $judge AND question_id = $question AND status = 'ok'
          AND NOT list_contains($anchors, response_id)
        """,
        {
            "judge": judge_id,
            "question": question_id,
            "at": frozen_at,
            "anchors": list(anchors),
        },
    ).fetchall()
    return MeanScores(
        n_before,
        float("nan") if before is None else before,
        n_since,
        float("nan") if after is None else after,
    )


def current_drift(connection: duckdb.DuckDBPyConnection) -> list[Mapping[str, object]]:
    """Return the rows of `judge_drift` of the judges as they are now, in the order of rounds."""
    rows = connection.execute("SELECT * FROM judge_drift ORDER BY round").df()
    now = judge_fingerprints(connection)
    is_now = [
        now.get(judge) == fingerprint
        for judge, fingerprint in zip(rows["judge_id"], rows["fingerprint"], strict=True)
    ]
    return rows[is_now].to_dict("records")  # type: ignore[return-value]
