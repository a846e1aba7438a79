"""Progress of a run on the terminal, one line per asset."""

import logging
import os
import sys
from typing import TextIO

import dagster as dg

DETAIL = {"is_detail": True}
"""Extra of log records that the run's log holds and the terminal leaves out."""


def discard_output(stream: TextIO) -> None:
    """Discard all further output: the program that read it has ended, as `head` does.

    Python's own advice on SIGPIPE; the buffer is discarded with it when it is flushed.
    """
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)


class _LineHandler(logging.StreamHandler[TextIO]):
    """Prints lines; a run goes on without them if no one reads them any more."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        if isinstance(sys.exception(), BrokenPipeError):
            discard_output(self.stream)
        else:
            super().handleError(record)


class _LineFormatter(logging.Formatter):
    """One line for a stored asset; of other messages the text."""

    def format(self, record: logging.LogRecord) -> str:
        event: dg.DagsterEvent | None = getattr(record, "dagster_event", None)
        if event is None:
            message = record.getMessage() if record.args else str(record.msg)
            return f"  {message.rsplit(' - ', 1)[-1]}"
        if event.event_type is dg.DagsterEventType.ASSET_MATERIALIZATION:
            rows = event.step_materialization_data.materialization.metadata.get("dagster/row_count")
            name = event.step_materialization_data.materialization.asset_key.path[-1]
            return f"  {name:24}{f'{rows.value:>12,} rows' if rows else ''}".rstrip()
        return ""


class _LineFilter(logging.Filter):
    """Lets materializations and the program's own messages through."""

    def filter(self, record: logging.LogRecord) -> bool:
        event: dg.DagsterEvent | None = getattr(record, "dagster_event", None)
        if event is None:
            # Errors are printed at the end of the run, a line each.
            is_message = logging.INFO <= record.levelno < logging.ERROR
            return is_message and not getattr(record, "is_detail", False)
        return event.event_type is dg.DagsterEventType.ASSET_MATERIALIZATION


@dg.logger(None, description="One line an asset on the terminal, for `eval-assets run`.")
def terminal(init_context: dg.InitLoggerContext) -> logging.Logger:
    """Print each asset as it is stored, and warnings."""
    del init_context
    logger = logging.Logger("terminal")  # noqa: LOG001 - Dagster owns it, and drops it after the run
    logger.setLevel(logging.DEBUG)
    handler = _LineHandler(sys.stdout)
    handler.addFilter(_LineFilter())
    handler.setFormatter(_LineFormatter())
    logger.addHandler(handler)
    return logger
