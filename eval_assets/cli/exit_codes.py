"""Exit codes of the program, and errors on stderr: one line each, without traceback."""

from collections.abc import Iterator, Sequence

import click

from eval_assets.problems import InputError
from eval_assets.store import StoreError

DONE, FAILED, MISUSED, GATE_CLOSED, CANNOT_TELL, STOPPED = 0, 1, 2, 3, 4, 130
"""Exit codes of the program; 130 is what shells use for Ctrl-C."""

EXPECTED = (InputError, StoreError)
"""Errors of an input, a provider or the disk, whose message is all that a user needs."""

_MOST_LINES = 50


def print_errors(lines: Sequence[str]) -> None:
    """Print errors on stderr; of more than 50 the first ones and the count."""
    for line in lines[:_MOST_LINES]:
        click.echo(line, err=True)
    if len(lines) > _MOST_LINES:
        click.echo(f"... and {len(lines) - _MOST_LINES} more of {len(lines)} problems", err=True)


def error_lines(error: BaseException) -> Iterator[str]:
    """Yield the message of each error in `error`, which may be a group."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from error_lines(inner)
    else:
        yield str(error)
