"""When a request may be sent: never faster than configured, and as fast as the vendor takes."""

import asyncio
from collections import deque
from dataclasses import dataclass

from eval_assets.judges.calling.shared_rate_limits import SharedRates, loop_time

_MINUTE = 60.0
_WINDOW = 61.0
"""Seconds over which a rate is held: requests sent a minute apart may arrive a little closer."""

_BURST_SECONDS = 1.0
"""How far requests may run ahead of an even pace: vendors also enforce a rate by the second."""

_FIRST_IN_FLIGHT = 16
_DECREASE = 0.5


class Rate:
    """At most so much a minute, over any minute, and evenly within it.

    Raises:
        ValueError: If the rate is not above 0.
    """

    def __init__(self, per_minute: float) -> None:
        if not per_minute > 0:
            raise ValueError(f"a rate must be above 0 a minute, got {per_minute:g}")
        self.per_minute = per_minute
        self._admissions: deque[Admission] = deque()
        self._total = 0.0
        self._paced_until = 0.0

    def opens_at(self, amount: float, *, now: float) -> float:
        """Return when `amount` more may be taken, at the earliest `now`."""
        self._forget(now - _WINDOW)
        opens_at = max(now, self._paced_until - _BURST_SECONDS)
        excess = self._total + min(amount, self.per_minute) - self.per_minute
        for admission in self._admissions:
            if excess <= 0:
                break
            excess -= admission.amount
            opens_at = max(opens_at, admission.at + _WINDOW)
        return opens_at

    def take(self, amount: float, *, now: float) -> "Admission":
        """Count `amount` as taken now."""
        admission = Admission(at=now, amount=min(amount, self.per_minute))
        self._admissions.append(admission)
        self._total += admission.amount
        self._paced_until = max(self._paced_until, now) + amount * _MINUTE / self.per_minute
        return admission

    def amend(self, admission: "Admission", *, amount: float) -> None:
        """Correct what was taken, once it is known."""
        amount = min(amount, self.per_minute)
        if admission.is_counted:
            self._total += amount - admission.amount
        admission.amount = amount

    def _forget(self, until: float) -> None:
        while self._admissions and self._admissions[0].at <= until:
            forgotten = self._admissions.popleft()
            forgotten.is_counted = False
            self._total -= forgotten.amount


@dataclass
class Admission:
    """An amount taken from a rate; of a request also its estimated tokens and its grant."""

    at: float
    amount: float
    is_counted: bool = True
    estimated: int = 0
    grant_id: int | None = None


class Limiter:
    """Decides when the requests to one model start.

    A configured rate is kept over any minute. How many requests may be in flight is found out: the
    number doubles with every round of successes until the vendor first complains, is halved when
    it does, and from then on grows by one a round. A wait that the vendor asks for holds back
    every request. Waiting requests start in the order in which they came.

    Args:
        requests_per_minute: Most requests in any minute; None for no such limit.
        input_tokens_per_minute: Most input tokens in any minute; None for no such limit.
        max_in_flight: Most requests at a time.
        shared: The rates as all processes keep them together; None if nobody else asks.
    """

    def __init__(
        self,
        *,
        requests_per_minute: float | None,
        input_tokens_per_minute: float | None,
        max_in_flight: int,
        shared: SharedRates | None = None,
    ) -> None:
        self._requests = None if requests_per_minute is None else Rate(requests_per_minute)
        self._tokens = None if input_tokens_per_minute is None else Rate(input_tokens_per_minute)
        self._shared = shared
        self._n_estimated = 0
        self._n_counted = 0
        self._most = max_in_flight
        self._allowed = float(min(_FIRST_IN_FLIGHT, max_in_flight))
        self._is_starting = True
        self._in_flight = 0
        self._held_until = 0.0
        self._complained_at = float("-inf")
        self._turn = asyncio.Lock()  # first come, first served: only its holder waits for a start
        self._ended = asyncio.Event()

    @property
    def allowed_in_flight(self) -> int:
        """How many requests may be in flight just now."""
        return int(self._allowed)

    async def admit(self, *, input_tokens: int) -> Admission:
        """Wait until a request may start, and return its admission."""
        estimated = input_tokens
        async with self._turn:
            while self._in_flight >= self.allowed_in_flight:
                self._ended.clear()
                await self._ended.wait()
            input_tokens = self._expected(estimated)  # it may have waited long for its turn
            now = await self._open(input_tokens)
            self._in_flight += 1
            if self._requests:
                self._requests.take(1, now=now)
            admission = Admission(at=now, amount=input_tokens)
            if self._tokens:
                admission = self._tokens.take(input_tokens, now=now)
            admission.estimated = estimated
            if self._shared:
                admission.grant_id = self._shared.take(input_tokens)
            return admission

    def succeeded(self, admission: Admission, *, input_tokens: int | None) -> None:
        """End a request that was answered; `input_tokens` are by the vendor's count."""
        if self._tokens and input_tokens is not None:
            self._n_estimated += admission.estimated
            self._n_counted += input_tokens
            if self._shared and admission.grant_id is not None:
                expected = round(admission.amount)
                self._shared.amend(admission.grant_id, expected=expected, counted=input_tokens)
            self._tokens.amend(admission, amount=input_tokens)
        self._allowed += 1.0 if self._is_starting else 1.0 / self._allowed
        self._allowed = min(self._allowed, self._most)
        self.dropped()

    def failed(
        self, admission: Admission, *, is_overload: bool, hold_seconds: float | None
    ) -> None:
        """End a request that failed.

        Args:
            admission: Its admission.
            is_overload: Whether the vendor asks for fewer requests.
            hold_seconds: Wait that the vendor asks for.
        """
        if hold_seconds is not None:
            self._held_until = max(self._held_until, loop_time() + hold_seconds)
        # Of the requests that were in flight together the first complaint counts.
        if is_overload and admission.at > self._complained_at:
            self._complained_at = loop_time()
            self._is_starting = False
            self._allowed = max(1.0, self._allowed * _DECREASE)
        self.dropped()

    def dropped(self) -> None:
        """End a request that was not sent after all, or whose end says nothing."""
        self._in_flight -= 1
        self._ended.set()

    def _expected(self, estimated: int) -> int:
        """Return an estimate of tokens, corrected by how far off estimates were so far."""
        if not self._n_estimated:
            return estimated
        return round(estimated * self._n_counted / self._n_estimated)

    async def _open(self, input_tokens: int) -> float:
        """Wait until every limit allows one more request; return the time then."""
        while True:
            now = loop_time()
            opens_at = self._opens_at(input_tokens, now=now)
            if opens_at <= now and self._shared:
                granted_at = self._shared.opens_at(input_tokens, now=now)
                if granted_at is None:
                    await self._shared.renew(input_tokens)
                    continue
                opens_at = granted_at
            if opens_at <= now:
                return now
            await asyncio.sleep(opens_at - now)

    def _opens_at(self, input_tokens: int, *, now: float) -> float:
        """Return when every limit allows one more request."""
        opens_at = max(now, self._held_until)
        if self._requests:
            opens_at = max(opens_at, self._requests.opens_at(1, now=now))
        if self._tokens:
            opens_at = max(opens_at, self._tokens.opens_at(input_tokens, now=now))
        return opens_at
