"""Client of one model: limiter, deadline, budget, retries and ledger."""

import asyncio
import logging
import math
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Generic

import numpy as np

from eval_assets.config.judges import Generator, Judge, Setting
from eval_assets.judges.calling.budget import Budget, Reservation
from eval_assets.judges.calling.connections import Connections
from eval_assets.judges.calling.features import FeatureMemory
from eval_assets.judges.calling.ledger_writer import LedgerWriter, attempt_row, prompt_of
from eval_assets.judges.calling.limiter import Admission, FailureKind, Limiter
from eval_assets.judges.calling.live_model import Declared, LiveModel
from eval_assets.judges.calling.progress import Estimate, ModelSummary
from eval_assets.judges.calling.requests import (
    Message,
    ModelRequest,
    Outcome,
    RequestFailed,
    Unsent,
)
from eval_assets.judges.calling.shared_rate_limits import loop_time
from eval_assets.ledger import Attempt, CallSubject, EndpointMemory, Reply, Status

logger = logging.getLogger(__name__)

_HOPELESS_AFTER = 20
_REPLIES_PER_FAILURE = 5
"""Consecutive failed requests after which a model is stopped, because it is down or refuses
everything; one more for each five replies so far. Overload does not count."""

_MOST_REFUSALS = 12
_RECENT_SECONDS = 10.0
"""Refusals by an overloaded vendor after which a request is given up, if others were answered
recently: it is not the load."""

_FEWEST_PRICED = 5
_MEAN_FACTOR = 1.25
"""Charge for an attempt that may be billed, by the mean cost of the replies so far."""

_GUESSES = 2
"""Failures of the first request after which another form of the reply is tried."""

_LATE_SECONDS = 0.5
_REREAD_SECONDS = 5.0
_READ_SECONDS = 0.25
"""A process that slept finds replies in its sockets when the time is over. They are read first."""

_FORBIDDEN = 403
_TOO_MANY = 429

_OVERLOAD_SHARE, _OVERLOAD_GROWTH, _MOST_GROWTHS = 0.2, 1.5, 20

BUDGET_USED_UP = Unsent("the budget is used up", status="budget_stopped")
_OUTDATED = Unsent("the model is known by now to refuse this form", status="api_error")
_INTERRUPTED = RequestFailed(
    "given up when the run was interrupted", remedy="give_up", may_be_billed=True
)


@dataclass(frozen=True)
class RetryPolicy:
    """Conditions and delays of retries.

    Args:
        delays_seconds: Wait before each retry: four waits make at most five attempts.
        jitter: Share by which a wait is lengthened or shortened at random, so that requests which
            failed together do not come back together.
        longest_wait_seconds: Ceiling of a wait that a vendor asks for.
        patience_seconds: How long an overloaded vendor may send no reply before it is given up.
        counts_overload: Whether a refusal by an overloaded vendor counts as a failure, because
            somebody waits for the result.
    """

    delays_seconds: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0)
    jitter: float = 0.2
    longest_wait_seconds: float = 120.0
    patience_seconds: float = 3600.0
    counts_overload: bool = False

    def wait_seconds(
        self, n_failed: int, *, retry_after_seconds: float | None, rng: np.random.Generator
    ) -> float | None:
        """Return the wait after the `n_failed`-th failure of a request; None to give it up.

        A wait that the vendor asks for is kept if it is longer.

        Examples:
            >>> policy = RetryPolicy(jitter=0.0)
            >>> rng = np.random.default_rng(0)
            >>> [policy.wait_seconds(n, retry_after_seconds=None, rng=rng) for n in range(1, 6)]
            [1.0, 2.0, 4.0, 8.0, None]
        """
        if n_failed > len(self.delays_seconds):
            return None
        spread = rng.uniform(1 - self.jitter, 1 + self.jitter)
        vendor_wait = min(retry_after_seconds or 0.0, self.longest_wait_seconds)
        return max(self.delays_seconds[n_failed - 1] * spread, vendor_wait)

    def overload_wait_seconds(
        self, n_refused: int, *, retry_after_seconds: float | None, rng: np.random.Generator
    ) -> float:
        """Return the wait after the `n_refused`-th refusal by an overloaded vendor.

        It begins short, because the refusal may be chance, and the limiter sets the pace of all.
        """
        growth = _OVERLOAD_GROWTH ** min(n_refused - 1, _MOST_GROWTHS)
        wait = min(self.delays_seconds[-1], _OVERLOAD_SHARE * self.delays_seconds[0] * growth)
        vendor_wait = min(retry_after_seconds or 0.0, self.longest_wait_seconds)
        return max(wait * rng.uniform(0.5, 1.5), vendor_wait)


@dataclass
class _Failures:
    """Failures of one request so far: those that count, by overload, and without a reason."""

    n_counted: int = 0
    n_refused: int = 0
    n_unexplained: int = 0


class ModelClient(Generic[Declared]):
    """Client of one model, which may be stopped.

    The limiter is shared by judges of one model and account, and so are the requests under way:
    equal ones are sent once. `refused` are features that the model refused in earlier runs. Unless
    the endpoint `is_known`, one request is sent alone at first: what it takes is found out once.
    Ratings of the statuses `ask_again` are requested again, although they are in the ledger.
    """

    def __init__(  # noqa: PLR0913 - the stages of a request
        self,
        model: LiveModel[Declared],
        connections: Connections,
        *,
        limiter: Limiter,
        writer: LedgerWriter,
        budget: Budget,
        retry: RetryPolicy,
        rng: np.random.Generator,
        refused: Collection[str],
        tasks: dict[str, asyncio.Task[Outcome]],
        is_known: bool,
        ask_again: Collection[Status],
    ) -> None:
        self.model: LiveModel[Declared] = model
        self.summary = ModelSummary(model.id, Estimate(model))
        self.connections = connections
        self.in_flight: set[asyncio.Task[Any]] = set()
        self.has_answered = False  # in this run or an earlier one
        self.ask_again = ask_again
        # Units that wait for a retry or a commit make room for others, but not without end: in an
        # outage only so many are given up before it is noticed.
        self.open_tasks = asyncio.Semaphore(2 * model.declared.most_in_flight)
        self._limiter = limiter
        self._writer = writer
        self._budget = budget
        self._retry = retry
        self._rng = rng
        self._tasks = tasks
        self._n_given_up_in_a_row = 0
        self._n_stored = 0
        self._answered_at = -math.inf
        self._is_known = is_known
        self._probe = asyncio.Lock()
        self._n_sent = 0
        self._in_flight_numbers: set[int] = set()
        self._overloaded_since = math.inf
        self._exceeds_limits = False
        self._features = FeatureMemory(model, refused)

    def request(
        self,
        messages: tuple[Message, ...],
        *,
        settings: Mapping[str, Setting] = MappingProxyType({}),
        schema: Mapping[str, Any] | None = None,
        replicate: int = 0,
    ) -> ModelRequest:
        """Return a request in the form that the model accepts, with additional `settings`."""
        request = ModelRequest(
            endpoint=self.model.endpoint,
            messages=messages,
            settings={**self.model.settings, **settings},
            max_tokens=self.model.max_tokens,
            schema=schema,
            replicate=replicate,
            max_tokens_name=self.model.capabilities.max_tokens_name,
        )
        return self._features.fit(request)

    async def stored_replies(self, keys: Sequence[str]) -> dict[str, Reply]:
        """Return the replies that the ledger holds, by request key."""
        replies = await asyncio.to_thread(self._writer.ledger.replies, keys)
        self.has_answered |= bool(replies)
        self._n_stored += len(replies)
        return replies

    @property
    def memory(self) -> EndpointMemory:
        """Return what was found out about the endpoint."""
        has_served = self.summary.n_replies and not self.summary.stopped
        return EndpointMemory(
            self._features.new_refusals, self._limiter.proven_in_flight if has_served else None
        )

    async def reply_to(
        self, request: ModelRequest, subject: CallSubject, reservation: Reservation
    ) -> Outcome:
        """Send a request until there is a reply or it is given up.

        An equal request for another unit with the same text is not sent again.
        """
        task = self._tasks.get(request.key)
        if task is None:
            task = asyncio.create_task(self._ask(request, subject, reservation))
            self._tasks[request.key] = task
        # Shielded: a request that is paid for is recorded even if no task waits for it any more.
        return await asyncio.shield(task)

    async def reply_within_budget(self, request: ModelRequest, subject: CallSubject) -> Outcome:
        """Send a request if the budget has what it may cost; see `reply_to`."""
        most_usd = self.model.most_usd(request)
        if not await self._budget.reserve(most_usd):
            return BUDGET_USED_UP
        reservation = Reservation(self._budget, most_usd)
        try:
            return await self.reply_to(request, subject, reservation)
        finally:
            reservation.release()

    async def keys_in_batches(self, keys: Sequence[str]) -> frozenset[str]:
        """Return the requests of these that the vendor works on in a batch."""
        return await asyncio.to_thread(self._writer.ledger.keys_in_batches, keys)

    @property
    def unsent(self) -> Unsent:
        """The failure of requests that are not sent because the model is stopped."""
        return Unsent(self.summary.stopped, status="api_error")

    def stop(self, reason: str) -> None:
        """Stop sending requests, and log the reason once."""
        if not self.summary.stopped:
            self.summary.stopped = reason
            logger.error("%s is stopped: %s", self.model.id, reason)

    def count(self, outcome: Outcome) -> None:
        """Count an attempt, and the cost of its reply."""
        self.summary.n_attempts += 1
        if isinstance(outcome, RequestFailed):
            if outcome.remedy == "stop" and not self._concerns_one_input(outcome):
                self.stop(str(outcome))
            return
        self._n_given_up_in_a_row = 0
        self.has_answered = True
        self._answered_at = loop_time()
        self._overloaded_since = math.inf
        self.summary.count_reply(self.model.cost_usd(outcome.usage))

    async def _ask(
        self, request: ModelRequest, subject: CallSubject, reservation: Reservation
    ) -> Outcome:
        """Send a request until there is a reply or it is given up; the first one alone."""
        try:
            if not self._is_known:
                async with self._probe:
                    if not self._is_known:
                        outcome = await self._send(request, subject, reservation)
                        self._is_known = not isinstance(outcome, Unsent)
                        return outcome
            return await self._send(request, subject, reservation)
        finally:
            del self._tasks[request.key]  # another unit with the same text uses the ledger

    async def _send(
        self, request: ModelRequest, subject: CallSubject, reservation: Reservation
    ) -> Outcome:
        """Send a request, and send it again after failures that may pass."""
        number, failures = 1, _Failures()
        while True:
            self._writer.require_working()
            if self.summary.stopped:
                return self.unsent
            request = self._features.fit(request)
            # Another unit with the same text may have been answered by now.
            if (earlier := await self._writer.stored_reply(request.key)) is not None:
                return earlier
            if reservation.is_released:
                return BUDGET_USED_UP
            outcome = await self._attempt(request, subject, reservation, number=number)
            if outcome == _OUTDATED:
                continue
            if isinstance(outcome, Reply | Unsent):
                return outcome
            number += 1
            wait_seconds = self._wait_seconds(request, outcome, failures)
            if wait_seconds is None:
                self._give_up(outcome)
                return outcome
            await asyncio.sleep(wait_seconds)

    async def _attempt(
        self,
        request: ModelRequest,
        subject: CallSubject,
        reservation: Reservation,
        *,
        number: int,
    ) -> Outcome:
        """Send a request once the limiter allows, and record the outcome."""
        admission = await self._limiter.admit(input_tokens=request.estimated_tokens)
        if self._writer.has_failed:
            self._limiter.dropped(admission)
            self._writer.require_working()
        if self.summary.stopped:
            self._limiter.dropped(admission)
            return self.unsent
        fitting = self._features.fit(request)
        if fitting.key != request.key:  # another request was refused while this one waited
            self._limiter.dropped(admission)
            return _OUTDATED
        if (task := asyncio.current_task()) is not None:
            self.in_flight.add(task)
            task.add_done_callback(self.in_flight.discard)
        started_at, started = datetime.now(UTC), time.perf_counter()
        order = self._n_sent
        self._n_sent += 1
        self._in_flight_numbers.add(order)

        def row(outcome: Outcome, *, charged_usd: float) -> Attempt:
            return attempt_row(
                request.key,
                self.model,
                subject,
                outcome,
                number=number,
                started_at=started_at,
                latency_seconds=time.perf_counter() - started,
                charged_usd=charged_usd,
            )

        try:
            outcome = await self._reply_in_time(fitting)
        except asyncio.CancelledError:
            attempt = row(_INTERRUPTED, charged_usd=self._charged_usd(fitting, _INTERRUPTED))
            self._writer.hand_over(attempt, prompt_of(fitting))
            raise
        finally:
            self._in_flight_numbers.discard(order)
        self._features.heed(fitting, outcome)
        self.count(outcome)
        self._end(admission, outcome)
        charged_usd = self._charged_usd(fitting, outcome)
        self._count_charge(fitting, outcome, charged_usd=charged_usd)
        reservation.charge(charged_usd)
        await self._writer.record(row(outcome, charged_usd=charged_usd), prompt_of(fitting))
        if task is not None:
            self.in_flight.discard(task)
        return outcome

    async def _reply_in_time(self, request: ModelRequest) -> Outcome:
        """Return the outcome of a request within the timeout."""
        loop, seconds = asyncio.get_running_loop(), self.model.declared.timeout_seconds
        deadline = loop.time() + seconds
        sending = asyncio.ensure_future(self.connections.ask(request))
        try:
            await asyncio.wait({sending}, timeout=seconds)
            if not sending.done():
                has_slept = loop.time() - deadline > _LATE_SECONDS
                await asyncio.wait(
                    {sending}, timeout=_REREAD_SECONDS if has_slept else _READ_SECONDS
                )
            if sending.done():
                return sending.result()
        finally:
            if not sending.done():
                sending.cancel()
                await asyncio.wait({sending})
        message = f"no reply within {seconds:g} s: raise timeout_seconds or lower max_in_flight"
        return RequestFailed(message, remedy="retry", status="timeout", may_be_billed=True)

    def _end(self, admission: Admission, outcome: Outcome) -> None:
        """Report the outcome of a request to the limiter."""
        if isinstance(outcome, Reply):
            n_input = outcome.usage.input_tokens if outcome.usage else None
            self._limiter.succeeded(admission, input_tokens=n_input)
            return
        kind: FailureKind = "other"
        if outcome.status == "timeout":
            kind = "timeout"
        elif outcome.is_overload:
            kind = "refused" if outcome.http_status == _TOO_MANY else "overloaded"
        hold = min(outcome.retry_after_seconds or 0.0, self._retry.longest_wait_seconds)
        self._limiter.failed(admission, kind=kind, hold_seconds=hold)

    def _guess_form(
        self, request: ModelRequest, failure: RequestFailed, failures: _Failures
    ) -> None:
        """Let the first request be sent in another form after failures without a reason."""
        is_first = not self._is_known and not self.has_answered and not self.model.is_at_vendor
        may_be_form = failure.may_be_form and request.schema is not None
        if not is_first or not may_be_form or failure.remedy == "adapt":
            return
        failures.n_unexplained += 1
        if failures.n_unexplained < _GUESSES:
            failure.remedy = "retry"
        elif self._features.suspect_form(request, failure):
            failures.n_unexplained = 0

    def _wait_seconds(
        self, request: ModelRequest, failure: RequestFailed, failures: _Failures
    ) -> float | None:
        """Return the wait before the next attempt; None for no further attempt."""
        self._guess_form(request, failure, failures)
        if failure.remedy == "adapt":
            return 0.0
        if failure.remedy != "retry" or (
            failure.is_overload and self._is_overloaded_for_long(failure)
        ):
            return None
        wait = failure.retry_after_seconds
        if not failure.is_overload or self._retry.counts_overload:
            failures.n_counted += 1
            return self._retry.wait_seconds(
                failures.n_counted, retry_after_seconds=wait, rng=self._rng
            )
        failures.n_refused += 1
        is_alone = loop_time() - self._answered_at < _RECENT_SECONDS
        if is_alone and failure.http_status != _TOO_MANY and failures.n_refused >= _MOST_REFUSALS:
            return None
        return self._retry.overload_wait_seconds(
            failures.n_refused, retry_after_seconds=wait, rng=self._rng
        )

    def _is_overloaded_for_long(self, failure: RequestFailed) -> bool:
        """Return whether the vendor's overload has lasted too long; then the model is stopped."""
        self._overloaded_since = min(self._overloaded_since, loop_time())
        if loop_time() - self._overloaded_since <= self._retry.patience_seconds:
            return False
        minutes = self._retry.patience_seconds / 60
        self.stop(f"overloaded for {minutes:.0f} minutes without a reply: {failure}")
        return True

    def _concerns_one_input(self, failure: RequestFailed) -> bool:
        """Return whether a model that has answered others refuses one of them: filters do."""
        return failure.http_status == _FORBIDDEN and self.has_answered

    def _give_up(self, failure: RequestFailed) -> None:
        """Count a request that is given up; too many consecutive ones stop the model."""
        self._features.forget_suspicions()  # to leave them out did not help
        # An invalid request is no evidence about the others once the model has answered any.
        if failure.remedy == "give_up" and self.has_answered:
            return
        self._n_given_up_in_a_row += 1
        # Refusals come faster than replies: the first requests are waited for.
        is_waiting = any(number < _HOPELESS_AFTER for number in self._in_flight_numbers)
        n_replies = self.summary.n_replies + self._n_stored
        most = _HOPELESS_AFTER + n_replies // _REPLIES_PER_FAILURE
        if self._n_given_up_in_a_row >= most and not is_waiting:
            n = self._n_given_up_in_a_row
            self.stop(f"{n} requests in a row failed, the last with: {failure}")

    def _charged_usd(self, request: ModelRequest, outcome: Outcome) -> float:
        """Return the charge of an attempt: its cost, or an estimate if that is unknown."""
        if isinstance(outcome, RequestFailed) and outcome.may_be_billed:
            most_usd = self.model.most_usd(request)
            n_priced = self.summary.n_replies - self.summary.n_unpriced
            if n_priced < _FEWEST_PRICED:
                return most_usd
            return min(most_usd, _MEAN_FACTOR * self.summary.known_usd / n_priced)
        reply = outcome.reply if isinstance(outcome, RequestFailed) else outcome
        if reply is None:
            return 0.0
        cost = self.model.cost_usd(reply.usage)
        if cost is None and reply.usage is None:
            cost = self.model.cost_usd(self.model.estimated_usage(request, reply.text))
        return self.model.most_usd(request) if cost is None else cost

    def _count_charge(self, request: ModelRequest, outcome: Outcome, *, charged_usd: float) -> None:
        """Count a charge if the cost is unknown; warn once of a reply that is too long."""
        usage = outcome.usage if isinstance(outcome, Reply) else None
        if usage and usage.output_tokens > request.max_tokens and not self._exceeds_limits:
            self._exceeds_limits = True
            logger.warning(
                "%s: a reply has %d output tokens, and %d were allowed. Where a server does "
                "not keep this limit, a budget may be exceeded",
                self.model.id,
                usage.output_tokens,
                request.max_tokens,
            )
        if usage is None and charged_usd:
            more_usd = max(0.0, self.model.most_usd(request) - charged_usd)
            self.summary.count_estimate(charged_usd, more_usd=more_usd)


AnyModelClient = ModelClient[Judge] | ModelClient[Generator]
