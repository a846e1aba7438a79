"""Limiters: never faster than configured, and as fast as the vendor takes."""

import asyncio
import bisect
import itertools
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_assets.judges.calling.limiter import FailureKind, Limiter
from eval_assets.ledger import RateLimits
from tests.unit.judges.calling.test_shared_rate_limits import Rates
from tests.virtual_time import run


def limiter(
    *,
    requests: float | None = None,
    tokens: float | None = None,
    most: int = 1000,
    first: int | None = None,
) -> Limiter:
    if requests is None and tokens is None:
        return Limiter(max_in_flight=most, rates=None, first_in_flight=first)
    return Rates(RateLimits("a", requests, tokens)).limiter(most=most)


@dataclass
class Server:
    """A server in virtual time.

    It takes `seconds` a request, works on `workers` at once, refuses a share of requests at random
    with `kind`, all of them while it `is_down`, and more than `per_minute` in any minute.
    """

    seconds: tuple[float, float] = (0.15, 0.25)
    workers: int = 1000
    share: float = 0.0
    kind: FailureKind = "overloaded"
    down: tuple[float, float] = (0.0, 0.0)
    per_minute: int = 10**9
    timeout_seconds: float = 60.0
    seed: int = 1
    rng: np.random.Generator = field(init=False)
    n_working: int = 0
    admitted: list[float] = field(default_factory=list)
    n_refused: int = 0
    n_late: int = 0
    most: int = 0

    def run(self, requests: int, *, first: int | None, most: int = 200) -> float:
        """Answer requests; return the seconds that it took."""
        self.rng = np.random.default_rng(self.seed)

        async def scenario() -> float:
            limited = limiter(most=most, first=first)
            slots = asyncio.Semaphore(self.workers)
            await asyncio.gather(*(self._ask(limited, slots) for _ in range(requests)))
            return asyncio.get_running_loop().time()

        return run(scenario())

    async def _ask(self, limited: Limiter, slots: asyncio.Semaphore) -> None:
        """Ask until there is an answer, with waits that grow as those of the client."""
        for number in itertools.count():
            admission = await limited.admit(input_tokens=0)
            kind = await self._answer(slots)
            if kind is None:
                limited.succeeded(admission, input_tokens=None)
                return
            limited.failed(admission, kind=kind)
            await asyncio.sleep(min(8.0, 0.2 * 1.5**number) * self.rng.uniform(0.5, 1.5))

    async def _answer(self, slots: asyncio.Semaphore) -> FailureKind | None:
        now = asyncio.get_running_loop().time()
        is_down = self.down[0] <= now < self.down[1]
        is_full = sum(at > now - 60 for at in self.admitted[-self.per_minute :]) >= self.per_minute
        if is_down or is_full or self.rng.random() < self.share:
            self.n_refused += 1
            await asyncio.sleep(0.01)
            return "refused" if is_full else self.kind
        self.admitted.append(now)
        self.n_working += 1
        self.most = max(self.most, self.n_working)
        try:
            async with asyncio.timeout(self.timeout_seconds), slots:
                await asyncio.sleep(self.rng.uniform(*self.seconds))
        except TimeoutError:
            self.n_late += 1
            return "timeout"
        finally:
            self.n_working -= 1
        return None


def busiest_minute(admissions: list[tuple[float, float]]) -> float:
    """Most that any window of 60 seconds holds, its ends included."""
    times = [at for at, _ in admissions]
    limit = [0.0, *itertools.accumulate(amount for _, amount in admissions)]
    ends = (bisect.bisect_right(times, start + 60) for start in times)
    return max(limit[end] - limit[first] for first, end in enumerate(ends))


async def ask_for(requests: Limiter, *, seconds: float, tokens: int) -> list[float]:
    """Send requests one after the other, each answered at once; return when they started."""
    started = []
    while asyncio.get_running_loop().time() < seconds:
        admission = await requests.admit(input_tokens=tokens)
        started.append(admission.at)
        requests.succeeded(admission, input_tokens=tokens)
    return started


@pytest.mark.slow
@pytest.mark.parametrize("per_minute", [1, 7, 60, 500, 3000])
def test_a_request_rate_is_held_to_95_percent_and_never_exceeded(per_minute: int) -> None:
    requests = limiter(requests=per_minute)
    started = run(ask_for(requests, seconds=600, tokens=0))
    assert len(started) >= 0.95 * per_minute * 10
    assert busiest_minute([(at, 1) for at in started]) <= per_minute


@pytest.mark.slow
@pytest.mark.parametrize("tokens", [3, 30, 100, 333])
def test_a_token_rate_is_never_exceeded_whatever_the_size_of_the_requests(tokens: int) -> None:
    requests = limiter(tokens=1000)
    started = run(ask_for(requests, seconds=600, tokens=tokens))
    assert busiest_minute([(at, tokens) for at in started]) <= 1000
    assert len(started) * tokens >= 0.95 * (1000 // tokens * tokens) * 10


def test_requests_are_spread_over_the_minute_not_sent_at_once() -> None:
    started = run(ask_for(limiter(requests=600), seconds=60, tokens=0))
    assert sum(at < 10 for at in started) <= 0.2 * 600


@pytest.mark.slow
@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.tuples(st.floats(0, 20), st.integers(1, 400)), min_size=1, max_size=60),
    st.integers(100, 1000),
)
def test_no_minute_holds_more_than_the_rate_for_any_arrivals(
    arrivals: list[tuple[float, int]], per_minute: int
) -> None:
    async def scenario() -> list[tuple[float, float]]:
        requests, admissions = limiter(tokens=per_minute), []
        for pause, amount in arrivals:
            await asyncio.sleep(pause)
            admission = await requests.admit(input_tokens=amount)
            admissions.append((admission.at, float(min(amount, per_minute))))
            requests.succeeded(admission, input_tokens=amount)
        return admissions

    assert busiest_minute(run(scenario())) <= per_minute + 1e-6


def test_tokens_of_a_request_are_corrected_by_the_vendors_count() -> None:
    async def scenario() -> float:
        requests = limiter(tokens=100)
        first = await requests.admit(input_tokens=10)
        requests.succeeded(first, input_tokens=60)
        # The second is estimated at 10 as well, of which by the first 60 are expected.
        return (await requests.admit(input_tokens=10)).at

    assert run(scenario()) > 60.0


def test_a_wait_the_vendor_asks_for_holds_back_every_request() -> None:
    async def scenario() -> None:
        requests = limiter()
        requests.failed(await requests.admit(input_tokens=0), kind="refused", hold_seconds=30.0)
        admissions = await asyncio.gather(*(requests.admit(input_tokens=0) for _ in range(5)))
        assert all(admission.at >= 30.0 for admission in admissions)

    run(scenario())


def test_requests_beyond_the_allowed_number_wait_in_the_order_in_which_they_came() -> None:
    async def scenario() -> None:
        requests, order = limiter(most=1), []

        async def ask(number: int) -> None:
            admission = await requests.admit(input_tokens=0)
            order.append(number)
            await asyncio.sleep(0)
            requests.succeeded(admission, input_tokens=None)

        await asyncio.gather(*(ask(number) for number in range(20)))
        assert order == list(range(20))

    run(scenario())


def test_a_cancelled_waiter_does_not_hold_up_the_others() -> None:
    async def scenario() -> None:
        requests = limiter(most=1)
        first = await requests.admit(input_tokens=0)
        waiter = asyncio.create_task(requests.admit(input_tokens=0))
        other = asyncio.create_task(requests.admit(input_tokens=0))
        await asyncio.sleep(0)
        waiter.cancel()
        requests.succeeded(first, input_tokens=None)
        async with asyncio.timeout(1):
            await other

    run(scenario())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("share", "most"), [(0.05, 2.0), (0.2, 4.0)])
@pytest.mark.parametrize("kind", ["overloaded", "refused"])
def test_refusals_at_random_cost_little_time(
    share: float, most: float, kind: FailureKind, seed: int
) -> None:
    without = Server(seed=seed).run(1000, first=64, most=64)
    assert Server(share=share, kind=kind, seed=seed).run(1000, first=64, most=64) <= most * without


def test_refusals_never_change_the_number_in_flight() -> None:
    async def scenario() -> None:
        requests = limiter(most=64)
        for kind in ("refused", "overloaded", "other"):
            for admission in [await requests.admit(input_tokens=0) for _ in range(64)]:
                requests.failed(admission, kind=kind)
            await asyncio.sleep(200)
        assert requests.proven_in_flight == 64

    run(scenario())


@pytest.mark.slow
def test_full_speed_returns_seconds_after_an_outage() -> None:
    server = Server(down=(2.0, 22.0))
    server.run(3000, first=20, most=20)
    late = [at for at in server.admitted if 37 <= at < 40]
    assert len(late) / 3 > 0.8 * 20 / 0.2


def test_a_server_that_works_on_one_request_gets_few_at_once() -> None:
    server = Server(seconds=(2.0, 5.0), workers=1)
    seconds = server.run(60, first=1)
    assert server.n_late == 0
    assert server.most <= 4  # three replies a round may mislead for one
    assert seconds < 1.1 * 60 * 3.5


@pytest.mark.slow
def test_an_unknown_server_that_takes_many_gets_many_soon() -> None:
    assert Server().run(4000, first=1) < 3 * 4000 / 200 * 0.2


def test_replies_that_come_late_lower_the_number_before_the_timeout() -> None:
    server = Server(seconds=(2.0, 5.0), workers=1)
    server.run(60, first=16)
    assert server.n_late <= 1


def test_a_timeout_halves_the_number_once_for_those_in_flight_together() -> None:
    async def scenario() -> None:
        requests = limiter(most=64)
        in_flight = [await requests.admit(input_tokens=0) for _ in range(64)]
        await asyncio.sleep(60)
        for admission in in_flight:
            requests.failed(admission, kind="timeout")
        assert requests.proven_in_flight == 32

    run(scenario())


def test_a_request_that_was_not_sent_makes_room() -> None:
    async def scenario() -> None:
        requests = limiter(most=1)
        requests.dropped(await requests.admit(input_tokens=0))
        async with asyncio.timeout(1):
            await requests.admit(input_tokens=0)

    run(scenario())


@pytest.mark.slow
def test_a_rate_limit_without_hints_is_learnt() -> None:
    """A vendor admits 600 requests in any minute and says nothing else."""
    server = Server(per_minute=600, seconds=(0.1, 0.1))
    assert server.run(2400, first=64, most=64) < 1.35 * 180
    assert server.n_refused < 4 * 2400
