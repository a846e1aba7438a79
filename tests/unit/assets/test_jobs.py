"""Jobs: the upkeep of a lake."""

from pathlib import Path

import pytest

from eval_assets.assets.jobs import upkeep_of
from eval_assets.assets.resources import EvaluationFolder
from eval_assets.store import connect, lake_of


def test_a_lake_has_a_daily_schedule_whose_job_looks_after_it(tmp_path: Path) -> None:
    address = f"ducklake:{tmp_path / 'catalog.ducklake'}"
    with connect(lake_of(address, files=None, evaluation="one")):
        pass

    [schedule] = upkeep_of(EvaluationFolder(database=address))

    assert schedule.cron_schedule == "0 3 * * *"
    assert schedule.job.execute_in_process().success  # type: ignore[union-attr]


def test_a_database_in_a_file_has_no_upkeep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EVAL_DATABASE", raising=False)
    assert upkeep_of(EvaluationFolder()) == []
    assert upkeep_of(EvaluationFolder(database="eval.duckdb")) == []
