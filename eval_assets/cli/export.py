"""`eval-assets export`: a stored table as CSV, JSON Lines or Parquet."""

import shutil
import sys
import tempfile
from pathlib import Path

import click

from eval_assets.cli.exit_codes import DONE
from eval_assets.cli.options import data_option, database_of, database_option
from eval_assets.problems import InputError, InputProblem
from eval_assets.store import ExportFormat, connect, export_table, table_names


@click.command(short_help="Write a stored table as CSV, JSON Lines or Parquet.")
@click.argument("table")
@click.option(
    "--format",
    "form",
    type=click.Choice(["csv", "jsonl", "parquet"]),
    default="csv",
    show_default=True,
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to write; Parquet needs one.  [default: the terminal]",
)
@data_option
@database_option
def export(
    table: str, form: ExportFormat, output: Path | None, data: Path, database: Path | None
) -> int:
    """Write the rows of TABLE, as the last run stored them.

    Every table and view can be named; `hij_combined_scores` has the nine columns of a
    combined_scores.csv, with one row per response and rater.
    """
    if table not in table_names():
        raise click.UsageError(f"There is no table {table}. Tables: {', '.join(table_names())}.")
    if form == "parquet" and output is None:
        raise click.UsageError("Parquet is not text: name a file with --output.")
    path = database_of(data, database)
    if not path.exists():
        remedy = f"Run eval-assets run --data {data}"
        raise InputError(InputProblem(str(path), None, None, "nothing is stored yet", remedy))
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "rows"
        with connect(path, folder=data) as connection:
            export_table(connection, table, made, form=form)
        if output is None:
            with made.open("rb") as rows:
                shutil.copyfileobj(rows, sys.stdout.buffer)
        else:
            _put(made, output)
    return DONE


def _put(made: Path, output: Path) -> None:
    """Move the rows to the file that was named."""
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(made, output)
    except OSError as error:
        what = f"cannot be written ({error.strerror})"
        remedy = "Name another file with --output"
        raise InputError(InputProblem(str(output), None, None, what, remedy)) from error
