"""Rate control of requests: within the configured limits, and as fast as the server answers."""

import asyncio
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal

from eval_assets.ledger import USABLE_SECONDS, RateLimits

FailureKind = Literal["refused", "overloaded", "timeout", "other"]
"""Meaning of a failure for the limiter: 429; 503 or 529; no reply in time; no evidence."""

_PAYS = 0.4
"""Share of the ideal gain in replies that more requests in flight must bring to stay."""

_LATE = 0.25
"""Share of the timeout that replies may take before fewer in flight are tried."""

_HOLDS = 0.8
"""Share of the replies a second that fewer in flight must keep to stay."""

_LONGEST_REST = 16
_FEWEST_REPLIES = 3

_REFUSED = 0.1
_FEWEST_REFUSED = 4
_DOWN = 0.5
_HELPED = 0.6
"""Shares of requests that are refused, or of an overloaded server, from which on the pace is set;
it is undone if the share of refused ones does not fall below the last part of what it was."""

_SLOWEST = 0.5
"""Requests a second below which refusals do not push the pace."""

_UNLIMITED = 1e6
_SHORT_TICK, _LONG_TICK, _TICK_REQUESTS = 1.0, 5.0, 20
_IGNORED_TICKS = 15
_GROWTH = 0.05
_LONGEST_SLEEP = 0.5

_AHEAD_SECONDS = 0.5
"""How long before the last request that was taken starts the next ones are taken."""

Take = Callable[..., Awaitable[list[float]]]
"""Takes requests from the ledger by their tokens; see `Ledger.take`."""


class SharedRates:
    """The rates of one model that all processes keep together; see `Ledger.take`.

    What waits while the ledger answers is taken together. Estimates of tokens are corrected by the
    vendor's counts so far.
    """

    def __init__(self, limits: RateLimits, take: Take) -> None:
        self._take = take
        self._most_tokens = math.floor(limits.input_tokens_per_minute or 0)
        self._waiting: list[tuple[int, asyncio.Future[tuple[float, int]]]] = []
        self._taking: asyncio.Task[None] | None = None
        self._n_estimated = self._n_counted = self._uncounted = 0
        # What a slow ledger gives is to begin when it has arrived, or it is over by then.
        self._answered_in_seconds = 0.0

    async def wait(self, tokens: int) -> int:
        """Wait until the rates allow a request; return the tokens that were taken for it."""
        while True:
            admitted: asyncio.Future[tuple[float, int]] = asyncio.get_running_loop().create_future()
            self._waiting.append((tokens, admitted))
            if self._taking is None or self._taking.done():
                self._taking = asyncio.create_task(self._take_waiting())
            either: set[asyncio.Future[Any]] = {admitted, self._taking}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if not admitted.done():
                self._taking.result()  # raises what the ledger raised
            starts_at, expected = admitted.result()
            await asyncio.sleep(max(0.0, starts_at - loop_time()))
            if loop_time() < starts_at + USABLE_SECONDS:
                return expected

    async def _take_waiting(self) -> None:
        while self._waiting:
            share = self._n_counted / self._n_estimated if self._n_estimated else 1.0
            expected = [min(round(n * share), self._most_tokens) for n, _ in self._waiting]
            due, self._uncounted = [expected[0] + self._uncounted, *expected[1:]], 0
            asked_at = loop_time()
            seconds = await self._take(due, delay_seconds=self._answered_in_seconds)
            self._answered_in_seconds = loop_time() - asked_at
            for (_, admitted), wait, n in zip(self._waiting, seconds, expected, strict=False):
                if not admitted.done():
                    admitted.set_result((loop_time() + wait, n))
            del self._waiting[: len(seconds)]
            await asyncio.sleep(max(0.0, seconds[-1] - _AHEAD_SECONDS))

    def correct(self, *, estimated: int, expected: int, tokens: int) -> None:
        """Count tokens that a request had beyond those taken in what is taken next.

        Those that it lacked are lost: sent later, they could exceed the limit of that minute.
        """
        self._n_estimated += estimated
        self._n_counted += tokens
        self._uncounted += max(0, min(tokens, self._most_tokens) - expected)


def loop_time() -> float:
    """Return the event loop's time in seconds, which never goes back."""
    return asyncio.get_running_loop().time()


@dataclass(frozen=True)
class Admission:
    """A request that may start: when, and its tokens by the estimate and as taken."""

    at: float
    estimated: int
    expected: int
    tick: int = 0


class Limiter:
    """Rate control of the requests to one model.

    The rates that are configured are kept together with all processes. The number in flight: twice
    as many are tried for a round and stay if more replies come a second; half as many are tried
    when replies are late, and stay if no fewer come. A refusal does not change it. If refusals
    lowered both number and pace, each would lower what the other measures.

    The pace is unlimited until over a tenth of the requests of a second or more are refused with
    429, or over half by an overloaded server. Then it is what was accepted, if that lowers the
    share of refusals; if it does not, they do not depend on this process, and the pace is as
    before. Without refusals it grows faster and faster. A wait that comes with 429 holds every
    request. Waiting requests start in the order in which they came. The first number in flight is
    the most by default.
    """

    def __init__(
        self,
        *,
        max_in_flight: int,
        rates: SharedRates | None,
        first_in_flight: int | None = None,
        timeout_seconds: float = 60.0,
    ) -> None:
        self._rates = rates
        self._most = max_in_flight
        self._allowed = min(first_in_flight or max_in_flight, max_in_flight)
        self._timeout_seconds = timeout_seconds
        self._latency = 0.0
        self._in_flight = 0
        self._turn = asyncio.Lock()  # first come, first served: only its holder waits for a start
        self._ended = asyncio.Event()
        self._held_until = -math.inf
        # Pace: the refusals of a tick decide on the next one.
        self._pace = math.inf
        self._growth = _GROWTH
        self._next_at = -math.inf
        self._ignored_ticks = 0
        self._before_slowing: tuple[float, float] | None = None  # share refused, pace
        self._tick = 0
        self._tick_at: float | None = None
        self._n_sent = self._n_refused = self._n_overloaded = 0
        # In flight: the replies a second of a round decide on the number of the next one.
        self._round_at = self._halved_at = -math.inf
        self._n_replies = 0
        self._full_seconds = 0.0
        self._counted_at = 0.0
        self._before: tuple[int, float] | None = None  # in flight, replies a second
        self._rest, self._next_rest = 0, 2

    @property
    def proven_in_flight(self) -> int:
        """Return the number in flight that stayed so far, without one that is being tried."""
        return self._before[0] if self._before else self._allowed

    async def admit(self, *, input_tokens: int) -> Admission:
        """Wait until a request may start, and return its admission."""
        async with self._turn:
            while self._in_flight >= self._allowed or not await self._is_open():
                if self._in_flight >= self._allowed:
                    self._ended.clear()
                    await self._ended.wait()
            now = loop_time()
            self._end_tick(now)
            self._count_full(now)
            self._in_flight += 1
            self._n_sent += 1
            tick = self._tick
            if self._pace < math.inf:
                self._next_at = max(self._next_at, now - 0.1) + 1 / self._pace
            if self._round_at == -math.inf:
                self._round_at = now
        expected = 0
        if self._rates:
            try:
                expected = await self._rates.wait(input_tokens)
            except asyncio.CancelledError:
                self._end()
                raise
        return Admission(loop_time(), input_tokens, expected, tick)

    def succeeded(self, admission: Admission, *, input_tokens: int | None) -> None:
        """End a request that was answered; `input_tokens` is the vendor's count."""
        if input_tokens is not None and self._rates:
            estimated, expected = admission.estimated, admission.expected
            self._rates.correct(estimated=estimated, expected=expected, tokens=input_tokens)
        now = self._end()
        self._latency += (now - admission.at - self._latency) * (0.1 if self._latency else 1.0)
        self._n_replies += 1
        if self._n_replies >= max(_FEWEST_REPLIES, self._allowed):
            self._end_round(now)
        self._end_tick(now)

    def failed(
        self, admission: Admission, *, kind: FailureKind, hold_seconds: float | None = None
    ) -> None:
        """End a request that failed; `hold_seconds` is a wait for all that the vendor asks for."""
        now = self._end()
        if admission.tick == self._tick:
            self._n_refused += kind == "refused"
            self._n_overloaded += kind in ("refused", "overloaded")
        if kind == "refused" and hold_seconds:
            self._held_until = max(self._held_until, now + hold_seconds)
            if hold_seconds > _SHORT_TICK:  # what follows is judged by itself
                self._begin_tick(self._held_until)
                self._restart_round(self._held_until)
        elif kind == "timeout" and admission.at >= self._halved_at:
            # Of the requests that were in flight together the first timeout counts.
            self._halved_at, self._before = now, None
            self._allowed = max(1, self._allowed // 2)
            self._rest = self._next_rest
            self._restart_round(now)
        self._end_tick(now)

    def dropped(self, admission: Admission) -> None:
        """End a request that was not sent after all."""
        self._n_sent -= admission.tick == self._tick
        self._end()

    def _end(self) -> float:
        """Count a request that ended; return the time."""
        now = loop_time()
        self._count_full(now)
        self._in_flight -= 1
        self._ended.set()
        return now

    def _end_round(self, now: float) -> None:
        """Compare replies a second with those of the round before; try another number in flight."""
        seconds = max(now - self._round_at, 1e-6)
        speed, was_full = self._n_replies / seconds, self._full_seconds >= seconds / 2
        before, self._before = self._before, None
        self._restart_round(now)
        if before is not None:
            number, earlier = before
            is_more = self._allowed > number
            needed = 1 + _PAYS * (self._allowed / number - 1) if is_more else _HOLDS
            if not was_full or speed < needed * earlier:
                self._allowed = number
                if was_full:
                    self._rest = self._next_rest
                    self._next_rest = min(_LONGEST_REST, 2 * self._next_rest)
                return
        self._rest -= 1
        if self._rest >= 0 or not was_full:
            return
        is_late = self._allowed > 1 and self._latency > self._timeout_seconds * _LATE
        other = self._allowed // 2 if is_late else min(2 * self._allowed, self._most)
        if other != self._allowed:
            self._before, self._allowed = (self._allowed, speed), other
            self._ended.set()

    def _restart_round(self, at: float) -> None:
        self._round_at = self._counted_at = at
        self._n_replies, self._full_seconds = 0, 0.0

    def _count_full(self, now: float) -> None:
        """Count the time in which no more were allowed: else another number decides nothing."""
        # Time and not replies: replies that arrive together hide that the number is the limit.
        if self._in_flight >= self._allowed:
            self._full_seconds += max(0.0, now - self._counted_at)
        self._counted_at = now

    def _begin_tick(self, at: float) -> None:
        self._tick, self._tick_at = self._tick + 1, at
        self._n_sent = self._n_refused = self._n_overloaded = 0

    def _end_tick(self, now: float) -> None:
        """Judge the refusals of at least a second and twenty requests, or of five seconds."""
        if self._tick_at is None:
            self._tick_at = now
        seconds = now - self._tick_at
        is_clear = self._growth == 1.0 and not self._n_overloaded
        is_short = self._n_sent >= _TICK_REQUESTS or is_clear
        if not self._n_sent or seconds < (_SHORT_TICK if is_short else _LONG_TICK):
            return
        share = self._n_refused / self._n_sent
        is_down = self._n_overloaded > _DOWN * self._n_sent
        is_refused = share > _REFUSED and self._n_refused >= _FEWEST_REFUSED
        accepted = (self._n_sent - self._n_overloaded) / seconds
        self._begin_tick(now)
        slowed, self._before_slowing = self._before_slowing, None
        self._ignored_ticks -= 1
        if slowed and slowed[0] * _HELPED < share and not is_down:  # to slow down did not help
            self._pace, self._growth, self._ignored_ticks = slowed[1], 1.0, _IGNORED_TICKS
        elif is_down or (is_refused and self._ignored_ticks <= 0):
            self._before_slowing = (share, self._pace)
            self._pace = max(_SLOWEST, min(self._pace, accepted))
            self._growth = 1.0 if self._pace == _SLOWEST else _GROWTH
        else:
            # A pace that does not grow while refusals are ignored would fall by chance, for good.
            self._pace *= 1 + self._growth
            self._growth = min(1.0, 2 * self._growth)
        if self._pace > _UNLIMITED:
            self._pace = math.inf

    async def _is_open(self) -> bool:
        """Return whether pace and vendor allow one more request now; wait a little if not."""
        opens_at = max(self._held_until, self._next_at if self._pace < math.inf else -math.inf)
        seconds = opens_at - loop_time()
        if seconds > 0:
            await asyncio.sleep(min(seconds, _LONGEST_SLEEP))  # the pace may change
        return seconds <= 0
