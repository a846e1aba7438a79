"""Imports of each command in a fresh process: help and misuse load nothing but click."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from eval_assets.cli.main import COMMANDS

HEAVY = (
    *("anthropic", "dagster", "duckdb", "jinja2", "numpy", "openai", "pandas", "pydantic"),
    *("rich", "scipy", "sqlalchemy", "sqlalchemy.dialects.postgresql", "yaml"),
)
NAMES = [name for summaries in COMMANDS.values() for name in summaries]

PROGRAM = f"""
import sys
from eval_assets.cli.main import main

for line in sys.stdin.read().splitlines():
    sys.argv[1:] = line.split(chr(9))
    try:
        main()
    except SystemExit as end:
        print("ended:", end.code, *sorted(set({HEAVY}) & set(sys.modules)), file=sys.stderr)
"""


def loaded_by(*commands: tuple[str, ...]) -> list[tuple[int, set[str]]]:
    """Return the exit code of each command, and the heavy modules imported by then."""
    lines = "\n".join("\t".join(command) for command in commands)
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM], input=lines, check=False, capture_output=True, text=True
    )
    ends = [line.split() for line in ended.stderr.splitlines() if line.startswith("ended: ")]
    return [(int(code), set(modules)) for _, code, *modules in ends]


def test_help_of_the_program_and_of_each_command_loads_no_heavy_library() -> None:
    commands = [("--help",), ("--version",), *((name, "--help") for name in NAMES)]
    assert loaded_by(*commands) == [(0, set())] * len(commands)


def test_misuse_is_reported_before_anything_is_loaded() -> None:
    commands = [("no-such-command",), *((name, "--no-such-option") for name in NAMES)]
    assert loaded_by(*commands) == [(2, set())] * len(commands)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gates", "irr", "models"])
def test_command_on_stored_figures_loads_no_pandas(name: str, tmp_path: Path) -> None:
    sample = Path(__file__).parents[1] / "data" / "sample"
    folder = shutil.copytree(sample, tmp_path / "e", ignore=shutil.ignore_patterns("out"))
    options = () if name == "models" else ("--data", str(folder))

    [(_, loaded)] = loaded_by((name, *options))

    assert loaded & {"anthropic", "dagster", "jinja2", "openai", "pandas", "sqlalchemy"} == set()


def test_check_of_a_file_loads_nothing_that_runs_or_tunes_judges(tmp_path: Path) -> None:
    file = tmp_path / "ratings.csv"
    rows = "".join(f"T{n},{n % 5},{n % 4},{n % 5}\n" for n in range(20))
    file.write_text(f"ticket,anna,ben,gpt-4o\n{rows}")

    [(code, loaded)] = loaded_by(("check", str(file)))

    assert code in {0, 2, 3}
    for_runs = {"anthropic", "dagster", "openai", "pydantic", "scipy", "sqlalchemy", "yaml"}
    assert loaded & for_runs == set()


@pytest.mark.slow
def test_ledger_in_sqlite_loads_no_other_database(tmp_path: Path) -> None:
    sample = Path(__file__).parents[1] / "data" / "sample"
    folder = shutil.copytree(sample, tmp_path / "e", ignore=shutil.ignore_patterns("out"))

    loaded_by(("ledger", "--data", str(folder)))  # makes the ledger
    [(code, loaded)] = loaded_by(("ledger", "--data", str(folder)))

    assert code == 0
    assert loaded & {"dagster", "duckdb", "pandas", "sqlalchemy.dialects.postgresql"} == set()
