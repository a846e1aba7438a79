"""Attempts on their way into the ledger: committed together when they arrive together."""

import asyncio
import time
from collections.abc import Sequence

from eval_assets.ledger import Attempt, Ledger

_GATHERING_SECONDS = 0.05
"""What arrives within this time is committed together."""


class Recorder:
    """Records attempts without holding up the event loop.

    What arrives while a commit is under way goes into the next one, and between two commits as much
    time passes as the last one took: a slow ledger makes for few commits, not for few calls.

    Args:
        ledger: Where attempts are kept.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._waiting: list[Attempt] = []
        self._next: asyncio.Future[None] | None = None
        self._writer: asyncio.Task[None] | None = None

    async def record(self, *attempts: Attempt) -> None:
        """Return when the attempts are committed.

        Raises:
            Exception: What the ledger raises; then nothing is recorded any more.
        """
        self._waiting += attempts
        if self._next is None:
            self._next = asyncio.get_running_loop().create_future()
        committed = self._next
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write())
        # Shielded: a cancelled caller leaves its attempt to be written all the same.
        await asyncio.shield(committed)

    async def close(self) -> None:
        """Wait until everything handed over is committed."""
        if self._writer is not None:
            await self._writer

    async def _write(self) -> None:
        """Commit what waits until nothing does."""
        pause = _GATHERING_SECONDS
        while self._waiting and self._next is not None:
            await asyncio.sleep(pause)
            started = time.monotonic()
            attempts, committed = self._waiting, self._next
            self._waiting, self._next = [], None
            await self._commit(attempts, committed)
            pause = max(_GATHERING_SECONDS, time.monotonic() - started)

    async def _commit(self, attempts: Sequence[Attempt], committed: asyncio.Future[None]) -> None:
        """Commit attempts and tell whoever waits for them."""
        write = asyncio.create_task(asyncio.to_thread(self._ledger.record, attempts))
        await asyncio.wait([write])
        if (error := write.exception()) is not None:
            committed.set_exception(error)
        else:
            committed.set_result(None)
