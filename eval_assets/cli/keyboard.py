"""Input of single keys and lines in a terminal."""

import os
import select
import sys
import termios
import time
import tty
from types import TracebackType
from typing import Self

import click

END = "end"
"""Key that is read once the terminal is gone."""

_ARROWS = {b"[D": "left", b"OD": "left", b"[C": "right", b"OC": "right"}
_ESCAPE_SECONDS = 0.05
_LONGEST_WAIT_SECONDS = 0.5
_REPEAT_SECONDS = 0.15
"""Time within which a held key comes again: terminals repeat it 10 to 50 times a second."""


def is_terminal() -> bool:
    """Return whether a person can be asked: input and output are a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()


class Keyboard:
    """The terminal's keys, delivered one at a time and not shown, as long as it is entered.

    What is typed ahead is kept until `forget` is called. Ctrl-C interrupts as everywhere.
    """

    _forgotten_key = ""
    _forgotten_at = 0.0

    def __enter__(self) -> Self:
        self._descriptor = sys.stdin.fileno()
        self._as_before = termios.tcgetattr(self._descriptor)
        tty.setcbreak(self._descriptor, termios.TCSADRAIN)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._as_before)

    def forget(self, key: str) -> None:
        """Drop what was typed ahead, and further input of `key` while it is held down."""
        termios.tcflush(self._descriptor, termios.TCIFLUSH)
        self._forgotten_key, self._forgotten_at = key, time.monotonic()

    def key(self) -> str:
        """Return the next key in lower case, `left`, `right`, `end`, or nothing for others."""
        while (key := self._next_key()) == self._forgotten_key:
            is_held = time.monotonic() - self._forgotten_at < _REPEAT_SECONDS
            self._forgotten_at = time.monotonic()
            if not is_held:
                break
        self._forgotten_key = ""  # another key in between: it was released
        return key

    def _next_key(self) -> str:
        # A Ctrl-C at the very moment at which a read begins is handled only after it: it waits
        # for a key for half a second at most.
        while not select.select([self._descriptor], [], [], _LONGEST_WAIT_SECONDS)[0]:
            pass
        first = os.read(self._descriptor, 1)
        if first in {b"", b"\x04"}:
            return END
        if first != b"\x1b":
            return first.decode("ascii", errors="ignore").lower()
        # The rest of an arrow key comes at once; after Escape alone comes nothing.
        ready, _, _ = select.select([self._descriptor], [], [], _ESCAPE_SECONDS)
        return _ARROWS.get(os.read(self._descriptor, 2), "") if ready else ""

    def line(self, prompt: str) -> str:
        """Return a line that the person types, shown and edited as everywhere in the terminal."""
        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._as_before)
        try:
            return input(prompt).strip()
        except EOFError:
            click.echo()
            return ""
        finally:
            tty.setcbreak(self._descriptor, termios.TCSADRAIN)
