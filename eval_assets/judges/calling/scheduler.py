"""Concurrent tasks of several models in one event loop."""

import asyncio
import gc
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from eval_assets.judges.calling.client import AnyModelClient
from eval_assets.judges.calling.progress import Progress, Report

SECONDS_BETWEEN_REPORTS = 5.0

Task = Callable[[], Coroutine[Any, Any, bool]]
"""The requests about one unit; returns whether a usable reply came of them."""


async def run_tasks(
    work: Sequence[tuple[AnyModelClient, Sequence[Task]]], *, report: Report
) -> None:
    """Run all tasks, models concurrently, and report every few seconds.

    Each model's tasks start in order. A task that fails leaves the others alone; failed requests do
    not make a task fail.

    Raises:
        BaseException: What the first failed task raised, when all are done.
    """
    work = [(client, tasks) for client, tasks in work if tasks]
    if not work:
        return
    for client, _ in work:
        _ = client.connections.first  # connected before the clock runs
    scheduler = _Scheduler(work)
    reporter = asyncio.create_task(_report_regularly(scheduler, report))
    # To look through all that is imported takes a full collection over 0.1 s, in which no reply is
    # committed.
    gc.freeze()
    try:
        await scheduler.run()
    finally:
        gc.unfreeze()
        reporter.cancel()
    report(scheduler.progress())


class _Scheduler:
    """Starts tasks and counts those that are done."""

    def __init__(self, work: Sequence[tuple[AnyModelClient, Sequence[Task]]]) -> None:
        self._work = work
        self._n_total = sum(len(tasks) for _, tasks in work)
        self._n_done = 0
        self._n_failed = 0
        self._running: set[asyncio.Task[bool]] = set()
        self._failure: BaseException | None = None
        self._main: asyncio.Task[Any] | None = None
        self._started = asyncio.get_running_loop().time()

    async def run(self) -> None:
        """Run all tasks; raise the error of the first failed one."""
        self._main = asyncio.current_task()
        try:
            async with asyncio.TaskGroup() as beginning:
                for client, tasks in self._work:
                    beginning.create_task(self._begin(client, tasks))
            while self._running:
                await asyncio.wait(self._running)
        except asyncio.CancelledError:
            if self._failure is None:
                raise
        finally:
            for task in self._running:
                task.cancel()
        if self._failure is not None:
            raise self._failure

    def progress(self) -> Progress:
        """Return the progress of the run."""
        return Progress(
            n_done=self._n_done,
            n_failed=self._n_failed,
            n_total=self._n_total,
            spent_usd=sum(client.summary.known_usd for client, _ in self._work),
            elapsed_seconds=asyncio.get_running_loop().time() - self._started,
        )

    async def _begin(self, client: AnyModelClient, tasks: Sequence[Task]) -> None:
        """Start tasks as the client has room for open units, never all units at once."""
        for task in tasks:
            await client.open_tasks.acquire()
            running = asyncio.create_task(task())
            self._running.add(running)
            running.add_done_callback(self._end)
            running.add_done_callback(lambda _: client.open_tasks.release())
            # Models take turns, so that a budget which runs out leaves pairs of scores, not one
            # judge.
            await asyncio.sleep(0)

    def _end(self, task: asyncio.Task[bool]) -> None:
        """Count a task that is done."""
        self._running.discard(task)
        if task.cancelled():
            return
        if (failure := task.exception()) is not None:
            self._failure = self._failure or failure
            if not isinstance(failure, Exception) and self._main is not None:
                self._main.cancel()  # an interruption ends everything
        self._n_done += 1
        self._n_failed += failure is not None or not task.result()


async def _report_regularly(scheduler: _Scheduler, report: Report) -> None:
    while True:
        await asyncio.sleep(SECONDS_BETWEEN_REPORTS)
        report(scheduler.progress())
