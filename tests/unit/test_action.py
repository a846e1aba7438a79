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
    ("names", "code", "verdict"),
    [(("sample", "contested"), 3, "fail"), (("contested", "sample"), 0, "pass")],
)
def test_the_step_compares_with_the_base_writes_a_comment_and_hands_on_the_verdict(
    tmp_path: Path, program_folder: Path, names: tuple[str, str], code: int, verdict: str
) -> None:
    data = tmp_path / "clone" / "evaluation"
    data.mkdir(parents=True)
    commits = [committed(data, ROOT / "data" / name) for name in names]
    [step] = [step for step in ACTION["runs"]["steps"] if step.get("id") == "evaluate"]
    files = {"GITHUB_STEP_SUMMARY": "summary.md", "GITHUB_OUTPUT": "output"}
    environment = {
        **os.environ,
        "PATH": f"{program_folder}:{os.environ['PATH']}",
        "EVAL_DATA": data.name,
        "BASE": commits[0],
        "RUNNER_TEMP": str(tmp_path),
        **{variable: str(tmp_path / file) for variable, file in files.items()},
    }
    script = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    done = subprocess.run(script, env=environment, cwd=data.parent, check=False, timeout=600)

    assert done.returncode == 0
    assert (tmp_path / "output").read_text() == f"exit-code={code}\nverdict={verdict}\n"
    comment = (tmp_path / "eval-assets.md").read_text("utf-8")
    assert comment.startswith("<!-- eval-assets -->\n### autonomy-and-agency")
    assert f"human_a_hh is {'open' if code == 0 else 'closed'} now" in comment
    assert ("this holds up the pull request" in comment) is (code != 0)
    assert (tmp_path / "summary.md").read_text("utf-8") == comment


def committed(folder: Path, evaluation: Path) -> str:
    """Put an evaluation's files into a repository, and return the commit."""
    ignored = shutil.ignore_patterns("out", "ledger*")
    shutil.copytree(evaluation, folder, ignore=ignored, dirs_exist_ok=True)
    git = ["git", "-C", str(folder.parent), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for step in (["init", "-q"], ["add", "."], ["commit", "-qm", evaluation.name]):
        subprocess.run([*git, *step], check=True)
    done = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_every_input_that_is_used_is_declared() -> None:
    text = (ROOT / "action.yml").read_text("utf-8")

    assert {name for name in ACTION["inputs"] if f"inputs.{name}" in text} == set(ACTION["inputs"])
