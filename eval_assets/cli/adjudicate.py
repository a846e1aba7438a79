"""`eval-assets adjudicate`: adjudication of disagreements in the terminal."""

import os
from pathlib import Path

import click

from eval_assets.cli.exit_codes import DONE, MISUSED
from eval_assets.cli.options import data_option, database_option, resolve_database


@click.command()
@data_option
@database_option
@click.option(
    "--rater",
    default=lambda: os.environ.get("USER"),
    show_default=False,
    help="Who adjudicates.  [default: $USER]",
)
@click.option("--judges", is_flag=True, help="Settle disagreements between judges as well.")
def adjudicate(*, data: Path, database: str | None, rater: str | None, judges: bool) -> int:
    """Settle disagreements one by one, the worst first.

    You rate each response before you see how others rated it. Then settle its value, or leave it
    out as ambiguous, with a reason; labels never change. Responses that you rated as a rater are
    left to others. Every step is added to adjudications.jsonl in the evaluation folder.
    """
    from eval_assets.cli.study_files import disagreements_now, judges_disagreements, read_study
    from eval_assets.cli.terminal_loops import AdjudicationLoop
    from eval_assets.cli.terminal_screen import Keyboard, is_terminal

    if not rater:
        raise click.UsageError("Say who adjudicates: --rater NAME.")
    path = resolve_database(data, database)
    files = read_study(data, database=path)
    adjudicators = files.evaluation.labelling.adjudicators
    if adjudicators and rater not in adjudicators:
        raise click.UsageError(f"{rater} is not an adjudicator here: {', '.join(adjudicators)}.")
    between_judges = judges_disagreements(files, path) if judges else []
    queue = files.study.adjudication_queue(
        lambda: disagreements_now(files, between_judges=between_judges), by=rater
    )
    if not is_terminal():
        click.echo(
            "adjudicate needs a terminal. Without one, use `eval-assets serve --lead`.", err=True
        )
        return MISUSED
    with Keyboard() as keyboard:
        AdjudicationLoop(queue, keyboard).run()
    return DONE
