"""How the provider behaves, seen without a server."""

import json

import pytest

from tests.fake_provider.behaviour import Behaviour
from tests.fake_provider.exchange import Answer, Reply, Request
from tests.fake_provider.faults import Faults
from tests.fake_provider.provider import FakeProvider


def question(text: str) -> Request:
    body = {"model": "gpt-6-luna", "messages": [{"role": "user", "content": text}]}
    return Request(
        method="POST",
        path="/v1/chat/completions",
        headers={"authorization": "Bearer sk-any"},
        body=json.dumps(body).encode(),
    )


def delay(answer: Answer) -> float:
    assert isinstance(answer, Reply)
    return answer.delay_seconds


def status(answer: Answer) -> int:
    assert isinstance(answer, Reply)
    return answer.status


def test_jitter_spreads_the_latency_to_both_sides_and_repeats() -> None:
    behaviour = Behaviour(latency_seconds=5, jitter_seconds=2)
    texts = [f"text {number}" for number in range(200)]
    first, second = (
        [delay(provider.answer(question(text))) for text in texts]
        for provider in (FakeProvider(behaviour), FakeProvider(behaviour))
    )
    assert first == second
    assert 3 <= min(first) < 3.1
    assert 6.9 < max(first) <= 7


def test_jitter_beyond_the_latency_never_runs_backwards() -> None:
    provider = FakeProvider(Behaviour(latency_seconds=1, jitter_seconds=100))
    assert min(delay(provider.answer(question(f"text {number}"))) for number in range(20)) == 0


def test_a_new_behaviour_starts_its_script_afresh() -> None:
    behaviour = Behaviour(faults=Faults(script={"sk-any": ["overloaded"]}))
    provider = FakeProvider(behaviour)
    assert [status(provider.answer(question("text"))) for _ in range(2)] == [503, 200]
    provider.behaviour = behaviour
    assert status(provider.answer(question("text"))) == 503


@pytest.mark.parametrize(
    "setting", ["latency_seconds", "jitter_seconds", "retry_after_seconds", "batch_polls"]
)
def test_negative_durations_and_counts_are_refused(setting: str) -> None:
    with pytest.raises(ValueError, match=f"{setting} must not be negative, got -1"):
        Behaviour(**{setting: -1})  # type: ignore[arg-type]
