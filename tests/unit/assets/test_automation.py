"""Runs start when files change; a change of a check's state is reported once."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import dagster as dg
import pytest

from eval_assets.assets.automation import WEBHOOK, alert, check_alerts, new_files
from eval_assets.assets.resources import EvaluationFolder


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


def tick(
    instance: dg.DagsterInstance, cursor: str | None, *states: str
) -> tuple[list[dg.RunRequest], str]:
    """Run the check to each state, then evaluate the sensor once."""
    definitions = dg.Definitions(
        assets=[measured],
        asset_checks=[good],
        jobs=[alert],
        sensors=[check_alerts],
        resources={"outcome": Outcome(), "folder": EvaluationFolder()},
    )
    for state in states:
        dg.materialize(
            [measured, good],
            instance=instance,
            resources={"outcome": Outcome(state=state)},
            raise_on_error=False,
        )
    context = dg.build_sensor_context(
        instance=instance, cursor=cursor, repository_def=definitions.get_repository_def()
    )
    result = check_alerts(context)
    assert isinstance(result, dg.SensorResult)
    assert result.cursor is not None
    return list(result.run_requests or []), result.cursor


def states_of(requests: list[dg.RunRequest]) -> list[str]:
    """Return the state that each alert reports."""
    return [request.run_config["ops"]["send_alert"]["config"]["state"] for request in requests]


def test_each_change_of_state_is_reported_once(instance: dg.DagsterInstance) -> None:
    requests, cursor = tick(instance, None, "passed")
    assert states_of(requests) == []
    requests, cursor = tick(instance, cursor, "warned")
    assert states_of(requests) == ["warned"]
    requests, cursor = tick(instance, cursor)
    assert states_of(requests) == []
    requests, cursor = tick(instance, cursor, "failed", "failed")
    assert states_of(requests) == ["failed"]
    requests, cursor = tick(instance, cursor, "crashed")
    assert states_of(requests) == ["crashed"]
    requests, cursor = tick(instance, cursor, "passed")
    assert states_of(requests) == ["passed"]
    assert json.loads(cursor) == {"measured/good": "passed"}


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
    context = dg.build_sensor_context(
        cursor=cursor, resources={"folder": EvaluationFolder(data=str(folder))}
    )
    found = new_files(context)
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
