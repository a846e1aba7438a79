"""Runs start when files change; a change of a check's state is reported once."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from zoneinfo import ZoneInfo

import dagster as dg
import pytest

from eval_assets.assets.automation import (
    WEBHOOK,
    alert,
    automation_of,
    look_for_alerts,
    look_for_files,
    names_before,
)
from eval_assets.assets.resources import EvaluationFolder
from eval_assets.labelling import Session, SessionFolder, SessionKey
from eval_assets.operation import Schedule


@dg.asset
def measured() -> None:
    """Something to check."""


class Outcome(dg.ConfigurableResource[None]):
    """The state that the check is to have."""

    state: str = "passed"


@dg.asset_check(asset=measured)
def good(outcome: Outcome) -> dg.AssetCheckResult:
    """A check with the state that the test wants."""
    if outcome.state == "crashed":
        raise RuntimeError("broken")
    is_warning = outcome.state == "warned"
    severity = dg.AssetCheckSeverity.WARN if is_warning else dg.AssetCheckSeverity.ERROR
    return dg.AssetCheckResult(
        passed=outcome.state == "passed", severity=severity, description=f"it {outcome.state}"
    )


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dg.DagsterInstance]:
    """Dagster's history, in a folder of the test."""
    home = tmp_path_factory.mktemp("dagster")
    quiet = {"telemetry": {"enabled": False}}
    with dg.DagsterInstance.local_temp(str(home), overrides=quiet) as made:
        yield made


def check_comes_to(state: str, instance: dg.DagsterInstance, folder: EvaluationFolder) -> None:
    """Run the check to this state in a run of this evaluation."""
    dg.materialize(
        [measured, good],
        instance=instance,
        resources={"outcome": Outcome(state=state)},
        tags=folder.run_tags,
        raise_on_error=False,
    )


def tick(
    instance: dg.DagsterInstance, cursor: str | None, folder: EvaluationFolder
) -> tuple[list[dg.RunRequest], str]:
    """Evaluate the sensor once; return what it requests and the cursor it leaves."""
    definitions = dg.Definitions(
        assets=[measured],
        asset_checks=[good],
        jobs=[alert],
        resources={"outcome": Outcome(), "folder": folder},
    )
    context = dg.build_sensor_context(
        instance=instance,
        cursor=cursor,
        repository_def=definitions.get_repository_def(),
    )
    result = look_for_alerts(context, folder)
    assert result.cursor is not None
    return list(result.run_requests or []), result.cursor


def states_of(requests: list[dg.RunRequest]) -> list[str]:
    """Return the state that each alert reports."""
    return [request.run_config["ops"]["send_alert"]["config"]["state"] for request in requests]


def test_each_change_of_state_is_reported_once(
    instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    folder, cursor, reported = EvaluationFolder(data=str(tmp_path)), None, []
    for states in (["passed"], ["warned"], [], ["failed", "failed"], ["crashed"], ["passed"]):
        for state in states:
            check_comes_to(state, instance, folder)
        requests, cursor = tick(instance, cursor, folder)
        reported.append(states_of(requests))

    assert reported == [[], ["warned"], [], ["failed"], ["crashed"], ["passed"]]


def test_alerts_go_by_the_runs_of_their_own_evaluation(
    instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    """One history, two folders: neither a failure nor an all-clear of one reaches the other."""
    mine = EvaluationFolder(data=str(tmp_path / "mine"))
    others = EvaluationFolder(data=str(tmp_path / "others"))
    check_comes_to("failed", instance, others)
    none_of_mine, cursor = tick(instance, None, mine)
    check_comes_to("warned", instance, mine)
    check_comes_to("passed", instance, others)
    warned, cursor = tick(instance, cursor, mine)
    theirs, cursor = tick(instance, cursor, others)
    still, _ = tick(instance, cursor, mine)

    assert (none_of_mine, theirs, still) == ([], [], [])
    assert states_of(warned) == ["warned"]
    assert warned[0].tags == mine.run_tags


def test_a_failure_before_many_runs_of_another_evaluation_is_still_found(
    instance: dg.DagsterInstance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eval_assets.assets.automation._PAGE", 2)
    mine = EvaluationFolder(data=str(tmp_path / "mine"))
    check_comes_to("failed", instance, mine)
    for _ in range(4):
        check_comes_to("passed", instance, EvaluationFolder(data=str(tmp_path / "others")))

    assert states_of(tick(instance, None, mine)[0]) == ["failed"]


def test_the_schedule_runs_as_declared_with_the_tag_of_the_evaluation(tmp_path: Path) -> None:
    folder = EvaluationFolder(data=str(tmp_path), name="mine")
    declared = Schedule(cron="30 5 * * 1-5", timezone="Europe/Berlin")
    _, schedule = automation_of(folder, before="mine_", schedule=declared)
    at = datetime(2026, 11, 20, 5, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    context = dg.build_schedule_context(scheduled_execution_time=at)
    [request] = schedule.evaluate_tick(context).run_requests or []

    assert (schedule.name, schedule.job_name) == ("mine_scheduled_rerun", "mine_evaluate")
    assert (schedule.cron_schedule, schedule.execution_timezone) == (
        "30 5 * * 1-5",
        "Europe/Berlin",
    )
    assert schedule.default_status is dg.DefaultScheduleStatus.STOPPED
    assert request.tags.items() >= {"eval_assets/evaluation": str(tmp_path / "mine")}.items()


def test_folders_whose_names_differ_in_what_dagster_does_not_allow_keep_different_names(
    tmp_path: Path,
) -> None:
    for name in ("a.b", "a-b", "c d"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "evaluation.yaml").touch()
    root = EvaluationFolder(data=str(tmp_path))
    names = [names_before(name, root) for name in ("a.b", "a-b", "c d", "")]

    assert names[2:] == ["c_d_", ""]
    assert len(set(names)) == 4
    assert all(name.startswith("a_b_") for name in names[:2])


@contextmanager
def webhook() -> Iterator[tuple[str, list[bytes]]]:
    """Yield the address of a server on loopback, and the list of what is posted to it."""
    posted: list[bytes] = []

    class Keeps(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            posted.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Log nothing."""

    server = HTTPServer(("127.0.0.1", 0), Keeps)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/alert", posted
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_an_alert_is_written_to_the_folder_and_posted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = {
        "check": "human_agreement/human_a_hh",
        "state": "failed",
        "before": "passed",
        "description": "0.62 is below the minimum 0.75",
        "run_id": "r1",
    }
    with webhook() as (address, posted):
        monkeypatch.setenv(WEBHOOK, address)
        outcome = alert.execute_in_process(
            run_config={"ops": {"send_alert": {"config": config}}},
            resources={"folder": EvaluationFolder(data=str(tmp_path))},
        )
    assert outcome.success
    text = "human_agreement/human_a_hh failed (was passed): 0.62 is below the minimum 0.75"
    assert [json.loads(body) for body in posted] == [{"text": text}]
    [line] = (tmp_path / "out" / "alerts.jsonl").read_text("utf-8").splitlines()
    assert json.loads(line).items() >= config.items()


def look(folder: Path, cursor: str | None) -> tuple[list[str | None], str | None]:
    """Return the keys of the runs that one tick requests, and the cursor it leaves."""
    context = dg.build_sensor_context(cursor=cursor)
    found = look_for_files(context, EvaluationFolder(data=str(folder)))
    return [found.run_key] if isinstance(found, dg.RunRequest) else [], context.cursor


def test_each_state_of_the_files_requests_one_run(tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("one")
    first, seen = look(tmp_path, None)
    again, seen = look(tmp_path, seen)
    labels.write_text("another")
    changed, seen = look(tmp_path, seen)
    (tmp_path / "responses").mkdir()
    (tmp_path / "responses" / "more.csv").write_text("x")
    added, _ = look(tmp_path, seen)

    assert again == []
    assert len({*first, *changed, *added}) == 3


def test_files_in_out_start_no_run(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("one")
    _, seen = look(tmp_path, None)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "report.html").write_text("report")

    assert look(tmp_path, seen)[0] == []


def label(folder: Path, *, at: datetime, closed: bool) -> None:
    """Write a session of anna's, changed at that time."""
    key = SessionKey(rater_id="anna", question_id="clarity")
    session = Session(
        key=key,
        started_at=at,
        updated_at=at,
        closed_at=at if closed else None,
        n_units=9,
        guideline_hash="g",
    )
    SessionFolder(folder).change(key, lambda _: session)


@pytest.mark.parametrize(
    ("minutes", "closed", "runs"), [(1, False, 0), (9, False, 0), (11, False, 1), (1, True, 1)]
)
def test_a_session_starts_a_run_once_it_is_closed_or_has_rested(
    tmp_path: Path, minutes: int, runs: int, *, closed: bool
) -> None:
    label(tmp_path, at=datetime.now(tz=UTC) - timedelta(minutes=minutes), closed=closed)
    requested, seen = look(tmp_path, None)

    assert len(requested) == runs
    assert (seen is None) == (runs == 0)


def test_nothing_runs_while_somebody_labels_and_what_changed_meanwhile_is_run_later(
    tmp_path: Path,
) -> None:
    now = datetime.now(tz=UTC)
    label(tmp_path, at=now, closed=False)
    (tmp_path / "responses.csv").write_text("changed")
    meanwhile, seen = look(tmp_path, None)
    label(tmp_path, at=now, closed=True)
    later, _ = look(tmp_path, seen)

    assert (len(meanwhile), len(later)) == (0, 1)


def test_a_damaged_session_keeps_no_run_from_starting(tmp_path: Path) -> None:
    (tmp_path / "sessions").mkdir()
    (tmp_path / "sessions" / "x.json").write_text("{")

    assert len(look(tmp_path, None)[0]) == 1


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (".~lock.labels.csv#", "ada"),
        ("~$labels.xlsx", "ada"),
        ("labels/more.csv.part", "half"),
        ("labels/empty.csv", ""),
        (".git/index", "x"),
        ("ledger.sqlite-wal", "x"),
    ],
)
def test_locks_hidden_half_written_and_own_files_start_no_run(
    tmp_path: Path, name: str, content: str
) -> None:
    (tmp_path / "labels.csv").write_text("one")
    _, seen = look(tmp_path, None)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(content)

    assert look(tmp_path, seen)[0] == []
