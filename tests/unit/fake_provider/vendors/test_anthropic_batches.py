"""Anthropic's message batches through the SDK."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anthropic
import pytest
from anthropic import AsyncAnthropic
from anthropic.types.messages import MessageBatch, MessageBatchIndividualResponse

from tests.fake_provider.behaviour import Behaviour
from tests.fake_provider.faults import Faults
from tests.fake_provider.server import RunningProvider, running

T = TypeVar("T")


def entry(custom_id: str, text: str) -> Any:
    messages = [{"role": "user", "content": text}]
    params = {"model": "claude-haiku-5-5", "max_tokens": 1000, "messages": messages}
    return {"custom_id": custom_id, "params": params}


def talk(provider: RunningProvider, asking: Callable[[AsyncAnthropic], Awaitable[T]]) -> T:
    async def talking() -> T:
        async with AsyncAnthropic(
            base_url=provider.anthropic_base_url, api_key="sk-any", max_retries=0, timeout=5
        ) as client:
            return await asking(client)

    return asyncio.run(talking())


async def results(client: AsyncAnthropic, batch_id: str) -> list[MessageBatchIndividualResponse]:
    return [result async for result in await client.messages.batches.results(batch_id)]


def test_a_batch_ends_after_some_looks_with_the_answers_given_alone() -> None:
    async def asking(
        client: AsyncAnthropic,
    ) -> tuple[list[MessageBatch], list[MessageBatchIndividualResponse], Any]:
        request = entry("u", "Tea — été?")
        batch = await client.messages.batches.create(requests=[request])
        looks = [batch, *[await client.messages.batches.retrieve(batch.id) for _ in range(2)]]
        listed = [item async for item in client.messages.batches.list()]
        assert [item.id for item in listed] == [batch.id]
        alone = await client.messages.create(**request["params"])
        return looks, await results(client, batch.id), alone

    with running(Behaviour(batch_polls=1)) as provider:
        looks, lines, alone = talk(provider, asking)
    assert [look.processing_status for look in looks] == ["in_progress", "in_progress", "ended"]
    assert [look.request_counts.processing for look in looks] == [1, 1, 0]
    assert looks[-1].request_counts.succeeded == 1
    assert lines[0].custom_id == "u"
    assert lines[0].result.type == "succeeded"
    assert lines[0].result.message.content == alone.content
    assert lines[0].result.message.usage.service_tier == "batch"


def test_entries_can_fail_expire_and_come_twice() -> None:
    marks = {"[fails]": "overloaded", "[expires]": "hang", "[twice]": "duplicate"}
    faults = Faults(by_text=marks)  # type: ignore[arg-type]

    async def asking(
        client: AsyncAnthropic,
    ) -> tuple[MessageBatch, list[MessageBatchIndividualResponse]]:
        texts = ["good", "bad [fails]", "slow [expires]", "echo [twice]"]
        requests = [entry(text.split()[0], text) for text in texts]
        batch = await client.messages.batches.create(requests=requests)
        batch = await client.messages.batches.retrieve(batch.id)
        return batch, await results(client, batch.id)

    with running(Behaviour(batch_polls=0, faults=faults)) as provider:
        batch, lines = talk(provider, asking)
    counts = batch.request_counts
    assert (counts.succeeded, counts.errored, counts.expired, counts.canceled) == (2, 1, 1, 0)
    assert [(line.custom_id, line.result.type) for line in lines] == [
        ("good", "succeeded"),
        ("bad", "errored"),
        ("slow", "expired"),
        ("echo", "succeeded"),
        ("echo", "succeeded"),
    ]
    assert lines[1].result.type == "errored"
    assert lines[1].result.error.error.type == "overloaded_error"


def test_an_expired_entry_may_be_answered_when_it_is_asked_again() -> None:
    async def asking(client: AsyncAnthropic) -> list[str]:
        outcomes: list[str] = []
        for _ in range(8):
            batch = await client.messages.batches.create(requests=[entry("u", "text")])
            await client.messages.batches.retrieve(batch.id)
            outcomes += [line.result.type for line in await results(client, batch.id)]
        return outcomes

    # At a rate of one half, eight askings with one outcome have a chance of 2 x .5^8 = .8 %; this
    # seed is not among them.
    behaviour = Behaviour(batch_polls=0, faults=Faults(rates={"hang": 0.5}, seed=1))
    outcomes = []
    for _ in range(2):
        with running(behaviour) as provider:
            outcomes.append(talk(provider, asking))
    assert outcomes[0] == outcomes[1]
    assert set(outcomes[0]) == {"succeeded", "expired"}


def test_a_cancelled_batch_answers_nothing() -> None:
    async def asking(
        client: AsyncAnthropic,
    ) -> tuple[list[MessageBatch], list[MessageBatchIndividualResponse]]:
        batch = await client.messages.batches.create(requests=[entry("u", "text")])
        looks = [
            await client.messages.batches.cancel(batch.id),
            await client.messages.batches.retrieve(batch.id),
        ]
        return looks, await results(client, batch.id)

    with running() as provider:
        looks, lines = talk(provider, asking)
    assert [look.processing_status for look in looks] == ["canceling", "ended"]
    assert [line.result.type for line in lines] == ["canceled"]


@pytest.mark.parametrize(
    ("requests", "message"),
    [
        ([], "at least one request"),
        ([entry("same", "one"), entry("same", "two")], "Must be unique"),
        ([entry("not allowed", "one")], "should match"),
    ],
)
def test_unusable_entries_are_refused(
    sound: RunningProvider, requests: list[Any], message: str
) -> None:
    with pytest.raises(anthropic.BadRequestError, match=message):
        talk(sound, lambda client: client.messages.batches.create(requests=requests))


def test_unknown_batches_are_not_found(sound: RunningProvider) -> None:
    with pytest.raises(anthropic.NotFoundError):
        talk(sound, lambda client: client.messages.batches.retrieve("msgbatch_0"))
