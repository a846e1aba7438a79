"""Removal of old run records from Dagster's history."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg

from eval_assets.assets.dagster_internals import (
    AssetCheckExecutionsTable,
    SqlEventLogStorage,
    SqliteEventLogStorage,
)
from eval_assets.assets.resources import EvaluationFolder
from eval_assets.config.operations import History

_ENDED = [
    dg.DagsterRunStatus.SUCCESS,
    dg.DagsterRunStatus.FAILURE,
    dg.DagsterRunStatus.CANCELED,
]


def histories(folders: Iterable[EvaluationFolder]) -> Iterator[tuple[EvaluationFolder, History]]:
    """Yield the evaluations that can be read, and how long each keeps records."""
    for folder in folders:
        try:
            history = folder.evaluation().history
        except dg.Failure:
            continue  # a run reports what is wrong with the file
        yield folder, history


def remove_old_runs(
    instance: dg.DagsterInstance, folder: EvaluationFolder, history: History
) -> int:
    """Remove the records of an evaluation's old runs; return the number of runs.

    Runs of other evaluations stay, as do those of several evaluations at once, those that have not
    ended, and the latest one of each asset, partition and check.
    """
    runs = list(old_runs(instance, folder, history))
    for run_id in runs:
        instance.compute_log_manager.delete_logs(prefix=[run_id])
        _delete_check_results(instance, run_id)
        instance.delete_run(run_id)
        _delete_event_file(instance, run_id)
    return len(runs)


def old_runs(
    instance: dg.DagsterInstance, folder: EvaluationFolder, history: History
) -> Iterator[str]:
    """Yield the runs whose records may be removed, oldest first."""
    oldest = datetime.now(tz=UTC) - timedelta(days=history.keep_days)
    n_excess = instance.get_runs_count(_own_runs(folder)) - history.keep_runs
    n_old = instance.get_runs_count(_own_runs(folder, created_before=oldest))
    n_candidates = max(n_excess, n_old)
    if n_candidates <= 0:
        return
    latest = _LatestRuns(instance)
    for record in instance.get_run_records(_own_runs(folder), limit=n_candidates, ascending=True):
        if not latest.include(record.dagster_run.run_id):
            yield record.dagster_run.run_id


def _own_runs(folder: EvaluationFolder, *, created_before: datetime | None = None) -> dg.RunsFilter:
    """Return the filter of an evaluation's runs that have ended."""
    return dg.RunsFilter(tags=folder.run_tags, statuses=_ENDED, created_before=created_before)


class _LatestRuns:
    """The latest run of each asset, partition and check."""

    def __init__(self, instance: dg.DagsterInstance) -> None:
        self._instance = instance
        self._materialized: dict[tuple[dg.AssetKey, str | None], str] = {}
        self._checked: dict[dg.AssetCheckKey, str | None] = {}

    def include(self, run_id: str) -> bool:
        """Return whether a run is the latest one of anything."""
        results = {
            dg.DagsterEventType.ASSET_MATERIALIZATION,
            dg.DagsterEventType.ASSET_CHECK_EVALUATION,
        }
        entries = self._instance.all_logs(run_id, of_type=results)
        events = [entry.dagster_event for entry in entries if entry.dagster_event]
        return any(self._run_of_latest(event) == run_id for event in events)

    def _run_of_latest(self, event: dg.DagsterEvent) -> str | None:
        """Return the latest run with an event of the same asset and partition, or check."""
        if event.event_type is dg.DagsterEventType.ASSET_CHECK_EVALUATION:
            check = event.asset_check_evaluation_data.asset_check_key
            if check not in self._checked:
                self._checked[check] = self._latest_check(check)
            return self._checked[check]
        assert event.asset_key is not None  # noqa: S101 - of an optional type in Dagster
        subject = event.asset_key, event.partition
        if subject not in self._materialized:
            self._materialized[subject] = self._latest_materialization(*subject)
        return self._materialized[subject]

    def _latest_materialization(self, key: dg.AssetKey, partition: str | None) -> str:
        partitions = None if partition is None else [partition]
        record_filter = dg.AssetRecordsFilter(key, asset_partitions=partitions)
        return self._instance.fetch_materializations(record_filter, limit=1).records[0].run_id

    def _latest_check(self, check: dg.AssetCheckKey) -> str | None:
        records = self._instance.event_log_storage.get_latest_asset_check_execution_by_key([check])
        return records[check].run_id if check in records else None


def _delete_check_results(instance: dg.DagsterInstance, run_id: str) -> None:
    """Delete a run's results of checks, which `delete_run` leaves."""
    storage = instance.event_log_storage
    if isinstance(storage, SqlEventLogStorage):
        table = AssetCheckExecutionsTable
        with storage.index_connection() as connection:
            connection.execute(table.delete().where(table.c.run_id == run_id))


def _delete_event_file(instance: dg.DagsterInstance, run_id: str) -> None:
    """Delete the SQLite file of a run's events, which `delete_run` leaves with empty pages."""
    storage = instance.event_log_storage
    if isinstance(storage, SqliteEventLogStorage):
        path = storage.path_for_shard(run_id)
        for file in (path, f"{path}-wal", f"{path}-shm"):
            Path(file).unlink(missing_ok=True)
