"""Alerts on checks and failed runs, through the services that apprise knows.

Failed runs alone do not suffice, because a run whose check warns succeeds.
"""

import hashlib
import json
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal
from urllib.parse import quote

import dagster as dg

from eval_assets.assets.dagster_internals import StepFailureData
from eval_assets.assets.resources import EvaluationFolder, failure_lines
from eval_assets.config.operations import Alerts
from eval_assets.errors import InputError
from eval_assets.readers.evaluation.read import read_evaluation
from eval_assets.wording import counted

State = Literal["passed", "warned", "failed", "crashed"]

_LATEST = 20
"""Records that are searched: runs in progress and other evaluations have some too."""


@dataclass(frozen=True)
class RecordedState:
    """State of a check or of the runs.

    `at` is in seconds since 1970; `reason` is what a check or the failed steps say.
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
        if not steps:  # of a job over several evaluations, others alone were run
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


URLS = "EVAL_ALERT_URLS"
"""Variable with the addresses of services, as apprise writes them, separated by spaces."""

_LONGEST_SECONDS = 30
"""Time after which a tick leaves alerts to the next one: Dagster ends a tick after a minute."""


@dataclass(frozen=True)
class Channel:
    """A service that apprise knows, such as Slack, e-mail or a JSON webhook.

    Args:
        url: Its address with credentials.
        position: Place in EVAL_ALERT_URLS, from 1.
    """

    url: str
    position: int

    @property
    def id(self) -> str:
        """A digest of the address, which the cursor may show."""
        return hashlib.sha256(self.url.encode()).hexdigest()[:16]

    @property
    def name(self) -> str:
        """The address as apprise masks it; its place if apprise does not know it."""
        from apprise import Apprise

        service = Apprise.instantiate(self.url, suppress_exceptions=True)
        masked = str(service.url(privacy=True)).split("?")[0] if service else ""
        return masked or f"{URLS}, entry {self.position}, which is no address of apprise,"

    def send(self, title: str, text: str, *, state: State) -> bool:
        """Send a message; return whether it was accepted."""
        from apprise import Apprise, NotifyFormat, NotifyType

        service = Apprise()
        if not service.add(self.url):
            return False
        kinds = {"passed": NotifyType.SUCCESS, "warned": NotifyType.WARNING}
        kind = kinds.get(state, NotifyType.FAILURE)
        return bool(
            service.notify(title=title, body=text, body_format=NotifyFormat.TEXT, notify_type=kind)
        )


def alert_channels() -> list[Channel]:
    """Return the channels that the environment names."""
    urls = os.environ.get(URLS, "").split()
    return [Channel(url, position) for position, url in enumerate(urls, start=1)]


@dataclass(frozen=True)
class _Subject:
    """A check or the runs of an evaluation, with its current state.

    Args:
        key: Its key among those of all evaluations.
        title: Evaluation and check, for people.
        current: Its state.
        passing: States that are no reason for an alert.
        page: Its page in the UI; None for the run.
    """

    key: str
    title: str
    current: RecordedState
    passing: frozenset[str]
    page: str | None = None


def send_alerts(
    context: dg.SensorEvaluationContext, folders: Sequence[EvaluationFolder]
) -> dg.SkipReason:
    """Send an alert on each state that changed since the last alert that a channel accepted.

    The cursor holds these states for each channel. So one that does not accept an alert gets it at
    the next tick, delays no other channel, and none gets it twice.
    """
    channels = alert_channels()
    ui = (os.environ.get("EVAL_UI_URL") or "http://127.0.0.1:3000").rstrip("/")
    if not channels:
        return dg.SkipReason(f"{URLS} names no channel")
    if context.repository_def is None:
        raise dg.DagsterInvariantViolationError("alerts need their code location")
    checks = sorted(context.repository_def.asset_graph.asset_check_keys)
    subjects = [s for folder in folders for s in _subjects(context.instance, checks, folder)]
    before = json.loads(context.cursor or "{}")
    accepted = {channel.id: before.get(channel.id, {}) for channel in channels}
    deadline, n_sent, refusing = time.monotonic() + _LONGEST_SECONDS, 0, []
    for channel in channels:
        states = accepted[channel.id]
        for subject in subjects:
            current, last = subject.current, states.get(subject.key, "passed")
            if current.state == last or {current.state, last} <= subject.passing:
                continue
            if time.monotonic() > deadline:
                break
            was = f" (was {last})" if subject.key in states else ""
            title = f"{subject.title} {current.state}{was}"
            ended = datetime.fromtimestamp(current.at, tz=UTC)
            page = subject.page or f"runs/{current.run_id}"
            text = f"{current.reason}\n{ended:%Y-%m-%d %H:%M} UTC, {ui}/{page}"
            if not channel.send(title, text, state=current.state):
                refusing.append(channel.name)
                break
            states[subject.key] = current.state
            n_sent += 1
    context.update_cursor(json.dumps(accepted))
    for name in refusing:
        context.log.warning("%s did not accept an alert; the next tick sends it again", name)
    return dg.SkipReason(f"sent {counted(n_sent, 'alert')}")


def _subjects(
    instance: dg.DagsterInstance, checks: Sequence[dg.AssetCheckKey], folder: EvaluationFolder
) -> Iterator[_Subject]:
    """Yield the declared checks of an evaluation, and its runs, as far as they have a state."""
    try:
        evaluation = read_evaluation(folder.path)
    except* InputError:  # of which the failed run is an alert
        name, declared = folder.path.resolve().name, Alerts()
    else:
        name, declared = evaluation.name, evaluation.alerts
    passing = frozenset({"passed", "warned"} if declared.severity == "error" else {"passed"})
    for check in checks:
        is_own = check.asset_key == folder.key(check.asset_key.path[-1])
        is_declared = not declared.checks or check.name in declared.checks
        if is_own and is_declared and (current := latest_state(instance, check, folder)):
            key = f"{check.asset_key.to_user_string()}/{check.name}"
            asset = "/".join(map(quote, check.asset_key.path))
            page = f"assets/{asset}?view=checks&checkDetail={quote(check.name)}"
            yield _Subject(key, f"{name}: {key}", current, passing, page)
    if current := last_run_state(instance, folder):
        key = folder.key("run").to_user_string()
        yield _Subject(key, f"{name}: run", current, passing)
