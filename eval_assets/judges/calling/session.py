"""Session of requests to models: what they share, tasks side by side, and shutdown."""

import asyncio
import gc
import hashlib
import logging
import os
import signal
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

import numpy as np

from eval_assets.errors import InputError, InputProblem
from eval_assets.judges.calling.budget import Budget
from eval_assets.judges.calling.client import AnyModelClient, ModelClient, RetryPolicy, Shared
from eval_assets.judges.calling.ledger_writer import LedgerWriter
from eval_assets.judges.calling.limiter import Limiter, SharedRates
from eval_assets.judges.calling.live_model import AnyLiveModel, Declared, LiveModel
from eval_assets.judges.calling.progress import Progress, Report, log_report
from eval_assets.judges.clients import Connections, connect
from eval_assets.judges.credentials import secrets_in
from eval_assets.ledger import EndpointMemory, Ledger, RateLimits, Status
from eval_assets.wording import counted

logger = logging.getLogger(__name__)

GRACE_SECONDS = 10.0
"""Longest wait for requests in flight when a run is interrupted."""

SECONDS_BETWEEN_REPORTS = 5.0

Task = Callable[[], Coroutine[Any, Any, bool]]
"""The requests about one unit; returns whether a usable reply came of them."""

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True)
class RequestOptions:
    """Options for sending requests.

    Keys are by id of the judge or generator; without a budget the caps of the ledger hold. Ratings
    of the statuses `ask_again` are requested again, although they are in the ledger.
    """

    api_keys: Mapping[str, str] = field(repr=False)
    budget_usd: float | None = None
    report: Report = log_report
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    ask_again: frozenset[Status] = frozenset()


async def open_budget(
    models: Sequence[AnyLiveModel], ledger: Ledger, options: RequestOptions
) -> Budget:
    """Return the budget of a run, within what the ledger's caps leave: nobody else spends from it.

    Without a cap, an unknown price is logged.

    Raises:
        InputError: If there is a cap and a model's price is not known: it could not be kept.
    """
    caps_usd = await asyncio.to_thread(ledger.left_usd)
    limits = [usd for usd in (options.budget_usd, caps_usd) if usd is not None]
    unpriced = ", ".join(sorted({model.endpoint.model for model in models if model.price is None}))
    if unpriced and limits:
        message = f"the price of {unpriced} is not known, so no cap could be kept"
        remedy = "Add it under prices, or remove the budget"
        raise InputError(InputProblem("evaluation.yaml", None, "budget_usd", message, remedy))
    if unpriced:
        logger.warning("the price of %s is not known, so neither is its cost", unpriced)
    return Budget(min(limits, default=None))


def warn_of_budget(n_stopped: int, *, left_usd: float | None) -> None:
    """Log the rest of the budget if it did not suffice; None is no cap."""
    if n_stopped and left_usd is not None:
        logger.warning(
            "the budget did not reach %d scores or responses; %.4f USD are left, less than the "
            "next one may cost. Raise it or run again: nothing is asked twice",
            n_stopped,
            left_usd,
        )


@asynccontextmanager
async def open_clients(
    models: Sequence[LiveModel[Declared]],
    ledger: Ledger,
    *,
    budget: Budget,
    options: RequestOptions,
) -> AsyncIterator[list[ModelClient[Declared]]]:
    """Yield a client for each model; finally commit received replies and disconnect.

    This also happens after an error inside.
    """
    rng = np.random.default_rng(0)
    shared = Shared(LedgerWriter(ledger), budget, options.retry, rng, options.ask_again)
    limiters: dict[str, Limiter] = {}
    keys = frozenset([*options.api_keys.values(), *secrets_in(os.environ)])
    clients: list[ModelClient[Declared]] = []
    async with _interruptible(clients, shared.tasks) as is_over, AsyncExitStack() as stack:
        for model in models:
            endpoint, account = model.endpoint, _account(model, options)
            memory = await asyncio.to_thread(
                ledger.endpoint_memory, endpoint.base_url, endpoint.model
            )
            connections = Connections(
                partial(connect, endpoint, api_key=options.api_keys[model.id], keys=keys)
            )
            stack.push_async_callback(connections.close)
            if account not in limiters:
                sharing = [peer for peer in models if _account(peer, options) == account]
                limiters[account] = _limiter(
                    account, sharing, ledger, known_in_flight=memory.in_flight, retry=options.retry
                )
            limiter = limiters[account]
            clients.append(
                ModelClient(model, connections, limiter=limiter, shared=shared, memory=memory)
            )
        try:
            yield clients
        finally:
            is_over.set()
            # When a run ends early, no task waits for some requests any more.
            unfinished = [task for task in shared.tasks.values() if not task.done()]
            for task in unfinished:
                task.cancel()
            await asyncio.gather(*unfinished, return_exceptions=True)
            await shared.writer.close()
            for client in clients:
                endpoint, memory = client.model.endpoint, client.memory
                if memory != EndpointMemory():
                    await asyncio.to_thread(
                        ledger.remember_endpoint, endpoint.base_url, endpoint.model, memory
                    )


def _account(model: AnyLiveModel, options: RequestOptions) -> str:
    """Return a name of a model and account that is the same in every process, and not the key."""
    endpoint = model.endpoint
    parts = (endpoint.provider, endpoint.base_url, endpoint.model, options.api_keys[model.id])
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _limiter(
    account: str,
    models: Sequence[AnyLiveModel],
    ledger: Ledger,
    *,
    known_in_flight: int | None,
    retry: RetryPolicy,
) -> Limiter:
    """Return the limiter of a model and account, with the least of all declared limits.

    Vendors limit an account, whichever judge or process asks. A server that nobody knows may work
    on one request at a time; where somebody waits for a few results, they are sent at once.
    """
    declared = [model.declared for model in models]
    requests = [r for model in declared if (r := model.requests_per_minute) is not None]
    tokens = [r for model in declared if (r := model.input_tokens_per_minute) is not None]
    limits = RateLimits(account, min(requests, default=None), min(tokens, default=None))
    rates = SharedRates(limits, lambda *n, **of: asyncio.to_thread(ledger.take, limits, *n, **of))
    first_in_flight = known_in_flight
    if any(model.max_in_flight for model in declared):
        first_in_flight = None
    elif known_in_flight is None and not retry.counts_overload:
        first_in_flight = None if all(model.is_at_vendor for model in models) else 1
    return Limiter(
        max_in_flight=min(model.most_in_flight for model in declared),
        rates=rates if requests or tokens else None,
        first_in_flight=first_in_flight,
        timeout_seconds=min(model.timeout_seconds for model in declared),
    )


@asynccontextmanager
async def _interruptible(
    clients: Sequence[AnyModelClient], tasks: Mapping[str, asyncio.Task[Any]]
) -> AsyncIterator[asyncio.Event]:
    """Handle Ctrl-C and SIGTERM until the event is set, when only committing is left.

    The first signal lets requests in flight finish, a second one ends at once.
    """
    received: list[signal.Signals] = []
    drains: list[asyncio.Task[None]] = []
    is_over = asyncio.Event()
    main = cast("asyncio.Task[object]", asyncio.current_task())

    async def drain() -> None:
        await _drain(clients, tasks)
        if not is_over.is_set():
            main.cancel()

    def receive(number: signal.Signals) -> None:
        received.append(number)
        if not is_over.is_set() and len(received) == 1:
            drains.append(asyncio.create_task(drain()))
        elif not is_over.is_set():
            main.cancel()

    try:
        with _handled_signals(receive):
            yield is_over
    except asyncio.CancelledError:
        if not received:
            raise
    finally:
        is_over.set()
        for task in drains:
            task.cancel()
    if received:
        # The signal goes to its previous handler, if any, which may cancel this task.
        main.uncancel()
        signal.raise_signal(received[0])
        await asyncio.sleep(0)
        raise KeyboardInterrupt


@contextmanager
def _handled_signals(receive: Callable[[signal.Signals], None]) -> Iterator[None]:
    """Let a function receive the signals; they are delivered to the main thread alone."""
    is_main = threading.current_thread() is threading.main_thread()
    loop = asyncio.get_running_loop()
    handlers = {number: signal.getsignal(number) for number in _SIGNALS} if is_main else {}
    for number in handlers:
        loop.add_signal_handler(number, receive, number)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)


async def _drain(clients: Sequence[AnyModelClient], tasks: Mapping[str, asyncio.Task[Any]]) -> None:
    """Send no more requests, and wait for those in flight; give up those that wait for a retry."""
    in_flight: set[asyncio.Task[Any]] = set()
    for client in clients:
        client.summary.stopped = client.summary.stopped or "interrupted"
        in_flight.update(client.in_flight)
    for task in set(tasks.values()) - in_flight:
        task.cancel()
    if in_flight:
        logger.warning(
            "interrupted: waiting up to %g s for %s in flight; interrupt again to end now",
            *(GRACE_SECONDS, counted(len(in_flight), "request")),
        )
        _, late = await asyncio.wait(in_flight, timeout=GRACE_SECONDS)
        n_ended = len(in_flight) - len(late)
        are = "is" if n_ended == 1 else "are"
        logger.warning(
            "%s in flight ended and %s stored, %d given up",
            *(counted(n_ended, "request"), are, len(late)),
        )


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
