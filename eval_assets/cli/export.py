"""`eval-assets export`: a stored table in a file, or verdicts in another tool."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from eval_assets.cli.exit_codes import DONE
from eval_assets.cli.options import (
    check_client,
    check_output,
    data_option,
    database_option,
    format_option,
    output_option,
    put_file,
    resolve_database,
    server_options,
)
from eval_assets.connectors import PREFIX, publish
from eval_assets.errors import InputError, InputProblem

if TYPE_CHECKING:
    from eval_assets.store.schema import ExportFormat


@click.command()
@click.argument("table")
@format_option
@output_option
@data_option
@database_option
@server_options("--to", "A running server of the tool named as TABLE, to write verdicts to.")
@click.option("--dry-run", is_flag=True, help="With --to, only print the output.")
def export(  # noqa: PLR0913 - one parameter per option
    table: str,
    form: ExportFormat,
    output: Path | None,
    data: Path,
    database: str | None,
    *,
    server: str | None,
    project: str | None,
    dry_run: bool,
) -> int:
    """Write the rows of TABLE, as the last run stored them.

    Every table and view can be named. `ratings` has one row per rating by a human or a judge;
    `hij_combined_scores` has the nine columns of a combined_scores.csv, with one row per response
    and rater.

    With --to, TABLE is a tool: the state of each gate and the verdict on each judge are written to
    a project, printed, and replaced the next time. They become tags of the experiment (mlflow),
    metadata of the project (langsmith), scores of the session eval-assets (langfuse), or a section
    at the end of the project's description (label-studio) or of the guidelines (argilla).
    """
    from eval_assets.store.connection import connect
    from eval_assets.store.schema import export_table, table_names

    if server:
        return _publish(check_client(table), server, project, data, database, is_trial=dry_run)
    if table not in table_names():
        raise click.UsageError(f"There is no table {table}. Tables: {', '.join(table_names())}.")
    check_output(form, output)
    path = _stored_database(data, database)
    with tempfile.TemporaryDirectory() as folder:
        temporary = Path(folder) / "rows"
        with connect(path, folder=data, is_reading=True) as connection:
            export_table(connection, table, temporary, form=form)
        put_file(temporary, output)
    return DONE


def _stored_database(data: Path, database: str | None) -> Path:
    from eval_assets.store.connection import is_stored

    path = resolve_database(data, database)
    if not is_stored(path):
        remedy = f"Run eval-assets run --data {data}"
        raise InputError(InputProblem(str(path), None, None, "nothing is stored yet", remedy))
    return path


def _publish(  # noqa: PLR0913 - the options of the command
    tool: str,
    server: str,
    project: str | None,
    data: Path,
    database: str | None,
    *,
    is_trial: bool,
) -> int:
    from eval_assets.cli.results import published_verdicts
    from eval_assets.wording import counted

    verdicts = published_verdicts(data, _stored_database(data, database))
    for verdict in verdicts:
        click.echo(f"{PREFIX}{verdict.name}: {verdict}")
    if is_trial:
        click.echo(f"\nNothing was written to {tool}, as --dry-run says.")
    else:
        address = publish(tool, server, project, verdicts)
        click.echo(f"\nWrote {counted(len(verdicts), 'verdict')} to {tool}: {address}")
    return DONE
