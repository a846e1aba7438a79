"""The composite GitHub action: its evaluation step, run as a runner does."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("evaluation", "code", "heading"),
    [
        ("sample", 0, "### autonomy-and-agency: Judges may be tuned.\n"),
        ("contested", 3, "### autonomy-and-agency-contested: Judges may not be tuned: raters"),
        ("broken", 1, ""),
    ],
)
def test_the_step_writes_gates_as_its_summary_and_ends_as_the_run_does(
    tmp_path: Path, program_folder: Path, evaluation: str, code: int, heading: str
) -> None:
    data, summary = tmp_path / evaluation, tmp_path / "summary.md"
    if evaluation == "broken":
        data.mkdir()
        (data / "evaluation.yaml").write_text("name: broken\nrubrik: []\n", "utf-8")
    else:
        ignored = shutil.ignore_patterns("out", "ledger*")
        shutil.copytree(ROOT / "data" / evaluation, data, ignore=ignored)
    summary.touch()  # as a runner does
    [step] = [step for step in ACTION["runs"]["steps"] if step.get("id") == "evaluate"]
    environment = {
        **os.environ,
        "PATH": f"{program_folder}:{os.environ['PATH']}",
        "EVAL_DATA": data.name,
        "GITHUB_STEP_SUMMARY": str(summary),
    }
    script = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    done = subprocess.run(script, env=environment, cwd=tmp_path, check=False, timeout=600)

    assert done.returncode == code
    assert summary.read_text("utf-8").startswith(heading)
    assert bool(summary.read_text("utf-8")) is (code != 1)


def test_every_input_that_is_used_is_declared() -> None:
    text = (ROOT / "action.yml").read_text("utf-8")

    assert {name for name in ACTION["inputs"] if f"inputs.{name}" in text} == set(ACTION["inputs"])
