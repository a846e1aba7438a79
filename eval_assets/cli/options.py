"""Options that several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

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


def database_of(data: Path, database: Path | None) -> Path:
    """Return the DuckDB file: the given one, else the folder's own."""
    return database or data / "out" / "eval.duckdb"
