"""The gate holds where others start the run: the schedule, the web server, the command line."""

import json
import os
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dagster as dg
import duckdb
import pytest

from eval_assets.assets.evaluation_definitions import project_definitions
from tests.e2e.conftest import (
    AGREEING,
    OPPOSING,
    Evaluated,
    clean_environment,
    failures,
    make,
)

ROOT = Path(__file__).parents[2]
SECONDS_TO_START = 600
ENDED = {"SUCCESS", "FAILURE", "CANCELED"}

LAUNCH = """
mutation Launch($params: ExecutionParams!) {
  launchPipelineExecution(executionParams: $params) {
    __typename
    ... on LaunchRunSuccess { run { runId } }
    ... on PythonError { message }
    ... on InvalidSubsetError { message }
    ... on RunConfigValidationInvalid { errors { message } }
  }
}
"""
RUN = """
query Run($runId: ID!) {
  runOrError(runId: $runId) {
    ... on Run {
      status
      eventConnection {
        events {
          __typename
          ... on ExecutionStepFailureEvent {
            stepKey
            failureMetadata { description }
            error { message }
          }
        }
      }
    }
  }
}
"""


class WebServer:
    """Dagster's web server on loopback, asked through GraphQL as its pages do."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"

    def answers(self) -> bool:
        """Whether it is up."""
        try:
            with urllib.request.urlopen(f"{self.url}/server_info", timeout=60) as response:  # noqa: S310
                return bool(response.status == 200)
        except OSError:
            return False

    def ask(self, query: str, **variables: Any) -> Any:
        """The data that a query or mutation comes back with."""
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(  # noqa: S310
            f"{self.url}/graphql", body, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=600) as response:  # noqa: S310
            answer = json.load(response)
        assert "errors" not in answer, answer
        return answer["data"]

    def materialize(self, *assets: str) -> dict[str, Any]:
        """Launch a run of these assets alone, as the button does; the run once it has ended."""
        params = {
            "mode": "default",
            "runConfigData": "{}",
            "selector": {
                "repositoryLocationName": "eval_assets",
                "repositoryName": "__repository__",
                "pipelineName": "evaluate",
                "assetSelection": [{"path": [asset]} for asset in assets],
                "assetCheckSelection": [],
            },
        }
        launched = self.ask(LAUNCH, params=params)["launchPipelineExecution"]
        assert launched["__typename"] == "LaunchRunSuccess", launched
        deadline = time.monotonic() + SECONDS_TO_START
        while time.monotonic() < deadline:
            run: dict[str, Any] = self.ask(RUN, runId=launched["run"]["runId"])["runOrError"]
            if run["status"] in ENDED:
                return run
            time.sleep(0.3)
        raise TimeoutError(run["status"])


@contextmanager
def web_server(folder: Evaluated, home: Path, programs: Path) -> Iterator[WebServer]:
    """A web server on this folder, in a session of its own that is ended as a whole."""
    home.mkdir()
    (home / "dagster.yaml").write_text(
        "telemetry: {enabled: false}\n"
        "run_coordinator: {module: dagster._core.run_coordinator, class: DefaultRunCoordinator}\n"
    )
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = home / "web.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            [
                programs / "dagster-webserver",
                *("--workspace", ROOT / "workspace.yaml"),
                *("--host", "127.0.0.1", "--port", str(port)),
            ],
            cwd=home,
            env=clean_environment() | {"DAGSTER_HOME": str(home), "EVAL_DATA": str(folder.path)},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        server = WebServer(port)
        deadline = time.monotonic() + SECONDS_TO_START
        while not server.answers():
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.3)
        yield server
    finally:
        end_group(process)


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it started, whether or not they listen."""
    os.killpg(process.pid, 15)
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.wait()


@pytest.mark.slow
def test_the_web_server_refuses_tuning_alone_and_shows_why(
    closed_folder: Evaluated, tmp_path: Path, program_folder: Path
) -> None:
    """One server: closed gates first, then lower minimums, which let the same button through."""
    with web_server(closed_folder, tmp_path / "home", program_folder) as server:
        refused = server.materialize("judge_splits")
        empty = closed_folder.splits()
        closed_folder.declare(gates="human_a_hh: {min: 0}, human_alpha: {min: -1}")
        let_through = server.materialize("judge_splits")

    assert refused["status"] == "FAILURE"
    [failure] = [
        event
        for event in refused["eventConnection"]["events"]
        if event["__typename"] == "ExecutionStepFailureEvent"
    ]
    assert failure["stepKey"] == f"{closed_folder.path.name}__judge_splits"
    assert "Gate human_a_hh of " in failure["failureMetadata"]["description"]
    assert "eval-assets rubric draft clarity" in failure["failureMetadata"]["description"]
    assert empty == []
    assert let_through["status"] == "SUCCESS"
    assert closed_folder.splits() != []


@pytest.mark.slow
def test_a_tick_of_the_schedule_runs_everything_and_does_not_tune(
    closed_folder: Evaluated, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EVAL_DATABASE", raising=False)
    definitions = project_definitions(closed_folder.path)
    schedule = definitions.resolve_schedule_def("scheduled_rerun")
    with (
        dg.DagsterInstance.local_temp(str(tmp_path)) as instance,
        dg.build_schedule_context(
            instance,
            repository_def=definitions.get_repository_def(),
            scheduled_execution_time=datetime(2026, 11, 2, 6, tzinfo=UTC),
        ) as context,
    ):
        [request] = schedule.evaluate_tick(context).run_requests or []
        result = definitions.resolve_job_def(schedule.job_name).execute_in_process(
            instance=instance, run_config=request.run_config, tags=request.tags,
            raise_on_error=False,
        )  # fmt: skip

    assert not result.success
    closed = {e.check_name for e in result.get_asset_check_evaluations() if not e.passed}
    assert closed == {"human_a_hh", "human_alpha"}
    assert closed_folder.splits() == []


@pytest.mark.slow
def test_the_job_that_only_scores_leaves_tuning_out(
    open_folder: Evaluated, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EVAL_DATABASE", raising=False)
    split = "SELECT * EXCLUDE (stale_because, is_gated) FROM judge_splits ORDER BY ALL"
    before = open_folder.rows(split)
    open_folder.label({"clarity": OPPOSING, "depth": OPPOSING})
    job = project_definitions(open_folder.path).resolve_job_def("score")
    result = job.execute_in_process(raise_on_error=False)

    assert dg.AssetKey("judge_splits") not in {
        event.asset_key for event in result.get_asset_materialization_events()
    }
    assert open_folder.rows(split) == before
    message = failures(result)
    assert set(message) == {"human_gates"}
    *gates, step = message["human_gates"].splitlines()
    assert [line.split()[:2] for line in gates] == [
        ["Gate", "human_a_hh"],
        ["Gate", "human_alpha"],
    ]
    assert step.endswith("Then materialize human_labels and what is downstream of it.")


@pytest.mark.slow
def test_open_gates_exit_with_0_and_say_where_everything_is(new_folder: Evaluated) -> None:
    done = new_folder.call("run")

    assert (done.returncode, done.stderr) == (0, "")
    assert new_folder.splits()
    assert f"Database {new_folder.database}" in done.stdout
    assert (new_folder.path / "out" / "report.html").is_file()


def test_closed_gates_exit_with_3_and_say_what_to_do(closed_folder: Evaluated) -> None:
    """Here for one asset and for all; with --verbose each gate has its line."""
    stopped = "Stopped before judge tuning: raters do not agree enough (exit code 3)."
    for arguments in (["run", "--select", "judge_splits"], ["run"]):
        done = closed_folder.call(*arguments)

        assert (done.returncode, done.stderr) == (3, ""), arguments
        output = done.stdout.splitlines()
        [labels] = [line for line in output if line.startswith("1  Can we trust our labels?")]
        assert labels.endswith("FAIL")
        assert output[-1] == stopped
        draft = f"eval-assets rubric draft clarity --data {closed_folder.path}"
        assert draft in " ".join(done.stdout.replace("\\\n", "").split())

    verbose = closed_folder.call("run", "--select", "judge_splits", "--verbose").stdout.splitlines()
    lines = [line.split() for line in verbose if line.startswith("human_alpha  ")]
    assert {line[-1] for line in lines} == {"FAIL"}


@pytest.mark.slow
def test_gates_of_one_rater_are_closed_as_not_measured(tmp_path: Path) -> None:
    folder = make(tmp_path / "data", AGREEING[:1])
    done = folder.call("run")

    assert done.returncode == 3
    assert done.stdout.splitlines()[-1] == (
        "Stopped before judge tuning: agreement is not measured (exit code 3)."
    )


def test_the_command_gates_exits_as_the_gates_stand(closed_folder: Evaluated) -> None:
    done = closed_folder.call("gates", "--json")

    assert (done.returncode, done.stderr) == (3, "")
    closed = {gate["gate"]: gate["is_closed"] for gate in json.loads(done.stdout)}
    assert closed == {"human_a_hh": True, "human_alpha": True, "judge_alpha": False}
    assert {gate["severity"] for gate in json.loads(done.stdout)} == {"error"}
    closed_folder.declare(gates="human_a_hh: {min: 0}, human_alpha: {min: -1}")
    assert closed_folder.call("gates").returncode == 0


def test_an_edited_figure_opens_no_gate(closed_folder: Evaluated) -> None:
    with duckdb.connect(str(closed_folder.database)) as connection:
        connection.execute(
            """UPDATE figures SET value = 0.95, low = 0.9, high = 0.99
               WHERE table_name = 'human_agreement' AND statistic IN ('a_hh', 'alpha')"""
        )
    done = closed_folder.call("gates", "--json")

    assert done.returncode == 3
    human, *_ = json.loads(done.stdout)
    assert human["reason"] == (
        "stale: the stored figures were changed after they were measured. "
        f"Run eval-assets run --data {closed_folder.path}"
    )
    result = closed_folder.materialize("judge_splits")
    assert "were changed after they were measured" in failures(result)["judge_splits"]
    assert closed_folder.splits() == []


@pytest.mark.slow
def test_an_empty_home_of_dagster_is_no_home(closed_folder: Evaluated) -> None:
    done = closed_folder.call(
        "run", "--select", "human_agreement", environment={"DAGSTER_HOME": ""}
    )

    assert "Traceback" not in done.stdout + done.stderr
    assert (done.returncode, done.stderr) == (3, "")


def test_the_database_of_an_open_folder_does_not_open_another(
    closed_folder: Evaluated, open_once: Evaluated
) -> None:
    done = closed_folder.call("gates", environment={"EVAL_DATABASE": str(open_once.database)})

    assert (done.returncode, done.stdout) == (1, "")
    [line] = done.stderr.splitlines()
    assert f"holds the evaluation in {open_once.path}, not the one in" in line


def test_a_gate_that_only_warns_says_so_if_it_is_not_reached(closed_folder: Evaluated) -> None:
    closed_folder.declare(gates="human_a_hh: {severity: warn}, human_alpha: {severity: warn}")
    done = closed_folder.call("gates")

    assert done.returncode == 0
    assert done.stdout.startswith("Judges may be tuned.")
    for gate in ("human_a_hh", "human_alpha"):
        assert f"{gate} is declared to warn only, so it holds nothing back." in done.stdout


@pytest.mark.slow
def test_a_plus_selects_all_that_an_asset_depends_on(new_folder: Evaluated) -> None:
    done = new_folder.call("run", "--select", "+human_agreement")

    assert (done.returncode, done.stderr) == (0, "")
    assert new_folder.rows("SELECT count(*) FROM human_labels") == [(96,)]
    assert new_folder.rows("SELECT count(*) FROM judge_scores") == [(0,)]


def test_judge_is_not_judged_by_people_whose_agreement_was_not_measured(
    closed_folder: Evaluated,
) -> None:
    """A run of some assets: no outcome of a gate is none that passes."""
    shutil.rmtree(closed_folder.path / "out")
    done = closed_folder.call("run", "--select", "+judge_human_agreement")

    assert done.returncode == 0
    assert "PASS" not in done.stdout
    assert "NOT MEASURED" in done.stdout
    assert "-- = not judged." in done.stdout


def test_bad_input_exits_with_1_and_one_line_for_each_place(open_folder: Evaluated) -> None:
    before = open_folder.rows("SELECT * FROM human_labels ORDER BY ALL")
    labels = open_folder.path / "labels.csv"
    labels.write_text(
        labels.read_text().replace("a00,r1,clarity,1", "a00,r1,clarity,6") + "zz,r1,clarity,3\n"
    )
    done = open_folder.call("run", "--select", "human_labels")

    assert done.returncode == 1
    assert "Traceback" not in done.stdout + done.stderr
    first, second = done.stderr.splitlines()
    assert first.startswith("labels.csv:2:rating: 6 is not on the scale")
    assert second.startswith("labels.csv:98:response_id: ")
    assert open_folder.rows("SELECT * FROM human_labels ORDER BY ALL") == before


def test_a_bad_declaration_exits_with_1_before_anything_runs(new_folder: Evaluated) -> None:
    new_folder.declare(gates="human_alfa: {min: 0.7}")
    done = new_folder.call("run")

    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert line.startswith("evaluation.yaml:")
    assert "human_alfa" in line
    assert not new_folder.database.exists()


@pytest.mark.parametrize(
    "arguments",
    [["run", "--nonsense"], ["nonsense"], ["run", "--select", "no_such_asset"], ["run", "extra"]],
    ids=["option", "command", "asset", "argument"],
)
def test_misuse_exits_with_2_and_runs_nothing(new_folder: Evaluated, arguments: list[str]) -> None:
    done = new_folder.call(*arguments)

    assert done.returncode == 2
    assert done.stderr
    assert "Traceback" not in done.stderr
    assert not new_folder.database.exists()


def test_a_folder_that_is_none_exits_with_1(tmp_path: Path) -> None:
    done = Evaluated(tmp_path).call("run", "--data", "nowhere")

    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert "nowhere" in line
