"""The wheel holds all that the program needs, without the repository around it."""

import json
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

TOP = Path(__file__).parents[1]


def ended(*command: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder outside the repository."""
    names = ("PATH", "HOME", "TMPDIR")
    return subprocess.run(
        command,
        cwd=folder,
        env={name: os.environ[name] for name in names if name in os.environ},
        capture_output=True,
        text=True,
        check=False,
    )


def run(*command: str | Path, folder: Path) -> str:
    """Run a command in a folder outside the repository and return what it prints."""
    done = ended(*command, folder=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def size_of(packages: Path) -> int:
    """Return the bytes of packages, before their modules are compiled."""
    tops = [path.resolve() for path in packages.iterdir()]
    files = [path for top in tops for path in ([top] if top.is_file() else top.rglob("*"))]
    return sum(of.stat().st_size for of in files if of.is_file() and of.suffix != ".pyc")


PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    build = (*PIP, "wheel", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir")
    run(*build, folder, TOP, folder=folder)
    [path] = folder.glob("*.whl")
    return path


def installed(wheel: Path, folder: Path) -> tuple[Path, Path]:
    """Install the wheel alone into an environment of its own; return its python and packages."""
    run(sys.executable, "-m", "venv", "--without-pip", folder / "fresh", folder=folder)
    python = folder / "fresh" / "bin" / "python"
    options = ("--no-deps", "--no-index", "--no-compile")
    run(*PIP, "--python", python, "install", *options, wheel, folder=folder)
    [packages] = (folder / "fresh").glob("lib/*/site-packages")
    return python, packages


def lend(name: str, packages: Path) -> None:
    """Link a distribution and all that it needs, without any extra of it, into an environment."""
    for path in distribution(name).files or ():
        top = path.parts[0]
        if top not in {"..", "__pycache__"} and not (packages / top).exists():
            (packages / top).symlink_to(Path(str(distribution(name).locate_file(top))))
    for requirement in without_extras(distribution(name).requires or ()):
        if not any(packages.glob(f"{requirement.replace('-', '[-_.]')}-*.dist-info")):
            lend(requirement, packages)


def without_extras(requirements: Iterable[str]) -> list[str]:
    """Return the distributions among requirements that no extra asks for."""
    parsed = map(Requirement, requirements)
    return [of.name for of in parsed if not of.marker or of.marker.evaluate({"extra": ""})]


@pytest.mark.slow
def test_the_wheel_without_extras_measures_agreement_and_names_the_extra(
    wheel: Path, tmp_path: Path
) -> None:
    python, packages = installed(wheel, tmp_path)
    [metadata] = packages.glob("eval_assets-*.dist-info/METADATA")
    declared = re.findall(r"^Requires-Dist: (.+)$", metadata.read_text("utf-8"), re.MULTILINE)
    for name in without_extras(declared):
        lend(name, packages)
    rows = [(k, 1 + k % 5, 1 + (k + (k == 3)) % 5) for k in range(30)]
    csv = "item,anna,ben\n" + "".join(f"{k},{a},{b}\n" for k, a, b in rows)
    (tmp_path / "ratings.csv").write_text(csv)
    notebook = (
        "import pandas as pd; from eval_assets import check; "
        "result = check(pd.read_csv('ratings.csv'), scale='1-5'); "
        "print(result.labels.verdict.word, '<svg' in result._repr_html_())"
    )
    program = python.with_name("eval-assets")

    absent = ("dagster", "duckdb", "jinja2", "openai", "sqlalchemy")
    assert not any((packages / name).exists() for name in absent)
    assert size_of(packages) < 150e6
    assert "PASS" in run(program, "check", "ratings.csv", folder=tmp_path)
    assert run(python, "-c", notebook, folder=tmp_path).split() == ["PASS", "True"]
    run(program, "init", "ratings.csv", "mine", folder=tmp_path)
    run(program, "sheet", "--data", "mine", folder=tmp_path)
    choice = {"type": "choices", "from_name": "q", "to_name": "t", "value": {"choices": ["yes"]}}
    annotations = [{"completed_by": 1, "result": [choice]}]
    tasks = [{"id": k, "data": {"text": f"t{k}"}, "annotations": annotations} for k in range(9)]
    (tmp_path / "export.json").write_text(json.dumps(tasks))
    run(program, "import", "export.json", "--data", "imported", folder=tmp_path)
    (tmp_path / "ratings.parquet").write_bytes(b"PAR1")
    refused = ended(program, "check", "ratings.parquet", folder=tmp_path)
    assert refused.returncode == 1
    assert "reading Parquet takes DuckDB. Install duckdb, or save" in refused.stderr
    for command in ("run", "tune", "serve", "ledger", "gates"):
        done = ended(program, command, "--data", "mine", folder=tmp_path)
        assert done.returncode == 1
        assert re.fullmatch(r"This needs \w+\. Install eval-assets\[run\]\.\n", done.stderr)


@pytest.mark.slow
def test_the_installed_wheel_makes_a_folder_and_evaluates_it(wheel: Path, tmp_path: Path) -> None:
    """In an environment of its own, which borrows the dependencies: no package is downloaded."""
    python, packages = installed(wheel, tmp_path)
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")

    condition = run(
        python, "-c", "import eval_assets; print(eval_assets.__file__)", folder=tmp_path
    )
    assert Path(condition.strip()).is_relative_to(packages)
    program = python.with_name("eval-assets")
    run(program, "init", "mine", folder=tmp_path)
    assert "Can we trust our labels?" in run(program, "run", "--data", "mine", folder=tmp_path)
    assert (tmp_path / "mine" / "out" / "report.html").exists()
    for study in ("code", "stories"):
        run(program, "init", study, "--example", study, folder=tmp_path)
        for file in (tmp_path / study).iterdir():
            assert file.read_bytes() == (TOP / "data" / study / file.name).read_bytes()
        assert (tmp_path / study / "labels.csv").exists()
