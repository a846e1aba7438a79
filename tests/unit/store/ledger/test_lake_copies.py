"""The ledger's tables copied into a lake."""

from dataclasses import asdict
from pathlib import Path

import duckdb
import pytest

from eval_assets.store.connection import connect, transaction
from eval_assets.store.lakes import lake_of
from eval_assets.store.ledger import SqlLedger, append_history, copy_ledger, store_ledger
from eval_assets.store.ledger import copies as copies_module
from eval_assets.store.store_errors import LostError
from eval_assets.store.tables import count_rows
from tests.unit.store.ledger.test_copies import judgement

Connection = duckdb.DuckDBPyConnection


@pytest.mark.parametrize(("n_others", "is_stored"), [(1, True), (4, False)])
def test_a_copy_that_another_process_was_faster_with_is_made_again_three_times(
    ledger: SqlLedger,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    n_others: int,
    is_stored: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    lake = lake_of(f"ducklake:{tmp_path / 'catalog.ducklake'}", files=None, evaluation="one")
    append_history(ledger, "dual_judgements", [asdict(judgement(1))])
    others = iter(range(n_others))

    def copy_late(ledger: SqlLedger, connection: Connection) -> None:
        copy_ledger(ledger, connection)
        if next(others, None) is not None:
            with connect(lake) as early, transaction(early):
                early.execute("COMMENT ON TABLE dual_judgements IS 'written by another process'")

    monkeypatch.setattr(copies_module, "copy_ledger", copy_late)
    if is_stored:
        store_ledger(ledger, lake)
    else:
        with pytest.raises(LostError, match="another process changed the same tables"):
            store_ledger(ledger, lake)
    with connect(lake) as connection:
        assert count_rows(connection, "dual_judgements") == int(is_stored)
