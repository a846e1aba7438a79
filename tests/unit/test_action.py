"""The composite GitHub action: its evaluation step, run as a runner does."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "code", "state"), [("sample", 0, "open"), ("contested", 3, "closed")]
)
def test_the_step_writes_a_comment_and_hands_on_the_exit_code(
    tmp_path: Path, name: str, code: int, state: str
) -> None:
    data = tmp_path / name
    shutil.copytree(ROOT / "data" / name, data, ignore=shutil.ignore_patterns("out", "ledger*"))
    [step] = [step for step in ACTION["runs"]["steps"] if step.get("id") == "evaluate"]
    files = {"GITHUB_STEP_SUMMARY": "summary.md", "GITHUB_OUTPUT": "output"}
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "EVAL_DATA": str(data),
        "RUNNER_TEMP": str(tmp_path),
        **{variable: str(tmp_path / file) for variable, file in files.items()},
    }
    script = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    done = subprocess.run(script, env=environment, cwd=tmp_path, check=False, timeout=600)

    assert done.returncode == 0
    assert (tmp_path / "output").read_text() == f"exit-code={code}\n"
    comment = (tmp_path / "eval-assets.md").read_text("utf-8")
    assert comment.startswith("<!-- eval-assets -->\n### autonomy-and-agency")
    assert f"gates {state}" in comment.splitlines()[1]
    assert (tmp_path / "summary.md").read_text("utf-8") == comment


def test_every_input_that_is_used_is_declared() -> None:
    text = (ROOT / "action.yml").read_text("utf-8")

    assert {name for name in ACTION["inputs"] if f"inputs.{name}" in text} == set(ACTION["inputs"])
