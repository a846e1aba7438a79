"""Exit codes of the program, and errors on stderr, one line each."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from shlex import quote

import click

from eval_assets.errors import InputError, StoreError, by_cause, leaves

DONE, FAILED, MISUSED, GATE_CLOSED, CANNOT_TELL, STOPPED = 0, 1, 2, 3, 4, 130
"""Exit codes of the program; 130 is the convention of shells for Ctrl-C."""

EXPECTED = (InputError, StoreError)
"""Errors of an input, a provider or the disk, whose message suffices without a traceback."""

_MOST_LINES = 50


def print_errors(lines: Sequence[str], *, all_in: Path | None = None) -> None:
    """Print at most 50 errors on stderr; errors with the same cause share a line.

    If not all are printed, every line is written to the file `all_in`, which is removed otherwise.
    """
    from eval_assets.wording import printable  # it takes a while to import

    causes = list(by_cause(lines))
    for cause in causes[:_MOST_LINES]:
        click.echo(printable(cause), err=True)
    is_cut = len(causes) > _MOST_LINES
    if is_cut:
        n_more = len(causes) - _MOST_LINES
        click.echo(f"... and {n_more} more of {len(lines)} problems", err=True)
    if all_in is None:
        return
    with suppress(OSError):  # a disk that cannot be written is among the errors already
        if is_cut or len(causes) < len(lines):
            all_in.parent.mkdir(parents=True, exist_ok=True)
            all_in.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            click.echo(f"All of them: {all_in}", err=True)
        else:
            all_in.unlink(missing_ok=True)


def print_failure(error: Exception) -> int:
    """Print an expected error, or a group of them, one line each; return the exit code.

    Any other error is raised again, with its traceback.
    """
    group = error if isinstance(error, ExceptionGroup) else ExceptionGroup("", [error])
    if group.split(EXPECTED)[1] is not None:
        raise error
    print_errors([*map(str, leaves(error))])
    return FAILED


def nothing_measured(data: Path) -> int:
    """Print the command that computes the missing figures; return the exit code."""
    command = f"eval-assets run --data {quote(str(data))}"
    click.echo(f"There are no results. Run: {command}", err=True)
    return FAILED
