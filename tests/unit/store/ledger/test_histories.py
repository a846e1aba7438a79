"""Events that cannot be computed again are kept, and read back as they were."""

import math
from datetime import timedelta

import numpy as np
import pandas as pd
import pytest
import sqlalchemy as sa

from eval_assets.agreement.staged import StageChange
from eval_assets.store.ledger._tables import staged_mode
from eval_assets.store.ledger.engine import SqlLedger
from eval_assets.store.ledger.histories import append_history, history_of, write_staged_mode
from tests.unit.store.ledger.conftest import NOW


def test_rows_of_a_history_are_kept_in_order(ledger: SqlLedger) -> None:
    for kappa in (0.8, 0.9):
        append_history(ledger, "dual_judge_validation", [{"timestamp": NOW, "kappa_macro": kappa}])
    append_history(ledger, "agreement_history", [{"scope": "overall"}])

    result = history_of(ledger, "dual_judge_validation")

    assert result["kappa_macro"].tolist() == [0.8, 0.9]
    assert result["timestamp"].tolist() == ["2026-11-21T05:00:00.250000+00:00"] * 2
    assert history_of(ledger, "dual_judgements").empty


@pytest.mark.parametrize("undefined", [math.nan, pd.NA, None, np.float64("nan")])
def test_what_is_undefined_in_a_history_is_null(ledger: SqlLedger, undefined: object) -> None:
    row = {"a_hh": np.float64(0.9), "alpha": undefined, "n": np.int64(3), "ids": [1, None]}
    append_history(ledger, "agreement_history", [row])

    [result] = history_of(ledger, "agreement_history").to_dict("records")
    assert result == {"a_hh": 0.9, "alpha": None, "n": 3, "ids": [1, None]}


def test_a_mode_that_was_reached_before_keeps_its_time(ledger: SqlLedger) -> None:
    start = StageChange(0, "both", math.nan, 0, "start")
    dropped = StageChange(100, "one", 0.9, 100, "kappa is 0.900")
    back = StageChange(300, "both", 0.5, 10, "")
    later = NOW + timedelta(days=1)
    write_staged_mode(ledger, [start, dropped], at=NOW)
    write_staged_mode(ledger, [start, dropped, back], at=later)

    columns = (staged_mode.c.mode, staged_mode.c.since, staged_mode.c.kappa)
    with ledger.read_transaction() as connection:
        result = connection.execute(sa.select(*columns).order_by(staged_mode.c.position)).all()
    assert result == [("both", NOW, None), ("one", NOW, 0.9), ("both", later, 0.5)]
