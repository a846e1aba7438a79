"""`eval-assets run`: materialize the assets and say what was measured."""

from pathlib import Path

import click

from eval_assets.cli.options import data_option, database_option
from eval_assets.readers import read_evaluation


@click.command(short_help="Materialize the assets and say what was measured.")
@data_option
@database_option
@click.option(
    "--select",
    default=None,
    help="Assets to materialize, with commas between them; + takes in all that one depends "
    "on: judge_splits, or +human_agreement,judge_scores.  [default: all]",
)
@click.option("--verbose", is_flag=True, help="Show Dagster's own log as well.")
def run(data: Path, database: Path | None, select: str | None, verbose: bool) -> int:  # noqa: FBT001
    """Materialize every asset on an evaluation folder and print what was measured.

    Files that did not change are not read again, and no judge is asked again for what it
    answered before. Closed gates end the run with exit code 3.
    """
    read_evaluation(data)
    # Dagster takes seconds to import: not before the declaration is known to be sound.
    from eval_assets.cli.materialize import materialize  # noqa: PLC0415

    return materialize(data, database=database, select=select, verbose=verbose)
