"""Locks on the slots of units: whoever asks a judge holds them, so that no unit is asked twice.

A lock ends with the process that holds it, however that ends; one that is stopped holds on.
"""

import fcntl
import hashlib
import os
import threading
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import TextIO

import sqlalchemy as sa

from eval_assets.errors import StoreError
from eval_assets.ledger import N_SLOTS
from eval_assets.store.ledger.engine import SqlLedger


def number_of(ledger: SqlLedger, judge_id: str, slot: int) -> int:
    """Return the number of the lock of a judge's slot, of 54 bits."""
    name = f"eval_assets\0{ledger.evaluation}\0{judge_id}"
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:6]) * N_SLOTS + slot


class FileLocks:
    """Locks of bytes in a file beside the ledger, which are never lost.

    POSIX gives them to the process as a whole, and ends all of them when it closes any descriptor
    of the file. So a process opens it once, and keeps account of its own locks.
    """

    _open: dict[Path, TextIO] = {}  # noqa: RUF012 - of the process
    _held: set[tuple[Path, int]] = set()  # noqa: RUF012 - likewise
    _turn = threading.RLock()
    is_lost = False

    def __init__(self, ledger: Path) -> None:
        self._path = ledger.with_name(f"{ledger.name}-lock").absolute()
        self._numbers: list[int] = []

    def take(self, numbers: Collection[int]) -> bool:
        """Take locks; return False, and take none, if somebody else holds one."""
        with self._turn:
            if self._path not in self._open:
                self._open[self._path] = self._path.open("a")
            file = self._open[self._path]
            for number in sorted(numbers):
                is_held = (self._path, number) in self._held
                try:
                    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, number)
                except BlockingIOError:
                    is_held = True
                if is_held:
                    self.free()
                    return False
                self._held.add((self._path, number))
                self._numbers.append(number)
        return True

    def free(self) -> None:
        """Free all that were taken."""
        with self._turn:
            for number in self._numbers:
                fcntl.lockf(self._open[self._path], fcntl.LOCK_UN, 1, number)
                self._held.remove((self._path, number))
            self._numbers.clear()
            if not any(path == self._path for path, _ in self._held) and self._path in self._open:
                self._open.pop(self._path).close()

    close = free


class SessionLocks:
    """Advisory locks of PostgreSQL, held by a session that also writes.

    When the session is lost, so are the locks, and nothing is written with it any more.
    """

    def __init__(self, ledger: SqlLedger) -> None:
        self.session = ledger.connect()
        self._ledger = ledger

    def take(self, numbers: Collection[int]) -> bool:
        """Take locks; return False, and take none, if somebody else holds one."""
        number = sa.func.unnest(sa.literal(sorted(numbers), sa.ARRAY(sa.BigInteger)))
        rows = sa.select(number.label("number")).subquery()
        with self._ledger.transaction(self.session) as connection:
            results = connection.scalars(
                sa.select(sa.func.pg_try_advisory_lock(rows.c.number))
            ).all()
        if not all(results):
            self.free()
        return all(results)

    def free(self) -> None:
        """Free all that were taken."""
        with self._ledger.transaction(self.session) as connection:
            connection.execute(sa.select(sa.func.pg_advisory_unlock_all()))

    @property
    def is_lost(self) -> bool:
        """Return whether the session has ended, and with it the locks."""
        return self.session.closed or self.session.invalidated

    def close(self) -> None:
        """Free all that were taken, and end the session: the server notices its end later."""
        if not self.is_lost:
            with suppress(StoreError):
                self.free()
        if not self.session.closed:
            self.session.invalidate()
            self.session.close()


def this_machine() -> str:
    """Return a name of this machine and its process numbers, as long as it is not restarted."""
    parts = [os.uname().nodename]
    boot = Path("/proc/sys/kernel/random/boot_id")
    if boot.exists():  # Linux: containers share a boot, but not their process numbers
        parts += [boot.read_text("ascii").strip(), str(Path("/proc/self/ns/pid").readlink())]
    return " ".join(parts)


def has_ended(machine: str, process: int) -> bool:
    """Return whether a process of this machine has ended; of another machine it is not known."""
    try:
        with suppress(PermissionError):  # somebody else's
            os.kill(process, 0)
    except ProcessLookupError:
        return machine == this_machine()
    return False
