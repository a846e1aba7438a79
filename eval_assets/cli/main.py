"""The program `eval-assets`: its commands, and what all of them do when an input is at fault."""

import sys

import click

from eval_assets.cli.dual_judge import dual_judge
from eval_assets.cli.export import export
from eval_assets.cli.fake_provider import fake_provider
from eval_assets.cli.gates import gates
from eval_assets.cli.init import init
from eval_assets.cli.irr import irr
from eval_assets.cli.problems import (
    DONE,
    FAILED,
    FAULTS,
    MISUSED,
    STOPPED,
    fault_lines,
    print_faults,
)
from eval_assets.cli.run import run


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="eval-assets")
def program() -> None:
    """Can this LLM judge be trusted? Agreement first, gates on it, judge tuning behind them.

    Exit codes: 0 done; 1 an input, a provider or a write failed; 2 misuse; 3 a gate is closed:
    everything upstream was computed and stored, and tuning did not run.
    """


for command in (dual_judge, export, fake_provider, gates, init, irr, run):
    program.add_command(command)


def main() -> None:
    """Run the program; errors that can be named are one line each on stderr."""
    try:
        code = program.main(standalone_mode=False) or DONE
    except click.ClickException as misuse:
        misuse.show()
        code = MISUSED
    except (click.Abort, KeyboardInterrupt):
        click.echo("Stopped. What was stored is kept; run again to go on.", err=True)
        code = STOPPED
    except (*FAULTS, ExceptionGroup) as error:
        if isinstance(error, ExceptionGroup) and error.split(FAULTS)[1] is not None:
            raise
        print_faults(list(fault_lines(error)))
        code = FAILED
    sys.exit(code)
