"""Evaluations as components of a project that has assets, an executor and a resource of its own."""

import json
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import dagster as dg
import pytest

from eval_assets import EvaluationComponent
from tests.e2e.conftest import Evaluated, clean_environment

GUIDE = Path(__file__).parents[2] / "docs" / "dagster.md"

PROJECT = {
    "pyproject.toml": """\
[project]
name = "host"
version = "0"
[tool.dg]
directory_type = "project"
[tool.dg.project]
root_module = "host"
code_location_target_module = "host.definitions"
""",
    "host/__init__.py": "",
    "host/defs/__init__.py": "",
    "host/defs/own.py": """\
import dagster as dg


@dg.asset(deps=[dg.AssetKey(["agreeing", "judge_certificates"])])
def shipped_judge() -> dg.MaterializeResult:
    return dg.MaterializeResult()
""",
    "host/executor.py": """\
import dagster as dg

EXECUTOR = dg.multiprocess_executor.configured({"max_concurrent": 2})
""",
    "host/definitions.py": """\
from pathlib import Path

import dagster as dg
from host.executor import EXECUTOR


@dg.definitions
def defs() -> dg.Definitions:
    return dg.Definitions.merge(
        dg.load_from_defs_folder(path_within_project=Path(__file__).parent),
        dg.Definitions(
            executor=EXECUTOR,
            loggers={"console": dg.colored_console_logger},
            resources={"folder": "the host's own"},
        ),
    )
""",
}


@pytest.fixture
def project(open_once: Evaluated, closed_once: Evaluated, tmp_path: Path) -> Path:
    """A host project with an evaluation of open gates and one of closed gates."""
    host = tmp_path / "host project"
    for name, text in PROJECT.items():
        path = host / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for name, folder in (("agreeing", open_once), ("opposing", closed_once)):
        shutil.copytree(folder.path, host / name)
    return host


def environment(project: Path) -> dict[str, str]:
    home = project / "home"
    home.mkdir(exist_ok=True)
    return clean_environment() | {"DAGSTER_HOME": str(home), "PYTHONPATH": str(project)}


def dg_command(programs: Path, project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [programs / "dg", *arguments],
        cwd=project,
        env=environment(project),
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_two_evaluations_stand_beside_the_assets_and_executor_of_a_project(
    project: Path, broker: str, program_folder: Path
) -> None:
    """The executor is Celery's, whose worker runs the steps of both."""
    for name in ("agreeing", "opposing"):
        component = "eval_assets.EvaluationComponent"
        done = dg_command(
            program_folder, project, "scaffold", "defs", component, name, "--folder", name
        )
        assert done.returncode == 0, done.stderr
    [selection] = re.findall("dg launch --assets '(.*)'", GUIDE.read_text("utf-8"))
    upstream = selection.replace("support_bot", "agreeing")
    listed = dg_command(program_folder, project, "list", "defs", "--assets", upstream, "--json")
    keys = {asset["asset_key"] for asset in json.loads(listed.stdout)["assets"]}
    assert keys >= {"agreeing/human_labels", "agreeing/human_agreement"}, listed.stderr
    checked = dg_command(program_folder, project, "check", "defs")
    assert checked.returncode == 0, checked.stdout + checked.stderr

    urls = {"broker": broker, "backend": broker}
    (project / "host" / "executor.py").write_text(
        "from dagster_celery import celery_executor\n\n"
        f"EXECUTOR = celery_executor.configured({urls})\n"
    )
    (project / "dagster_celery_config.py").write_text(f"broker_url = result_backend = {broker!r}\n")
    with (project / "worker.log").open("wb") as output:
        worker = subprocess.Popen(
            [
                *(program_folder / "celery", "--app", "dagster_celery.app", "worker"),
                *("--queues", "dagster", "--concurrency", "2"),
            ],
            cwd=project,
            env=environment(project),
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        selection = "key:agreeing/judge_splits or key:opposing/judge_splits"
        launched = dg_command(program_folder, project, "launch", "--assets", selection)
    finally:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()

    assert launched.returncode == 1
    with dg.DagsterInstance.from_config(str(project / "home")) as instance:
        [run] = instance.get_runs()
        events = [record.dagster_event for record in instance.all_logs(run.run_id)]
    succeeded = {e.step_key for e in events if e is not None and e.is_step_success}
    failed = [e for e in events if e is not None and e.is_step_failure]
    assert "agreeing__judge_splits" in succeeded
    assert [event.step_key for event in failed] == ["opposing__judge_splits"]
    failure = failed[0].step_failure_data.user_failure_data
    assert failure is not None
    assert str(failure.description).startswith("Gate human_a_hh of opposing is closed: ")


def test_component_refuses_what_cannot_be_used_in_one_line(new_folder: Evaluated) -> None:
    context = dg.ComponentTree.for_test().load_context
    folder = str(new_folder.path)

    with pytest.raises(dg.DagsterInvalidDefinitionError, match=r"^'1st' cannot be a name"):
        EvaluationComponent(folder=folder, name="1st").build_defs(context)
    with pytest.raises(dg.DagsterInvalidDefinitionError, match=r"there is no such file$"):
        EvaluationComponent(folder=f"{folder}/none", name="none").build_defs(context)


@pytest.mark.slow
def test_components_share_no_name(open_folder: Evaluated) -> None:
    context = dg.ComponentTree.for_test().load_context
    parts = [
        EvaluationComponent(folder=str(open_folder.path), name=name, jobs=True).build_defs(context)
        for name in ("one", "two")
    ]
    merged = dg.Definitions.merge(
        dg.Definitions(executor=dg.multiprocess_executor, resources={"folder": "own"}), *parts
    )

    repository = merged.get_repository_def()
    jobs = {job.name for job in repository.get_all_jobs() if not job.name.startswith("__")}
    assert jobs == {"one_evaluate", "one_score", "two_evaluate", "two_score"}
    resources = repository.get_top_level_resources()
    assert {"one__folder", "two__folder", "folder"} == set(resources)
    # Dagster adds one of its own for conditions, switched off.
    sensors = {"one__files", "two__files", "default_automation_condition_sensor"}
    assert {sensor.name for sensor in repository.sensor_defs} == sensors
    assert {schedule.name for schedule in repository.schedule_defs} == {
        *("one_scheduled_rerun", "two_scheduled_rerun")
    }
