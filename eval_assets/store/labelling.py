"""Tables of labelling: decisions, history and quality."""

from collections.abc import Iterable, Mapping
from typing import Any

import duckdb
import pandas as pd

from eval_assets.columns import RESPONSE_COLUMNS
from eval_assets.store.tables import replace_rows

_COLUMNS = ["response_id", "question_id", "value", "source", "excluded", "reason", "decided_by"]
_COLUMNS += ["decided_at", "own_rating", "ratings", "is_override"]


def write_adjudicated_labels(
    connection: duckdb.DuckDBPyConnection, decisions: Iterable[Mapping[str, Any]]
) -> int:
    """Replace the settled labels; return how many are of responses that are not stored (any more).

    Args:
        connection: The database.
        decisions: Rows of `adjudicated_labels`.
    """
    rows = pd.DataFrame(list(decisions), columns=_COLUMNS)
    stored = connection.execute("SELECT response_id FROM responses").df()["response_id"]
    known = rows["response_id"].isin(set(stored))
    typed = {"value": float, "own_rating": float, "excluded": bool, "is_override": bool}
    replace_rows(connection, "adjudicated_labels", rows[known].astype(typed))
    return int((~known).sum())


def write_label_history(connection: duckdb.DuckDBPyConnection, answers: pd.DataFrame) -> None:
    """Replace the history: answers in sessions that do not count, and ratings of earlier rounds."""
    replace_rows(connection, "label_history", answers)
    connection.execute("""
        INSERT INTO label_history BY NAME
        WITH rated AS (
            SELECT response_id, question_id, rater_id, round, value, labelled_at FROM earlier_labels
            UNION ALL
            SELECT response_id, question_id, rater_id, round, value, labelled_at FROM human_labels
        ), following AS (
            SELECT *, lag(value) OVER again AS before, row_number() OVER again AS n
            FROM rated WINDOW again AS (
                PARTITION BY response_id, question_id, rater_id ORDER BY round
            )
        )
        SELECT response_id, question_id, rater_id, round, 'round' AS kind, before, value AS after,
               labelled_at AS changed_at
        FROM following WHERE n > 1
    """)


def stored_labels(connection: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """Return all ratings and skips of the latest rounds, and how sure their raters were."""
    found = connection.execute(
        """
        SELECT response_id, question_id, rater_id, value, false AS skipped, confidence, labelled_at
        FROM human_labels
        UNION ALL BY NAME
        SELECT response_id, question_id, rater_id, NULL::DOUBLE AS value, true AS skipped,
               NULL::VARCHAR AS confidence, labelled_at
        FROM skipped_labels ORDER BY ALL
        """
    ).df()
    return found.assign(
        confidence=found["confidence"].where(found["confidence"].notna(), None),
        labelled_at=found["labelled_at"].where(found["labelled_at"].notna(), None),
    )


def stored_responses(connection: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """Return all responses in `RESPONSE_COLUMNS`, given and generated."""
    found = connection.execute("SELECT * FROM responses ORDER BY rowid").df()
    turns = found["turn_index"].astype("Int64")
    plain = found.astype(object).where(found.notna(), None)
    return plain.assign(turn_index=turns)[list(RESPONSE_COLUMNS)]
