"""`eval-assets export`: a stored table, or all ratings in a format of other programs."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
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
    from collections.abc import Mapping

    import duckdb

    from eval_assets.store.schema import ExportFormat

_EVENTS, _RECORDS = "opentelemetry", "every-eval-ever"


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

    Every table and view can be named; `hij_combined_scores` has the nine columns of a
    combined_scores.csv, with one row per response and rater.

    TABLE may also be `opentelemetry`: all ratings by humans and judges as events
    gen_ai.evaluation.result in lines of OTLP JSON; or `every-eval-ever`: records of that schema,
    written into the folder that --output names. `eval-assets import` reads both.

    With --to, TABLE is a tool: the state of each gate and the verdict on each judge are written to
    a project, printed, and replaced the next time. They become tags of the experiment (mlflow),
    metadata of the project (langsmith), scores of the session eval-assets (langfuse), or a section
    at the end of the project's description (label-studio) or of the guidelines (argilla).
    """
    from eval_assets.readers.drafts import write_files
    from eval_assets.store.connection import connect
    from eval_assets.store.schema import export_table, table_names

    if server:
        return _publish(check_client(table), server, project, data, database, is_trial=dry_run)
    names = (*table_names(), _EVENTS, _RECORDS)
    if table not in names:
        raise click.UsageError(f"There is no table {table}. Tables: {', '.join(names)}.")
    if table == _RECORDS and output is None:
        raise click.UsageError("These are several files: name a folder with --output.")
    if table not in (_EVENTS, _RECORDS):
        check_output(form, output)
    path = _stored_database(data, database)
    if table == _RECORDS and output is not None:
        with connect(path, folder=data, is_reading=True) as connection:
            records = _records(connection, data)
        for written in write_files(output, records):
            click.echo(f"wrote {written}")
        return DONE
    with tempfile.TemporaryDirectory() as folder:
        temporary = Path(folder) / "rows"
        with connect(path, folder=data, is_reading=True) as connection:
            if table == _EVENTS:
                temporary.write_text(_events(connection, data), "utf-8")
            else:
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


def _events(connection: duckdb.DuckDBPyConnection, data: Path) -> str:
    from eval_assets.readers.evaluation.read import read_evaluation
    from eval_assets.report.other_formats import evaluation_events
    from eval_assets.store.report_tables import all_ratings, grouped_responses

    evaluation = read_evaluation(data)
    responses = grouped_responses(connection)
    groups = dict(zip(responses["response_id"], responses["group_id"], strict=True))
    lines = evaluation_events(
        all_ratings(connection),
        evaluation.rubric,
        groups,
        name=evaluation.name,
        at=_measured_at(connection),
    )
    return "".join(f"{line}\n" for line in lines)


def _records(connection: duckdb.DuckDBPyConnection, data: Path) -> Mapping[str, str]:
    from eval_assets.readers.evaluation.read import read_evaluation
    from eval_assets.report.other_formats import evaluation_records
    from eval_assets.store.report_tables import all_ratings, grouped_responses

    evaluation = read_evaluation(data)
    return dict(
        evaluation_records(
            all_ratings(connection),
            grouped_responses(connection),
            evaluation.rubric,
            name=evaluation.name,
            at=_measured_at(connection),
        )
    )


def _measured_at(connection: duckdb.DuckDBPyConnection) -> datetime:
    """Return the time of the last evaluation of the gates, or else the current time."""
    from eval_assets.store.report_tables import measured_at

    values = measured_at(connection)
    time = datetime.fromisoformat(values) if values else datetime.now(tz=UTC)
    return time.replace(tzinfo=time.tzinfo or UTC)
