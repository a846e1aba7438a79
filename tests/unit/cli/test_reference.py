"""The documentation of the commands is the commands' own help."""

from pathlib import Path

from eval_assets.cli.main import program
from eval_assets.cli.reference import reference

TOP = Path(__file__).parents[3]


def test_page_is_what_the_commands_say_of_themselves() -> None:
    """If not: python -m eval_assets.cli.reference."""
    assert (TOP / "docs" / "cli.md").read_text("utf-8") == reference()


def test_every_command_says_what_it_does_in_a_line() -> None:
    for name, command in program.commands.items():
        assert command.get_short_help_str(limit=200), name
