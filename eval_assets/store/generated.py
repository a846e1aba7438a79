"""Responses that were generated, and what a run has spent."""

from datetime import UTC, datetime

import duckdb
import pandas as pd

from eval_assets.columns import RESPONSE_COLUMNS


def generated_answers(connection: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """Generated responses that are answers, in `RESPONSE_COLUMNS`; failed ones are none."""
    found = connection.execute(
        """
        SELECT response_id, prompt_text, response_text, generator_id AS model_name,
               NULL AS group_id, indicator_id, convo_id, turn_index, seed, difficulty,
               'assistant' AS role, NULL AS timestamp, attributes
        FROM generated_responses WHERE status = 'ok' ORDER BY rowid
        """
    ).df()
    turns = found["turn_index"].astype("Int64")
    found = found.astype(object).where(found.notna(), None)
    return found.assign(turn_index=turns)[list(RESPONSE_COLUMNS)]


def spent_in_run(connection: duckdb.DuckDBPyConnection, run_id: str) -> float:
    """What assets of a run have spent so far, as far as it is known; in USD."""
    rows = connection.execute(
        "SELECT coalesce(sum(spent_usd), 0) FROM run_spending WHERE run_id = ?", [run_id]
    ).fetchall()
    return float(rows[0][0])


def record_spending(
    connection: duckdb.DuckDBPyConnection, run_id: str, *, asset: str, spent_usd: float | None
) -> None:
    """Remember what an asset spent in a run."""
    connection.execute(
        "INSERT INTO run_spending VALUES (?, ?, ?, ?)",
        [run_id, asset, spent_usd, datetime.now(tz=UTC)],
    )
