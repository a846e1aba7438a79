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

    Each model's tasks start in order, as its client has room. A task that fails leaves the others
    alone; failed requests do not make a task fail.

    Raises:
        BaseException: What the first failed task raised, when all are done.
    """
    work = [(client, tasks) for client, tasks in work if tasks]
    if not work:
        return
    for client, _ in work:
        _ = client.connections.first  # connected before the clock runs
    scheduler = _Scheduler(work)
    reporter = asyncio.create_task(scheduler.report_regularly(report))
    # To look through all that is imported takes a full collection over 0.1 s, in which no reply is
    # committed.
    gc.freeze()
    try:
        async with asyncio.TaskGroup() as beginning:
            for client, tasks in work:
                beginning.create_task(scheduler.begin(client, tasks))
        while scheduler.running:
            await asyncio.wait(scheduler.running)
    except asyncio.CancelledError:
        if not scheduler.failures:
            raise
    finally:
        gc.unfreeze()
        for task in (reporter, *scheduler.running):
            task.cancel()
    if scheduler.failures:
        raise scheduler.failures[0]
    report(scheduler.progress())


class _Scheduler:
    """Starts tasks and counts those that are done."""

    def __init__(self, work: Sequence[tuple[AnyModelClient, Sequence[Task]]]) -> None:
        self.running: set[asyncio.Task[bool]] = set()
        self.failures: list[BaseException] = []
        self._work = work
        self._successes: list[bool] = []
        self._main = asyncio.current_task()
        self._started = asyncio.get_running_loop().time()

    async def begin(self, client: AnyModelClient, tasks: Sequence[Task]) -> None:
        for task in tasks:
            await client.open_tasks.acquire()
            self.running.add(running := asyncio.create_task(task()))
            running.add_done_callback(self._end)
            running.add_done_callback(lambda _: client.open_tasks.release())
            # Models take turns, so that a budget which runs out leaves pairs of scores, not one
            # judge.
            await asyncio.sleep(0)

    async def report_regularly(self, report: Report) -> None:
        while True:
            await asyncio.sleep(SECONDS_BETWEEN_REPORTS)
            report(self.progress())

    def progress(self) -> Progress:
        n_done = len(self._successes)
        return Progress(
            n_done=n_done,
            n_failed=n_done - sum(self._successes),
            n_total=sum(len(tasks) for _, tasks in self._work),
            spent_usd=sum(client.summary.known_usd for client, _ in self._work),
            elapsed_seconds=asyncio.get_running_loop().time() - self._started,
        )

    def _end(self, task: asyncio.Task[bool]) -> None:
        self.running.discard(task)
        if task.cancelled():
            return
        if (failure := task.exception()) is not None:
            self.failures.append(failure)
            if not isinstance(failure, Exception) and self._main is not None:
                self._main.cancel()  # an interruption ends everything
        self._successes.append(failure is None and task.result())
