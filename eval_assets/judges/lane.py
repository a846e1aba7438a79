"""One model being called: under its limiter, with a deadline, until something stops it."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from eval_assets.judges.call import Call, CallFailed, Client
from eval_assets.judges.clock import Clock
from eval_assets.judges.limiter import Limiter
from eval_assets.judges.live import LiveModel
from eval_assets.ledger import Reply

logger = logging.getLogger(__name__)

_HOPELESS_AFTER = 20
"""Calls lost in a row after which a model is stopped: it is down, or refuses whatever is sent."""

_CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True)
class Tried:
    """One attempt.

    Args:
        result: The reply, or why there is none.
        started_at: When it was made, UTC.
        latency_seconds: How long it took.
    """

    result: Reply | CallFailed
    started_at: datetime
    latency_seconds: float


class Lane:
    """One model being called.

    Args:
        model: The model.
        connect: Makes its client, when the first call is to be made: a run that finds everything in
            the ledger need not import an SDK.
        clock: Clock to go by.
        longest_wait_seconds: Ceiling of a wait that the vendor asks for.
    """

    def __init__(
        self,
        model: LiveModel,
        connect: Callable[[], Client],
        *,
        clock: Clock,
        longest_wait_seconds: float,
    ) -> None:
        calling = model.calling
        self.model = model
        self.stopped = ""
        self.spent_usd = 0.0
        self.n_unpriced = 0
        self.n_attempts = 0
        self.n_replies = 0
        # Units that wait for a retry or a commit make room for others, but not without end: in an
        # outage only so many are given up before it is noticed.
        self.open_units = asyncio.Semaphore(2 * calling.max_in_flight)
        self._connect = connect
        self._client: Client | None = None
        self._n_lost_in_a_row = 0
        self._clock = clock
        self._longest_wait_seconds = longest_wait_seconds
        self._limiter = Limiter(
            requests_per_minute=calling.requests_per_minute,
            input_tokens_per_minute=calling.input_tokens_per_minute,
            max_in_flight=calling.max_in_flight,
            clock=clock,
        )

    @property
    def client(self) -> Client:
        """The client, connected at the first use."""
        if self._client is None:
            self._client = self._connect()
        return self._client

    async def close(self) -> None:
        """Close the connections, if there are any."""
        if self._client is not None:
            await self._client.close()

    async def attempt(self, call: Call) -> Tried | None:
        """Ask once, when the limiter allows; None if the model was stopped meanwhile."""
        admission = await self._limiter.admit(input_tokens=call.size // _CHARACTERS_PER_TOKEN)
        if self.stopped:
            self._limiter.dropped()
            return None
        self.n_attempts += 1
        started_at, started = datetime.now(UTC), self._clock.now()
        result = await self._ask(call)
        latency = self._clock.now() - started
        if isinstance(result, Reply):
            n_input = result.usage.input_tokens if result.usage else None
            self._limiter.succeeded(admission, input_tokens=n_input)
            self.answered(result)
        else:
            hold = result.retry_after_seconds
            if hold is not None:
                hold = min(hold, self._longest_wait_seconds)
            self._limiter.failed(admission, is_overload=result.is_overload, hold_seconds=hold)
            if result.remedy == "stop":
                self.stop(str(result))
        return Tried(result, started_at, latency)

    def lost(self, failure: CallFailed) -> None:
        """Count a call that is given up; too many in a row stop the model."""
        # A refused request says nothing of the others once some were answered.
        if failure.remedy == "retry" or not self.n_replies:
            self._n_lost_in_a_row += 1
        if self._n_lost_in_a_row >= _HOPELESS_AFTER:
            self.stop(f"{self._n_lost_in_a_row} calls in a row failed, the last with: {failure}")

    def stop(self, reason: str) -> None:
        """Make no more calls, and say why once."""
        if not self.stopped:
            self.stopped = reason
            logger.error("%s is stopped: %s", self.model.id, reason)

    def answered(self, reply: Reply) -> None:
        """Count a reply and its cost."""
        self.n_replies += 1
        self._n_lost_in_a_row = 0
        cost = self.model.cost_usd(reply.usage)
        if cost is None:
            self.n_unpriced += 1
        else:
            self.spent_usd += cost

    async def _ask(self, call: Call) -> Reply | CallFailed:
        """Ask once, with a deadline."""
        seconds = self.model.calling.timeout_seconds
        try:
            async with asyncio.timeout(seconds):
                return await self.client.ask(call)
        except TimeoutError:
            message = f"no reply within {seconds:g} s"
            return CallFailed(message, remedy="retry", is_timeout=True, may_be_billed=True)
        except CallFailed as failure:
            return failure
