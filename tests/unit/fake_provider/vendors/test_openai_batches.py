"""OpenAI's files and batches through the SDK."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import openai
import pytest
from openai import AsyncOpenAI
from openai.types import Batch

from tests.fake_provider.behaviour import Behaviour
from tests.fake_provider.faults import Faults
from tests.fake_provider.server import RunningProvider, running

T = TypeVar("T")


def entry(custom_id: str, text: str) -> dict[str, object]:
    return {
        "custom_id": custom_id,
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {"model": "gpt-6-luna", "messages": [{"role": "user", "content": text}]},
    }


def talk(provider: RunningProvider, asking: Callable[[AsyncOpenAI], Awaitable[T]]) -> T:
    async def talking() -> T:
        async with AsyncOpenAI(
            base_url=provider.openai_base_url, api_key="sk-any", max_retries=0, timeout=5
        ) as client:
            return await asking(client)

    return asyncio.run(talking())


async def sent(client: AsyncOpenAI, entries: Sequence[object]) -> Batch:
    lines = "\n".join(json.dumps(item, ensure_ascii=False) for item in entries).encode()
    file = await client.files.create(file=("in.jsonl", lines), purpose="batch")
    assert (file.bytes, file.purpose, file.filename) == (len(lines), "batch", "in.jsonl")
    assert (await client.files.content(file.id)).content == lines
    return await client.batches.create(
        input_file_id=file.id,
        endpoint="/v1/chat/completions",
        completion_window="24h",
        metadata={"purpose": "test"},
    )


async def results(client: AsyncOpenAI, file_id: str | None) -> list[Any]:
    assert file_id is not None
    content = (await client.files.content(file_id)).text
    return [json.loads(line) for line in content.splitlines()]


def test_a_batch_ends_after_some_looks_and_its_results_are_in_a_file() -> None:
    texts = ["Tea — été?", "Coffee\r\nor not?"]

    async def asking(client: AsyncOpenAI) -> tuple[list[Batch], list[Any], list[str | None]]:
        batch = await sent(client, [entry(f"u{n}", text) for n, text in enumerate(texts)])
        looks = [batch, *[await client.batches.retrieve(batch.id) for _ in range(3)]]
        listed = [item async for item in client.batches.list()]
        assert [item.id for item in listed] == [batch.id]
        alone = [
            await client.chat.completions.create(
                model="gpt-6-luna", messages=[{"role": "user", "content": text}]
            )
            for text in texts
        ]
        answers = [reply.choices[0].message.content for reply in alone]
        return looks, await results(client, looks[-1].output_file_id), answers

    with running(Behaviour(batch_polls=2)) as provider:
        looks, lines, alone = talk(provider, asking)
    assert [look.status for look in looks] == [
        "validating",
        "in_progress",
        "in_progress",
        "completed",
    ]
    counts = looks[-1].request_counts
    assert counts is not None
    assert (counts.total, counts.completed, counts.failed) == (2, 2, 0)
    assert looks[-1].metadata == {"purpose": "test"}
    assert looks[-1].error_file_id is None
    assert [line["custom_id"] for line in lines] == ["u0", "u1"]
    bodies = [line["response"]["body"] for line in lines]
    assert [body["choices"][0]["message"]["content"] for body in bodies] == alone


def test_entries_can_fail_expire_and_come_twice() -> None:
    marks = {"[fails]": "bad_request", "[expires]": "hang", "[twice]": "duplicate"}
    faults = Faults(by_text=marks)  # type: ignore[arg-type]

    async def asking(client: AsyncOpenAI) -> tuple[Batch, list[Any], list[Any]]:
        texts = ["good", "bad [fails]", "slow [expires]", "echo [twice]"]
        batch = await sent(client, [entry(text.split()[0], text) for text in texts])
        batch = await client.batches.retrieve(batch.id)
        good = await results(client, batch.output_file_id)
        return batch, good, await results(client, batch.error_file_id)

    with running(Behaviour(batch_polls=0, faults=faults)) as provider:
        batch, good, bad = talk(provider, asking)
    assert batch.status == "expired"
    assert [line["custom_id"] for line in good] == ["good", "echo", "echo"]
    assert [line["custom_id"] for line in bad] == ["bad", "slow"]
    assert bad[0]["response"]["status_code"] == 400
    assert bad[1]["response"] is None
    assert bad[1]["error"]["code"] == "batch_expired"


@pytest.mark.parametrize(
    "entries", [[entry("same", "one"), entry("same", "two")], [{"custom_id": "no body"}]]
)
def test_a_file_with_unusable_lines_fails_as_a_whole(entries: list[dict[str, object]]) -> None:
    async def asking(client: AsyncOpenAI) -> Batch:
        batch = await sent(client, entries)
        return await client.batches.retrieve(batch.id)

    with running() as provider:
        batch = talk(provider, asking)
    assert batch.status == "failed"
    assert batch.errors is not None
    assert batch.errors.data is not None
    assert [error.line for error in batch.errors.data] == [len(entries)]


def test_a_cancelled_batch_answers_nothing() -> None:
    async def asking(client: AsyncOpenAI) -> list[Batch]:
        batch = await sent(client, [entry("u", "text")])
        cancelled = await client.batches.cancel(batch.id)
        return [cancelled, await client.batches.retrieve(batch.id)]

    with running() as provider:
        looks = talk(provider, asking)
    assert [look.status for look in looks] == ["cancelling", "cancelled"]
    assert looks[-1].output_file_id is None


def test_unknown_files_and_batches_are_not_found(sound: RunningProvider) -> None:
    with pytest.raises(openai.NotFoundError):
        talk(sound, lambda client: client.batches.retrieve("batch_0"))
    with pytest.raises(openai.NotFoundError):
        talk(sound, lambda client: client.files.content("file-0"))
