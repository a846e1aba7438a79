"""State of each check and of the last run, read from Dagster's history."""

from dataclasses import dataclass
from typing import Literal

import dagster as dg

from eval_assets.assets.dagster_internals import StepFailureData
from eval_assets.assets.resources import EvaluationFolder, failure_lines

State = Literal["passed", "warned", "failed", "crashed"]

_LATEST = 20
"""Records that are searched: runs in progress and other evaluations have some too."""


@dataclass(frozen=True)
class RecordedState:
    """State of a check or of the runs.

    Args:
        state: The state.
        reason: What a check or the failed steps say.
        run_id: The run that it is of.
        at: When it was found, in seconds since 1970.
    """

    state: State
    reason: str
    run_id: str
    at: float


def latest_state(
    instance: dg.DagsterInstance, key: dg.AssetCheckKey, folder: EvaluationFolder
) -> RecordedState | None:
    """Return a check's latest state in the runs of this evaluation; None if it has none.

    A check has none in a run that has not reached it, or that ended because an asset failed.
    """
    records = instance.event_log_storage.get_asset_check_execution_history(key, limit=_LATEST)
    for record in records:
        run = instance.get_run_by_id(record.run_id)
        event = record.event.dagster_event if record.event else None
        at = record.create_timestamp
        if run is None or event is None or not folder.owns(run):
            continue
        if event.event_type is dg.DagsterEventType.ASSET_CHECK_EVALUATION:
            checked = event.asset_check_evaluation_data
            is_error = checked.severity is dg.AssetCheckSeverity.ERROR
            state: State = "passed" if checked.passed else "failed" if is_error else "warned"
            return RecordedState(state, checked.description or "", record.run_id, at)
        # Of a check that raised, only the plan is recorded.
        if run.is_finished and event.step_key in _failures(instance, record.run_id):
            reason = "the check ended without a verdict"
            return RecordedState("crashed", reason, record.run_id, at)
    return None


def last_run_state(instance: dg.DagsterInstance, folder: EvaluationFolder) -> RecordedState | None:
    """Return whether the last run of this evaluation failed, except by a closed gate."""
    ended = [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE]
    run_filter = dg.RunsFilter(tags=folder.run_tags, statuses=ended)
    for record in instance.get_run_records(run_filter, limit=_LATEST):
        run_id, at = record.dagster_run.run_id, record.end_time or 0.0
        steps = _own_steps(instance, run_id, folder)
        if not steps:
            continue
        failures = _failures(instance, run_id)
        lines = [
            line
            for step, failure in failures.items()
            if step in steps
            for line in failure_lines(step, failure)
        ]
        if record.dagster_run.is_failure and not failures:
            lines = ["The run ended before all of its steps did: see its log."]
        if lines:
            return RecordedState("failed", "\n".join(dict.fromkeys(lines)), run_id, at)
        return RecordedState("passed", "The last run reached its end.", run_id, at)
    return None


def _own_steps(instance: dg.DagsterInstance, run_id: str, folder: EvaluationFolder) -> set[str]:
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


def _failures(instance: dg.DagsterInstance, run_id: str) -> dict[str, StepFailureData]:
    """Return the failed steps of a run with their failures."""
    entries = instance.all_logs(run_id, of_type=dg.DagsterEventType.STEP_FAILURE)
    events = [entry.dagster_event for entry in entries if entry.dagster_event]
    return {event.step_key or "": event.step_failure_data for event in events}
