"""Export of an evaluation's requests as CSV, JSON Lines or Parquet."""

from pathlib import Path

import pandas as pd
import sqlalchemy as sa

from eval_assets.store.connection import connect_in_memory
from eval_assets.store.ledger._tables import attempts, requests, workers
from eval_assets.store.ledger.engine import SqlLedger
from eval_assets.store.tables import ExportFormat, columns_of, copy_rows, insert_rows

_ROWS_AT_ONCE = 5_000

_ROWS = (
    sa.select(
        *(column for column in attempts.c if column.name not in ("id", "evaluation", "worker")),
        attempts.c.id.label("ledger_id"),
        workers.c.run_id,
        workers.c.asset,
        requests.c.prompt,
    )
    .select_from(
        attempts.outerjoin(workers, attempts.c.worker == workers.c.worker).outerjoin(
            requests, attempts.c.call_key == requests.c.call_key
        )
    )
    .where(
        (attempts.c.evaluation == sa.bindparam("evaluation"))
        & (attempts.c.id > sa.bindparam("after"))
    )
    .order_by(attempts.c.id)
    .limit(_ROWS_AT_ONCE)
)


def export_ledger(ledger: SqlLedger, path: Path, *, form: ExportFormat) -> None:
    """Write every attempt to a file: the columns of `judge_calls`, and what they leave out.

    These are `prompt`, what was sent, as JSON; and `raw_reply`, the body of
    the answer, with keys masked.
    """
    with connect_in_memory() as connection:
        connection.execute("CREATE TABLE exported AS FROM judge_calls LIMIT 0")
        for name in ("prompt", "raw_reply"):
            connection.execute(f"ALTER TABLE exported ADD COLUMN {name} VARCHAR")
        columns = [column.name for column in columns_of(connection, "exported")]
        after = 0
        with ledger.reading() as reading:
            while True:
                records = reading.execute(_ROWS, {"evaluation": ledger.evaluation, "after": after})
                rows = pd.DataFrame(records.all(), columns=list(records.keys()), dtype=object)
                if rows.empty:
                    break
                insert_rows(connection, "exported", rows[columns])
                after = int(rows["ledger_id"].iloc[-1])
        copy_rows(connection, "exported", path, form=form)
