"""Which requests go wrong, and that it does not depend on the order of arrival."""

import asyncio
from collections.abc import Callable
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletion

from tests.fake_provider.behaviour import Behaviour
from tests.fake_provider.faults import FAULT_KINDS, Faults, mixed_rates
from tests.fake_provider.server import RunningProvider, running

Ask = Callable[..., ChatCompletion]


def hit(faults: Faults, content: str, *, attempt: int = 1) -> str | None:
    return faults.hitting(
        key="sk-any", n_before=0, content=content, attempt=attempt, completion=content.encode()
    )


def test_rates_hit_their_share_of_contents() -> None:
    faults = Faults(rates={"reset": 0.2, "prose": 0.1})
    kinds = [hit(faults, f"content {n}") for n in range(4000)]
    # Binomial with n = 4000: four standard deviations are .025 at .2 and .019 at .1.
    assert kinds.count("reset") / 4000 == pytest.approx(0.2, abs=0.025)
    assert kinds.count("prose") / 4000 == pytest.approx(0.1, abs=0.019)


def test_another_attempt_or_seed_draws_again() -> None:
    faults, reseeded = Faults(rates={"reset": 0.5}), Faults(rates={"reset": 0.5}, seed=1)
    contents = [f"content {n}" for n in range(100)]
    first = [hit(faults, content) for content in contents]
    assert first == [hit(faults, content) for content in contents]
    assert first != [hit(faults, content, attempt=2) for content in contents]
    assert first != [hit(reseeded, content) for content in contents]


def test_a_rate_of_one_hits_everything() -> None:
    faults = Faults(rates={"unavailable": 1.0})
    assert {hit(faults, f"content {n}") for n in range(100)} == {"unavailable"}


def test_mixed_rates_spare_the_key_and_the_callers_patience() -> None:
    rates = mixed_rates(0.3)
    assert sum(rates.values()) == pytest.approx(0.3)
    assert set(FAULT_KINDS) - set(rates) == {
        "hang",
        "unauthorized",
        "forbidden",
        "quota",
        "no_credit",
    }


@pytest.mark.parametrize(
    ("faults", "message"),
    [
        ({"rates": {"earthquake": 0.1}}, "got 'earthquake'"),
        ({"script": {"sk-any": ["earthquake"]}}, "got 'earthquake'"),
        ({"rates": {"reset": -0.1}}, r"the rate of reset must lie in \[0, 1\], got -0.1"),
        ({"rates": {"reset": 0.6, "hang": 0.6}}, "sum to at most 1, got 1.2"),
    ],
)
def test_impossible_faults_are_refused(faults: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Faults(**faults)


def test_a_script_runs_once_in_order_of_arrival(ask_openai: Ask) -> None:
    faults = Faults(script={"sk-flaky": ["overloaded", None, "quota"]})
    with running(Behaviour(faults=faults)) as provider:
        outcomes = []
        for _ in range(4):
            try:
                ask_openai(on=provider, key="sk-flaky")
                outcomes.append(200)
            except openai.APIStatusError as error:
                outcomes.append(error.status_code)
        assert outcomes == [503, 200, 429, 200]
        assert [request.status for request in provider.log.requests] == outcomes
        assert [request.fault for request in provider.log.requests] == [
            "overloaded",
            None,
            "quota",
            None,
        ]
        ask_openai(on=provider, key="sk-other")


def test_the_key_without_quota_is_there_from_the_start(
    ask_openai: Ask, sound: RunningProvider
) -> None:
    with pytest.raises(openai.RateLimitError) as raised:
        ask_openai(on=sound, key="sk-quota")
    assert raised.value.code == "insufficient_quota"


def test_a_marked_text_goes_wrong_and_its_neighbours_do_not(ask_openai: Ask) -> None:
    with running(Behaviour(faults=Faults(by_text={"[refuse]": "refusal"}))) as provider:
        assert ask_openai("[refuse] this", on=provider).choices[0].message.refusal
        assert ask_openai("not this", on=provider).choices[0].message.refusal is None


def test_the_same_requests_fail_whatever_the_concurrency() -> None:
    async def failed(provider: RunningProvider, *, in_flight: int) -> dict[str, list[str]]:
        gate = asyncio.Semaphore(in_flight)
        outcomes: dict[str, list[str]] = {f"text {number}": [] for number in range(25)}

        async def ask(client: AsyncOpenAI, text: str) -> None:
            for _ in range(2):
                try:
                    async with gate:
                        reply = await client.chat.completions.create(
                            model="gpt-6-luna", messages=[{"role": "user", "content": text}]
                        )
                    outcomes[text].append(str(reply))
                except openai.APIError as error:
                    outcomes[text].append(type(error).__name__)

        async with AsyncOpenAI(
            base_url=provider.openai_base_url, api_key="sk-any", max_retries=0
        ) as client:
            await asyncio.gather(*(ask(client, text) for text in outcomes))
        return {text: [kind.split("created=")[0] for kind in outcomes[text]] for text in outcomes}

    behaviour = Behaviour(faults=Faults(rates=mixed_rates(0.5), seed=3), jitter_seconds=0.01)
    outcomes_of_runs = []
    for in_flight in (1, 20):
        with running(behaviour) as provider:
            outcomes_of_runs.append(asyncio.run(failed(provider, in_flight=in_flight)))
    assert outcomes_of_runs[0] == outcomes_of_runs[1]
    assert len({outcome for outcomes in outcomes_of_runs[0].values() for outcome in outcomes}) > 5
