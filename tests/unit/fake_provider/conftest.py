"""The real SDK clients, asking a fake provider one question at a time."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest
from anthropic import AsyncAnthropic
from anthropic.types import Message
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletion

from tests.fake_provider.behaviour import Behaviour
from tests.fake_provider.faults import FAULT_KINDS, Faults
from tests.fake_provider.server import RunningProvider, running

VERDICT_SCHEMA: Final[dict[str, object]] = {
    "type": "object",
    "properties": {
        "rationale": {"type": "string"},
        "score": {"type": "integer", "enum": [0, 1, 2, 3, 4]},
    },
    "required": ["rationale", "score"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def sound() -> Iterator[RunningProvider]:
    """A provider that does nothing wrong, shared by a module's tests."""
    with running() as provider:
        yield provider


@pytest.fixture(scope="module")
def spoilt() -> Iterator[RunningProvider]:
    """A provider where the key `sk-KIND` always gets the fault of that kind."""
    faults = Faults(by_key={f"sk-{kind}": kind for kind in FAULT_KINDS})
    with running(Behaviour(faults=faults, retry_after_seconds=0.25)) as provider:
        yield provider


@pytest.fixture
def ask_openai(sound: RunningProvider) -> Callable[..., ChatCompletion]:
    """Asks through the OpenAI SDK, by default the sound provider."""

    def ask(
        text: str = "<response>Tea.</response>",
        *,
        on: RunningProvider = sound,
        key: str = "sk-any",
        timeout: float = 5,
        **settings: Any,
    ) -> ChatCompletion:
        usual: dict[str, Any] = {
            "model": "gpt-6-luna",
            "messages": [
                {"role": "system", "content": "Judge."},
                {"role": "user", "content": text},
            ],
            "max_completion_tokens": 1000,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "verdict", "strict": True, "schema": VERDICT_SCHEMA},
            },
        }

        async def asking() -> ChatCompletion:
            async with AsyncOpenAI(
                base_url=on.openai_base_url, api_key=key, max_retries=0, timeout=timeout
            ) as client:
                reply: ChatCompletion = await client.chat.completions.create(**usual | settings)
                return reply

        return asyncio.run(asking())

    return ask


@pytest.fixture
def ask_anthropic(sound: RunningProvider) -> Callable[..., Message]:
    """Asks through the Anthropic SDK, by default the sound provider."""

    def ask(
        text: str = "<response>Tea.</response>",
        *,
        on: RunningProvider = sound,
        key: str = "sk-any",
        timeout: float = 5,
        **settings: Any,
    ) -> Message:
        usual: dict[str, Any] = {
            "model": "claude-haiku-5-5",
            "system": "Judge.",
            "messages": [{"role": "user", "content": text}],
            "max_tokens": 1000,
            "output_config": {
                "effort": "low",
                "format": {"type": "json_schema", "schema": VERDICT_SCHEMA},
            },
        }

        async def asking() -> Message:
            async with AsyncAnthropic(
                base_url=on.anthropic_base_url, api_key=key, max_retries=0, timeout=timeout
            ) as client:
                reply: Message = await client.messages.create(**usual | settings)
                return reply

        return asyncio.run(asking())

    return ask
