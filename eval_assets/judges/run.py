"""A run: the calls of several models side by side in one event loop."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from eval_assets.judges.budget import Budget
from eval_assets.judges.caller import Caller
from eval_assets.judges.clock import Clock, RealClock
from eval_assets.judges.lane import Lane
from eval_assets.judges.live import LiveModel, connect
from eval_assets.judges.progress import SECONDS_BETWEEN_REPORTS, Progress, Report, log_report
from eval_assets.judges.retry import RetryPolicy
from eval_assets.ledger import Ledger
from eval_assets.problems import InputError, InputProblem

logger = logging.getLogger(__name__)

Job = Callable[[], Coroutine[Any, Any, bool]]
"""One unit's calls; tells whether a usable reply came of them."""


@dataclass(frozen=True)
class RunOptions:
    """How a run goes.

    Args:
        api_keys: Keys by id of the judge or generator.
        budget_usd: Most that the run may spend; None for no cap.
        report: Told what to expect before the first call, and every few seconds how it goes.
        retry: When a failed call is tried again.
        seed: Seed of the retries' jitter.
        clock: Clock to go by.
    """

    api_keys: Mapping[str, str] = field(repr=False)
    budget_usd: float | None = None
    report: Report = log_report
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    seed: int = 0
    clock: Clock = field(default_factory=RealClock)


def budget_for(models: Sequence[LiveModel], options: RunOptions) -> Budget:
    """The budget of a run.

    Args:
        models: Models that are called.
        options: How the run goes.

    Raises:
        InputError: If the run is capped and a model's price is not known: no cap could be kept.
    """
    unpriced = ", ".join(sorted({each.endpoint.model for each in models if each.price is None}))
    if unpriced and options.budget_usd is not None:
        what = f"the price of {unpriced} is not known, so no cap could be kept"
        remedy = "Name it under prices, or leave out budget_usd"
        raise InputError(InputProblem("evaluation.yaml", None, "budget_usd", what, remedy))
    if unpriced:
        logger.warning("the price of %s is not known, and so is its cost", unpriced)
    return Budget(options.budget_usd)


def warn_of_budget(n_stopped: int, *, left_usd: float | None) -> None:
    """Say what the budget did not reach, and how much of it is left.

    Args:
        n_stopped: Scores or answers that it did not reach; where there are none, nothing is said.
        left_usd: What the run might still have spent; None without a cap.
    """
    if n_stopped and left_usd is not None:
        logger.warning(
            "budget_usd did not reach %d scores or answers; %.4f USD are left, less than the next "
            "one may cost. Raise it or run again: nothing is asked twice",
            n_stopped,
            left_usd,
        )


@asynccontextmanager
async def open_lanes(
    models: Sequence[LiveModel], ledger: Ledger, *, budget: Budget, options: RunOptions
) -> AsyncIterator[tuple[Caller, list[Lane]]]:
    """Make models ready to be called; in the end commit what arrived and disconnect.

    That end comes whatever happens inside.

    Args:
        models: The models.
        ledger: Where attempts are kept.
        budget: What may be spent.
        options: How the run goes.

    Yields:
        Who makes the calls, and a lane for each model.
    """
    rng = np.random.default_rng(options.seed)
    async with AsyncExitStack() as stack:
        lanes = []
        for model in models:
            lane = Lane(
                model,
                partial(connect, model, api_key=options.api_keys[model.id]),
                clock=options.clock,
                longest_wait_seconds=options.retry.longest_wait_seconds,
            )
            stack.push_async_callback(lane.close)
            lanes.append(lane)
        caller = Caller(ledger, budget=budget, retry=options.retry, clock=options.clock, rng=rng)
        yield await stack.enter_async_context(caller), lanes


async def run_jobs(jobs: Sequence[tuple[Lane, Sequence[Job]]], *, options: RunOptions) -> None:
    """Do all jobs, those of different models side by side, and report every few seconds.

    Args:
        jobs: Each model's jobs, which are begun in this order.
        options: How the run goes.

    Raises:
        BaseException: What the first failing job raises; a failed call is no such thing.
    """
    jobs = [(lane, lane_jobs) for lane, lane_jobs in jobs if lane_jobs]
    if not jobs:
        return
    for lane, _ in jobs:
        _ = lane.client  # connected before the clock runs
    counter = _Counter(jobs, clock=options.clock)
    try:
        async with asyncio.TaskGroup() as reporting:
            reporter = reporting.create_task(_report_regularly(counter, options))
            async with asyncio.TaskGroup() as group:
                for lane, lane_jobs in jobs:
                    group.create_task(_begin(lane, lane_jobs, counter, group))
            reporter.cancel()
    except BaseExceptionGroup as failures:  # Ctrl-C under Dagster is no Exception
        # One broken ledger fails every job alike; one message says it.
        raise _first(failures) from None
    options.report(counter.progress())


class _Counter:
    """Counts what is done."""

    def __init__(self, jobs: Sequence[tuple[Lane, Sequence[Job]]], *, clock: Clock) -> None:
        self.n_done = 0
        self.n_failed = 0
        self._n_total = sum(len(lane_jobs) for _, lane_jobs in jobs)
        self._lanes = [lane for lane, _ in jobs]
        self._clock = clock
        self._started = clock.now()

    async def count(self, job: Job) -> None:
        """Do a job and count it."""
        is_usable = await job()
        self.n_failed += not is_usable
        self.n_done += 1

    def progress(self) -> Progress:
        """How far the run has come."""
        return Progress(
            n_done=self.n_done,
            n_failed=self.n_failed,
            n_total=self._n_total,
            spent_usd=sum(lane.spent_usd for lane in self._lanes),
            elapsed_seconds=self._clock.now() - self._started,
        )


async def _begin(
    lane: Lane, jobs: Sequence[Job], counter: _Counter, group: asyncio.TaskGroup
) -> None:
    """Begin jobs as the lane has room for open units: never a task for every unit at once."""

    async def do(job: Job) -> None:
        try:
            await counter.count(job)
        finally:
            lane.open_units.release()

    for job in jobs:
        await lane.open_units.acquire()
        group.create_task(do(job))
        # Models take turns, so that a budget which runs out leaves pairs of scores, not one judge.
        await asyncio.sleep(0)


async def _report_regularly(counter: _Counter, options: RunOptions) -> None:
    while True:
        await options.clock.sleep(SECONDS_BETWEEN_REPORTS)
        options.report(counter.progress())


def _first(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first single failure of a group."""
    first = failures.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first
