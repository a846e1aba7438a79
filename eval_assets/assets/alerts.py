"""Alerts: people are told once when a check's state changes, whichever run changed it.

Run-failure sensors would miss a WARN and every check that does not block: those runs succeed.
"""

import json
import os
import urllib.request
from datetime import UTC, datetime
from typing import Literal

import dagster as dg
from dagster import AssetCheckKey, DagsterInstance

from eval_assets.assets.folder import EvaluationFolder

WEBHOOK = "EVAL_ALERT_URL"
"""Environment variable of the address that alerts are posted to, as Slack's `{"text": ...}`."""

_SECONDS_FOR_WEBHOOK = 10

State = Literal["passed", "warned", "failed", "crashed"]


class Alert(dg.Config):
    """What is to be told.

    Args:
        check: The check, as `asset/check`.
        state: What it came to.
        before: What it had come to before; empty where it had never run.
        description: What the check said.
        run_id: The run that it came to this in.
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
def tell(context: dg.OpExecutionContext, config: Alert, folder: EvaluationFolder) -> None:
    """Log an alert, add it to out/alerts.jsonl, and post it where EVAL_ALERT_URL says."""
    context.log.warning(config.text)
    told = {"told_at": datetime.now(tz=UTC).isoformat(), **config.model_dump()}
    folder.out.mkdir(parents=True, exist_ok=True)
    with (folder.out / "alerts.jsonl").open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(told) + "\n")
    if address := os.environ.get(WEBHOOK):
        request = urllib.request.Request(  # noqa: S310 - the address is the user's own
            address,
            data=json.dumps({"text": config.text}).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=_SECONDS_FOR_WEBHOOK):  # noqa: S310
            pass


@dg.job(description="Tells people that a check's state changed.")
def alert() -> None:
    """One alert."""
    tell()


@dg.sensor(
    job_name="alert",
    minimum_interval_seconds=30,
    description="Tells people, once, when a check fails, crashes, or passes again.",
)
def check_alerts(context: dg.SensorEvaluationContext) -> dg.SensorResult:
    """Compare every check's latest state with the one last told, which is the cursor."""
    before: dict[str, State] = json.loads(context.cursor or "{}")
    now = dict(before)
    requests = []
    if context.repository_def is None:
        raise dg.DagsterInvariantViolationError("check_alerts needs its code location")
    for key in sorted(context.repository_def.asset_graph.asset_check_keys):
        name = f"{key.asset_key.to_user_string()}/{key.name}"
        found = _latest(context.instance, key)
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
                run_config=dg.RunConfig(ops={"tell": alert_config}),
            )
        )
    return dg.SensorResult(run_requests=requests, cursor=json.dumps(now))


def _latest(instance: DagsterInstance, key: AssetCheckKey) -> tuple[State, str, str] | None:
    """State, description and run of a check's latest execution; None while none has ended."""
    for record in instance.event_log_storage.get_asset_check_execution_history(key, limit=5):
        event = record.event.dagster_event if record.event else None
        if event and event.event_type is dg.DagsterEventType.ASSET_CHECK_EVALUATION:
            evaluation = event.asset_check_evaluation_data
            description = evaluation.description or ""
            if evaluation.passed:
                return "passed", description, record.run_id
            is_error = evaluation.severity is dg.AssetCheckSeverity.ERROR
            return "failed" if is_error else "warned", description, record.run_id
        run = instance.get_run_by_id(record.run_id)
        if run is not None and run.is_finished:
            return "crashed", "the check ended without a verdict", record.run_id
    return None
