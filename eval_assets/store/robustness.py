"""Scores of judges that are asked again: anchors, and responses that address the judge."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import duckdb
import pandas as pd

from eval_assets.agreement.drift import MeanScores
from eval_assets.agreement.injection import injections
from eval_assets.store.schema import replace_rows
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


_PORTION = 20_000
"""Texts that are in memory at once."""


def write_injections(connection: duckdb.DuckDBPyConnection) -> int:
    """Store the passages that address a judge; return the number of responses with any.

    Without judges there are none.
    """
    texts = connection.execute(
        """SELECT response_id, response_text FROM responses
           WHERE response_text IS NOT NULL AND EXISTS (FROM judges)"""
    )
    rows = []
    while portion := texts.fetchmany(_PORTION):
        rows += [
            {"response_id": response_id, "kind": passage.kind.value, "matching_text": passage.text}
            for response_id, text in portion
            for passage in injections(text)
        ]
    replace_rows(connection, "response_injections", pd.DataFrame(rows))
    return len({row["response_id"] for row in rows})


def injected_units(connection: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """Return response_id, question_id, prompt_text and response_text of the units to ask again."""
    return connection.execute(
        """
        SELECT response_id, question_id, coalesce(prompt_text, '') AS prompt_text, response_text
        FROM asked_units JOIN responses USING (response_id)
        WHERE response_id IN (SELECT response_id FROM response_injections) ORDER BY ALL
        """
    ).df()


def controlled_scores(connection: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """Return judges' scores of responses with the passages, beside those without."""
    return connection.execute(
        """
        SELECT judge_id, question_id, group_id, own.raw_score AS score,
               control.score AS score_without
        FROM injection_controls AS control
        JOIN judge_scores AS own USING (response_id, question_id, judge_id)
        JOIN response_groups USING (response_id) ORDER BY ALL
        """
    ).df()
