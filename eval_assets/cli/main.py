"""The program `eval-assets`: its commands and its exit codes."""

import gc
import sys
from difflib import get_close_matches
from importlib import import_module
from keyword import iskeyword

import click

from eval_assets.cli.exit_codes import DONE, EXPECTED, FAILED, MISUSED, STOPPED, print_failure

COMMANDS: dict[str, dict[str, str]] = {
    "Get started": {
        "check": "Say whether raters agree, and whether a judge can replace one.",
        "init": "Write an evaluation folder to start from.",
        "import": "Make an evaluation folder from another tool's export.",
    },
    "Label": {
        "assign": "Assign responses to raters in assignments.csv.",
        "label": "Label responses in the terminal.",
        "serve": "Serve results, or labelling pages, in the browser.",
        "sheet": "Write annotation sheets for raters.",
        "adjudicate": "Settle disagreements in the terminal, the worst first.",
        "plan": "Say how many more responses decide each gate.",
    },
    "Evaluate": {
        "run": "Materialize the assets and print the figures.",
        "gates": "Say whether judges may be tuned.",
        "irr": "Show the agreement of human raters.",
        "why": "Show where raters disagree on a question.",
        "rubric": "Draft a new wording of a question.",
    },
    "Judges": {
        "models": "List prices, capabilities and end dates of judge models.",
        "ledger": "Show spending and batches; export the ledger.",
        "dual-judge": "Ask two judges how relevant documents are to a query.",
        "agreement": "The former name of check.",
        "calibrate": "Compare a judge with human labels on two files.",
        "tune": "Tune judges, and evaluate them on their held-out tests.",
        "certificates": "List and verify judge certificates.",
    },
    "Results": {
        "export": "Write a stored table to a file.",
        "alerts": "Test the alert channels.",
        "mcp": "Offer judging and results to agents, by MCP.",
    },
    "Try it": {
        "fake-provider": "Try a live run without keys.",
    },
}
"""Summary of each command, by heading, in the order of the help. `dual-judge` is the function
`dual_judge` of the module `dual_judge`; a Python keyword ends in an underscore there."""

_STORE_NOTHING = frozenset(("check", "agreement", "irr", "plan", "why", "gates", "models"))

COLLECTOR_THRESHOLDS = (100_000, 50, 50)
"""Imports and a run create millions of objects that live until the end. With the default
thresholds, the garbage collector takes a tenth of a run."""


class _Program(click.Group):
    """A group that imports a command when it is invoked, and prints its help without importing."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names of all commands."""
        return [name for summaries in COMMANDS.values() for name in summaries]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command; None if there is none of that name."""
        if cmd_name not in self.list_commands(ctx):
            return None
        name = cmd_name.replace("-", "_")
        name += "_" if iskeyword(name) else ""
        command: click.Command = getattr(import_module(f"eval_assets.cli.{name}"), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is called; suggest the nearest if there is none."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            for near in get_close_matches(args[0], self.list_commands(ctx), n=1):
                ctx.fail(f"No such command '{args[0]}'. Did you mean {near}?")
            raise

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        """Write the commands under their headings."""
        for heading, summaries in COMMANDS.items():
            with formatter.section(heading):
                formatter.write_dl(list(summaries.items()))


@click.group(
    cls=_Program,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="eval-assets")
def program() -> None:
    """Can this LLM judge be trusted? Measure agreement, gate on it, tune judges behind the gates.

    Exit codes: 0 done; 1 an input, a provider or a write failed; 2 misuse; 3 a gate is closed:
    everything upstream was computed and stored, and tuning did not run; 4 more data needed.
    """


def main() -> None:
    """Run the program; print an expected error as one line on stderr."""
    gc.set_threshold(*COLLECTOR_THRESHOLDS)
    try:
        code = program.main(standalone_mode=False) or DONE
    except click.ClickException as misuse:
        misuse.show()
        code = MISUSED
    except (click.Abort, KeyboardInterrupt):
        message = "Stopped. What was stored is kept; run again to continue."
        stores_nothing = _STORE_NOTHING.intersection(sys.argv[1:2])
        click.echo("Stopped." if stores_nothing else message, err=True)
        code = STOPPED
    except ModuleNotFoundError as error:
        if (error.name or "eval_assets").startswith("eval_assets"):
            raise
        click.echo(f"This needs {error.name}. Install eval-assets[run].", err=True)
        code = FAILED
    except PermissionError as error:  # to look into a folder
        click.echo(f"{error.filename}: permission denied. Give yourself access to it.", err=True)
        code = FAILED
    except (*EXPECTED, ExceptionGroup) as error:
        code = print_failure(error)
    sys.exit(code)
