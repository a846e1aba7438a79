"""Exit codes, and how faults are told: one line each, without traceback."""

from collections.abc import Iterator

import click

from eval_assets.problems import InputError
from eval_assets.store import StoreError

DONE, FAILED, MISUSED, GATE_CLOSED, STOPPED = 0, 1, 2, 3, 130
"""Exit codes of the program; 130 is the shells' own for Ctrl-C."""

FAULTS = (InputError, StoreError)
"""Errors that are the input's or the disk's, not the program's."""

_MOST_LINES = 50


def print_faults(lines: list[str]) -> None:
    """Print one line a fault on stderr; of very many, the first ones and their number."""
    for line in lines[:_MOST_LINES]:
        click.echo(line, err=True)
    if len(lines) > _MOST_LINES:
        click.echo(f"... and {len(lines) - _MOST_LINES} more of {len(lines)} problems", err=True)


def fault_lines(error: BaseException) -> Iterator[str]:
    """Each named fault in `error`, a group or not, as its line."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from fault_lines(inner)
    else:
        yield str(error)
