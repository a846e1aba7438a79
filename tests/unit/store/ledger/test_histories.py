"""What happened and cannot be computed again: kept, and read back as it was."""

import math
from datetime import timedelta

import pandas as pd
import pytest
import sqlalchemy as sa

from eval_assets.agreement import StageChange, Validation
from eval_assets.ledger import SealReading
from eval_assets.store.connection import StoreError
from eval_assets.store.ledger import (
    SqlLedger,
    readings_of,
    record_agreement,
    record_reading,
    record_validation,
    release_reading,
    validation_history,
    write_staged_mode,
)
from eval_assets.store.ledger._tables import agreement_history, staged_mode
from eval_assets.store.ledger.histories import history_of
from tests.unit.store.ledger.conftest import NOW


def validation(hours: int) -> Validation:
    at = NOW + timedelta(hours=hours)
    return Validation(at, 0.8, math.nan, "not_evaluable", 4, 3, 9, math.nan, 0.0, "a", "b", "f", "")


def reading(k: int, *, question_id: str = "q") -> SealReading:
    return SealReading("seal", question_id, k, "judges", 0.05 / (k * (k + 1)), ("map",), None, NOW)


def test_validations_are_kept_and_the_latest_come_first(ledger: SqlLedger) -> None:
    for hours in range(3):
        record_validation(ledger, validation(hours))

    history = validation_history(ledger, most=2)

    assert history["timestamp"].tolist() == [NOW + timedelta(hours=2), NOW + timedelta(hours=1)]
    assert history["kappa_macro"].tolist() == [0.8, 0.8]
    assert history["kappa_micro"].isna().all()


def test_a_mode_that_was_reached_before_keeps_its_time(ledger: SqlLedger) -> None:
    start = StageChange(0, "both", math.nan, 0, "start")
    dropped = StageChange(100, "one", 0.9, 100, "kappa is 0.900")
    back = StageChange(300, "both", 0.5, 10, "")
    later = NOW + timedelta(days=1)
    write_staged_mode(ledger, [start, dropped], at=NOW)
    write_staged_mode(ledger, [start, dropped, back], at=later)

    found = history_of(ledger, staged_mode)[["mode", "since", "kappa"]].to_numpy().tolist()
    assert found == [["both", NOW, None], ["one", NOW, 0.9], ["both", later, 0.5]]


def test_undefined_agreement_is_null(ledger: SqlLedger) -> None:
    row = {
        "run_id": "run-1",
        "measured_at": NOW,
        "scope": "overall",
        "question_id": None,
        "a_hh": 0.9,
        "alpha": math.nan,
        "judge_alpha": math.nan,
        "data_version": "v",
        "judge_set_fingerprint": None,
    }
    record_agreement(ledger, pd.DataFrame([row]))

    with ledger.reading() as connection:
        [found] = connection.execute(sa.select(agreement_history)).all()
    assert (found.a_hh, found.alpha, found.question_id) == (0.9, None, None)


def test_readings_of_a_sealed_test_are_counted_by_question(ledger: SqlLedger) -> None:
    for each in (reading(1), reading(2), reading(1, question_id="other")):
        record_reading(ledger, each)

    assert readings_of(ledger, "seal", "q") == [reading(1), reading(2)]
    assert readings_of(ledger, "another seal", "q") == []


def test_no_reading_is_taken_twice(ledger: SqlLedger) -> None:
    record_reading(ledger, reading(1))

    with pytest.raises(StoreError, match="reading 1 of the test of q was taken by another run"):
        record_reading(ledger, reading(1))


def test_what_a_reading_printed_is_remembered(ledger: SqlLedger) -> None:
    record_reading(ledger, reading(1))
    printed = SealReading(
        "seal", "q", 1, "judges", 0.025, ("map",), {"verdict": "accepted", "gain": 0.1}, NOW
    )
    release_reading(ledger, printed)

    assert readings_of(ledger, "seal", "q") == [printed]
