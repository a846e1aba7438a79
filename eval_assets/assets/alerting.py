"""Alerts on checks and failed runs: changes found in Dagster's history, kept in the ledger, sent.

Alerts go by checks, not by failed runs alone: a run whose check warns succeeds.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

import dagster as dg
from dagster import AssetCheckKey, DagsterInstance
from dagster._core.execution.plan.objects import StepFailureData
from dagster._core.storage.asset_check_execution_record import AssetCheckExecutionRecord

from eval_assets.alerts import Alert, Channel, Delivery, State, channels_of, deliver, positions
from eval_assets.assets.reports import agreement_report
from eval_assets.assets.resources import (
    EVALUATION_TAG,
    EvaluationFolder,
    clear_failures,
    failure_lines,
    ui_address,
)
from eval_assets.operation import Alerts
from eval_assets.problems import InputError
from eval_assets.readers import FILE, read_evaluation
from eval_assets.store import SqlLedger, append_history, history_of, open_ledger

_PAGE = 20
_RUN = "run"


@dataclass(frozen=True)
class _Found:
    """The state that a check or the runs have now, and the event that brought it about."""

    state: State
    reason: str
    run_id: str
    at: float
    metadata: Mapping[str, dg.MetadataValue]


@dg.asset_check(asset=agreement_report)
def alerts_delivered(folder: EvaluationFolder) -> dg.AssetCheckResult:
    """Every channel has accepted every alert so far."""
    with clear_failures(), folder.ledger(folder.evaluation()) as ledger:
        waiting = _waiting(channels_of(os.environ), _deliveries(ledger))
    return dg.AssetCheckResult(
        passed=not waiting,
        severity=dg.AssetCheckSeverity.WARN,
        description=_waiting_text(waiting),
    )


def look_for_alerts(
    context: dg.SensorEvaluationContext, folder: EvaluationFolder
) -> dg.SensorResult | dg.SkipReason:
    """Record every change of state since the last turn, and send what was not sent yet.

    Alerts and deliveries are in the ledger, so that neither a restart nor a lost history sends one
    twice. A change is recorded before anything is sent.
    """
    if context.repository_def is None:
        raise dg.DagsterInvariantViolationError("alerts need their code location")
    keys = sorted(
        key
        for key in context.repository_def.asset_graph.asset_check_keys
        if key.asset_key == folder.key(key.asset_key.path[-1]) and key.name != "alerts_delivered"
    )
    name, wanted = _declared(folder)
    channels = channels_of(os.environ)
    ledger_of = open_ledger(
        folder.path,
        evaluation=name,
        database=folder.stored_under(lambda: name),
        given=os.environ.get("EVAL_LEDGER"),
    )
    with ledger_of as ledger:
        alerts = _alerts(ledger)
        known = positions(_deliveries(ledger))
        new = [channel for channel in channels if channel.id not in known]
        _record(ledger, [Delivery(each.id, each.name, len(alerts)) for each in new])
        for change in _changes(context.instance, keys, folder, wanted, alerts):
            alert = _alert_of(change, folder, name=name, number=len(alerts) + 1)
            append_history(ledger, "alerts", [{**alert.as_json(), "raised_at": _now()}])
            alerts.append(alert)
            _write_line(folder, alert)
        before = positions(_deliveries(ledger))
        n_sent = 0
        for delivery in deliver(alerts, channels, before):
            n_sent += not delivery.error
            if delivery.error:
                context.log.warning("%s %s", delivery.name, delivery.error)
            if delivery.error != before[delivery.channel].error or not delivery.error:
                _record(ledger, [delivery])
        after = positions(_deliveries(ledger))
    was, waiting = _waiting(channels, before.values()), _waiting(channels, after.values())
    if was == waiting and not new:
        return dg.SkipReason(f"{n_sent} alerts were sent" if n_sent else "no state changed")
    checked = dg.AssetCheckEvaluation(
        asset_key=folder.key("agreement_report"),
        check_name="alerts_delivered",
        passed=not waiting,
        severity=dg.AssetCheckSeverity.WARN,
        description=_waiting_text(waiting),
        metadata={},
    )
    return dg.SensorResult(asset_events=[checked])


def _declared(folder: EvaluationFolder) -> tuple[str, Alerts]:
    """Return the evaluation's name and which alerts it wants; a broken file still has both."""
    try:
        evaluation = read_evaluation(folder.path)
    except* InputError:
        text = ""
        if (folder.path / FILE).is_file():
            text = (folder.path / FILE).read_text("utf-8", errors="replace")
        named = re.search(r"(?m)^name:[ \t]*[\"']?([^\"'#\n]+)", text)
        name, wanted = named[1].strip() if named else folder.path.name, Alerts()
    else:
        name, wanted = evaluation.name, evaluation.alerts
    return name, wanted


def _changes(
    instance: DagsterInstance,
    keys: Sequence[AssetCheckKey],
    folder: EvaluationFolder,
    wanted: Alerts,
    alerts: Sequence[Alert],
) -> Iterator[tuple[str, str, _Found]]:
    """Yield subject, state before and state now of what changed since it was reported last."""
    passing = {"passed", "warned"} if wanted.severity == "error" else {"passed"}
    reported: dict[str, str] = {alert.subject: alert.state for alert in alerts}
    for key in keys:
        if wanted.checks and key.name not in wanted.checks:
            continue
        found = _latest(instance, key, folder)
        subject = f"{key.asset_key.path[-1]}/{key.name}"
        if found is None:
            continue
        before = reported.get(subject, "passed")
        if found.state != before and not {found.state, before} <= passing:
            yield subject, reported.get(subject, ""), found
    run = _last_run(instance, folder) if wanted.failed_runs else None
    if run and run.state != reported.get(_RUN, "passed"):
        yield _RUN, reported.get(_RUN, ""), run


def _alert_of(
    change: tuple[str, str, _Found], folder: EvaluationFolder, *, name: str, number: int
) -> Alert:
    """Return the alert on one change."""
    subject, before, found = change
    report = folder.out / "report.html"
    return Alert(
        number=number,
        evaluation=name,
        subject=subject,
        state=found.state,
        before=before,
        since=datetime.fromtimestamp(found.at, UTC).isoformat(timespec="seconds"),
        reason=found.reason,
        questions=tuple(_failing_questions(found.metadata)),
        run_url=f"{ui_address()}/runs/{found.run_id}",
        report=str(report.resolve()) if report.exists() else "",
        **{figure: _number(found.metadata, figure) for figure in _FIGURES},
    )


_FIGURES = ("value", "low", "high", "minimum")


def _number(metadata: Mapping[str, dg.MetadataValue], name: str) -> float | None:
    value = metadata[name].value if name in metadata else None
    return float(value) if isinstance(value, int | float) else None


def _failing_questions(metadata: Mapping[str, dg.MetadataValue]) -> Iterator[str]:
    """Yield the questions whose verdict is not a pass."""
    table = metadata.get("questions")
    for record in table.records if isinstance(table, dg.TableMetadataValue) else ():
        if record.data.get("verdict") not in {"pass", None}:
            yield str(record.data["question_id"])


def _latest(
    instance: DagsterInstance, key: AssetCheckKey, folder: EvaluationFolder
) -> _Found | None:
    """Return a check's latest state and since when it has it; None if none of its runs ended."""
    latest: _Found | None = None
    for record in _history(instance, key):
        found = _state(instance, record, folder)
        if found is None:
            continue
        if latest is None:
            latest = found
        if found.state != latest.state:
            break
        latest = _Found(latest.state, latest.reason, latest.run_id, found.at, latest.metadata)
        if latest.state == "passed":
            break
    return latest


def _state(
    instance: DagsterInstance, record: AssetCheckExecutionRecord, folder: EvaluationFolder
) -> _Found | None:
    """Return the state that one execution came to.

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
        return _Found(state, checked.description or "", record.run_id, at, checked.metadata)
    if run.is_finished and event and event.step_key in _failures(instance, record.run_id):
        return _Found("crashed", "the check ended without a verdict", record.run_id, at, {})
    return None


def _history(instance: DagsterInstance, key: AssetCheckKey) -> Iterator[AssetCheckExecutionRecord]:
    """Yield a check's executions, latest first, as far back as there are any."""
    cursor: int | None = None
    while records := instance.event_log_storage.get_asset_check_execution_history(
        key, limit=_PAGE, cursor=cursor
    ):
        yield from records
        cursor = records[-1].id


def _last_run(instance: DagsterInstance, folder: EvaluationFolder) -> _Found | None:
    """Return whether the last run that touched this evaluation failed, except by a closed gate."""
    tags = {EVALUATION_TAG: [str(folder.path.resolve()), str(folder.root.resolve())]}
    ended = [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE]
    for record in instance.get_run_records(dg.RunsFilter(tags=tags, statuses=ended), limit=_PAGE):
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
        return _Found(state, reason, run_id, at, {})
    return None


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
    """Return what failed in these steps of a run, a line each, except closed gates."""
    failed = [(step, how) for step, how in _failures(instance, run_id).items() if step in steps]
    return list(dict.fromkeys(line for step, how in failed for line in failure_lines(step, how)))


def _failures(instance: DagsterInstance, run_id: str) -> dict[str, StepFailureData]:
    """Return the steps of a run that failed, and how."""
    entries = instance.all_logs(run_id, of_type=dg.DagsterEventType.STEP_FAILURE)
    events = [entry.dagster_event for entry in entries if entry.dagster_event]
    return {event.step_key or "": event.step_failure_data for event in events}


def _alerts(ledger: SqlLedger) -> list[Alert]:
    """Return all alerts of the evaluation so far, in order."""
    rows = history_of(ledger, "alerts").drop(columns="raised_at", errors="ignore")
    records = [{str(name): value for name, value in row.items()} for row in rows.to_dict("records")]
    return [Alert(**{**record, "questions": tuple(record["questions"])}) for record in records]


def _deliveries(ledger: SqlLedger) -> list[Delivery]:
    """Return all attempts that were recorded, in order."""
    rows = history_of(ledger, "alert_deliveries").to_dict("records")
    return [
        Delivery(str(row["channel"]), str(row["name"]), int(row["alert"]), str(row["error"]))
        for row in rows
    ]


def _record(ledger: SqlLedger, deliveries: Sequence[Delivery]) -> None:
    rows = [{**asdict(each), "attempted_at": _now()} for each in deliveries]
    append_history(ledger, "alert_deliveries", rows)


def _now() -> datetime:
    return datetime.now(tz=UTC)


def _waiting(channels: Sequence[Channel], deliveries: Iterable[Delivery]) -> list[tuple[str, str]]:
    """Return name and error of each channel that an alert is waiting for."""
    errors = {each.channel: each.error for each in positions(deliveries).values()}
    return [(each.name, errors[each.id]) for each in channels if errors.get(each.id)]


def _waiting_text(waiting: Sequence[tuple[str, str]]) -> str:
    return (
        "\n".join(
            f"{name} {error}. Alerts wait for it, in order; try `eval-assets alerts test`."
            for name, error in waiting
        )
        or "Every channel has accepted every alert."
    )


def _write_line(folder: EvaluationFolder, alert: Alert) -> None:
    """Add an alert to out/alerts.jsonl."""
    folder.out.mkdir(parents=True, exist_ok=True)
    with (folder.out / "alerts.jsonl").open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(alert.as_json()) + "\n")
