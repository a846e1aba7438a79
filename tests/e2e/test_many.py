"""Several evaluations in one run: each with its own database, history, versions and gates."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from eval_assets.agreement.gates.decision import GATES
from eval_assets.assets.evaluation_definitions import project_definitions
from tests.e2e.conftest import AGREEING, Evaluated, clean_environment

TOP = Path(__file__).parents[2]

ASSETS = (
    "generated_responses",
    "rubric_questions",
    "model_responses",
    "human_labels",
    "label_disagreements",
    "human_agreement",
    "judge_splits",
)


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    """Dagster's history, in a folder of the test."""
    home = tmp_path / "dagster"
    home.mkdir()
    with dg.DagsterInstance.local_temp(str(home), overrides={"telemetry": {"enabled": False}}) as i:
        yield i


@pytest.fixture
def two_evaluations(open_once: Evaluated, closed_once: Evaluated, tmp_path: Path) -> Path:
    """A folder of an evaluation with open gates and one with closed gates, both measured."""
    data = tmp_path / "data"
    shutil.copytree(open_once.path, data / "agreeing")
    shutil.copytree(closed_once.path, data / "opposing")
    return data


def versions(instance: dg.DagsterInstance, keys: set[dg.AssetKey]) -> dict[str, object]:
    """Return the data version of each asset's latest materialization."""
    events = {key: instance.get_latest_materialization_event(key) for key in sorted(keys)}
    return {
        key.to_user_string(): (event.asset_materialization.tags or {})["dagster/data_version"]
        for key, event in events.items()
        if event and event.asset_materialization
    }


@pytest.mark.slow
def test_two_evaluations_run_side_by_side_and_an_unchanged_run_keeps_every_data_version(
    two_evaluations: Path, instance: dg.DagsterInstance
) -> None:
    data = two_evaluations
    definitions = project_definitions(data)
    job = definitions.resolve_implicit_global_asset_job_def()
    selected = [dg.AssetKey([name, key]) for name in ("agreeing", "opposing") for key in ASSETS]
    first = job.execute_in_process(
        instance=instance, asset_selection=selected, raise_on_error=False
    )
    materializations = first.get_asset_materialization_events()
    keys = {event.asset_key for event in materializations if event.asset_key}
    before = versions(instance, keys)
    job.execute_in_process(instance=instance, asset_selection=selected, raise_on_error=False)

    assert {"agreeing/judge_splits", "opposing/human_agreement"} <= set(before)
    assert "opposing/judge_splits" not in before
    assert versions(instance, keys) == before
    assert "0" not in {str(version) for version in before.values()}

    [sentence] = {
        event.step_failure_data.user_failure_data.description or ""
        for event in first.all_events
        if event.is_step_failure
        and "human_gates" in str(event.step_key)
        and event.step_failure_data.user_failure_data
    }
    assert sentence.startswith("Gate human_a_hh of opposing is closed: 0.4")
    message, *_ = observed(instance, "opposing", "judge_splits")
    assert str(message.description).startswith("Not run. Gate human_")

    [observation] = observed(instance, "opposing", "label_files")
    Evaluated(data / "opposing").label({"clarity": ([1, 2, 3], [1, 2, 3])})
    job.execute_in_process(
        instance=instance, asset_selection=[dg.AssetKey(["opposing", "human_labels"])]
    )
    changed, _ = observed(instance, "opposing", "label_files")
    assert changed.data_version != observation.data_version
    now = versions(instance, keys)
    assert {name for name in now if now[name] != before[name]} == {"opposing/human_labels"}


def observed(instance: dg.DagsterInstance, *key: str) -> list[dg.AssetObservation]:
    """Return what was observed of an asset, latest first."""
    records = instance.fetch_observations(dg.AssetKey(key), limit=10).records
    return [record.asset_observation for record in records if record.asset_observation]


STEPS = """
import dagster as dg
from dagster._core.definitions.dependency import NodeHandle
from eval_assets.definitions import defs

job = defs.resolve_implicit_global_asset_job_def()
for definition in defs.asset_checks:
    handle = NodeHandle(definition.node_def.name, None)
    for output in definition.node_def.output_defs:
        key = job.asset_layer.get_asset_check_key_for_node_output(handle, output.name)
        print(handle.name, key.asset_key.path[0])
"""


@pytest.mark.slow
def test_steps_of_checks_belong_to_one_evaluation_under_each_hash_seed(
    two_evaluations: Path,
) -> None:
    environment = clean_environment() | {"EVAL_DATA": str(two_evaluations)}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", STEPS],
            env=environment | {"PYTHONHASHSEED": str(seed)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in range(2)
    ]
    outputs = {process.communicate()[0] for process in processes}

    [output] = outputs
    steps = [line.split() for line in output.splitlines()]
    assert {evaluation for _, evaluation in steps} == {"agreeing", "opposing"}
    assert all(name.startswith(f"{evaluation}__") for name, evaluation in steps)


FORKED = {"start_method": {"forkserver": {"preload_modules": ["eval_assets.definitions"]}}}
"""How the steps of a run begin: as forks of a process that has imported everything."""


@pytest.mark.slow
def test_with_a_process_a_step_each_gate_is_checked_once_for_its_evaluation(
    two_evaluations: Path, program_folder: Path, tmp_path: Path
) -> None:
    keys = [f"{name}/human_agreement" for name in ("agreeing", "opposing")]
    home = tmp_path / "home"
    home.mkdir()
    done = subprocess.run(
        [
            *(program_folder / "dagster", "asset", "materialize"),
            *("-m", "eval_assets.definitions", "--select", ",".join(keys)),
            *("--config-json", json.dumps({"execution": {"config": FORKED}})),
        ],
        env=clean_environment()
        | {
            "EVAL_DATA": str(two_evaluations),
            "EVAL_EXECUTOR": "multiprocess",
            "DAGSTER_HOME": str(home),
        },
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    with dg.DagsterInstance.from_config(str(home)) as instance:
        [run] = instance.get_runs()
        records = instance.all_logs(run.run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION)
    evaluations = [
        record.dagster_event.asset_check_evaluation_data
        for record in records
        if record.dagster_event is not None
    ]
    gates = {
        (check.asset_key.path[0], check.check_name): check.passed
        for check in evaluations
        if check.check_name in GATES
    }
    assert gates == {
        (name, gate): name == "agreeing"
        for name in ("agreeing", "opposing")
        for gate in ("human_a_hh", "human_alpha")
    }
    assert "Gate human_a_hh of opposing is closed" in done.stderr


RERUN = """
import sys
from pathlib import Path

import dagster as dg

from eval_assets.assets.evaluation_definitions import project_definitions
from tests.program_server import share_stores


def all_evaluations():
    return project_definitions(Path(sys.argv[1])).resolve_job_def("evaluate")


if __name__ == "__main__":
    share_stores()
    with dg.DagsterInstance.from_config(sys.argv[2]) as instance:
        failed = instance.get_runs(limit=1)
        options = [dg.ReexecutionOptions.from_failure(run.run_id, instance) for run in failed]
        job = dg.reconstructable(all_evaluations)
        result = dg.execute_job(job, instance, reexecution_options=options[0] if options else None)
        sys.exit(not result.success)
"""


@pytest.mark.slow
def test_a_run_that_is_continued_after_a_restart_makes_only_what_failed(
    two_evaluations: Path, tmp_path: Path
) -> None:
    script = tmp_path / "rerun.py"
    script.write_text(RERUN)
    home = tmp_path / "home"
    home.mkdir()
    opposing = two_evaluations / "opposing"

    def run(seed: int) -> int:
        environment = clean_environment() | {"PYTHONHASHSEED": str(seed), "PYTHONPATH": str(TOP)}
        command = [sys.executable, str(script), str(two_evaluations), str(home)]
        return subprocess.run(command, env=environment, cwd=tmp_path, check=False).returncode

    assert run(0) == 1
    Evaluated(opposing).label({"clarity": AGREEING, "depth": AGREEING})
    Evaluated(opposing).materialize("human_labels", "human_agreement")
    assert run(1) == 0
    with dg.DagsterInstance.from_config(str(home)) as instance:
        second, first = instance.get_runs()
        steps = [
            {
                str(record.dagster_event.step_key)
                for record in instance.all_logs(one.run_id, of_type=dg.DagsterEventType.STEP_START)
                if record.dagster_event
            }
            for one in (second, first)
        ]
    continued, before = steps

    assert {step.partition("__")[0] for step in before} == {"agreeing", "opposing"}
    assert {step.partition("__")[0] for step in continued} == {"opposing"}
    assert continued >= {"opposing__human_gates", "opposing__judge_splits"}
    assert not continued & {"opposing__human_labels", "opposing__judge_scores"}
