"""Versions of judges and readings of sealed tests: numbered once, and read back as they were."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from eval_assets.errors import StoreError
from eval_assets.stats import MonotoneMap
from eval_assets.store.ledger.engine import SqlLedger
from eval_assets.store.ledger.histories import JudgeLedger
from eval_assets.store.ledger.opening import open_ledger
from eval_assets.tuning.history import HeldOutEvaluation
from eval_assets.tuning.versions import JudgeVersion
from tests.unit.store.ledger.conftest import NOW
from tests.unit.tuning.made_up import certificate

DECLARED = JudgeVersion("gpt", "", "declared", None, "f", prompt_text="Rate it.")
MAPPED = replace(
    DECLARED,
    step="calibration",
    maps={"q": MonotoneMap((1.0, 2.0), (2.0, 3.0), target=(1.0, 2.0, 3.0), low=1, high=3)},
    sources=("r1",),
)


def a_reading(number: int = 1, **fields: object) -> HeldOutEvaluation:
    """Return a reading that showed one row."""
    inputs = {
        "question_id": "q",
        "seal": 1,
        "number": number,
        "level": 0.05 / (number * (number + 1)),
        "candidates": (MAPPED,),
        "groups": ("g1", "g2"),
        "content": f"content {number}",
        "rows": ({"judge_id": "gpt", "verdict": "accepted", "gain": 0.1},),
        "certificates": {"gpt": certificate(holds=["improved"])},
        "read_at": NOW + timedelta(minutes=number),
    }
    return HeldOutEvaluation(**{**inputs, **fields})  # type: ignore[arg-type]


def test_versions_get_their_numbers_when_they_are_first_seen(ledger: SqlLedger) -> None:
    [declared, mapped] = JudgeLedger(ledger).register([(DECLARED, {}), (MAPPED, {})], at=NOW)
    other = replace(DECLARED, judge_id="other")
    repeat = JudgeLedger(ledger).register([(MAPPED, {}), (other, {}), (DECLARED, {})], at=NOW)

    assert (declared.version, declared.parent) == ("1.0.0", None)
    assert (mapped.version, mapped.parent) == ("1.0.1", "1.0.0")
    assert repeat == [mapped, replace(other, version="1.0.0", parent=None), declared]
    assert JudgeLedger(ledger).versions() == [declared, mapped, repeat[1]]


def test_evaluations_on_one_ledger_number_their_versions_apart(
    tmp_path: Path, setting: str | None
) -> None:
    """On a file of their own they are apart anyway."""
    for name in ("poems", "essays"):
        (tmp_path / name).mkdir()
        with open_ledger(tmp_path / name, evaluation=name, setting=setting) as ledger:
            [version] = JudgeLedger(ledger).register([(DECLARED, {})], at=NOW)
            JudgeLedger(ledger).record(a_reading())
            assert version.version == "1.0.0"
            assert len(JudgeLedger(ledger).evaluations("q")) == 1


def test_a_reading_is_written_down_before_it_shows_anything(ledger: SqlLedger) -> None:
    reading = a_reading()
    JudgeLedger(ledger).record(reading)

    assert JudgeLedger(ledger).evaluations("q") == [replace(reading, rows=(), certificates={})]
    JudgeLedger(ledger).release(reading)
    assert JudgeLedger(ledger).evaluations("q") == [reading]


def test_readings_are_counted_by_question_and_seal(ledger: SqlLedger) -> None:
    evaluations = [a_reading(1), a_reading(2), a_reading(1, seal=2), a_reading(1, question_id="p")]
    for item in evaluations:
        JudgeLedger(ledger).record(item)

    result = JudgeLedger(ledger).evaluations("q")
    assert sorted((item.seal, item.number) for item in result) == [(1, 1), (1, 2), (2, 1)]


def test_no_reading_is_taken_twice(ledger: SqlLedger) -> None:
    JudgeLedger(ledger).record(a_reading())

    with pytest.raises(
        StoreError, match="another run took evaluation 1 of the test of q meanwhile"
    ):
        JudgeLedger(ledger).record(a_reading(content="of another run"))


def test_a_version_keeps_everything_that_it_was_trained_on(ledger: SqlLedger) -> None:
    versions = JudgeLedger(ledger)
    first = replace(MAPPED, trained_on=frozenset({"a", "b"}))
    versions.register([(first, {"changed": "maps"})], at=NOW)
    versions.register([(replace(MAPPED, trained_on=frozenset({"b", "c"})), {})], at=NOW)
    versions.register([(MAPPED, {})], at=NOW)

    [version] = versions.versions()
    assert version.trained_on == {"a", "b", "c"}
