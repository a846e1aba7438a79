"""Sensors and schedules of an evaluation, or of a folder of several."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

import dagster as dg

from eval_assets.assets.alerting import alert_channels, send_alerts
from eval_assets.assets.dagster_internals import UnresolvedAssetJobDefinition
from eval_assets.assets.file_versions import assets_of_files
from eval_assets.assets.live_judging import n_batches_to_collect
from eval_assets.assets.resources import EvaluationFolder, version_of
from eval_assets.config.operations import Schedule
from eval_assets.errors import InputError, StoreError, leaves
from eval_assets.labelling.session_files import SessionFolder
from eval_assets.readers.evaluation.input_files import (
    FileState,
    file_state,
)
from eval_assets.readers.formats.files import is_working_file

_OTHER = "other files"
"""Files of no input asset, such as prompts."""

REST = timedelta(minutes=10)
"""Idle time of an open labelling session before a run reads its labels."""


@dataclass(frozen=True)
class AutomatedEvaluation:
    """An evaluation with its jobs and its schedule.

    Args:
        folder: The evaluation.
        jobs: The jobs that run everything, and everything but tuning.
        schedule: The declared schedule; None if there is none.
    """

    folder: EvaluationFolder
    jobs: Sequence[UnresolvedAssetJobDefinition]
    schedule: Schedule | None


def automation_of(
    evaluations: Sequence[AutomatedEvaluation],
) -> tuple[list[dg.SensorDefinition], list[dg.ScheduleDefinition]]:
    """Return sensors and schedules of an evaluation, or of all evaluations of a folder.

    There is one of each for all evaluations, and a schedule for each that declares one. A declared
    schedule runs from the start, and so does the sensor of batches beside it. The sensor of alerts
    runs if the environment names a channel. All others are off until the UI starts them.
    """
    is_scheduled = any(of.schedule for of in evaluations)
    scheduled = _sensor_status(is_running=is_scheduled)
    jobs = [of.jobs[0] for of in evaluations]
    sensors = [
        dg.SensorDefinition(
            name="new_files",
            jobs=jobs,
            minimum_interval_seconds=30,
            description="Runs what depends on files of an evaluation folder when they change.",
            evaluation_fn=lambda context: look_for_files_of_all(context, evaluations),
        ),
        dg.SensorDefinition(
            name="ended_batches",
            jobs=jobs,
            minimum_interval_seconds=300,
            description="Runs an evaluation when a batch of its judge requests has ended.",
            default_status=scheduled,
            evaluation_fn=lambda context: _result(
                _of_each(context, evaluations, lambda of: look_for_batches(context, of.folder))
            ),
        ),
        dg.SensorDefinition(
            name="check_alerts",
            minimum_interval_seconds=30,
            description="Sends one alert when a check or a run fails, crashes, or passes again.",
            default_status=_sensor_status(is_running=bool(alert_channels())),
            evaluation_fn=lambda context: send_alerts(context, [of.folder for of in evaluations]),
        ),
    ]
    # An undeclared one can be switched on, if it is the only one.
    timed = [of for of in evaluations if of.schedule or len(evaluations) == 1]
    return sensors, [schedule_of(of) for of in timed]


def schedule_of(of: AutomatedEvaluation) -> dg.ScheduleDefinition:
    """Return the schedule of an evaluation, the default one if it declares none."""
    timing = of.schedule or Schedule()
    return dg.ScheduleDefinition(
        name=f"{of.folder.names_before}scheduled_rerun",
        job_name=f"{of.folder.names_before}evaluate",
        cron_schedule=timing.cron,
        execution_timezone=timing.timezone,
        description="Runs everything again.",
        tags=of.folder.run_tags,
        default_status=dg.DefaultScheduleStatus[_sensor_status(is_running=bool(of.schedule)).name],
    )


_Looked = TypeVar("_Looked")


def _of_each(
    context: dg.SensorEvaluationContext,
    evaluations: Sequence[AutomatedEvaluation],
    look: Callable[[AutomatedEvaluation], _Looked],
) -> list[tuple[AutomatedEvaluation, _Looked]]:
    """Return the result of each evaluation; one that cannot be read does not stop the others.

    Raises:
        ExceptionGroup: If no evaluation can be read.
    """
    results: list[tuple[AutomatedEvaluation, _Looked]] = []
    errors: list[Exception] = []
    for of in evaluations:
        try:
            results.append((of, look(of)))
        except* (dg.Failure, InputError, StoreError) as group:
            context.log.warning("%s: %s", of.folder.path, "; ".join(map(str, leaves(group))))
            errors.append(group)
    if errors and not results:
        raise ExceptionGroup("no evaluation can be read", errors)
    return results


def _result(
    results: Sequence[tuple[AutomatedEvaluation, dg.RunRequest | dg.SkipReason]],
) -> dg.SensorResult | dg.SkipReason:
    """Return the requested runs, each of its evaluation's job, or the reason for none."""
    requests = [
        result._replace(job_name=f"{of.folder.names_before}evaluate")
        for of, result in results
        if isinstance(result, dg.RunRequest)
    ]
    if requests:
        return dg.SensorResult(run_requests=requests)
    return _skipped(result for _, result in results)


def _skipped(results: Iterable[object]) -> dg.SkipReason:
    reasons = [of.skip_message or "" for of in results if isinstance(of, dg.SkipReason)]
    return dg.SkipReason("; ".join(dict.fromkeys(reasons)))


def _sensor_status(*, is_running: bool) -> dg.DefaultSensorStatus:
    return dg.DefaultSensorStatus.RUNNING if is_running else dg.DefaultSensorStatus.STOPPED


def look_for_files_of_all(
    context: dg.SensorEvaluationContext, evaluations: Sequence[AutomatedEvaluation]
) -> dg.SensorResult | dg.SkipReason:
    """Request the runs of all evaluations with changed files; the cursor has the state of each."""
    cursors = _state_in(context.cursor) or {}

    def look(of: AutomatedEvaluation) -> dg.RunRequest | dg.SkipReason:
        before = _state_in(cursors.get(of.folder.name))
        request, state = look_for_files(of.folder, before, context.repository_def)
        if state is not None:
            cursors[of.folder.name] = json.dumps(state)
        return request

    result = _result(_of_each(context, evaluations, look))
    context.update_cursor(json.dumps(cursors))
    return result


def look_for_files(
    folder: EvaluationFolder,
    last: Mapping[str, str] | None,
    repository: dg.RepositoryDefinition | None,
) -> tuple[dg.RunRequest | dg.SkipReason, Mapping[str, str] | None]:
    """Request a run of the assets downstream of changed files, once per state of the folder.

    Everything runs at the first turn, and if evaluation.yaml or a file of no input asset changed.
    While a rater labels, there is no run until the session is closed or has rested.

    Args:
        folder: The evaluation.
        last: The state for which a run was requested last; None at the first turn.
        repository: All definitions; None to run everything.

    Returns:
        The run, or why there is none; and the state for the next turn.
    """
    if labelling := _who_labels(folder.path):
        return dg.SkipReason(f"{', '.join(labelling)} is labelling"), last
    state = _state_by_asset(folder.path)
    if state == last:
        return dg.SkipReason(f"no file of {folder.path} changed"), state
    request = dg.RunRequest(run_key=version_of(sorted(state.items())), tags=folder.run_tags)
    if last is None or repository is None:
        return request, state
    changed = {name for name in {*state, *last} if state.get(name) != last.get(name)}
    if changed & {"evaluation_file", _OTHER}:
        return request, state
    graph = repository.asset_graph
    selection = dg.AssetSelection.assets(*map(folder.key, changed)).downstream().materializable()
    return request._replace(asset_selection=sorted(selection.resolve(graph))), state


def _state_by_asset(folder: Path) -> dict[str, str]:
    """Return a fingerprint of the files of each input asset, and of all other files."""
    assets = assets_of_files(folder)
    states: dict[str, list[FileState]] = {}
    for path in sorted(_given_files(folder)):
        states.setdefault(assets.get(path.resolve(), _OTHER), []).append(file_state(path))
    return {name: version_of(files) for name, files in states.items()}


def _state_in(cursor: str | None) -> dict[str, str] | None:
    """Return the state in a cursor; None at the first turn."""
    try:
        state = json.loads(cursor or "null")
    except ValueError:  # of an earlier version
        return None
    return state if isinstance(state, dict) else None


def look_for_batches(
    context: dg.SensorEvaluationContext, folder: EvaluationFolder
) -> dg.RunRequest | dg.SkipReason:
    """Request a run if vendors have answered a batch; the run collects the replies."""
    n_ended = n_batches_to_collect(folder.evaluation(), folder)
    if not n_ended:
        return dg.SkipReason("no batch is waiting to be collected")
    context.log.info("%d batches are waiting to be collected", n_ended)
    return dg.RunRequest(tags=folder.run_tags)


def _who_labels(folder: Path) -> list[str]:
    """Return the raters with an open session that was changed in the last minutes."""
    rested = datetime.now(tz=UTC) - REST
    try:
        sessions = SessionFolder(folder).all()
    except InputError:
        return []  # the run reports what is wrong with the file
    active = [s for s in sessions if s.closed_at is None and s.updated_at > rested]
    return sorted({session.key.rater_id for session in active})


def _given_files(folder: Path) -> Iterator[Path]:
    """Yield the complete input files.

    These exclude files that the program writes, locks, hidden, half-written and empty files.
    """
    for path in folder.rglob("*"):
        parts = path.relative_to(folder).parts
        is_own = parts[0] == "out" or parts[0].startswith("ledger.sqlite")
        if is_own or any(is_working_file(Path(part)) for part in parts):
            continue
        if path.is_file() and path.stat().st_size:
            yield path
