"""The documentation of the commands is the commands' own help."""

from pathlib import Path

import click
import pytest

from eval_assets.cli.main import program

TOP = Path(__file__).parents[3]
CONTEXT = click.Context(program)
NAMES = program.list_commands(CONTEXT)


def test_every_command_is_listed_once() -> None:
    assert len(NAMES) == len(set(NAMES)) > 5


@pytest.mark.parametrize("name", NAMES)
def test_every_command_is_described_in_one_line_of_the_help(name: str) -> None:
    command = program.get_command(CONTEXT, name)

    assert command is not None
    assert command.get_short_help_str(limit=200)
    assert f"\n  {name} " in (TOP / "docs" / "cli.md").read_text("utf-8")
