"""`eval-assets run`: materialize the assets and print what was measured."""

from pathlib import Path
from typing import Literal

import click

from eval_assets.cli.options import data_option, database_option
from eval_assets.readers import read_evaluation


@click.command(short_help="Materialize the assets and print what was measured.")
@data_option
@database_option
@click.option(
    "--select",
    default=None,
    help="Assets to materialize, separated by commas; a + in front includes everything upstream: "
    "judge_splits, or +human_agreement,judge_scores.  [default: all]",
)
@click.option("--verbose", is_flag=True, help="Show Dagster's own log as well.")
@click.option(
    "--quiet", "output", flag_value="quiet", help="Print closed gates and failed checks only."
)
@click.option(
    "--json", "output", flag_value="json", help="Print one JSON object; progress goes to stderr."
)
def run(
    *,
    data: Path,
    database: Path | None,
    select: str | None,
    verbose: bool,
    output: Literal["quiet", "json"] | None,
) -> int:
    """Materialize every asset of an evaluation folder and print what was measured.

    Files that did not change are not read again, and no judge is asked again for an answer that
    is stored. If a gate is closed, the exit code is 3.
    """
    read_evaluation(data)
    # Dagster takes seconds to import: an error in evaluation.yaml is reported before that.
    from eval_assets.cli.materialize import materialize  # noqa: PLC0415

    return materialize(
        data, database=database, select=select, verbose=verbose, output=output or "text"
    )
