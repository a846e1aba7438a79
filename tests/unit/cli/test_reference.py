"""The documentation of the commands is the commands' own help."""

import subprocess
import sys
from pathlib import Path

import click
import pytest

from eval_assets.cli.main import program

TOP = Path(__file__).parents[3]
CONTEXT = click.Context(program)
NAMES = program.list_commands(CONTEXT)


def test_page_is_what_the_commands_print_as_help() -> None:
    """If not: python -m eval_assets.cli.reference.

    In a Python of its own, because click keeps the help option of a command's first use.
    """
    code = "from eval_assets.cli.reference import reference; print(reference(), end='')"
    printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)

    assert (TOP / "docs" / "cli.md").read_bytes() == printed.stdout


def test_every_command_is_listed_once() -> None:
    assert len(NAMES) == len(set(NAMES)) > 5


@pytest.mark.parametrize("name", NAMES)
def test_every_command_is_described_in_one_line_of_the_help(name: str) -> None:
    command = program.get_command(CONTEXT, name)

    assert command is not None
    assert command.get_short_help_str(limit=200)
    assert f"\n  {name} " in (TOP / "docs" / "cli.md").read_text("utf-8")
