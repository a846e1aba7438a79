"""The sensor `check_alerts` on the records of real runs, with receivers on loopback."""

import json
from pathlib import Path

import dagster as dg
import pytest

from eval_assets.assets.evaluation_definitions import project_definitions
from tests.e2e.conftest import AGREEING, Evaluated
from tests.receivers import Received, mailbox, webhook

GATES = [f"made-up: human_agreement/{gate} failed" for gate in ("human_a_hh", "human_alpha")]


def tick(folder: Evaluated, home: Path, cursor: str | None) -> str:
    """Evaluate the sensor as the daemon does; return its new cursor."""
    definitions = project_definitions(folder.path)
    repository = definitions.get_repository_def()
    sensor = repository.get_sensor_def("check_alerts")
    assert sensor.default_status is dg.DefaultSensorStatus.RUNNING
    with (
        dg.DagsterInstance.from_config(str(home)) as instance,
        dg.build_sensor_context(
            instance=instance, repository_def=repository, cursor=cursor
        ) as context,
    ):
        return sensor.evaluate_tick(context).cursor or ""


def titles(posts: Received) -> list[str]:
    return [str(json.loads(body)["title"]) for body in posts.bodies]


@pytest.mark.slow
def test_a_closed_gate_is_reported_once_to_each_channel_and_so_is_its_recovery(
    closed_folder: Evaluated, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The gate fails the run, which is no further alert; a channel that refuses gets it later."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    environment = {"DAGSTER_HOME": str(home)}
    with webhook(refusing=1) as posts, mailbox() as mails:
        monkeypatch.setenv("EVAL_ALERT_URLS", f"{posts.address} {mails.address}")
        assert closed_folder.call("run", environment=environment).returncode == 3
        cursor = tick(closed_folder, home, None)
        assert (len(posts.bodies), len(mails.mails)) == (0, 2)
        cursor = tick(closed_folder, home, cursor)
        assert titles(posts) == GATES
        reason = json.loads(posts.bodies[0])["message"]
        assert "is below the minimum 0.75" in reason

        closed_folder.label({"clarity": AGREEING, "depth": AGREEING})
        assert closed_folder.call("run", environment=environment).returncode == 0
        for _ in range(2):
            cursor = tick(closed_folder, home, cursor)

    passed = [title.replace("failed", "passed (was failed)") for title in GATES]
    assert titles(posts) == GATES + passed
    assert [str(mail["Subject"]) for mail in mails.mails] == GATES + passed


@pytest.mark.slow
def test_a_run_that_an_input_ends_is_reported_and_a_warning_of_one_that_succeeds(
    open_folder: Evaluated, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    environment = {"DAGSTER_HOME": str(home)}
    with webhook() as posts:
        monkeypatch.setenv("EVAL_ALERT_URLS", posts.address)
        labels = open_folder.path / "labels.csv"
        before = labels.read_text()
        labels.write_text(f"{before}a00,r3,clarity,9\n")
        assert open_folder.call("run", environment=environment).returncode == 1
        cursor = tick(open_folder, home, None)
        n_before = len(posts.bodies)
        assert titles(posts)[-1] == "made-up: run failed"
        assert "labels.csv:" in json.loads(posts.bodies[-1])["message"]

        open_folder.declare(gates="human_a_hh: {min: 0.99, severity: warn}")
        labels.write_text(before)
        assert open_folder.call("run", environment=environment).returncode == 0
        tick(open_folder, home, cursor)

    assert set(titles(posts)[n_before:]) >= {
        "made-up: human_agreement/human_a_hh warned",
        "made-up: run passed (was failed)",
    }
