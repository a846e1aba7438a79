"""A change of a check's state is told once."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import dagster as dg
import pytest

from eval_assets.assets.alerts import WEBHOOK, alert, check_alerts
from eval_assets.assets.folder import EvaluationFolder


@dg.asset
def measured() -> None:
    """Something to check."""


class Outcome(dg.ConfigurableResource[None]):
    """What the check is to come to."""

    state: str = "passed"


@dg.asset_check(asset=measured)
def good(outcome: Outcome) -> dg.AssetCheckResult:
    """A check that comes to what the test wants."""
    if outcome.state == "crashed":
        raise RuntimeError("broken")
    is_warning = outcome.state == "warned"
    severity = dg.AssetCheckSeverity.WARN if is_warning else dg.AssetCheckSeverity.ERROR
    return dg.AssetCheckResult(
        passed=outcome.state == "passed", severity=severity, description=f"it {outcome.state}"
    )


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dg.DagsterInstance]:
    """Dagster's records, in a folder of the test."""
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


def told(requests: list[dg.RunRequest]) -> list[str]:
    """State of each alert."""
    return [request.run_config["ops"]["tell"]["config"]["state"] for request in requests]


def test_each_change_is_told_once_and_what_stays_is_not(instance: dg.DagsterInstance) -> None:
    requests, cursor = tick(instance, None, "passed")
    assert told(requests) == []
    requests, cursor = tick(instance, cursor, "warned")
    assert told(requests) == ["warned"]
    requests, cursor = tick(instance, cursor)
    assert told(requests) == []
    requests, cursor = tick(instance, cursor, "failed", "failed")
    assert told(requests) == ["failed"]
    requests, cursor = tick(instance, cursor, "crashed")
    assert told(requests) == ["crashed"]
    requests, cursor = tick(instance, cursor, "passed")
    assert told(requests) == ["passed"]
    assert json.loads(cursor) == {"measured/good": "passed"}


@contextmanager
def webhook() -> Iterator[tuple[str, list[bytes]]]:
    """A server on loopback that keeps what is posted to it."""
    posted: list[bytes] = []

    class Keeps(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            posted.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Keeps)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/alert", posted
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_alert_is_logged_in_the_folder_and_posted(
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
            run_config={"ops": {"tell": {"config": config}}},
            resources={"folder": EvaluationFolder(data=str(tmp_path))},
        )
    assert outcome.success
    text = "human_agreement/human_a_hh failed (was passed): 0.62 is below the minimum 0.75"
    assert [json.loads(body) for body in posted] == [{"text": text}]
    [line] = (tmp_path / "out" / "alerts.jsonl").read_text("utf-8").splitlines()
    assert json.loads(line).items() >= config.items()
