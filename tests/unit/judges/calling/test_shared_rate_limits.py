"""Limits that several processes share: kept together, and used up."""

import asyncio
import bisect
import itertools
from collections.abc import Sequence

import pytest

from eval_assets.judges.calling.limiter import Limiter, SharedRates
from eval_assets.ledger import RateLimits
from eval_assets.store.ledger.attempts import WINDOW_SECONDS, starts_of
from tests.virtual_time import run


class Rates:
    """The ledger's account of rates in memory, by the ledger's own rule."""

    def __init__(self, limits: RateLimits, *, seconds_to_answer: float = 0.01) -> None:
        self.limits = limits
        self.load: dict[int, tuple[int, int]] = {}
        self.n_taken = 0
        self.seconds_to_answer = seconds_to_answer

    async def take(self, tokens: Sequence[int], *, delay_seconds: float) -> list[float]:
        """Take the next requests."""
        self.n_taken += 1
        now = asyncio.get_running_loop().time()
        self.load = {s: row for s, row in self.load.items() if s > now - WINDOW_SECONDS}
        starts = starts_of(tokens, self.limits, self.load, now=now + delay_seconds)
        await asyncio.sleep(self.seconds_to_answer)
        return [start - asyncio.get_running_loop().time() for start in starts]

    def limiter(self, *, most: int) -> Limiter:
        """Return the limiter of one process."""
        return Limiter(max_in_flight=most, rates=SharedRates(self.limits, self.take))


def sent_by(  # noqa: PLR0913 - who asks for how much
    rates: Rates,
    *,
    n_processes: int,
    most: int,
    seconds: float,
    latency: float,
    tokens: tuple[int, ...],
) -> list[tuple[float, int]]:
    """Let processes ask as fast as they may; return when each request was sent, and its size."""
    requests: list[tuple[float, int]] = []

    async def ask(limiter: Limiter, estimated: int, tokens_used: int) -> None:
        admission = await limiter.admit(input_tokens=estimated)
        requests.append((asyncio.get_running_loop().time(), tokens_used))
        await asyncio.sleep(latency)
        limiter.succeeded(admission, input_tokens=tokens_used)

    async def process(number: int) -> None:
        limiter = rates.limiter(most=most)
        sizes = itertools.islice(itertools.cycle(tokens), number, None)
        while asyncio.get_running_loop().time() < seconds:
            pending = [
                asyncio.create_task(ask(limiter, round(size * 1.2), size))
                for size in itertools.islice(sizes, 2 * most)
            ]
            await asyncio.wait(pending)

    async def scenario() -> None:
        await asyncio.gather(*(process(number) for number in range(n_processes)))

    run(scenario())
    return [item for item in requests if item[0] < seconds]


def busiest(requests: list[tuple[float, int]], *, seconds: int = 60) -> int:
    """Most that any window holds, its ends included."""
    times = [at for at, _ in requests]
    limit = [0, *itertools.accumulate(amount for _, amount in requests)]
    ends = (bisect.bisect_right(times, start + seconds) for start in times)
    return max(limit[end] - limit[first] for first, end in enumerate(ends))


@pytest.mark.slow
@pytest.mark.parametrize("n_processes", [1, 4])
@pytest.mark.parametrize(("per_minute", "most"), [(7, 2), (60, 8), (600, 16), (6000, 64)])
def test_processes_together_use_90_percent_of_a_request_rate_and_never_more_than_all(
    n_processes: int, per_minute: int, most: int
) -> None:
    times_and_tokens = sent_by(
        Rates(RateLimits("a", per_minute, None)),
        n_processes=n_processes,
        most=most,
        seconds=300,
        latency=0.4,
        tokens=(100,),
    )
    requests = [(at, 1) for at, _ in times_and_tokens]
    assert busiest(requests) <= per_minute
    assert busiest(requests, seconds=5) <= max(2, per_minute * 8 / 60)
    assert len(times_and_tokens) >= 0.9 * per_minute * 5


@pytest.mark.slow
@pytest.mark.parametrize(("n_processes", "share"), [(1, 0.9), (4, 0.88)])
@pytest.mark.parametrize(
    "tokens",
    [(10,), (120,), (130, 450, 220), (100, 700, 50), (1500, 900)],
    ids=["small", "1 %", "1 to 4 %", "mixed", "a tenth"],
)
def test_processes_together_use_a_token_rate_whatever_the_size_of_the_requests(
    n_processes: int, share: float, tokens: tuple[int, ...]
) -> None:
    requests = _tokens_of(n_processes, tokens)
    assert busiest(requests) <= 12_000
    assert sum(size for _, size in requests) >= share * 12_000 * 5


@pytest.mark.parametrize("n_processes", [1, 4])
def test_three_requests_of_a_quarter_fit_into_a_minute(n_processes: int) -> None:
    requests = _tokens_of(n_processes, (3000, 20, 20, 20))
    assert busiest(requests) <= 12_000
    assert sum(size for _, size in requests) >= 0.72 * 12_000 * 5


def _tokens_of(n_processes: int, tokens: tuple[int, ...]) -> list[tuple[float, int]]:
    """Send as many tokens as a rate of 12,000 a minute allows for five minutes."""
    return sent_by(
        Rates(RateLimits("a", None, 12_000)),
        n_processes=n_processes,
        most=16,
        seconds=300,
        latency=0.3,
        tokens=tokens,
    )


@pytest.mark.slow
def test_a_process_with_few_requests_leaves_the_rest_to_others() -> None:
    """50 in flight of 1 second are 50 a second, of 200 a second that the limit allows."""
    requests = sent_by(
        Rates(RateLimits("a", 12_000, None)),
        n_processes=4,
        most=50,
        seconds=120,
        latency=1.0,
        tokens=(100,),
    )
    assert len(requests) >= 0.85 * 4 * 50 * 120


def test_a_slow_ledger_slows_a_process_down_and_does_not_stop_it() -> None:
    rates = Rates(RateLimits("a", 600, None), seconds_to_answer=3.0)
    requests = sent_by(rates, n_processes=1, most=16, seconds=120, latency=0.1, tokens=(100,))
    assert len(requests) >= 100
    assert busiest([(at, 1) for at, _ in requests]) <= 600


def test_requests_that_wait_are_taken_together() -> None:
    rates = Rates(RateLimits("a", 60_000, None), seconds_to_answer=1.0)
    requests = sent_by(rates, n_processes=1, most=64, seconds=20, latency=0.4, tokens=(100,))
    assert rates.n_taken <= 22
    assert len(requests) >= 500


def test_an_error_of_the_ledger_reaches_every_request_that_waits() -> None:
    async def fail(_: Sequence[int], *, delay_seconds: float) -> list[float]:
        await asyncio.sleep(delay_seconds)
        raise OSError("the ledger is gone")

    async def scenario() -> None:
        rates = SharedRates(RateLimits("a", 600, None), fail)
        limiter = Limiter(max_in_flight=8, rates=rates)
        admissions = [limiter.admit(input_tokens=0) for _ in range(5)]
        outcomes = await asyncio.gather(*admissions, return_exceptions=True)
        assert [str(error) for error in outcomes] == ["the ledger is gone"] * 5

    run(scenario())
