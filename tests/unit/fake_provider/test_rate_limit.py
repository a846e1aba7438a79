"""The enforced rate limit."""

import itertools
from collections.abc import Callable

import anthropic
import numpy as np
import openai
import pytest
from anthropic.types import Message
from openai.types.chat import ChatCompletion

from tests.fake_provider.behaviour import Behaviour
from tests.fake_provider.rate_limit import RateLimit, SlidingWindow
from tests.fake_provider.server import running


def test_a_window_admits_its_limit_and_then_says_when_to_come_back() -> None:
    window = SlidingWindow(RateLimit(requests=2, window_seconds=10))
    first, second, third = (window.ask(now=now, input_tokens=1) for now in (0, 4, 5))
    assert (first.wait_seconds, first.requests_left) == (0, 1)
    assert (second.wait_seconds, second.requests_left) == (0, 0)
    # The request of second 0 leaves the window at 10, five seconds after 5.
    assert (third.wait_seconds, third.requests_left, third.reset_seconds) == (5, 0, 9)
    assert window.ask(now=9.9, input_tokens=1).wait_seconds == pytest.approx(0.1)
    fourth = window.ask(now=10, input_tokens=1)
    assert (fourth.wait_seconds, fourth.requests_left) == (0, 0)


def test_tokens_are_limited_too_and_wait_for_enough_of_them_to_leave() -> None:
    window = SlidingWindow(RateLimit(input_tokens=100, window_seconds=10))
    assert window.ask(now=0, input_tokens=30).wait_seconds == 0
    assert window.ask(now=3, input_tokens=60).input_tokens_left == 10
    # 50 more fit when both have left, 20 more when the first has.
    assert window.ask(now=4, input_tokens=50).wait_seconds == 9
    assert window.ask(now=4, input_tokens=20).wait_seconds == 6
    assert window.ask(now=4, input_tokens=10).wait_seconds == 0


def test_a_request_beyond_the_whole_limit_is_never_admitted() -> None:
    window = SlidingWindow(RateLimit(input_tokens=100, window_seconds=10))
    assert window.ask(now=0, input_tokens=101).wait_seconds == 10
    assert window.ask(now=50, input_tokens=101).wait_seconds == 10


def test_no_window_wherever_it_starts_holds_more_than_the_limit() -> None:
    rng = np.random.default_rng(0)
    window = SlidingWindow(RateLimit(requests=7, window_seconds=5))
    times = itertools.accumulate(rng.exponential(1 / 3, size=500).tolist())
    admitted = [now for now in times if window.ask(now=now, input_tokens=1).wait_seconds == 0]
    busiest = max(sum(start <= now < start + 5 for now in admitted) for start in admitted)
    assert busiest == 7


@pytest.mark.parametrize("limit", [{"requests": 0}, {"input_tokens": -1}, {"window_seconds": 0}])
def test_a_limit_that_admits_nothing_is_refused(limit: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="must be positive"):
        RateLimit(**limit)


def test_beyond_the_limit_both_vendors_answer_429_with_a_hint(
    ask_openai: Callable[..., ChatCompletion], ask_anthropic: Callable[..., Message]
) -> None:
    limit = RateLimit(requests=2, window_seconds=30)
    with running(Behaviour(limit=limit)) as provider:
        for _ in range(2):
            ask_openai(on=provider)
            ask_anthropic(on=provider)
        with pytest.raises(openai.RateLimitError) as from_openai:
            ask_openai(on=provider)
        with pytest.raises(anthropic.RateLimitError) as from_anthropic:
            ask_anthropic(on=provider)
        ask_openai(on=provider, key="sk-other")
        ask_openai(on=provider, model="gpt-6-sol")
    assert from_openai.value.code == "rate_limit_exceeded"
    for raised in (from_openai, from_anthropic):
        assert 0 < float(raised.value.response.headers["retry-after"]) <= 30
