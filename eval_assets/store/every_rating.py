"""Ratings of humans and judges in one table, for exports."""

import duckdb
import pandas as pd


def all_ratings(connection: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """Return every rating of a response, by humans and by judges.

    Returns:
        Columns response_id, question_id, rater_kind ('human' or 'judge'), rater_id, model (of a
        judge), value (NaN unless status is 'ok'), status, explanation, rated_at. Units that a judge
        was not asked about, or scored as part of a conversation, are left out.
    """
    return connection.execute(
        """
        SELECT response_id, question_id, 'human' AS rater_kind, rater_id, NULL AS model, value,
               'ok' AS status, notes AS explanation, labelled_at AS rated_at
        FROM human_labels
        UNION ALL
        SELECT response_id, question_id, 'judge', judge_id, model, score,
               status, coalesce(rationale, raw_output), NULL
        FROM judge_scores JOIN judges USING (judge_id)
        WHERE status NOT IN ('missing', 'conversation')
        ORDER BY question_id, rater_kind, rater_id, response_id
        """
    ).df()


def grouped_responses(connection: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """Return the responses; `group_id` is that of responses which are not independent."""
    return connection.execute(
        """
        SELECT responses.* REPLACE (response_groups.group_id AS group_id)
        FROM responses JOIN response_groups USING (response_id) ORDER BY response_id
        """
    ).df()


def measured_at(connection: duckdb.DuckDBPyConnection) -> str | None:
    """Return when the gates were last evaluated, in UTC; None if they never were."""
    [(when,)] = connection.execute(
        "SELECT max(evaluated_at)::VARCHAR FROM gate_verdicts"
    ).fetchall()
    return str(when) if when else None
