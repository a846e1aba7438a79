"""Events that cannot be computed again are kept, and read back as they were."""

import math

import numpy as np
import pandas as pd
import pytest

from eval_assets.store.ledger.engine import SqlLedger
from eval_assets.store.ledger.histories import append_history, history_of
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
