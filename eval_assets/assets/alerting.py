"""Alerts on checks and failed runs, stored in the ledger and sent to channels.

Failed runs alone do not suffice, because a run whose check warns succeeds.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

import dagster as dg
from dagster import AssetCheckKey, DagsterInstance
from filelock import FileLock

from eval_assets.alerts.channels import Channel, channels_of
from eval_assets.alerts.delivery import Delivery, deliver, positions
from eval_assets.alerts.message import Alert
from eval_assets.assets.check_history import FoundState, last_run_state, latest_state
from eval_assets.assets.metadata import number_in
from eval_assets.assets.reports import agreement_report
from eval_assets.assets.resources import (
    EvaluationFolder,
    clear_failures,
    ui_address,
)
from eval_assets.config.operations import Alerts
from eval_assets.errors import InputError
from eval_assets.readers.evaluation.read import declared_name, read_evaluation
from eval_assets.store.ledger.engine import SqlLedger
from eval_assets.store.ledger.histories import append_history, history_of
from eval_assets.store.ledger.opening import open_ledger
from eval_assets.wording import counted

_RUN = "run"


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


@dataclass(frozen=True)
class AlertTurn:
    """Result of one turn.

    Args:
        n_sent: Alerts that channels accepted.
        errors: Name and error of each channel that did not accept an alert.
        waiting: Name and error of each channel that an alert waits for.
        is_news: Whether the channels or those that wait differ from the turn before.
    """

    n_sent: int
    errors: Sequence[tuple[str, str]]
    waiting: Sequence[tuple[str, str]]
    is_news: bool


def look_for_alerts(
    context: dg.SensorEvaluationContext, folder: EvaluationFolder
) -> dg.SensorResult | dg.SkipReason:
    """Record every change of state since the last turn, and send all undelivered alerts."""
    if context.repository_def is None:
        raise dg.DagsterInvariantViolationError("alerts need their code location")
    checks = context.repository_def.asset_graph.asset_check_keys
    turn = send_alerts(context.instance, checks, folder)
    for name, error in turn.errors:
        context.log.warning("%s %s", name, error)
    if not turn.is_news:
        return dg.SkipReason(
            f"sent {counted(turn.n_sent, 'alert')}" if turn.n_sent else "no state changed"
        )
    checked = dg.AssetCheckEvaluation(
        asset_key=folder.key("agreement_report"),
        check_name="alerts_delivered",
        passed=not turn.waiting,
        severity=dg.AssetCheckSeverity.WARN,
        description=_waiting_text(turn.waiting),
        metadata={},
    )
    return dg.SensorResult(asset_events=[checked])


def send_alerts(
    instance: DagsterInstance, checks: Iterable[AssetCheckKey], folder: EvaluationFolder
) -> AlertTurn:
    """Record every change of state since the last turn, and send pending alerts.

    Alerts and deliveries are in the ledger, so that neither a restart nor a lost history sends one
    twice. A change is recorded before anything is sent. Two processes take turns.
    """
    keys = sorted(
        key
        for key in checks
        if key.asset_key == folder.key(key.asset_key.path[-1]) and key.name != "alerts_delivered"
    )
    name, settings = _declared(folder)
    channels = channels_of(os.environ)
    ledger_of = open_ledger(
        folder.path,
        evaluation=name,
        database=folder.stored_in,
        setting=os.environ.get("EVAL_LEDGER"),
    )
    folder.out.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.out / ".alerts.lock"), ledger_of as ledger:
        alerts = _alerts(ledger)
        last_positions = positions(_deliveries(ledger))
        new = [channel for channel in channels if channel.id not in last_positions]
        _record(
            ledger, [Delivery(new_channel.id, new_channel.name, len(alerts)) for new_channel in new]
        )
        for change in _changes(instance, keys, folder, settings, alerts):
            alert = _alert_of(change, folder, name=name, number=len(alerts) + 1)
            append_history(ledger, "alerts", [{**alert.as_json(), "raised_at": _now()}])
            alerts.append(alert)
            _write_line(folder, alert)
        before = positions(_deliveries(ledger))
        new_deliveries = _send(ledger, alerts, channels, before)
        after = positions(_deliveries(ledger))
    was, waiting = _waiting(channels, before.values()), _waiting(channels, after.values())
    return AlertTurn(
        n_sent=sum(not delivery.error for delivery in new_deliveries),
        errors=[(delivery.name, delivery.error) for delivery in new_deliveries if delivery.error],
        waiting=waiting,
        is_news=was != waiting or bool(new),
    )


def _declared(folder: EvaluationFolder) -> tuple[str, Alerts]:
    """Return the evaluation's name and its declared alerts, with defaults for a broken file."""
    try:
        evaluation = read_evaluation(folder.path)
    except* InputError:
        name, settings = declared_name(folder.path) or folder.path.name, Alerts()
    else:
        name, settings = evaluation.name, evaluation.alerts
    return name, settings


def _changes(
    instance: DagsterInstance,
    keys: Sequence[AssetCheckKey],
    folder: EvaluationFolder,
    settings: Alerts,
    alerts: Sequence[Alert],
) -> Iterator[tuple[str, str, FoundState]]:
    """Yield subject, previous and current state of each change since the last report."""
    passing = {"passed", "warned"} if settings.severity == "error" else {"passed"}
    reported: dict[str, str] = {alert.subject: alert.state for alert in alerts}
    for key in keys:
        if settings.checks and key.name not in settings.checks:
            continue
        current = latest_state(instance, key, folder)
        subject = f"{key.asset_key.path[-1]}/{key.name}"
        if current is None:
            continue
        before = reported.get(subject, "passed")
        if current.state != before and not {current.state, before} <= passing:
            yield subject, reported.get(subject, ""), current
    run = last_run_state(instance, folder) if settings.failed_runs else None
    if run and run.state != reported.get(_RUN, "passed"):
        yield _RUN, reported.get(_RUN, ""), run


def _alert_of(
    change: tuple[str, str, FoundState], folder: EvaluationFolder, *, name: str, number: int
) -> Alert:
    """Return the alert on one change."""
    subject, before, current = change
    report = folder.out / "report.html"
    return Alert(
        number=number,
        evaluation=name,
        subject=subject,
        state=current.state,
        before=before,
        since=datetime.fromtimestamp(current.at, UTC).isoformat(timespec="seconds"),
        reason=current.reason,
        questions=tuple(_failing_questions(current.metadata)),
        run_url=f"{ui_address()}/runs/{current.run_id}",
        report=str(report.resolve()) if report.exists() else "",
        **{figure: number_in(current.metadata, figure) for figure in _FIGURES},
    )


_FIGURES = ("value", "low", "high", "minimum")


def _failing_questions(metadata: Mapping[str, dg.MetadataValue]) -> Iterator[str]:
    """Yield the questions whose verdict is not a pass."""
    table = metadata.get("questions")
    for record in table.records if isinstance(table, dg.TableMetadataValue) else ():
        if record.data.get("verdict") not in {"pass", None}:
            yield str(record.data["question_id"])


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


def _send(
    ledger: SqlLedger,
    alerts: Sequence[Alert],
    channels: Sequence[Channel],
    before: Mapping[str, Delivery],
) -> list[Delivery]:
    """Send pending alerts; record deliveries and changed errors."""
    new_deliveries = []
    for delivery in deliver(alerts, channels, before):
        new_deliveries.append(delivery)
        if delivery.error != before[delivery.channel].error or not delivery.error:
            _record(ledger, [delivery])
    return new_deliveries


def _record(ledger: SqlLedger, deliveries: Sequence[Delivery]) -> None:
    rows = [{**asdict(delivery), "attempted_at": _now()} for delivery in deliveries]
    append_history(ledger, "alert_deliveries", rows)


def _now() -> datetime:
    return datetime.now(tz=UTC)


def _waiting(channels: Sequence[Channel], deliveries: Iterable[Delivery]) -> list[tuple[str, str]]:
    """Return name and error of each channel that an alert is waiting for."""
    errors = {delivery.channel: delivery.error for delivery in positions(deliveries).values()}
    return [
        (delivery.name, errors[delivery.id]) for delivery in channels if errors.get(delivery.id)
    ]


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
    with (folder.out / "alerts.jsonl").open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(alert.as_json()) + "\n")
