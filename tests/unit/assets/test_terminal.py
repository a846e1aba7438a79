"""Progress of a run: one line that changes, or one a minute in a log."""

import logging
from io import StringIO

import pytest

from eval_assets.assets.terminal import DETAIL, ProgressHandler, clear_line


class Terminal(StringIO):
    """A stream that a person watches."""

    def isatty(self) -> bool:
        """Return that it is a terminal."""
        return True


def logger_on(stream: StringIO, times: list[float]) -> logging.Logger:
    """Return a logger whose handler reads the given times, the last of them for ever."""
    logger = logging.Logger("run")  # noqa: LOG001 - of this test alone
    logger.addHandler(ProgressHandler(stream, lambda: times.pop(0) if len(times) > 1 else times[0]))
    return logger


def test_a_terminal_has_one_line_that_changes() -> None:
    stream = Terminal()
    logger = logger_on(stream, [0.0])
    logger.info("run - judging 1 of 2")
    logger.info("run - judging 2 of 2")
    clear_line(stream)

    assert stream.getvalue() == "\r\x1b[Kjudging 1 of 2\r\x1b[Kjudging 2 of 2\r\x1b[K"


def test_a_log_has_one_line_a_minute() -> None:
    stream = StringIO()
    logger = logger_on(stream, [0.0, 10.0, 59.0, 61.0, 61.0, 62.0])
    for k in range(4):
        logger.info("judging %d", k)
    clear_line(stream)

    assert stream.getvalue() == "judging 2\n"


@pytest.mark.parametrize("stream", [StringIO(), Terminal()])
def test_warnings_and_costs_are_lines_of_their_own_and_details_none(stream: StringIO) -> None:
    logger = logger_on(stream, [0.0])
    logger.info("run - gpt: 4 requests, about 0.02 USD", extra={"is_lasting": True})
    logger.warning("run - gpt is stopped")
    logger.warning("run - one of a hundred", extra=DETAIL)

    lines = stream.getvalue().replace("\r\x1b[K", "").splitlines()
    assert lines == ["gpt: 4 requests, about 0.02 USD", "gpt is stopped"]
