"""What happens by itself: runs when files change or batches end, and alerts on checks.

Alerts go by checks, not by failed runs: a run whose check warns succeeds.
"""

import json
import os
import re
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

import dagster as dg
from dagster import AssetCheckKey, DagsterInstance
from dagster._core.storage.asset_check_execution_record import AssetCheckExecutionRecord

from eval_assets.assets.live_judging import n_batches_to_collect
from eval_assets.assets.resources import EvaluationFolder, version_of
from eval_assets.labelling import SessionFolder
from eval_assets.operation import Schedule
from eval_assets.problems import InputError
from eval_assets.readers import evaluations_in, is_working_file

WEBHOOK = "EVAL_ALERT_URL"
"""Environment variable with the address that alerts are posted to, as Slack's `{"text": ...}`."""

_WEBHOOK_TIMEOUT_SECONDS = 10

_PAGE = 20

REST = timedelta(minutes=10)
"""How long an open labelling session rests before a run takes its labels."""

State = Literal["passed", "warned", "failed", "crashed"]


def automation_of(
    folder: EvaluationFolder, *, before: str, schedule: Schedule
) -> tuple[list[dg.SensorDefinition], dg.ScheduleDefinition]:
    """Return sensors and schedule of one evaluation; all are off until somebody starts them.

    Args:
        folder: The evaluation.
        before: What all names begin with.
        schedule: When the schedule runs it.
    """
    job_name = f"{before}evaluate"
    sensors = [
        dg.SensorDefinition(
            name=f"{before}new_files",
            job_name=job_name,
            minimum_interval_seconds=30,
            description="Runs everything when a file of the evaluation folder is added or changed.",
            evaluation_fn=lambda context: look_for_files(context, folder),
        ),
        dg.SensorDefinition(
            name=f"{before}ended_batches",
            job_name=job_name,
            minimum_interval_seconds=300,
            description="Runs everything when a batch of judge requests has ended.",
            evaluation_fn=lambda context: look_for_batches(context, folder),
        ),
        dg.SensorDefinition(
            name=f"{before}check_alerts",
            job_name=alert.name,
            minimum_interval_seconds=30,
            description="Sends one alert when a check fails, crashes, or passes again.",
            evaluation_fn=lambda context: look_for_alerts(context, folder),
        ),
    ]
    rerun = dg.ScheduleDefinition(
        name=f"{before}scheduled_rerun",
        job_name=job_name,
        cron_schedule=schedule.cron,
        execution_timezone=schedule.timezone,
        description="Runs everything again; files that did not change are not read again.",
        tags_fn=lambda _: folder.run_tags,
    )
    return sensors, rerun


def names_before(prefix: str, root: EvaluationFolder) -> str:
    """Return what the names of an evaluation's jobs, schedule and sensors begin with.

    That is the folder's name with underscores for what Dagster does not allow there, and a digest
    of it if that would be the name of two folders.
    """
    if not prefix:
        return ""
    plain = {name: re.sub(r"\W", "_", name, flags=re.ASCII) for name in evaluations_in(root.root)}
    shared = list(plain.values()).count(plain[prefix]) > 1
    return f"{plain[prefix]}_{version_of(prefix)[:6]}_" if shared else f"{plain[prefix]}_"


def look_for_files(
    context: dg.SensorEvaluationContext, folder: EvaluationFolder
) -> dg.RunRequest | dg.SkipReason:
    """Request one run for each state of the folder's files that was not seen before.

    While somebody labels, there is no run: it waits until the session is closed or has rested.
    """
    if labelling := _who_labels(folder.path):
        return dg.SkipReason(f"{', '.join(labelling)} is labelling")
    state = version_of(
        sorted(
            (path.relative_to(folder.path).as_posix(), path.stat().st_size, path.stat().st_mtime_ns)
            for path in _given_files(folder.path)
        )
    )
    if state == context.cursor:
        return dg.SkipReason(f"no file of {folder.path} changed")
    context.update_cursor(state)
    return dg.RunRequest(run_key=state, tags=folder.run_tags)


def look_for_batches(
    context: dg.SensorEvaluationContext, folder: EvaluationFolder
) -> dg.RunRequest | dg.SkipReason:
    """Request a run if vendors have answered a batch; the run collects the replies."""
    n_ended = n_batches_to_collect(folder.evaluation(), folder)
    if not n_ended:
        return dg.SkipReason("no batch is waiting to be collected")
    context.log.info("%d batches are waiting to be collected", n_ended)
    return dg.RunRequest(tags=folder.run_tags)


class Alert(dg.Config):
    """One change of a check's state.

    Args:
        check: The check, as `asset/check`.
        state: Its state now.
        before: Its state before; empty if it had never run.
        description: The check's own words.
        run_id: The run that changed it.
    """

    check: str
    state: str
    before: str
    description: str
    run_id: str

    @property
    def text(self) -> str:
        """The alert in one line."""
        since = f" (was {self.before})" if self.before else ""
        return f"{self.check} {self.state}{since}: {self.description}"


@dg.op
def send_alert(context: dg.OpExecutionContext, config: Alert, folder: EvaluationFolder) -> None:
    """Log an alert, add it to out/alerts.jsonl, and post it to EVAL_ALERT_URL if that is set."""
    context.log.warning(config.text)
    sent = {"sent_at": datetime.now(tz=UTC).isoformat(), **config.model_dump()}
    folder.out.mkdir(parents=True, exist_ok=True)
    with (folder.out / "alerts.jsonl").open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(sent) + "\n")
    if address := os.environ.get(WEBHOOK):
        request = urllib.request.Request(  # noqa: S310 - the address is the user's own
            address,
            data=json.dumps({"text": config.text}).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=_WEBHOOK_TIMEOUT_SECONDS):  # noqa: S310
            pass


@dg.job(description="Reports that a check's state changed.")
def alert() -> None:
    """Send one alert."""
    send_alert()


def look_for_alerts(
    context: dg.SensorEvaluationContext, folder: EvaluationFolder
) -> dg.SensorResult:
    """Compare every check's latest state with the one last reported, which the cursor holds.

    Dagster's history may serve several evaluations: only runs of this one count, and the cursor
    keeps the states of each.
    """
    evaluation = str(folder.path.resolve())
    reported: dict[str, dict[str, State]] = json.loads(context.cursor or "{}")
    before = reported.get(evaluation, {})
    now = dict(before)
    requests = []
    if context.repository_def is None:
        raise dg.DagsterInvariantViolationError("check_alerts needs its code location")
    for key in sorted(context.repository_def.asset_graph.asset_check_keys):
        if key.asset_key != folder.key(key.asset_key.path[-1]):
            continue
        name = f"{key.asset_key.to_user_string()}/{key.name}"
        found = _latest(context.instance, key, folder)
        if found is None:
            continue
        state, description, run_id = found
        now[name] = state
        if state == before.get(name, "passed"):
            continue
        alert_config = Alert(
            check=name,
            state=state,
            before=before.get(name, ""),
            description=description,
            run_id=run_id,
        )
        requests.append(
            dg.RunRequest(
                run_key=f"{name}:{run_id}:{state}",
                run_config=dg.RunConfig(ops={"send_alert": alert_config}),
                tags=folder.run_tags,
            )
        )
    return dg.SensorResult(run_requests=requests, cursor=json.dumps({**reported, evaluation: now}))


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
    """Yield the files that people own and have finished writing.

    That is not what the program writes, nor locks, hidden files, half-written and empty ones.
    """
    for path in folder.rglob("*"):
        parts = path.relative_to(folder).parts
        is_own = parts[0] == "out" or parts[0].startswith("ledger.sqlite")
        if is_own or any(is_working_file(Path(part)) for part in parts):
            continue
        if path.is_file() and path.stat().st_size:
            yield path


def _latest(
    instance: DagsterInstance, key: AssetCheckKey, folder: EvaluationFolder
) -> tuple[State, str, str] | None:
    """Return state, description and run of a check's latest execution; None if none has ended."""
    for record in _history(instance, key):
        run = instance.get_run_by_id(record.run_id)
        if run is None or not folder.owns(run):
            continue
        event = record.event.dagster_event if record.event else None
        if event and event.event_type is dg.DagsterEventType.ASSET_CHECK_EVALUATION:
            evaluation = event.asset_check_evaluation_data
            description = evaluation.description or ""
            if evaluation.passed:
                return "passed", description, record.run_id
            is_error = evaluation.severity is dg.AssetCheckSeverity.ERROR
            return "failed" if is_error else "warned", description, record.run_id
        if run.is_finished:
            return "crashed", "the check ended without a verdict", record.run_id
    return None


def _history(instance: DagsterInstance, key: AssetCheckKey) -> Iterator[AssetCheckExecutionRecord]:
    """Yield a check's executions, latest first, as far back as there are any."""
    cursor: int | None = None
    while records := instance.event_log_storage.get_asset_check_execution_history(
        key, limit=_PAGE, cursor=cursor
    ):
        yield from records
        cursor = records[-1].id
