"""The ledger of calls: committed as replies arrive, read before anything is asked."""

from collections.abc import Collection, Sequence
from pathlib import Path

import pandas as pd

from eval_assets.ledger import Attempt, Batch, Reply
from eval_assets.store.connection import connect, transaction
from eval_assets.store.tables import insert_rows


class DuckDBLedger:
    """The tables `judge_calls` and `judge_batches`; the file is open only while one is touched.

    Args:
        path: The database.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def replies(self, call_keys: Collection[str]) -> dict[str, Reply]:
        """Replies recorded before, by call key: of a key's attempts the latest with a reply."""
        wanted = pd.DataFrame({"call_key": list(call_keys)}, dtype=object)
        if wanted.empty:
            return {}
        with connect(self._path) as connection:
            connection.register("_wanted", wanted)
            rows = connection.execute(
                """
                SELECT call_key, arg_max(raw_output, started_at), arg_max(status, started_at)
                FROM judge_calls SEMI JOIN _wanted USING (call_key)
                WHERE raw_output IS NOT NULL
                  AND status IN ('ok', 'truncated', 'refused', 'content_filter', 'unparsable')
                GROUP BY call_key
                """
            ).fetchall()
        return {key: Reply(text=text, status=status) for key, text, status in rows}

    def record(self, attempts: Sequence[Attempt]) -> None:
        """Store attempts, all or none of them."""
        rows = pd.DataFrame([vars(attempt) for attempt in attempts])
        with connect(self._path) as connection, transaction(connection):
            insert_rows(connection, "judge_calls", rows)

    def open_batches(self, judge_id: str) -> list[Batch]:
        """Batches of a judge that were submitted and not yet closed, oldest first."""
        with connect(self._path) as connection:
            rows = connection.execute(
                """SELECT batch_id, judge_id, call_keys, submitted_at FROM judge_batches
                   WHERE judge_id = ? ORDER BY submitted_at""",
                [judge_id],
            ).fetchall()
        return [Batch(batch, judge, tuple(keys), at) for batch, judge, keys, at in rows]

    def open_batch(self, batch: Batch) -> None:
        """Remember a batch that was submitted."""
        with connect(self._path) as connection, transaction(connection):
            connection.execute(
                "INSERT INTO judge_batches VALUES (?, ?, ?, ?)",
                [batch.batch_id, batch.judge_id, list(batch.call_keys), batch.submitted_at],
            )

    def close_batch(self, batch_id: str) -> None:
        """Forget a batch whose results are all recorded."""
        with connect(self._path) as connection, transaction(connection):
            connection.execute("DELETE FROM judge_batches WHERE batch_id = ?", [batch_id])
