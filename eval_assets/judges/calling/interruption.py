"""Ctrl-C and SIGTERM: requests in flight are waited for, because they are paid."""

import asyncio
import logging
import signal
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from eval_assets.judges.calling.client import AnyModelClient

logger = logging.getLogger(__name__)

GRACE_SECONDS = 10.0
"""How long requests in flight are waited for."""

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interruption:
    """End of a run that is asked to stop: the first signal lets requests in flight finish.

    Of the requests that are not answered yet, some may wait for a retry; those are given up.
    """

    def __init__(
        self, clients: Sequence[AnyModelClient], asked: Mapping[str, asyncio.Task[Any]]
    ) -> None:
        self.received: list[signal.Signals] = []
        self._clients = clients
        self._asked = asked
        self._main = _current_task()
        self._draining: asyncio.Task[None] | None = None
        self._has_left = False

    def receive(self, number: signal.Signals) -> None:
        """Let requests in flight end; at a second signal, end at once."""
        self.received.append(number)
        if self._has_left:
            return
        if self._draining is None:
            draining = _drain(self._clients, self._asked, self._main)
            self._draining = asyncio.create_task(draining)
        else:
            self._main.cancel()

    def leave(self) -> None:
        """Interrupt nothing any more: what is left to do is to commit and to disconnect."""
        self._has_left = True
        if self._draining is not None:
            self._draining.cancel()

    async def deliver(self) -> None:
        """Deliver the signal to whoever handled it before; do nothing if there was none."""
        if self.received:
            self._main.uncancel()
            signal.raise_signal(self.received[0])
            await asyncio.sleep(0)  # a handler may have cancelled this task
            raise KeyboardInterrupt


@asynccontextmanager
async def ending_well(
    clients: Sequence[AnyModelClient], asked: Mapping[str, asyncio.Task[Any]]
) -> AsyncIterator[Interruption]:
    """Handle Ctrl-C and SIGTERM while requests are sent; see `Interruption`."""
    interruption = Interruption(clients, asked)
    # Signals are delivered to the main thread alone.
    is_main = threading.current_thread() is threading.main_thread()
    loop = asyncio.get_running_loop()
    handlers = {number: signal.getsignal(number) for number in _SIGNALS} if is_main else {}
    for number in handlers:
        loop.add_signal_handler(number, interruption.receive, number)
    try:
        yield interruption
    except asyncio.CancelledError:
        if not interruption.received:
            raise
    finally:
        interruption.leave()
        for number, handler in handlers.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)
    await interruption.deliver()


async def _drain(
    clients: Sequence[AnyModelClient],
    asked: Mapping[str, asyncio.Task[Any]],
    main: asyncio.Task[Any],
) -> None:
    """Send nothing more, and wait for the run to end with what is in flight."""
    in_flight: set[asyncio.Task[Any]] = set()
    for client in clients:
        client.summary.stopped = client.summary.stopped or "interrupted"
        in_flight |= client.in_flight
    for task in set(asked.values()) - in_flight:
        task.cancel()
    if in_flight:
        logger.warning(
            "interrupted: waiting up to %g s for %d requests in flight; interrupt again to end now",
            GRACE_SECONDS,
            len(in_flight),
        )
        _, late = await asyncio.wait(in_flight, timeout=GRACE_SECONDS)
        logger.warning(
            "%d requests in flight ended and are stored, %d were given up",
            len(in_flight) - len(late),
            len(late),
        )
    main.cancel()


def _current_task() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    if task is None:
        raise RuntimeError("this runs in a task")
    return task
