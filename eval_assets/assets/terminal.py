"""Progress of a run on the terminal."""

import logging
import os
import sys
from collections.abc import Callable
from shutil import get_terminal_size
from time import monotonic
from typing import TextIO

import dagster as dg

from eval_assets.wording import shortened

DETAIL = {"is_detail": True}
"""Extra of log records that the run's log holds and the terminal leaves out."""


def discard_output(stream: TextIO) -> None:
    """Discard all further output: the program that read it has ended, as `head` does.

    Python's own advice on SIGPIPE; the buffer is discarded with it when it is flushed.
    """
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)


class ProgressHandler(logging.Handler):
    """Shows the progress of a run as one line that changes; in a log, one line a minute.

    Warnings and lasting messages are lines of their own. A run goes on without any if no one reads
    them any more.
    """

    def __init__(self, stream: TextIO, clock: Callable[[], float] = monotonic) -> None:
        super().__init__()
        self._stream = stream
        self._clock = clock
        self._printed_at = clock()
        self._n_assets = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Show a stored asset or a message of the program; errors are printed at the end."""
        event: dg.DagsterEvent | None = getattr(record, "dagster_event", None)
        try:
            if event is not None:
                if event.event_type is dg.DagsterEventType.ASSET_MATERIALIZATION:
                    key = event.step_materialization_data.materialization.asset_key
                    self._n_assets += 1
                    self._show(f"{self._n_assets} assets made, the last {key.path[-1]}")
            elif logging.INFO <= record.levelno < logging.ERROR:
                message = record.getMessage() if record.args else str(record.msg)
                text = message.rsplit(" - ", 1)[-1]
                if getattr(record, "is_detail", False):
                    return
                if record.levelno >= logging.WARNING or getattr(record, "is_lasting", False):
                    clear_line(self._stream)
                    self._write(f"{text}\n")
                else:
                    self._show(text)
        except (OSError, ValueError):  # the stream is full, closed, or read no more
            self.handleError(record)

    def _show(self, text: str) -> None:
        if self._stream.isatty():
            line = shortened(text, get_terminal_size().columns - 1)
            self._write(f"{_CLEARED}{line}")
        elif self._clock() - self._printed_at >= _LOG_SECONDS:
            self._printed_at = self._clock()
            self._write(f"{text}\n")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        """Discard output that no one reads any more."""
        if isinstance(sys.exception(), BrokenPipeError):
            discard_output(self._stream)
        else:
            super().handleError(record)


_LOG_SECONDS = 60
_CLEARED = "\r\x1b[K"


def clear_line(stream: TextIO) -> None:
    """Remove the line of progress from a terminal."""
    if stream.isatty():
        stream.write(_CLEARED)
        stream.flush()


@dg.logger(None, description="One line of progress on the terminal, for `eval-assets run`.")
def terminal(init_context: dg.InitLoggerContext) -> logging.Logger:
    """Print progress and warnings."""
    del init_context
    logger = logging.Logger("terminal")  # noqa: LOG001 - Dagster owns it, and drops it after the run
    logger.setLevel(logging.DEBUG)
    logger.addHandler(ProgressHandler(sys.stdout))
    return logger
