"""The files in deploy/: three services on PostgreSQL, started as the units start them."""

import json
import os
import re
import shutil
import signal
import socket
import string
import subprocess
import time
import tomllib
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.conftest import clean_environment
from tests.postgres import Postgres

pytestmark = pytest.mark.slow

TOP = Path(__file__).parents[2]
DEPLOY = TOP / "deploy"
SERVICES = ("code", "webserver", "daemon")
IN_REPOSITORY = 'repositoryLocationName:"eval_assets",repositoryName:"__repository__"'
LONGEST_SECONDS = 600
"""How long a condition may take before the test gives up, on a machine that is busy."""


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


class Deployment:
    """The services on a folder of their own, started with the commands of the systemd units."""

    def __init__(self, folder: Path, database: str, programs: Path) -> None:
        self.folder = folder
        self.programs = programs
        self.port = free_port()
        inputs = dict(
            line.split("=", 1)
            for line in (DEPLOY / "environment.example").read_text().splitlines()
            if line and not line.startswith("#")
        )
        self.environment = {
            name: value.replace("/srv/eval-assets", str(folder)) for name, value in inputs.items()
        }
        driver = self.environment["DAGSTER_POSTGRES_URL"].partition("://")[0]
        database = f"{driver}://{database.partition('://')[2]}"
        self.environment |= {
            "DAGSTER_POSTGRES_URL": database,
            "CODE_PORT": str(free_port()),
            "EVAL_UI_URL": f"http://127.0.0.1:{self.port}",
        }
        home = folder / "dagster"
        home.mkdir(parents=True, exist_ok=True)
        for name in ("dagster.yaml", "workspace.yaml"):
            shutil.copy(DEPLOY / name, home)
        self.processes: list[subprocess.Popen[bytes]] = []
        self.restarted: set[str] = set()

    def start(self) -> None:
        """Start all services, and wait until the UI has loaded the assets."""
        self.processes = [self._start_service(service) for service in SERVICES]
        self.wait(self._is_loaded)

    def _start_service(self, service: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"{service}.log").open("ab") as output:
            return subprocess.Popen(
                self._command(service),
                cwd=self.folder,
                env=clean_environment() | self.environment,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    def stop(self) -> None:
        """Stop them as systemd does."""
        for process in reversed(self.processes):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGINT)
            process.wait()
        self.processes = []

    def ask(self, query: str) -> Any:
        """Return what the webserver answers."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/graphql",
            data=json.dumps({"query": query}).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request) as reply:  # noqa: S310
            return json.load(reply)["data"]

    def ended_runs(self) -> list[tuple[str, str]]:
        """Return job and state of the runs that have ended, latest first."""
        runs = self.ask("{runsOrError{... on Runs{results{jobName status}}}}")["runsOrError"]
        return [
            (run["jobName"], run["status"])
            for run in runs["results"]
            if run["status"] in {"SUCCESS", "FAILURE", "CANCELED"}
        ]

    def assets_of_last_run(self) -> set[str]:
        """Return the assets that the latest run was to materialize."""
        runs = self.ask("{runsOrError(limit:1){... on Runs{results{assetSelection{path}}}}}")
        [run] = runs["runsOrError"]["results"]
        return {asset["path"][-1] for asset in run["assetSelection"]}

    def has_evaluated_conditions(self) -> bool:
        """Return whether a tick of `new_files` has ended."""
        selector = f'{IN_REPOSITORY},sensorName:"new_files"'
        ticks = "sensorState{ticks(limit:5){status}}"
        answer = self.ask(
            f"{{sensorOrError(sensorSelector:{{{selector}}}){{... on Sensor{{{ticks}}}}}}}"
        )
        ended = answer["sensorOrError"]["sensorState"]["ticks"]
        return any(tick["status"] in {"SKIPPED", "SUCCESS"} for tick in ended)

    def wait(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition holds, as long as all services run."""
        deadline = time.monotonic() + LONGEST_SECONDS
        while not condition():
            for number, service in enumerate(SERVICES):
                if self.processes[number].poll() is not None:
                    # Two services create the tables of an empty database: systemd starts the one
                    # that comes second again.
                    log = (self.folder / f"{service}.log").read_text()
                    assert "psycopg2.errors" in log, log
                    assert service not in self.restarted, log
                    self.restarted.add(service)
                    self.processes[number] = self._start_service(service)
            assert time.monotonic() < deadline
            time.sleep(0.5)

    def _command(self, service: str) -> list[str]:
        unit = (DEPLOY / "systemd" / f"eval-assets-{service}.service").read_text()
        [command] = re.findall(r"^ExecStart=(.*)$", unit, re.MULTILINE)
        filled = string.Template(command).substitute(self.environment)
        filled = filled.replace("/opt/eval-assets/.venv/bin", str(self.programs))
        return filled.replace("--port 3000", f"--port {self.port}").split()

    def _is_loaded(self) -> bool:
        location = "locationEntries{locationOrLoadError{__typename}}"
        query = f"{{workspaceOrError{{... on Workspace{{{location}}}}}}}"
        try:
            entries = self.ask(query)["workspaceOrError"]["locationEntries"]
        except (urllib.error.URLError, ConnectionError):
            return False
        result = [entry["locationOrLoadError"] for entry in entries]
        return result == [{"__typename": "RepositoryLocation"}]


@contextmanager
def deployed(folder: Path, database: str, programs: Path) -> Iterator[Deployment]:
    """Yield the running services."""
    deployment = Deployment(folder, database, programs)
    try:
        deployment.start()
        yield deployment
    finally:
        deployment.stop()


@pytest.fixture(scope="module")
def deployment(
    tmp_path_factory: pytest.TempPathFactory, postgres: Postgres, program_folder: Path
) -> Iterator[Deployment]:
    folder = tmp_path_factory.mktemp("deployed")
    ignored = shutil.ignore_patterns("out", "ledger*")
    for name in ("sample", "contested"):
        shutil.copytree(TOP / "data" / name, folder / "data" / name, ignore=ignored)
    with deployed(folder, postgres.new_database(), program_folder) as services:
        yield services


def test_the_job_of_all_evaluates_each_in_one_run(deployment: Deployment) -> None:
    selector = f'{IN_REPOSITORY},jobName:"evaluate"'
    launched = deployment.ask(
        f"mutation{{launchRun(executionParams:{{selector:{{{selector}}}}})"
        "{__typename ... on PythonError{message}}}"
    )
    assert launched["launchRun"]["__typename"] == "LaunchRunSuccess", launched
    # The gates of contested are closed.
    deployment.wait(lambda: deployment.ended_runs() == [("evaluate", "FAILURE")])
    for name in ("sample", "contested"):
        assert (deployment.folder / "data" / name / "out" / "report.html").exists()


def test_a_changed_file_starts_what_is_downstream_of_it(deployment: Deployment) -> None:
    before = deployment.ended_runs()
    selector = f'{IN_REPOSITORY},sensorName:"new_files"'
    started = deployment.ask(
        f"mutation{{startSensor(sensorSelector:{{{selector}}}){{__typename}}}}"
    )
    assert started["startSensor"]["__typename"] == "Sensor", started
    deployment.wait(deployment.has_evaluated_conditions)
    assert deployment.ended_runs() == before
    labels = deployment.folder / "data" / "sample" / "labels.csv"
    lines = labels.read_text().splitlines()
    labels.write_text("\n".join(lines[:-1]) + "\n")

    def has_rerun() -> bool:
        return len(deployment.ended_runs()) == len(before) + 1

    deployment.wait(has_rerun)
    assert deployment.assets_of_last_run() >= {"human_labels", "human_agreement", "judge_splits"}
    assert "judge_scores" not in deployment.assets_of_last_run()


def test_the_compose_file_starts_what_the_units_start() -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    for service in SERVICES:
        unit = (DEPLOY / "systemd" / f"eval-assets-{service}.service").read_text()
        [command] = re.findall(r"^ExecStart=(?:\S+/)(\S+ \S+)", unit, re.MULTILINE)
        assert compose[service]["command"].startswith(command), service
        assert "DAGSTER_POSTGRES_URL" in compose[service]["environment"]
    scaled = yaml.safe_load((DEPLOY / "compose.scale.yaml").read_text())["services"]
    page = (TOP / "docs" / "scale-out.md").read_text().replace("\\\n", "")
    assert scaled["worker"]["command"] in " ".join(page.split())
    files = (DEPLOY / "Dockerfile").read_text()
    copied = re.findall(r"^COPY (?:--\S+ )?(.*) \S+$", files, re.MULTILINE)
    sources = [name for line in copied for name in line.split()]
    assert all((TOP / name).exists() for name in sources)
    wheel = tomllib.loads((TOP / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]
    for included in wheel["wheel"]["force-include"]:
        assert any(Path(included).is_relative_to(name) for name in sources), included
