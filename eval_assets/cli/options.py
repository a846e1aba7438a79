"""Options that several commands share."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TypeVar

import click

from eval_assets.evaluation import Evaluation
from eval_assets.store import SqlLedger, open_ledger

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
        type=click.Path(path_type=Path),
        help="The DuckDB file.  [default: out/eval.duckdb in the folder]",
    )(command)


def ledger_of(
    data: Path, evaluation: Evaluation, *, database: Path
) -> AbstractContextManager[SqlLedger]:
    """Open the ledger: EVAL_LEDGER, else `ledger.sqlite` in the folder."""
    return open_ledger(
        data,
        evaluation=evaluation.name,
        database=database,
        given=os.environ.get("EVAL_LEDGER"),
    )


def database_of(data: Path, database: Path | None) -> Path:
    """Return the DuckDB file: the given one, else the folder's own."""
    return database or data / "out" / "eval.duckdb"
