"""Sensors and schedules of an evaluation, or of a folder of several."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

import dagster as dg

from eval_assets.assets.alerting import alert_channels, send_alerts
from eval_assets.assets.dagster_internals import UnresolvedAssetJobDefinition
from eval_assets.assets.resources import EvaluationFolder
from eval_assets.config.operations import Schedule
from eval_assets.errors import InputError, StoreError, leaves
from eval_assets.labelling.session_files import SessionFolder

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

    There is one sensor of each kind for all evaluations, and a schedule for each. A declared
    schedule runs from the start. The sensor of alerts runs if the environment names a channel. That
    of files always runs: it starts nothing.
    """
    folders = [of.folder for of in evaluations]
    sensors = [
        dg.AutomationConditionSensorDefinition(
            name="new_files",
            target=dg.AssetSelection.all(),
            minimum_interval_seconds=30,
            description="Makes what lies behind a changed file, up to a closed gate.",
        ),
        files_sensor(folders, name="input_files"),
        dg.SensorDefinition(
            name="check_alerts",
            minimum_interval_seconds=30,
            description="Sends one alert when a check or a run fails, crashes, or passes again.",
            default_status=_sensor_status(is_running=bool(alert_channels())),
            evaluation_fn=lambda context: send_alerts(context, folders),
        ),
    ]
    return sensors, [schedule_of(of) for of in evaluations]


def schedule_of(of: AutomatedEvaluation) -> dg.ScheduleDefinition:
    """Return the schedule of an evaluation, the default one if it declares none."""
    timing = of.schedule or Schedule()
    job_name = f"{of.folder.names_before}evaluate"

    def rerun(context: dg.ScheduleEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        unfinished = dg.RunsFilter(job_name=job_name, statuses=_UNFINISHED)
        if runs := context.instance.get_runs(unfinished, limit=1):
            return dg.SkipReason(f"run {runs[0].run_id} has not ended")
        return dg.RunRequest(tags=of.folder.run_tags)

    return dg.ScheduleDefinition(
        name=f"{of.folder.names_before}scheduled_rerun",
        job_name=job_name,
        cron_schedule=timing.cron,
        execution_timezone=timing.timezone,
        description="Runs everything again, unless the last run has not ended.",
        default_status=dg.DefaultScheduleStatus[_sensor_status(is_running=bool(of.schedule)).name],
        execution_fn=rerun,
    )


_UNFINISHED = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]


def files_sensor(folders: Sequence[EvaluationFolder], *, name: str) -> dg.SensorDefinition:
    """Return a sensor that records the versions of input files, and starts no run."""

    def record(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        def of_one(folder: EvaluationFolder) -> list[dg.AssetObservation]:
            labelling = _who_labels(folder.path)
            if labelling:
                context.log.info("labels are read later: %s is labelling", ", ".join(labelling))
            return [
                observation
                for observation in folder.unrecorded_versions(context.instance)
                if not (labelling and observation.asset_key == folder.key("label_files"))
            ]

        observations = list(_of_each(context, folders, of_one))
        events = [event for _, new in observations for event in new]
        reason = None if events else dg.SkipReason("no file changed")
        return dg.SensorResult(asset_events=events, skip_reason=reason)

    return dg.SensorDefinition(
        name=name,
        evaluation_fn=record,
        minimum_interval_seconds=30,
        description="Records the versions of input files, which new_files waits for.",
        default_status=dg.DefaultSensorStatus.RUNNING,
    )


_Looked = TypeVar("_Looked")


def _of_each(
    context: dg.SensorEvaluationContext,
    folders: Sequence[EvaluationFolder],
    look: Callable[[EvaluationFolder], _Looked],
) -> Iterator[tuple[EvaluationFolder, _Looked]]:
    """Yield the result of each evaluation; one that cannot be read does not stop the others.

    Raises:
        ExceptionGroup: If no evaluation can be read.
    """
    errors: list[Exception] = []
    for folder in folders:
        try:
            result = look(folder)
        except* (dg.Failure, InputError, StoreError) as group:
            context.log.warning("%s: %s", folder.path, "; ".join(map(str, leaves(group))))
            errors.append(group)
        else:
            yield folder, result
    if len(errors) == len(folders):
        raise ExceptionGroup("no evaluation can be read", errors)


def _sensor_status(*, is_running: bool) -> dg.DefaultSensorStatus:
    return dg.DefaultSensorStatus.RUNNING if is_running else dg.DefaultSensorStatus.STOPPED


def _who_labels(folder: Path) -> list[str]:
    """Return the raters with an open session that was changed in the last minutes."""
    rested = datetime.now(tz=UTC) - REST
    try:
        sessions = SessionFolder(folder).all()
    except InputError:
        return []  # the run reports what is wrong with the file
    active = [s for s in sessions if s.closed_at is None and s.updated_at > rested]
    return sorted({session.key.rater_id for session in active})
