"""State of each check and of the last run, read from Dagster's history."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import dagster as dg
from dagster import AssetCheckKey, DagsterInstance

from eval_assets.alerts.message import State
from eval_assets.assets.dagster_internals import AssetCheckExecutionRecord, StepFailureData
from eval_assets.assets.resources import EVALUATION_TAG, EvaluationFolder, failure_lines

_PAGE = 20


@dataclass(frozen=True)
class FoundState:
    """Current state of a check or of the runs, and the event that caused it."""

    state: State
    reason: str
    run_id: str
    at: float
    metadata: Mapping[str, dg.MetadataValue]


def latest_state(
    instance: DagsterInstance, key: AssetCheckKey, folder: EvaluationFolder
) -> FoundState | None:
    """Return a check's latest state and its time; None if none of its runs ended."""
    latest: FoundState | None = None
    for record in _history(instance, key):
        state = _state(instance, record, folder)
        if state is None:
            continue
        if latest is None:
            latest = state
        if state.state != latest.state:
            break
        latest = FoundState(latest.state, latest.reason, latest.run_id, state.at, latest.metadata)
        if latest.state == "passed":
            break
    return latest


def last_run_state(
    instance: DagsterInstance, folder: EvaluationFolder, *, job_name: str | None = None
) -> FoundState | None:
    """Return whether the last run of this evaluation failed, except by a closed gate.

    Args:
        instance: Dagster's history.
        folder: The evaluation.
        job_name: The job that it was of; None for any.
    """
    tags = {EVALUATION_TAG: [str(folder.path.resolve()), str(folder.root.resolve())]}
    ended = [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE]
    run_filter = dg.RunsFilter(tags=tags, statuses=ended, job_name=job_name)
    for record in instance.get_run_records(run_filter, limit=_PAGE):
        run_id = record.dagster_run.run_id
        steps = _own_steps(instance, run_id, folder)
        if not steps:
            continue
        at = record.end_time or record.update_timestamp.timestamp()
        faults = _faults(instance, run_id, steps)
        if record.dagster_run.is_failure and not _failures(instance, run_id):
            faults = ["The run ended before all of its steps did: see its log."]
        state: State = "failed" if faults else "passed"
        reason = "\n".join(faults) or "The last run reached its end."
        return FoundState(state, reason, run_id, at, {})
    return None


def _state(
    instance: DagsterInstance, record: AssetCheckExecutionRecord, folder: EvaluationFolder
) -> FoundState | None:
    """Return the state of one execution.

    None if it is another evaluation's, has not ended, or never began because an asset failed.
    """
    run = instance.get_run_by_id(record.run_id)
    if run is None or not folder.owns(run):
        return None
    event = record.event.dagster_event if record.event else None
    at = record.create_timestamp
    if event and event.event_type is dg.DagsterEventType.ASSET_CHECK_EVALUATION:
        checked = event.asset_check_evaluation_data
        is_error = checked.severity is dg.AssetCheckSeverity.ERROR
        state: State = "passed" if checked.passed else "failed" if is_error else "warned"
        return FoundState(state, checked.description or "", record.run_id, at, checked.metadata)
    if run.is_finished and event and event.step_key in _failures(instance, record.run_id):
        return FoundState("crashed", "the check ended without a verdict", record.run_id, at, {})
    return None


def _history(instance: DagsterInstance, key: AssetCheckKey) -> Iterator[AssetCheckExecutionRecord]:
    """Yield a check's executions, latest first, as far back as there are any."""
    cursor: int | None = None
    while records := instance.event_log_storage.get_asset_check_execution_history(
        key, limit=_PAGE, cursor=cursor
    ):
        yield from records
        cursor = records[-1].id


def _own_steps(instance: DagsterInstance, run_id: str, folder: EvaluationFolder) -> set[str]:
    """Return the steps of a run that are of this evaluation."""
    planned = {
        dg.DagsterEventType.ASSET_MATERIALIZATION_PLANNED,
        dg.DagsterEventType.ASSET_CHECK_EVALUATION_PLANNED,
    }
    events = [entry.dagster_event for entry in instance.all_logs(run_id, of_type=planned)]
    return {
        event.step_key or ""
        for event in events
        if event and event.asset_key and event.asset_key == folder.key(event.asset_key.path[-1])
    }


def _faults(instance: DagsterInstance, run_id: str, steps: set[str]) -> list[str]:
    """Return the failures of these steps of a run except closed gates, a line each."""
    failed = [
        (step, failure) for step, failure in _failures(instance, run_id).items() if step in steps
    ]
    return list(
        dict.fromkeys(line for step, failure in failed for line in failure_lines(step, failure))
    )


def _failures(instance: DagsterInstance, run_id: str) -> dict[str, StepFailureData]:
    """Return the failed steps of a run with their failures."""
    entries = instance.all_logs(run_id, of_type=dg.DagsterEventType.STEP_FAILURE)
    events = [entry.dagster_event for entry in entries if entry.dagster_event]
    return {event.step_key or "": event.step_failure_data for event in events}
