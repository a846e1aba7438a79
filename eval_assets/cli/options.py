"""Options that several commands share."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from eval_assets.errors import InputError, InputProblem

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from eval_assets.config.evaluation import Evaluation
    from eval_assets.scale import Scale
    from eval_assets.store.ledger.engine import SqlLedger
    from eval_assets.store.tables import ExportFormat

Command = TypeVar("Command", bound=Callable[..., object])


def data_option(command: Command) -> Command:
    """Add `--data`, the evaluation folder."""
    return click.option(
        "--data",
        envvar="EVAL_DATA",
        default="data/sample",
        show_default=True,
        show_envvar=True,
        type=click.Path(path_type=Path),
        help="The evaluation folder.",
    )(command)


def database_option(command: Command) -> Command:
    """Add `--database`, the DuckDB file."""
    return click.option(
        "--database",
        envvar="EVAL_DATABASE",
        show_envvar=True,
        help="The DuckDB file.  [default: out/eval.duckdb in the folder]",
    )(command)


def rater_option(
    *,
    help_text: str,
    former_name: str,
    default: Callable[[], str | None] | None = None,
) -> Callable[[Command], Command]:
    """Return a decorator that adds `--rater`.

    Args:
        help_text: Help of the option.
        former_name: Name of the option in the previous release. It still works, with a warning.
        default: Returns the rater if neither name is used.
    """

    def warn(context: click.Context, _: click.Parameter, value: str | None) -> None:
        if value is not None:
            click.echo(f"Warning: {former_name} is deprecated. Use --rater.", err=True)
            context.meta[_RATER] = value

    def rater() -> str | None:
        former = click.get_current_context().meta.get(_RATER)
        return former or (default() if default else None)

    def decorator(command: Command) -> Command:
        former = click.option(
            former_name, hidden=True, is_eager=True, expose_value=False, callback=warn
        )
        return former(
            click.option("--rater", default=rater, show_default=False, help=help_text)(command)
        )

    return decorator


_RATER = "eval_assets.rater"


def format_option(command: Command) -> Command:
    """Add `--format`, the form of exported rows."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(["csv", "jsonl", "parquet"]),
        default="csv",
        show_default=True,
        help="Form of exported rows.",
    )(command)


def output_option(command: Command) -> Command:
    """Add `--output`, the file that rows are exported to."""
    return click.option(
        "--output",
        type=click.Path(path_type=Path),
        help="File to write; Parquet needs one.  [default: the terminal]",
    )(command)


def check_output(form: ExportFormat, output: Path | None) -> None:
    """Raise UsageError if rows in this form cannot go to the terminal."""
    if form == "parquet" and output is None:
        raise click.UsageError("Parquet is not text: name a file with --output.")


def put_file(made: Path, output: Path | None) -> None:
    """Copy a file to the one that was named, or to the terminal."""
    if output is None:
        with made.open("rb") as rows:
            shutil.copyfileobj(rows, sys.stdout.buffer)
        return
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(made, output)
    except OSError as error:
        message = f"cannot be written ({error.strerror})"
        remedy = "Name another file with --output"
        raise InputError(InputProblem(str(output), None, None, message, remedy)) from error


def ledger_of(
    data: Path, evaluation: Evaluation, *, database: Path, is_reading: bool = False
) -> AbstractContextManager[SqlLedger]:
    """Open the ledger: EVAL_LEDGER, else `ledger.sqlite` in the folder; see `open_ledger`."""
    from eval_assets.store.ledger.opening import open_ledger

    return open_ledger(
        data,
        evaluation=evaluation.name,
        database=database,
        setting=os.environ.get("EVAL_LEDGER"),
        is_reading=is_reading,
    )


def resolve_database(data: Path, database: str | None) -> Path:
    """Return the DuckDB file: the given one, else the folder's own."""
    from eval_assets.store.database_file import database_path

    return database_path(data, setting=database)


class _ScaleType(click.ParamType["Scale"]):
    """A scale as `Scale.parse` reads it."""

    name = "scale"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Scale:
        """Return the scale that the text names."""
        from eval_assets.scale import Scale

        try:
            return Scale.parse(str(value))
        except ValueError as error:
            self.fail(
                f"{error}. Write 1-5, 0-1:any, binary, or words as in bad,fair,good", param, ctx
            )


def scale_option(command: Command) -> Command:
    """Add `--scale`, the scale of all ratings."""
    return click.option(
        "--scale",
        type=_ScaleType(),
        help="Scale of all ratings: 1-5, 0-1:0.1, 0-1:any, binary, or words, worst first: "
        "bad,fair,good.  [default: that of evaluation.yaml beside the file, else the range of the "
        "ratings]",
    )(command)
