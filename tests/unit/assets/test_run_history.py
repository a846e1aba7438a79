"""Records of old runs are removed, and those that still matter stay."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import dagster as dg
import pytest
from dagster._core.storage.runs import SqlRunStorage
from dagster._core.storage.runs.schema import RunsTable

from eval_assets.assets.resources import EvaluationFolder
from eval_assets.assets.run_history import remove_old_runs
from eval_assets.config.operations import History
from eval_assets.store.database_file import keep_sqlite_open

if TYPE_CHECKING:
    from tests.postgres import Postgres

MONTHS = dg.DynamicPartitionsDefinition(name="months")


@dg.asset
def measured() -> dg.MaterializeResult[None]:
    """Measure."""
    return dg.MaterializeResult(metadata={"text": "x" * 4_000})


@dg.asset
def rare() -> None:
    """Measure seldom."""


@dg.asset(partitions_def=MONTHS)
def monthly() -> None:
    """Measure a month."""


@dg.asset_check(asset=measured)
def holds() -> dg.AssetCheckResult:
    """Pass."""
    return dg.AssetCheckResult(passed=True)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def instance(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    """Dagster's records in each kind of storage."""
    settings: dict[str, object] = {}
    if request.param == "postgres":
        server: Postgres = request.getfixturevalue("postgres")
        url = server.new_database().replace("postgresql:", "postgresql+psycopg2:", 1)
        settings = {"storage": {"postgres": {"postgres_url": url}}}
    records = tmp_path / "dagster"
    records.mkdir()
    with (
        dg.DagsterInstance.local_temp(str(records), overrides=settings) as instance,
        keep_sqlite_open(records),
    ):
        yield instance


@pytest.fixture
def folder(tmp_path: Path) -> EvaluationFolder:
    """An evaluation folder."""
    return EvaluationFolder(data=str(tmp_path))


def run(
    instance: dg.DagsterInstance,
    folder: EvaluationFolder,
    *assets: dg.AssetsDefinition | dg.AssetChecksDefinition,
    days_ago: int = 0,
    partition: str | None = None,
) -> str:
    """Run assets and checks so many days ago; return the run's id."""
    result = dg.materialize(
        assets, instance=instance, tags=folder.run_tags, partition_key=partition
    )
    created = datetime.now(tz=UTC) - timedelta(days=days_ago)
    change(instance, result.run_id, create_timestamp=created.replace(tzinfo=None))
    return result.run_id


def change(instance: dg.DagsterInstance, run_id: str, **values: object) -> None:
    """Change columns of a run's record."""
    assert isinstance(instance.run_storage, SqlRunStorage)
    with instance.run_storage.connect() as connection:
        connection.execute(RunsTable.update().where(RunsTable.c.run_id == run_id).values(**values))


def kept(instance: dg.DagsterInstance) -> set[str]:
    """Return the runs of which there are records."""
    return {record.run_id for record in instance.get_runs()}


def n_check_results(instance: dg.DagsterInstance) -> int:
    """Return how many results of the check there are."""
    key = dg.AssetCheckKey(measured.key, "holds")
    return len(instance.event_log_storage.get_asset_check_execution_history(key, limit=99))


def test_runs_older_than_the_limit_are_removed_with_all_of_their_records(
    instance: dg.DagsterInstance, folder: EvaluationFolder, tmp_path: Path
) -> None:
    old = run(instance, folder, measured, holds, days_ago=91)
    recent = run(instance, folder, measured, holds, days_ago=89)
    logs = tmp_path / "dagster" / "storage"
    assert (logs / old).exists()

    assert remove_old_runs(instance, folder, History()) == 1
    assert kept(instance) == {recent}
    assert [
        event.run_id for event in instance.fetch_materializations(measured.key, limit=9).records
    ] == [recent]
    assert n_check_results(instance) == 1
    assert not list((tmp_path / "dagster").rglob(f"*{old}*"))


def test_no_more_runs_are_kept_than_declared(
    instance: dg.DagsterInstance, folder: EvaluationFolder
) -> None:
    runs = [run(instance, folder, measured, holds) for _ in range(4)]

    assert remove_old_runs(instance, folder, History(keep_runs=2)) == 2
    assert kept(instance) == set(runs[2:])
    assert remove_old_runs(instance, folder, History(keep_runs=2)) == 0


def test_the_latest_run_of_each_asset_partition_and_check_stays(
    instance: dg.DagsterInstance, folder: EvaluationFolder
) -> None:
    instance.add_dynamic_partitions("months", ["may", "june"])
    run(instance, folder, monthly, days_ago=400, partition="may")
    may = run(instance, folder, monthly, days_ago=300, partition="may")
    june = run(instance, folder, monthly, days_ago=200, partition="june")
    checked = run(instance, folder, measured, holds, days_ago=150)
    seldom = run(instance, folder, rare, measured, days_ago=140)
    run(instance, folder, measured, days_ago=130)
    last = run(instance, folder, measured, days_ago=120)

    assert remove_old_runs(instance, folder, History()) == 2
    assert kept(instance) == {may, june, checked, seldom, last}
    assert instance.get_materialized_partitions(monthly.key) == {"may", "june"}


def test_runs_of_other_evaluations_and_unfinished_ones_stay(
    instance: dg.DagsterInstance, folder: EvaluationFolder, tmp_path: Path
) -> None:
    other = EvaluationFolder(data=str(tmp_path / "other"))
    foreign_runs = [run(instance, other, rare, days_ago=200) for _ in range(2)]
    run(instance, folder, measured, days_ago=200)
    started = run(instance, folder, measured, days_ago=200)
    change(instance, started, status="STARTED")
    last = run(instance, folder, measured)

    assert remove_old_runs(instance, folder, History()) == 1
    assert kept(instance) == {*foreign_runs, started, last}
