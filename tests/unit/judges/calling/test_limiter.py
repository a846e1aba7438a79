"""Limiters: never faster than configured, and as fast as the vendor takes."""

import asyncio
import bisect
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_assets.judges.calling.limiter import Limiter
from eval_assets.ledger import RateLimits
from tests.unit.judges.calling.test_shared_rate_limits import Grants
from tests.virtual_time import run


def limiter(
    *,
    requests: float | None = None,
    tokens: float | None = None,
    most: int = 1000,
) -> Limiter:
    if requests is None and tokens is None:
        return Limiter(max_in_flight=most, rates=None)
    return Grants(RateLimits("a", requests, tokens)).limiter(most=most)


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


@pytest.mark.parametrize("per_minute", [1, 7, 60, 500, 3000])
def test_a_request_rate_is_held_to_95_percent_and_never_exceeded(per_minute: int) -> None:
    requests = limiter(requests=per_minute)
    started = run(ask_for(requests, seconds=600, tokens=0))
    assert len(started) >= 0.95 * per_minute * 10
    assert busiest_minute([(at, 1) for at in started]) <= per_minute


@pytest.mark.parametrize("tokens", [3, 30, 100, 333])
def test_a_token_rate_is_never_exceeded_whatever_the_size_of_the_requests(tokens: int) -> None:
    requests = limiter(tokens=1000)
    started = run(ask_for(requests, seconds=600, tokens=tokens))
    assert busiest_minute([(at, tokens) for at in started]) <= 1000
    assert len(started) * tokens >= 0.95 * (1000 // tokens * tokens) * 10


def test_requests_are_spread_over_the_minute_not_sent_at_once() -> None:
    started = run(ask_for(limiter(requests=600), seconds=60, tokens=0))
    assert sum(at < 10 for at in started) <= 0.2 * 600


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


def test_a_rate_must_be_above_zero() -> None:
    with pytest.raises(ValueError, match="above 0 a minute, got 0"):
        limiter(requests=0)


def test_the_number_in_flight_doubles_until_the_first_complaint_then_halves_and_creeps() -> None:
    async def scenario() -> None:
        requests = limiter(most=100)
        assert requests.allowed_in_flight == 16
        for expected in (32, 64, 100):
            round_ = [
                await requests.admit(input_tokens=0) for _ in range(requests.allowed_in_flight)
            ]
            for admission in round_:
                requests.succeeded(admission, input_tokens=None)
            assert requests.allowed_in_flight == expected
        await asyncio.sleep(1)
        round_ = [await requests.admit(input_tokens=0) for _ in range(100)]
        await asyncio.sleep(1)
        for admission in round_:
            requests.failed(admission, is_overload=True, hold_seconds=None)
        assert requests.allowed_in_flight == 50  # one complaint a round counts
        await asyncio.sleep(1)
        for admission in [await requests.admit(input_tokens=0) for _ in range(50)]:
            requests.succeeded(admission, input_tokens=None)
        assert requests.allowed_in_flight == 50  # 50 x 1/50 brings it to almost 51
        requests.succeeded(await requests.admit(input_tokens=0), input_tokens=None)
        assert requests.allowed_in_flight == 51

    run(scenario())


def test_it_never_falls_below_one() -> None:
    async def scenario() -> None:
        requests = limiter(most=3)
        for _ in range(8):
            await asyncio.sleep(1)
            requests.failed(
                await requests.admit(input_tokens=0), is_overload=True, hold_seconds=None
            )
        assert requests.allowed_in_flight == 1

    run(scenario())


def test_a_wait_the_vendor_asks_for_holds_back_every_request() -> None:
    async def scenario() -> None:
        requests = limiter()
        requests.failed(await requests.admit(input_tokens=0), is_overload=True, hold_seconds=30.0)
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


def test_a_rate_limit_without_hints_is_learnt() -> None:
    """A vendor admits 60 requests in any minute and says nothing else."""
    admitted: list[float] = []
    refused: list[float] = []

    async def request(requests: Limiter) -> None:
        while True:
            admission = await requests.admit(input_tokens=1)
            await asyncio.sleep(0.1)
            now = asyncio.get_running_loop().time()
            if sum(at > now - 60 for at in admitted) < 60:
                admitted.append(now)
                requests.succeeded(admission, input_tokens=1)
                return
            refused.append(now)
            requests.failed(admission, is_overload=True, hold_seconds=None)

    async def ask_600() -> float:
        requests = limiter()
        await asyncio.gather(*(request(requests) for _ in range(600)))
        return asyncio.get_running_loop().time()

    assert run(ask_600()) < 1.25 * 540
    assert len(refused) < 200
    assert sum(at > 120 for at in refused) < 50


def test_an_outage_is_waited_for_up_to_a_minute_at_a_time() -> None:
    started: list[float] = []

    async def ask() -> None:
        requests = limiter()
        for _ in range(16):
            admission = await requests.admit(input_tokens=1)
            started.append(admission.at)
            await asyncio.sleep(0.1)
            requests.failed(admission, is_overload=True, hold_seconds=None)

    run(ask())
    gaps = [later - earlier for earlier, later in itertools.pairwise(started)]
    assert gaps[1:8] == pytest.approx([1, 2, 4, 8, 16, 32, 60], abs=0.3)
    assert max(gaps) < 61


def test_single_complaints_hold_nothing_back() -> None:
    async def ask() -> float:
        requests = limiter()
        for number in range(100):
            admission = await requests.admit(input_tokens=1)
            await asyncio.sleep(0.1)
            if number % 2:
                requests.failed(admission, is_overload=True, hold_seconds=None)
            else:
                requests.succeeded(admission, input_tokens=1)
        return asyncio.get_running_loop().time()

    assert run(ask()) < 12
