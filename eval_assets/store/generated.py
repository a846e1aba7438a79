"""Responses that were generated."""

import duckdb
import pandas as pd

from eval_assets.columns import RESPONSE_COLUMNS


def generated_answers(connection: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """Return generated responses that are answers, in `RESPONSE_COLUMNS`, without failed ones."""
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
