"""Calls until they are answered: the ledger, the budget and the retry policy in one place."""

import asyncio
import itertools
from collections.abc import Collection
from dataclasses import dataclass
from typing import Self

import numpy as np

from eval_assets.judges.budget import Budget
from eval_assets.judges.call import Call, CallFailed
from eval_assets.judges.clock import Clock
from eval_assets.judges.lane import Lane, Tried
from eval_assets.judges.recorder import Recorder
from eval_assets.judges.retry import RetryPolicy
from eval_assets.judges.verdict import Status
from eval_assets.ledger import Attempt, Ledger, Operation, Reply

_KEYS_PER_LOOKUP = 10_000


@dataclass(frozen=True)
class Subject:
    """What a call is about, for the ledger.

    Args:
        operation: What the call is for.
        response_id: Response that is judged, or to be made.
        question_id: Rubric question; None for a generation.
        replicate: Number of the replicate.
    """

    operation: Operation
    response_id: str | None
    question_id: str | None = None
    replicate: int = 0


@dataclass(frozen=True)
class Outcome:
    """What came of a call, retries included.

    Args:
        status: `ok` where a whole reply arrived.
        text: The reply; empty where none arrived.
        error: Why none arrived; empty where one did.
    """

    status: Status
    text: str = ""
    error: str = ""

    @property
    def has_reply(self) -> bool:
        """Whether a reply arrived, whole or not: then the call is not made again."""
        return self.status in ("ok", "truncated", "refused", "content_filter")


class Caller:
    """Makes calls; what was answered before comes from the ledger.

    Args:
        ledger: Where attempts are kept, across runs.
        budget: What may be spent.
        retry: When a failed call is tried again.
        clock: Clock to go by.
        rng: Source of the retries' jitter.
    """

    def __init__(
        self,
        ledger: Ledger,
        *,
        budget: Budget,
        retry: RetryPolicy,
        clock: Clock,
        rng: np.random.Generator,
    ) -> None:
        self._ledger = ledger
        self._recorder = Recorder(ledger)
        self._budget = budget
        self._retry = retry
        self._clock = clock
        self._rng = rng
        self._stored: dict[str, Reply] = {}
        self._running: dict[str, asyncio.Future[Outcome]] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Wait until every reply that arrived is committed, also when the run is cut short."""
        await self._recorder.close()

    async def look_up(self, keys: Collection[str]) -> None:
        """Fetch the replies that the ledger holds for these calls."""
        missing = [key for key in dict.fromkeys(keys) if key not in self._stored]
        for start in range(0, len(missing), _KEYS_PER_LOOKUP):
            chunk = missing[start : start + _KEYS_PER_LOOKUP]
            self._stored |= await asyncio.to_thread(self._ledger.replies, chunk)

    def stored(self, key: str) -> Outcome | None:
        """What is known of a call that was looked up or made; None where it must be made."""
        reply = self._stored.get(key)
        return None if reply is None else Outcome(reply.status, reply.text)

    async def ask(self, call: Call, lane: Lane, subject: Subject) -> Outcome:
        """Ask until there is a reply, or no hope of one.

        The same call for another unit, one with the same text, is not made a second time.
        """
        if (known := self.stored(call.key)) is not None:
            return known
        if (running := self._running.get(call.key)) is not None:
            return await asyncio.shield(running)
        running = self._running[call.key] = asyncio.get_running_loop().create_future()
        try:
            outcome = await self._ask_patiently(call, lane, subject)
            running.set_result(outcome)
        finally:
            running.cancel()
            del self._running[call.key]
        return outcome

    async def _ask_patiently(self, call: Call, lane: Lane, subject: Subject) -> Outcome:
        """Ask, and again after failures that may pass."""
        most_usd = lane.model.most_usd(call)
        for n_attempts in itertools.count(1):
            if lane.stopped:
                break
            if not await self._budget.set_aside(most_usd):
                return Outcome("budget_stopped", error="the budget is used up")
            tried = await lane.attempt(call)
            if tried is None:
                self._budget.settle(most_usd, spent_usd=0.0)
                break
            self._budget.settle(most_usd, spent_usd=_spent_usd(tried, lane, most_usd))
            row = attempt_row(call.key, lane, subject, n_attempts=n_attempts, tried=tried)
            await self._recorder.record(row)
            if isinstance(tried.result, Reply):
                return self._answered(call, tried.result)
            wait_seconds = self._wait_seconds(tried.result, n_attempts)
            if wait_seconds is None:
                lane.lost(tried.result)
                status: Status = "timeout" if tried.result.is_timeout else "api_error"
                return Outcome(status, error=str(tried.result))
            await self._clock.sleep(wait_seconds)
        return Outcome("api_error", error=lane.stopped)

    def _answered(self, call: Call, reply: Reply) -> Outcome:
        self._stored[call.key] = Reply(reply.text, reply.status)
        return Outcome(reply.status, reply.text)

    def _wait_seconds(self, failure: CallFailed, n_failed: int) -> float | None:
        """How long to wait before the next attempt; None to make none."""
        if failure.remedy != "retry":
            return None
        return self._retry.wait_seconds(
            n_failed, retry_after_seconds=failure.retry_after_seconds, rng=self._rng
        )


def _spent_usd(tried: Tried, lane: Lane, most_usd: float) -> float:
    """What an attempt takes from the budget: where the bill is not known, the most it can be."""
    if isinstance(tried.result, Reply):
        cost = lane.model.cost_usd(tried.result.usage)
        return most_usd if cost is None else cost
    return most_usd if tried.result.may_be_billed else 0.0


def attempt_row(
    call_key: str, lane: Lane, subject: Subject, *, n_attempts: int, tried: Tried
) -> Attempt:
    """The ledger's row for an attempt."""
    endpoint = lane.model.endpoint
    result = tried.result
    reply = result if isinstance(result, Reply) else None
    usage = reply.usage if reply else None
    return Attempt(
        call_key=call_key,
        attempt=n_attempts,
        judge_id=lane.model.id,
        operation=subject.operation,
        response_id=subject.response_id,
        question_id=subject.question_id,
        replicate=subject.replicate,
        provider=endpoint.provider,
        base_url=endpoint.base_url,
        model_requested=endpoint.model,
        model_returned=reply.model_returned if reply else None,
        status=result.status,
        http_status=result.http_status,
        input_tokens=usage.input_tokens if usage else None,
        output_tokens=usage.output_tokens if usage else None,
        cached_input_tokens=usage.cached_input_tokens if usage else None,
        cost_usd=lane.model.cost_usd(usage),
        in_batch=lane.model.calling.batch,
        latency_seconds=tried.latency_seconds,
        started_at=tried.started_at,
        request_id=result.request_id,
        raw_output=reply.text if reply else None,
        error=None if reply else str(result),
    )
