"""The page docs/cli.md, made from the commands' own help: `python -m eval_assets.cli.reference`."""

from pathlib import Path

import click

from eval_assets.cli.main import program

PAGE = Path("docs/cli.md")


def reference() -> str:
    """Help of the program and of every command, as Markdown."""
    parts = [
        "# The program `eval-assets`",
        "Made by `python -m eval_assets.cli.reference` from the commands' own `--help`.",
        _section("eval-assets", program),
    ]
    parts += [
        _section(f"eval-assets {name}", command)
        for name, command in sorted(program.commands.items())
    ]
    return "\n\n".join(parts) + "\n"


def _section(name: str, command: click.Command) -> str:
    """Help of one command."""
    context = click.Context(command, info_name=name, max_content_width=100, terminal_width=100)
    return f"## {name}\n\n```text\n{command.get_help(context)}\n```"


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(reference(), encoding="utf-8")
