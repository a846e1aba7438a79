"""Sensors and schedules of an evaluation, or of a folder of several."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg

from eval_assets.assets.alerting import alert_channels, send_alerts
from eval_assets.assets.resources import EvaluationFolder
from eval_assets.config.operations import Schedule
from eval_assets.errors import InputError
from eval_assets.labelling.session_files import SessionFolder

REST = timedelta(minutes=10)
"""Idle time of an open labelling session before a run reads its labels."""


def sensors_of(folders: Sequence[EvaluationFolder]) -> list[dg.SensorDefinition]:
    """Return the sensors of an evaluation, or of all evaluations of a folder: one of each kind.

    That of alerts runs from the start if the environment names a channel, that of files always: it
    starts nothing.
    """
    return [
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
            default_status=dg.DefaultSensorStatus.RUNNING
            if alert_channels()
            else dg.DefaultSensorStatus.STOPPED,
            evaluation_fn=lambda context: send_alerts(context, folders),
        ),
    ]


def schedule_of(folder: EvaluationFolder, *, declared: Schedule | None) -> dg.ScheduleDefinition:
    """Return the schedule of an evaluation, which is on if it is declared."""
    timing = declared or Schedule()
    job_name = f"{folder.names_before}evaluate"

    def rerun(context: dg.ScheduleEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        for run in context.instance.get_runs(dg.RunsFilter(job_name=job_name), limit=20):
            if not run.is_finished:
                return dg.SkipReason(f"run {run.run_id} has not ended")
        return dg.RunRequest(tags=folder.run_tags)

    return dg.ScheduleDefinition(
        name=f"{folder.names_before}scheduled_rerun",
        job_name=job_name,
        cron_schedule=timing.cron,
        execution_timezone=timing.timezone,
        description="Runs everything again, unless the last run has not ended.",
        default_status=dg.DefaultScheduleStatus.RUNNING
        if declared
        else dg.DefaultScheduleStatus.STOPPED,
        execution_fn=rerun,
    )


def files_sensor(folders: Sequence[EvaluationFolder], *, name: str) -> dg.SensorDefinition:
    """Return a sensor that records the versions of input files, and starts no run."""

    def record(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        events = []
        for folder in folders:
            labelling = _who_labels(folder.path)
            if labelling:
                context.log.info("labels are read later: %s is labelling", ", ".join(labelling))
            events += [
                observation
                for observation in folder.unrecorded_versions(context.instance)
                if not (labelling and observation.asset_key == folder.key("label_files"))
            ]
        reason = None if events else dg.SkipReason("no file changed")
        return dg.SensorResult(asset_events=events, skip_reason=reason)

    return dg.SensorDefinition(
        name=name,
        evaluation_fn=record,
        minimum_interval_seconds=30,
        description="Records the versions of input files, which new_files waits for.",
        default_status=dg.DefaultSensorStatus.RUNNING,
    )


def _who_labels(folder: Path) -> list[str]:
    """Return the raters with an open session that was changed in the last minutes."""
    rested = datetime.now(tz=UTC) - REST
    try:
        sessions = SessionFolder(folder).all()
    except InputError:
        return []  # the run reports what is wrong with the file
    active = [s for s in sessions if s.closed_at is None and s.updated_at > rested]
    return sorted({session.key.rater_id for session in active})
