"""The program `eval-assets`: its commands, and how each of them ends."""

import sys
from collections.abc import Sequence
from importlib import import_module
from keyword import iskeyword

import click

from eval_assets.cli.exit_codes import (
    DONE,
    EXPECTED,
    FAILED,
    MISUSED,
    STOPPED,
    error_lines,
    print_errors,
)

COMMANDS: dict[str, Sequence[str]] = {
    "Get started": ("agreement", "init", "import"),
    "Label": ("assign", "label", "serve", "sheet", "adjudicate", "plan"),
    "Evaluate": ("run", "gates", "irr"),
    "Judges": ("models", "ledger", "dual-judge", "calibrate", "tune", "certificates"),
    "Results": ("export", "alerts", "mcp", "lake"),
    "Try it": ("fake-provider",),
}
"""Commands in the order of the help. `dual-judge` is the function `dual_judge` of the module
`dual_judge`; a name that Python keeps for itself ends in an underscore there."""


class _Program(click.Group):
    """A group whose commands are imported when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names of all commands."""
        return [name for names in COMMANDS.values() for name in names]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command, None if there is none of that name."""
        if cmd_name not in self.list_commands(ctx):
            return None
        name = cmd_name.replace("-", "_")
        name += "_" if iskeyword(name) else ""
        command: click.Command = getattr(import_module(f"eval_assets.cli.{name}"), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by what they are for."""
        for heading, names in COMMANDS.items():
            with formatter.section(heading):
                formatter.write_dl(
                    [
                        (name, command.get_short_help_str(limit=formatter.width))
                        for name in names
                        if (command := self.get_command(ctx, name))
                    ]
                )


@click.group(
    cls=_Program,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="eval-assets")
def program() -> None:
    """Can this LLM judge be trusted? Measure agreement, gate on it, tune judges behind the gates.

    Exit codes: 0 done; 1 an input, a provider or a write failed; 2 misuse; 3 a gate is closed:
    everything upstream was computed and stored, and tuning did not run; 4 the data cannot tell.
    """


def main() -> None:
    """Run the program; print an expected error as one line on stderr."""
    try:
        code = program.main(standalone_mode=False) or DONE
    except click.ClickException as misuse:
        misuse.show()
        code = MISUSED
    except (click.Abort, KeyboardInterrupt):
        click.echo("Stopped. What was stored is kept; run again to continue.", err=True)
        code = STOPPED
    except (*EXPECTED, ExceptionGroup) as error:
        if isinstance(error, ExceptionGroup) and error.split(EXPECTED)[1] is not None:
            raise
        print_errors(list(error_lines(error)))
        code = FAILED
    sys.exit(code)
