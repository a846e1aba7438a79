"""`eval-assets export`: a stored table in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from eval_assets.cli.exit_codes import DONE
from eval_assets.cli.options import (
    check_output,
    data_option,
    database_option,
    file_for,
    format_option,
    output_option,
    resolve_database,
)
from eval_assets.errors import InputError, InputProblem

if TYPE_CHECKING:
    from pathlib import Path

    from eval_assets.store.schema import ExportFormat


@click.command()
@click.argument("table")
@format_option
@output_option
@data_option
@database_option
def export(
    table: str, form: ExportFormat, output: Path | None, data: Path, database: str | None
) -> int:
    """Write the rows of TABLE, as the last run stored them.

    Every table and view can be named. `ratings` has one row per rating by a human or a judge;
    `hij_combined_scores` has the nine columns of a combined_scores.csv, with one row per response
    and rater.
    """
    from eval_assets.store.connection import connect
    from eval_assets.store.schema import copy_rows, table_names

    if table not in table_names():
        raise click.UsageError(f"There is no table {table}. Tables: {', '.join(table_names())}.")
    check_output(form, output)
    path = resolve_database(data, database)
    if not path.exists():
        remedy = f"Run eval-assets run --data {data}"
        raise InputError(InputProblem(str(path), None, None, "nothing is stored yet", remedy))
    with file_for(output) as temporary, connect(path, folder=data, is_reading=True) as connection:
        copy_rows(connection, table, temporary, form=form)
    return DONE
