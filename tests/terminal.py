"""The program on a real pseudo-terminal: what a person would see and type."""

import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

_GIVE_UP_SECONDS = 180


class Terminal:
    """A program that runs on a terminal of its own.

    Args:
        command: The program with its arguments.
        environment: Its environment.
        folder: Its working folder.
        columns: Width of the terminal.
    """

    def __init__(
        self,
        command: Sequence[str | Path],
        *,
        environment: Mapping[str, str],
        folder: Path,
        columns: int = 80,
    ) -> None:
        self._ours, program_end = os.openpty()
        self.resize(columns=columns)
        self._process = subprocess.Popen(
            command,
            stdin=program_end,
            stdout=program_end,
            stderr=program_end,
            env=dict(environment),
            cwd=folder,
            start_new_session=True,
            preexec_fn=_take_the_terminal,  # noqa: PLW1509 - tests start no threads of their own
        )
        os.close(program_end)
        self.shown = ""
        self._read_to = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process.poll() is None:
            self.kill()
        os.close(self._ours)

    def expect(self, pattern: str) -> str:
        """Wait until something that matches is shown after what was expected before; return it."""
        deadline = time.monotonic() + _GIVE_UP_SECONDS
        while not (result := re.compile(pattern).search(self.shown, self._read_to)):
            ready, _, _ = select.select([self._ours], [], [], deadline - time.monotonic())
            chunk = self._read() if ready else b""
            if not chunk:
                raise AssertionError(f"{pattern!r} was not shown. Shown:\n{self.shown[-3000:]}")
        self._read_to = result.end()
        return result[0]

    def press(self, keys: str) -> None:
        """Type keys."""
        os.write(self._ours, keys.encode())

    def answer(self, key: str) -> None:
        """Type a key that answers, even if it answered the response before.

        A letter that does nothing precedes it, since a key that comes again at once is held down.
        """
        self.press(f"é{key}")

    def resize(self, *, columns: int) -> None:
        """Change the width of the window."""
        size = struct.pack("HHHH", 40, columns, 0, 0)
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, size)

    def kill(self) -> None:
        """End the program as `kill -9` does."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def exit_code(self) -> int:
        """Wait for the program to end and return its exit code."""
        while self._read():
            pass
        return self._process.wait(timeout=_GIVE_UP_SECONDS)

    def _read(self) -> bytes:
        try:
            chunk = os.read(self._ours, 65536)
        except OSError:  # what Linux reports once the other end is closed
            chunk = b""
        self.shown += chunk.decode(errors="replace")
        return chunk


def _take_the_terminal() -> None:
    """Make it the one whose Ctrl-C interrupts the program."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
