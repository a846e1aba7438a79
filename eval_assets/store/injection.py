"""Responses that address the judge, and judges' scores of them without the passages."""

import duckdb
import pandas as pd

from eval_assets.agreement.injection import injections
from eval_assets.store.tables import replace_rows


def write_injections(connection: duckdb.DuckDBPyConnection) -> int:
    """Store the passages of all responses that address a judge; return how many responses do."""
    texts = connection.execute(
        "SELECT response_id, response_text FROM responses WHERE response_text IS NOT NULL"
    ).fetchall()
    rows = [
        {"response_id": response_id, "kind": passage.kind.value, "matching_text": passage.text}
        for response_id, text in texts
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
