"""Runs in this process."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
import sqlalchemy as sa
from dagster._core.execution.retries import RetryMode

from eval_assets.assets.resources import EvaluationFolder
from eval_assets.cli.materialize import _errors, _instance
from eval_assets.cli.run import run
from eval_assets.errors import StoreError

TOP = Path(__file__).parents[3]


def test_records_that_are_deleted_during_a_run_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    folder = EvaluationFolder.at(tmp_path)

    def look(instance: dg.DagsterInstance) -> None:
        shutil.rmtree(tmp_path / "out")
        instance.get_runs()

    with (
        pytest.raises(StoreError, match="replies that were paid for are in the ledger"),
        _instance(folder) as instance,
    ):
        look(instance)


@pytest.mark.parametrize("name", ["", "one"])
def test_a_single_evaluation_has_records_of_its_own_beside_those_that_several_share(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("DAGSTER_HOME", "")
    monkeypatch.delenv("DAGSTER_HOME")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    folder = EvaluationFolder.at(tmp_path / "data" / name, name=name)

    with _instance(folder) as instance:
        home = Path(instance.root_directory)
    assert home == tmp_path / "data" / (".dagster" if name else "out/dagster")


@pytest.mark.slow
def test_a_run_is_recorded_where_its_ui_shows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DAGSTER_HOME", "EVAL_DATABASE"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        ignored = shutil.ignore_patterns("out", "ledger*")
        shutil.copytree(TOP / "data" / "sample", tmp_path / "data" / name, ignore=ignored)

    options = ["--data", "data/one/"]
    code = run.main(options, standalone_mode=False)

    assert code == 0
    assert "DAGSTER_HOME" not in os.environ
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "data" / "one" / "out" / "dagster"))
    with dg.DagsterInstance.get() as instance:  # as `make ui EVAL_DATA=data/one` shows it
        event = instance.get_latest_materialization_event(dg.AssetKey("agreement_report"))
    assert event is not None


def test_records_are_kept_open_and_no_other_database_waits_less_for_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    folder = EvaluationFolder.at(tmp_path)

    def synchronous(file: Path) -> int:
        engine = sa.create_engine(f"sqlite:///{file}", poolclass=sa.pool.NullPool)
        with engine.connect() as connection:
            return int(connection.exec_driver_sql("PRAGMA synchronous").scalar_one())

    with _instance(folder) as instance:
        runs = Path(instance.root_directory) / "history" / "runs.db"
        instance.get_runs()
        log_stays = runs.with_name("runs.db-wal").exists()
        # Beside the stores, which wait for nothing in tests.
        during = synchronous(runs.with_name("new.db")), synchronous(tmp_path / "ledger.sqlite")

    normal, full = 1, 2
    assert log_stays
    assert not runs.with_name("runs.db-wal").exists()
    assert during == (normal, full)
    assert synchronous(runs) == synchronous(runs.with_name("new.db")) == full


class _Broken(dg.Executor):
    """An executor whose broker is gone."""

    @property
    def retries(self) -> RetryMode:
        """No retries."""
        return RetryMode.DISABLED

    def execute(self, plan_context: object, execution_plan: object) -> Iterator[dg.DagsterEvent]:
        """Reach nobody."""
        del plan_context, execution_plan
        raise ConnectionError("127.0.0.1:6380\nrefused the connection")


def job_without_a_broker() -> dg.JobDefinition:
    """Return a job of one step."""

    @dg.op
    def step() -> None:
        """Do nothing."""

    broken = dg.ExecutorDefinition(name="broken", executor_creation_fn=lambda _: _Broken())
    return dg.GraphDefinition(name="one", node_defs=[step]).to_job(executor_def=broken)


def test_a_run_that_ends_without_a_failed_step_says_why() -> None:
    with dg.instance_for_test() as instance:
        result = dg.execute_job(dg.reconstructable(job_without_a_broker), instance)
    [line] = _errors(result.all_events)
    assert line.startswith("the run ended early (")
    assert line.endswith("refused the connection). Run again: nothing is asked twice")
