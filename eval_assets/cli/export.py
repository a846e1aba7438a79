"""`eval-assets export`: a stored table as CSV, JSON Lines or Parquet."""

import tempfile
from pathlib import Path

import click

from eval_assets.cli.exit_codes import DONE
from eval_assets.cli.options import (
    check_output,
    data_option,
    database_of,
    database_option,
    format_option,
    output_option,
    put_file,
)
from eval_assets.problems import InputError, InputProblem
from eval_assets.store import ExportFormat, connect, export_table, table_names


@click.command(short_help="Write a stored table as CSV, JSON Lines or Parquet.")
@click.argument("table")
@format_option
@output_option
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
    check_output(form, output)
    path = database_of(data, database)
    if not path.exists():
        remedy = f"Run eval-assets run --data {data}"
        raise InputError(InputProblem(str(path), None, None, "nothing is stored yet", remedy))
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "rows"
        with connect(path, folder=data) as connection:
            export_table(connection, table, made, form=form)
        put_file(made, output)
    return DONE
