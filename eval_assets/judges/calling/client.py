"""Client of one model: limiter, deadline, budget, retries and ledger."""

import asyncio
import logging
import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Generic

import numpy as np

from eval_assets.config.judges import Generator, Judge, Setting
from eval_assets.judges.calling.budget import Budget, Reservation
from eval_assets.judges.calling.ledger_writer import LedgerWriter, attempt_row
from eval_assets.judges.calling.limiter import Admission, FailureKind, Limiter, loop_time
from eval_assets.judges.calling.live_model import Declared, FeatureMemory, LiveModel
from eval_assets.judges.calling.progress import Estimate, ModelSummary
from eval_assets.judges.calling.requests import Message, ModelRequest, Outcome, RequestFailed
from eval_assets.judges.clients import Connections
from eval_assets.judges.credentials import api_key_name
from eval_assets.ledger import CallSubject, EndpointMemory, Reply, Status

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

_LONG_SECONDS = 15.0
"""A wait that is told: longer ones are those that a vendor asks for."""

_JITTER = 0.2
"""Share by which a wait is lengthened or shortened at random, so that requests which failed
together do not come back together."""

_FORBIDDEN = 403
_REMEDIES = {401: ". See {key}", _FORBIDDEN: ". See {key}", 404: ". See model and base_url"}
_TOO_MANY = 429

_OVERLOAD_SHARE, _OVERLOAD_GROWTH, _MOST_GROWTHS = 0.2, 1.5, 20

BUDGET_USED_UP = RequestFailed("the budget is used up", status="budget_stopped", is_sent=False)
_INTERRUPTED = "given up when the run was interrupted"


@dataclass(frozen=True)
class RetryPolicy:
    """Conditions and delays of retries.

    Args:
        delays_seconds: Wait before each retry: four waits make at most five attempts.
        longest_wait_seconds: Ceiling of a wait that a vendor asks for.
        patience_seconds: How long an overloaded vendor may send no reply before it is given up.
        counts_overload: Whether a refusal by an overloaded vendor counts as a failure, because
            somebody waits for the result.
    """

    delays_seconds: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0)
    longest_wait_seconds: float = 120.0
    patience_seconds: float = 3600.0
    counts_overload: bool = False

    def is_refusal(self, failure: RequestFailed) -> bool:
        """Return whether an overloaded vendor refused a request, and another try may wait."""
        return failure.is_overload and not self.counts_overload

    def wait_seconds(
        self, failure: RequestFailed, n_failed: int, *, rng: np.random.Generator
    ) -> float | None:
        """Return the wait after the `n_failed`-th failure of its kind; None to give it up.

        The wait for an overloaded vendor begins short, because the refusal may be chance, and the
        limiter sets the pace of all. A wait that the vendor asks for is kept if it is longer.
        """
        vendor_wait = min(failure.retry_after_seconds or 0.0, self.longest_wait_seconds)
        if self.is_refusal(failure):
            growth = _OVERLOAD_GROWTH ** min(n_failed - 1, _MOST_GROWTHS)
            wait = min(self.delays_seconds[-1], _OVERLOAD_SHARE * self.delays_seconds[0] * growth)
            return max(wait * rng.uniform(0.5, 1.5), vendor_wait)
        if n_failed > len(self.delays_seconds):
            return None
        spread = rng.uniform(1 - _JITTER, 1 + _JITTER)
        return max(self.delays_seconds[n_failed - 1] * spread, vendor_wait)


@dataclass(frozen=True)
class Shared:
    """What the clients of a run share; `tasks` are the requests under way, by key."""

    writer: LedgerWriter
    budget: Budget
    retry: RetryPolicy
    rng: np.random.Generator
    ask_again: Collection[Status]
    tasks: dict[str, asyncio.Task[Outcome]] = field(default_factory=dict)


class ModelClient(Generic[Declared]):
    """Client of one model, which may be stopped.

    The limiter is shared by judges of one model and account. Equal requests are sent once. `memory`
    is what earlier runs found out about the endpoint. Unless they did, or somebody waits, one
    request is sent alone at first: what it takes is found out once.
    """

    def __init__(
        self,
        model: LiveModel[Declared],
        connections: Connections,
        *,
        limiter: Limiter,
        shared: Shared,
        memory: EndpointMemory,
    ) -> None:
        self.model: LiveModel[Declared] = model
        self.summary = ModelSummary(model.id, Estimate(model))
        self.connections = connections
        self.in_flight: dict[asyncio.Task[Any], int] = {}  # in the order of sending
        self.has_answered = False  # in this run or an earlier one
        self.ask_again = shared.ask_again
        # Units that wait for a retry or a commit make room for others, but not without end: in an
        # outage only so many are given up before it is noticed.
        self.open_tasks = asyncio.Semaphore(2 * model.declared.most_in_flight)
        self._limiter = limiter
        self._shared = shared
        self._writer = shared.writer
        self._retry = shared.retry
        self._n_given_up_in_a_row = 0
        self._latest_given_up: RequestFailed | None = None
        self._n_stored = 0
        self._answered_at = -math.inf
        self._is_known = memory.in_flight is not None or shared.retry.counts_overload
        self._probe = asyncio.Lock()
        self._n_sent = 0
        self._overloaded_since = math.inf
        self._waits_until = -math.inf
        self._features = FeatureMemory(model, memory.refused)

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
        task = self._shared.tasks.get(request.key)
        if task is None:
            task = asyncio.create_task(self._ask(request, subject, reservation))
            self._shared.tasks[request.key] = task
        # Shielded: a request that is paid for is recorded even if no task waits for it any more.
        return await asyncio.shield(task)

    async def reply_within_budget(self, request: ModelRequest, subject: CallSubject) -> Outcome:
        """Send a request if the budget has what it may cost; see `reply_to`."""
        most_usd = self.model.most_usd(request)
        if not await self._shared.budget.reserve(most_usd):
            return BUDGET_USED_UP
        reservation = Reservation(self._shared.budget, most_usd)
        try:
            return await self.reply_to(request, subject, reservation)
        finally:
            reservation.release()

    async def keys_in_batches(self, keys: Sequence[str]) -> frozenset[str]:
        """Return the requests of these that the vendor works on in a batch."""
        return await asyncio.to_thread(self._writer.ledger.keys_in_batches, keys)

    @property
    def unsent(self) -> RequestFailed:
        """The failure of requests that are not sent because the model is stopped."""
        return RequestFailed(self.summary.stopped, is_sent=False)

    def stop(self, reason: str) -> None:
        """Stop sending requests, and log the reason once."""
        if not self.summary.stopped:
            self.summary.stopped = reason
            logger.error("%s is stopped: %s", self.model.id, reason)

    def stop_if_silent(self) -> None:
        """Stop a model that gave no reply to any request, however few there were."""
        if self._latest_given_up and not self.has_answered:
            self.stop(f"no request was answered, the last failed with: {self._latest_given_up}")

    def count(self, outcome: Outcome) -> None:
        """Count an attempt, and the cost of its reply."""
        self.summary.n_attempts += 1
        if isinstance(outcome, RequestFailed):
            # A filter may refuse one input of a model that has answered others.
            is_of_one_input = outcome.http_status == _FORBIDDEN and self.has_answered
            if outcome.remedy == "stop" and not is_of_one_input:
                hint = _REMEDIES.get(outcome.http_status or 0, "")
                self.stop(str(outcome) + hint.format(key=api_key_name(self.model.declared)))
            return
        self._n_given_up_in_a_row = 0
        self.has_answered = True
        self._answered_at = loop_time()
        self._overloaded_since = math.inf
        cost_usd = self.model.cost_usd(outcome.usage)
        self.summary.n_replies += 1
        self.summary.n_unpriced += cost_usd is None
        self.summary.known_usd += cost_usd or 0.0

    async def _ask(
        self, request: ModelRequest, subject: CallSubject, reservation: Reservation
    ) -> Outcome:
        """Send a request until there is a reply or it is given up; the first one alone."""
        try:
            if not self._is_known:
                async with self._probe:
                    if not self._is_known:
                        outcome = await self._send(request, subject, reservation)
                        self._is_known = isinstance(outcome, Reply) or outcome.is_sent
                        return outcome
            return await self._send(request, subject, reservation)
        finally:
            del self._shared.tasks[request.key]  # another unit with the same text uses the ledger

    async def _send(
        self, request: ModelRequest, subject: CallSubject, reservation: Reservation
    ) -> Outcome:
        """Send a request, and send it again after failures that may pass."""
        number, failures = 1, Counter[str]()
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
            if outcome is None or self._is_empty_for_its_form(request, outcome):
                continue
            if isinstance(outcome, Reply) or not outcome.is_sent:
                return outcome
            number += 1
            wait_seconds = self._wait_seconds(request, outcome, failures)
            if wait_seconds is None:
                self._give_up(outcome)
                return outcome
            if wait_seconds > _LONG_SECONDS and loop_time() > self._waits_until:
                self._waits_until = loop_time() + wait_seconds
                logger.warning("%s waits %.0f s: %s", self.model.id, wait_seconds, outcome)
            await asyncio.sleep(wait_seconds)

    def _is_empty_for_its_form(self, request: ModelRequest, outcome: Outcome) -> bool:
        """Return whether an unknown server's first reply is empty, and another form is to try."""
        is_empty = (
            isinstance(outcome, Reply) and outcome.status == "ok" and not outcome.text.strip()
        )
        if not is_empty or self._is_known or self.model.is_at_vendor:
            return False
        return self._features.suspect_form(request, RequestFailed("the reply is empty"))

    async def _attempt(
        self,
        request: ModelRequest,
        subject: CallSubject,
        reservation: Reservation,
        *,
        number: int,
    ) -> Outcome | None:
        """Send a request once the limiter allows, and record the outcome.

        None if the model is known by then to refuse its form, or the ledger does not store what
        arrives: the request is looked up again, which waits for it.
        """
        admission = await self._limiter.admit(input_tokens=request.estimated_tokens)
        is_outdated = self._features.fit(request).key != request.key
        if self._writer.failure or self.summary.stopped or is_outdated or self._writer.is_late:
            self._limiter.dropped(admission)
            self._writer.require_working()
            return self.unsent if self.summary.stopped else None
        if (task := asyncio.current_task()) is not None:
            self.in_flight[task] = self._n_sent
            task.add_done_callback(lambda ended: self.in_flight.pop(ended, None))
        self._n_sent += 1
        started_at = datetime.now(UTC)
        outcome: Outcome = RequestFailed(_INTERRUPTED, may_be_billed=True)
        try:
            outcome = await self._reply_in_time(request)
        finally:
            self._features.heed(request, outcome)
            self.count(outcome)
            self._end(admission, outcome)
            attempt = attempt_row(
                request.key,
                self.model,
                subject,
                outcome,
                number=number,
                started_at=started_at,
                charged_usd=self._charge(request, outcome, reservation),
            )
            recorded = self._writer.record(attempt, request.prompt)
        await asyncio.shield(recorded)
        if task is not None:
            self.in_flight.pop(task, None)
        return outcome

    async def _reply_in_time(self, request: ModelRequest) -> Outcome:
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

    def _wait_seconds(
        self, request: ModelRequest, failure: RequestFailed, failures: Counter[str]
    ) -> float | None:
        """Return the wait before the next attempt; None for no further attempt."""
        is_first = not self._is_known and not self.has_answered and not self.model.is_at_vendor
        may_be_form = failure.may_be_form and request.schema is not None
        if is_first and may_be_form and failure.remedy != "adapt":
            # The first request is sent in another form after failures without a reason.
            failures["unexplained"] += 1
            if failures["unexplained"] < _GUESSES:
                failure.remedy = "retry"
            elif self._features.suspect_form(request, failure):
                failures["unexplained"] = 0
        if failure.remedy == "adapt":
            return 0.0
        if failure.remedy != "retry" or (
            failure.is_overload and self._is_overloaded_for_long(failure)
        ):
            return None
        is_refusal = self._retry.is_refusal(failure)
        kind = "refused" if is_refusal else "counted"
        failures[kind] += 1
        if is_refusal:
            is_alone = loop_time() - self._answered_at < _RECENT_SECONDS
            is_too_many = failures[kind] >= _MOST_REFUSALS
            if is_alone and failure.http_status != _TOO_MANY and is_too_many:
                return None
        return self._retry.wait_seconds(failure, failures[kind], rng=self._shared.rng)

    def _is_overloaded_for_long(self, failure: RequestFailed) -> bool:
        """Return whether the vendor's overload has lasted too long; then the model is stopped."""
        self._overloaded_since = min(self._overloaded_since, loop_time())
        if loop_time() - self._overloaded_since <= self._retry.patience_seconds:
            return False
        minutes = self._retry.patience_seconds / 60
        self.stop(f"overloaded for {minutes:.0f} minutes without a reply: {failure}")
        return True

    def _give_up(self, failure: RequestFailed) -> None:
        """Count a request that is given up; too many consecutive ones stop the model."""
        self._features.forget_suspicions()  # to leave them out did not help
        self._latest_given_up = failure
        # An invalid request is no evidence about the others once the model has answered any.
        if failure.remedy == "give_up" and self.has_answered:
            return
        self._n_given_up_in_a_row += 1
        # Refusals come faster than replies: the first requests are waited for.
        is_waiting = min(self.in_flight.values(), default=math.inf) < _HOPELESS_AFTER
        n_replies = self.summary.n_replies + self._n_stored
        most = _HOPELESS_AFTER + n_replies // _REPLIES_PER_FAILURE
        if self._n_given_up_in_a_row >= most and not is_waiting:
            n = self._n_given_up_in_a_row
            self.stop(f"{n} requests in a row failed, the last with: {failure}")

    def _charge(self, request: ModelRequest, outcome: Outcome, reservation: Reservation) -> float:
        """Charge an attempt with its cost, or an estimate if that is unknown; return the charge."""
        summary, most_usd, charged_usd = self.summary, self.model.most_usd(request), 0.0
        reply = outcome.reply if isinstance(outcome, RequestFailed) else outcome
        usage = reply.usage if reply else None
        if isinstance(outcome, RequestFailed) and outcome.may_be_billed:
            n_priced = summary.n_replies - summary.n_unpriced
            charged_usd = most_usd
            if n_priced >= _FEWEST_PRICED:
                charged_usd = min(most_usd, _MEAN_FACTOR * summary.known_usd / n_priced)
        elif reply is not None:
            cost_usd = self.model.cost_usd(usage or self.model.estimated_usage(request, reply.text))
            charged_usd = most_usd if cost_usd is None else cost_usd
        if usage is None:
            summary.estimated_usd += charged_usd
            summary.uncertain_usd += max(0.0, most_usd - charged_usd) if charged_usd else 0.0
        reservation.charge(charged_usd)
        return charged_usd


AnyModelClient = ModelClient[Judge] | ModelClient[Generator]
