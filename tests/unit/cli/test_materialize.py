"""Runs in this process."""

import shutil
from pathlib import Path

import dagster as dg
import pytest

from eval_assets.assets.resources import EvaluationFolder
from eval_assets.cli.materialize import _instance
from eval_assets.store import StoreError


def test_records_that_are_deleted_during_a_run_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    folder = EvaluationFolder(data=str(tmp_path), database="", name="")

    def look(instance: dg.DagsterInstance) -> None:
        shutil.rmtree(tmp_path / "out")
        instance.get_runs()

    with (
        pytest.raises(StoreError, match="replies that were paid for are in the ledger"),
        _instance(folder) as instance,
    ):
        look(instance)
