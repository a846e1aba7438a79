"""The wheel holds all that the program needs, without the repository around it."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]


def run(*command: str | Path, folder: Path) -> str:
    """Run a command in a folder outside the repository and return what it prints."""
    kept = ("PATH", "HOME", "TMPDIR")
    done = subprocess.run(
        command,
        cwd=folder,
        env={name: os.environ[name] for name in kept if name in os.environ},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_installed_wheel_makes_a_folder_and_evaluates_it(tmp_path: Path) -> None:
    """In an environment of its own, which borrows the dependencies: no package is downloaded."""
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    build = (*pip, "wheel", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir")
    run(*build, tmp_path, TOP, folder=tmp_path)
    [wheel] = tmp_path.glob("*.whl")
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "fresh", folder=tmp_path)
    python = tmp_path / "fresh" / "bin" / "python"
    run(*pip, "--python", python, "install", "--no-deps", "--no-index", wheel, folder=tmp_path)
    [packages] = (tmp_path / "fresh").glob("lib/*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")

    where = run(python, "-c", "import eval_assets; print(eval_assets.__file__)", folder=tmp_path)
    assert Path(where.strip()).is_relative_to(packages)
    program = python.with_name("eval-assets")
    run(program, "init", "mine", folder=tmp_path)
    assert "Human agreement:" in run(program, "run", "--data", "mine", folder=tmp_path)
    assert (tmp_path / "mine" / "out" / "report.html").exists()
    for study in ("code", "stories"):
        run(program, "init", study, "--example", study, folder=tmp_path)
        for file in (tmp_path / study).iterdir():
            assert file.read_bytes() == (TOP / "data" / study / file.name).read_bytes()
        assert (tmp_path / study / "labels.csv").exists()
