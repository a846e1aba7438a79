"""Rate control of requests: within the configured limits, and as fast as the vendor accepts."""

import asyncio
import math
from collections import deque
from dataclasses import dataclass

from eval_assets.judges.calling.shared_rate_limits import SharedRates, loop_time

_FIRST_IN_FLIGHT = 16
_DECREASE = 0.5
_MINUTE = 60.0
_MOST_DOUBLINGS = 20
_MOST_COUNTED = 10_000
"""Number of replies of the last minute that are counted; a faster model is not paced."""


@dataclass(frozen=True)
class Admission:
    """A request that may start: when, its tokens by the estimate and as corrected, its grant."""

    at: float
    estimated: int
    expected: int
    grant_id: int | None


class Limiter:
    """Rate control of the requests to one model.

    The rates that are configured are kept together with all processes. How many requests may be in
    flight is found out: the number doubles with every round of successes until the vendor first
    complains, is halved when it does, and from then on grows by one a round. A wait that the vendor
    asks for holds back every request. If it asks for none and complains again, every request is
    held back for a time that doubles with each complaint, and then sent at the rate of replies
    before, which grows until the next complaint. Waiting requests start in the order in which they
    came.

    Args:
        max_in_flight: Most requests at a time.
        rates: Rates of requests and tokens; None for no such limits.
        first_backoff_seconds: First time for which a second complaint holds requests back.
        longest_backoff_seconds: Ceiling of that time.
    """

    def __init__(
        self,
        *,
        max_in_flight: int,
        rates: SharedRates | None,
        first_backoff_seconds: float = 1.0,
        longest_backoff_seconds: float = 60.0,
    ) -> None:
        self._rates = rates
        self._first_backoff_seconds = first_backoff_seconds
        self._longest_backoff_seconds = longest_backoff_seconds
        self._n_complaints = 0
        self._first_started_at: float | None = None
        self._replied_at: deque[float] = deque(maxlen=_MOST_COUNTED)
        self._replies_per_second = math.inf
        self._started_at = float("-inf")
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
        """Return the number of requests that may be in flight now."""
        return int(self._allowed)

    async def admit(self, *, input_tokens: int) -> Admission:
        """Wait until a request may start, and return its admission."""
        async with self._turn:
            while self._in_flight >= self.allowed_in_flight:
                self._ended.clear()
                await self._ended.wait()
            expected = self._expected(input_tokens)  # it may have waited long for its turn
            now = await self._open(expected)
            self._in_flight += 1
            self._started_at = now
            if self._first_started_at is None:
                self._first_started_at = now
            grant_id = self._rates.take(expected) if self._rates else None
            return Admission(now, input_tokens, expected, grant_id)

    def succeeded(self, admission: Admission, *, input_tokens: int | None) -> None:
        """End a request that was answered; `input_tokens` is the vendor's count."""
        if input_tokens is not None:
            self._n_estimated += admission.estimated
            self._n_counted += input_tokens
            if self._rates and admission.grant_id is not None:
                grant_id, expected = admission.grant_id, admission.expected
                self._rates.amend(grant_id, expected=expected, tokens=input_tokens)
        self._replied_at.append(loop_time())
        if admission.at >= self._complained_at:
            self._n_complaints = 0
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
        if is_overload and admission.at >= self._complained_at:
            self._complained_at = loop_time()
            self._is_starting = False
            self._allowed = max(1.0, self._allowed * _DECREASE)
            self._n_complaints += 1
            if hold_seconds is None and self._n_complaints > 1:
                self._back_off()
        self.dropped()

    def dropped(self) -> None:
        """End a request that was not sent after all, or whose outcome is no evidence."""
        self._in_flight -= 1
        self._ended.set()

    def _back_off(self) -> None:
        """Hold every request back; a vendor that names no wait has complained again."""
        # A single complaint may be chance. From the second on no request since was answered.
        n_before, now = self._n_complaints - 2, loop_time()
        seconds = self._first_backoff_seconds * 2.0 ** min(n_before, _MOST_DOUBLINGS)
        self._held_until = max(self._held_until, now + min(seconds, self._longest_backoff_seconds))
        if n_before == 0:
            self._replies_per_second = self._recent_rate(now)

    def _recent_rate(self, now: float) -> float:
        """Return the replies per second of the last minute; infinity without any."""
        while self._replied_at and self._replied_at[0] < now - _MINUTE:
            self._replied_at.popleft()
        started_at = now if self._first_started_at is None else self._first_started_at
        seconds = min(max(now - started_at, 1.0), _MINUTE)
        return len(self._replied_at) / seconds or math.inf

    def _paced_at(self, now: float) -> float:
        """Return when the next request may start at the observed rate."""
        if math.isinf(self._replies_per_second):
            return now
        # Cubic growth stays near the rate for half a minute and doubles it within one.
        quiet_minutes = max(0.0, now - max(self._complained_at, self._held_until)) / _MINUTE
        return self._started_at + 1 / (self._replies_per_second * (1 + quiet_minutes**3))

    def _expected(self, estimated: int) -> int:
        """Return an estimate of tokens, corrected by the errors of earlier estimates."""
        if not self._n_estimated:
            return estimated
        return round(estimated * self._n_counted / self._n_estimated)

    async def _open(self, input_tokens: int) -> float:
        """Wait until every limit allows one more request; return the time then."""
        while True:
            now = loop_time()
            opens_at = max(self._held_until, self._paced_at(now))
            if opens_at <= now and self._rates:
                granted_at = self._rates.opens_at(input_tokens, now=now)
                if granted_at is None:
                    await self._rates.renew(input_tokens)
                    continue
                opens_at = granted_at
            if opens_at <= now:
                return now
            await asyncio.sleep(opens_at - now)
