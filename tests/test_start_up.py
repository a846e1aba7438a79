"""Imports of each command in a fresh process: help and misuse load nothing but click."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from eval_assets.cli.main import COMMANDS

HEAVY = (
    *("anthropic", "dagster", "duckdb", "jinja2", "numpy", "openai", "pandas", "pydantic"),
    *("rich", "sqlalchemy", "sqlalchemy.dialects.postgresql", "yaml"),
)
NAMES = [name for summaries in COMMANDS.values() for name in summaries]

PROGRAM = f"""
import sys
from eval_assets.cli.main import main
try:
    main()
finally:
    print("loaded:", *sorted(set({HEAVY}) & set(sys.modules)), file=sys.stderr)
"""


def loaded_by(*arguments: str) -> tuple[int, set[str]]:
    """Return the exit code of the program and the heavy modules that it imported."""
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], check=False, capture_output=True, text=True
    )
    return ended.returncode, set(ended.stderr.splitlines()[-1].split()[1:])


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_program_help_loads_no_heavy_library(option: str) -> None:
    assert loaded_by(option) == (0, set())


@pytest.mark.parametrize("name", NAMES)
def test_command_help_loads_no_heavy_library(name: str) -> None:
    assert loaded_by(name, "--help") == (0, set())


@pytest.mark.parametrize("name", NAMES)
def test_unknown_option_is_reported_before_anything_is_loaded(name: str) -> None:
    assert loaded_by(name, "--no-such-option") == (2, set())


def test_unknown_command_loads_no_heavy_library() -> None:
    assert loaded_by("no-such-command") == (2, set())


@pytest.mark.parametrize("name", ["gates", "irr", "models"])
def test_command_on_stored_figures_loads_no_pandas(name: str, tmp_path: Path) -> None:
    sample = Path(__file__).parents[1] / "data" / "sample"
    folder = shutil.copytree(sample, tmp_path / "e", ignore=shutil.ignore_patterns("out"))
    options = () if name == "models" else ("--data", str(folder))

    _, loaded = loaded_by(name, *options)

    assert loaded & {"anthropic", "dagster", "jinja2", "openai", "pandas", "sqlalchemy"} == set()


def test_ledger_in_sqlite_loads_no_other_database(tmp_path: Path) -> None:
    sample = Path(__file__).parents[1] / "data" / "sample"
    folder = shutil.copytree(sample, tmp_path / "e", ignore=shutil.ignore_patterns("out"))

    loaded_by("ledger", "--data", str(folder))  # makes the ledger
    code, loaded = loaded_by("ledger", "--data", str(folder))

    assert code == 0
    assert loaded & {"dagster", "duckdb", "pandas", "sqlalchemy.dialects.postgresql"} == set()
