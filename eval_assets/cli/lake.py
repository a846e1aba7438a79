"""`eval-assets lake`: what is in a shared lake, its upkeep, and evaluations that are gone."""

import os

import click

from eval_assets.cli.exit_codes import DONE
from eval_assets.cli.options import database_option
from eval_assets.cli.tables import print_table
from eval_assets.store import (
    Lake,
    drop_from_lake,
    evaluations_in_lake,
    is_lake,
    keep_lake,
    lake_of,
)


@click.group(short_help="List, tidy up or drop what is in a shared lake.")
def lake() -> None:
    """Look after a lake that evaluations share: EVAL_DATABASE=ducklake:... names it."""


@lake.command("list", short_help="List the evaluations in a lake.")
@database_option
def list_(database: str | None) -> int:
    """List the evaluations in a lake: name, folder that owns it, and its files."""
    rows = [
        (one.schema, one.folder, f"{one.n_files:,}", f"{one.n_bytes / 1e6:,.1f}")
        for one in evaluations_in_lake(_lake(database))
    ]
    print_table("Evaluations in the lake", ("name", "folder", "files", "MB"), rows)
    return DONE


@lake.command(short_help="Merge small files, and delete old ones.")
@database_option
@click.option(
    "--days",
    default=7.0,
    show_default=True,
    type=click.FloatRange(min=0),
    help="How long earlier states of the tables are kept.",
)
def maintain(database: str | None, days: float) -> int:
    """Merge small files, and delete those that the tables have not needed for some days.

    A lake keeps every earlier state of its tables until then. Run it daily, or start the schedule
    daily_lake_upkeep in Dagster's UI.
    """
    n_snapshots, n_files = keep_lake(_lake(database), days=days)
    click.echo(f"{n_snapshots} earlier states forgotten, {n_files} files deleted")
    return DONE


@lake.command(short_help="Drop the tables of an evaluation.")
@click.argument("name")
@database_option
def drop(name: str, database: str | None) -> int:
    """Drop the tables of the evaluation NAME, whose folder was moved or is gone.

    Its files are deleted by `maintain` later. What is in the evaluation folder and in the ledger
    stays: a run makes the tables again without a paid request.
    """
    drop_from_lake(_lake(database, name))
    click.echo(f"{name} is no longer in the lake")
    return DONE


def _lake(database: str | None, evaluation: str = "") -> Lake:
    if not database or not is_lake(database):
        raise click.UsageError(
            "Set EVAL_DATABASE to a lake: ducklake:postgres:dbname=... or ducklake:FILE."
        )
    return lake_of(database, files=os.environ.get("EVAL_DATA_PATH"), evaluation=evaluation)
