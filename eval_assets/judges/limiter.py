"""When a judge may be called: never faster than configured, and as fast as its vendor takes."""

import asyncio
from collections import deque
from dataclasses import dataclass

from eval_assets.judges.clock import Clock

_MINUTE = 60.0
_WINDOW = 61.0
"""Seconds over which a rate is held: requests sent a minute apart may arrive a little closer."""

_BURST_SECONDS = 1.0
"""How far calls may run ahead of an even pace: vendors also enforce a minute's rate by second."""

_FIRST_IN_FLIGHT = 16
_DECREASE = 0.5


class Rate:
    """At most so much a minute, over any minute, and evenly within it.

    Args:
        per_minute: Most that any minute may hold.

    Raises:
        ValueError: If it is not above 0.
    """

    def __init__(self, per_minute: float) -> None:
        if not per_minute > 0:
            raise ValueError(f"a rate must be above 0 a minute, got {per_minute:g}")
        self.per_minute = per_minute
        self._taken: deque[_Taken] = deque()
        self._total = 0.0
        self._paced_until = 0.0

    def opens_at(self, amount: float, *, now: float) -> float:
        """When `amount` more may be taken, at the earliest `now`."""
        self._forget(now - _WINDOW)
        opens_at = max(now, self._paced_until - _BURST_SECONDS)
        excess = self._total + min(amount, self.per_minute) - self.per_minute
        for taken in self._taken:
            if excess <= 0:
                break
            excess -= taken.amount
            opens_at = max(opens_at, taken.at + _WINDOW)
        return opens_at

    def take(self, amount: float, *, now: float) -> "_Taken":
        """Count `amount` as taken now."""
        taken = _Taken(at=now, amount=min(amount, self.per_minute))
        self._taken.append(taken)
        self._total += taken.amount
        self._paced_until = max(self._paced_until, now) + amount * _MINUTE / self.per_minute
        return taken

    def amend(self, taken: "_Taken", *, amount: float) -> None:
        """Correct what was taken, once it is known."""
        amount = min(amount, self.per_minute)
        if taken.is_counted:
            self._total += amount - taken.amount
        taken.amount = amount

    def _forget(self, until: float) -> None:
        while self._taken and self._taken[0].at <= until:
            forgotten = self._taken.popleft()
            forgotten.is_counted = False
            self._total -= forgotten.amount


@dataclass
class _Taken:
    """What was taken of a rate, and when."""

    at: float
    amount: float
    is_counted: bool = True


@dataclass
class Admission:
    """Leave to make one call, to be handed back when it has ended."""

    started: float
    tokens: _Taken | None


class Limiter:
    """Decides when the calls of one judge start.

    A configured rate is kept over any minute. How many calls are in flight is found out: the
    number doubles with every round of successes until the vendor first complains, is halved when
    it does, and from then on grows by one a round. A wait that the vendor asks for holds back
    every call of the judge. Waiting calls start in the order in which they came.

    Args:
        requests_per_minute: Most requests in any minute; None for no such limit.
        input_tokens_per_minute: Most input tokens in any minute; None for no such limit.
        max_in_flight: Most calls at a time.
        clock: Clock to go by.
    """

    def __init__(
        self,
        *,
        requests_per_minute: float | None,
        input_tokens_per_minute: float | None,
        max_in_flight: int,
        clock: Clock,
    ) -> None:
        self._requests = None if requests_per_minute is None else Rate(requests_per_minute)
        self._tokens = None if input_tokens_per_minute is None else Rate(input_tokens_per_minute)
        self._clock = clock
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
        """How many calls may be in flight just now."""
        return int(self._allowed)

    async def admit(self, *, input_tokens: int) -> Admission:
        """Wait until a call may start.

        Args:
            input_tokens: Input tokens of the call, as estimated.
        """
        async with self._turn:
            while self._in_flight >= self.allowed_in_flight:
                self._ended.clear()
                await self._ended.wait()
            while (opens_at := self._opens_at(input_tokens)) > (now := self._clock.now()):
                await self._clock.sleep(opens_at - now)
            self._in_flight += 1
            if self._requests:
                self._requests.take(1, now=now)
            tokens = self._tokens.take(input_tokens, now=now) if self._tokens else None
            return Admission(started=now, tokens=tokens)

    def succeeded(self, admission: Admission, *, input_tokens: int | None) -> None:
        """Hand back the leave of a call that was answered.

        Args:
            admission: The leave.
            input_tokens: Input tokens by the vendor's count; None where it did not say.
        """
        if self._tokens and admission.tokens and input_tokens is not None:
            self._tokens.amend(admission.tokens, amount=input_tokens)
        self._allowed += 1.0 if self._is_starting else 1.0 / self._allowed
        self._allowed = min(self._allowed, self._most)
        self._end()

    def failed(
        self, admission: Admission, *, is_overload: bool, hold_seconds: float | None
    ) -> None:
        """Hand back the leave of a call that failed.

        Args:
            admission: The leave.
            is_overload: Whether the vendor asks for fewer calls.
            hold_seconds: How long the vendor asks to wait; None where it does not say.
        """
        if hold_seconds is not None:
            self._held_until = max(self._held_until, self._clock.now() + hold_seconds)
        # Of the calls that were in flight together the first complaint counts.
        if is_overload and admission.started > self._complained_at:
            self._complained_at = self._clock.now()
            self._is_starting = False
            self._allowed = max(1.0, self._allowed * _DECREASE)
        self._end()

    def dropped(self) -> None:
        """Hand back the leave of a call that was not made, or whose end nobody awaits."""
        self._end()

    def _end(self) -> None:
        self._in_flight -= 1
        self._ended.set()

    def _opens_at(self, input_tokens: int) -> float:
        """When every limit allows one more call."""
        now = self._clock.now()
        opens_at = max(now, self._held_until)
        if self._requests:
            opens_at = max(opens_at, self._requests.opens_at(1, now=now))
        if self._tokens:
            opens_at = max(opens_at, self._tokens.opens_at(input_tokens, now=now))
        return opens_at
