"""When a request may be sent: never faster than configured, and as fast as the vendor takes."""

import asyncio
from dataclasses import dataclass

from eval_assets.judges.calling.shared_rate_limits import SharedRates, loop_time

_FIRST_IN_FLIGHT = 16
_DECREASE = 0.5


@dataclass(frozen=True)
class Admission:
    """A request that may start: when, its tokens by the estimate and as corrected, its grant."""

    at: float
    estimated: int
    expected: int
    grant_id: int | None


class Limiter:
    """Decides when the requests to one model start.

    The rates that are configured are kept together with all processes. How many requests may be in
    flight is found out: the number doubles with every round of successes until the vendor first
    complains, is halved when it does, and from then on grows by one a round. A wait that the vendor
    asks for holds back every request. Waiting requests start in the order in which they came.

    Args:
        max_in_flight: Most requests at a time.
        rates: Rates of requests and tokens; None for no such limits.
    """

    def __init__(self, *, max_in_flight: int, rates: SharedRates | None) -> None:
        self._rates = rates
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
            grant_id = self._rates.take(expected) if self._rates else None
            return Admission(now, input_tokens, expected, grant_id)

    def succeeded(self, admission: Admission, *, input_tokens: int | None) -> None:
        """End a request that was answered; `input_tokens` are by the vendor's count."""
        if input_tokens is not None:
            self._n_estimated += admission.estimated
            self._n_counted += input_tokens
            if self._rates and admission.grant_id is not None:
                grant_id, expected = admission.grant_id, admission.expected
                self._rates.amend(grant_id, expected=expected, counted=input_tokens)
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
            now, opens_at = loop_time(), self._held_until
            if opens_at <= now and self._rates:
                granted_at = self._rates.opens_at(input_tokens, now=now)
                if granted_at is None:
                    await self._rates.renew(input_tokens)
                    continue
                opens_at = granted_at
            if opens_at <= now:
                return now
            await asyncio.sleep(opens_at - now)
