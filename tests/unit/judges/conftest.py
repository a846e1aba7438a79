"""Judges that are the real SDK clients, talking to the fake provider on loopback."""

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

import pytest

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.judges import Judge
from eval_assets.config.rubric import RubricQuestion
from eval_assets.judges.calling.client import RetryPolicy
from eval_assets.judges.calling.live_model import live_models
from eval_assets.judges.calling.session import RequestOptions
from eval_assets.judges.credentials import api_keys
from eval_assets.judges.judging import JudgingSummary, judge_portions
from eval_assets.judges.judging_plan import Unit
from eval_assets.judges.prompts.prompt import PromptTemplate
from eval_assets.ledger import (
    Attempt,
    Batch,
    EndpointMemory,
    RateLimits,
    Reply,
)
from eval_assets.scale import Scale
from tests.fake_provider.behaviour import Behaviour
from tests.fake_provider.server import RunningProvider, running

KEY = "sk-secret-of-the-tests"
QUESTION = RubricQuestion(
    id="usefulness",
    question="How useful is it?",
    scale=Scale.from_steps(low=0, high=4),
    level="ordinal",
    guidelines="0: useless\n4: solves it",
)
PAIR = (
    Judge("gpt", "openai", "gpt-6-luna"),
    Judge("haiku", "anthropic", "claude-haiku-5-5"),
)
IMPATIENT = RetryPolicy(delays_seconds=(0.01, 0.01, 0.01, 0.01), longest_wait_seconds=0.05)


class MemoryLedger:
    """A ledger as long as the test."""

    def __init__(self) -> None:
        self.attempts: list[Attempt] = []
        self.batches: list[Batch] = []
        self.closed: list[Batch] = []
        self.prompts: dict[str, str] = {}
        self.refused: dict[tuple[str, str], dict[str, str]] = {}
        self.in_flight: dict[tuple[str, str], int] = {}
        self.n_commits = 0

    def replies(self, call_keys: Collection[str]) -> dict[str, Reply]:
        """Replies recorded before."""
        target, result = set(call_keys), {}
        for item in self.attempts:
            match item.status:
                case "timeout" | "api_error" | "missing" | "budget_stopped":
                    continue
                case status if item.call_key in target:
                    result[item.call_key] = Reply(item.raw_output or "", status)
        return result

    def keys_in_batches(self, call_keys: Collection[str]) -> frozenset[str]:
        """Requests in open batches."""
        return frozenset(
            key for batch in self.batches for key in batch.subjects if key in call_keys
        )

    def record(
        self, new_attempts: Sequence[Attempt], prompts: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """Keep attempts and prompts."""
        self.n_commits += 1
        self.attempts += new_attempts
        self.prompts |= prompts

    def left_usd(self) -> float | None:
        """No cap."""
        return None

    def take(
        self, limits: RateLimits, tokens: Sequence[int], *, delay_seconds: float
    ) -> list[float]:
        """Give everything at once: nobody else asks."""
        del limits, delay_seconds
        return [0.0] * len(tokens)

    def endpoint_memory(self, base_url: str, model: str) -> EndpointMemory:
        """Memory of earlier runs."""
        key = (base_url, model)
        return EndpointMemory(self.refused.get(key, {}), self.in_flight.get(key))

    def remember_endpoint(self, base_url: str, model: str, memory: EndpointMemory) -> None:
        """Remember."""
        self.refused.setdefault((base_url, model), {}).update(memory.refused)
        if memory.in_flight is not None:
            self.in_flight[base_url, model] = memory.in_flight

    def open_batches(self, judge_id: str) -> list[Batch]:
        """Batches under way."""
        return [batch for batch in self.batches if batch.judge_id == judge_id]

    def known_batches(self) -> frozenset[str]:
        """Names of all batches."""
        return frozenset(item.batch_id for item in self.batches + self.closed if item.batch_id)

    def store_batch(self, batch: Batch, prompts: Mapping[str, str] = MappingProxyType({})) -> None:
        """Remember a batch, or how it went on."""
        self.batches = [item for item in self.batches if item.intent_id != batch.intent_id]
        (self.closed if batch.is_closed else self.batches).append(batch)
        self.prompts |= prompts


def units(n: int) -> list[Unit]:
    """Responses to rate, all different."""
    return [Unit(f"r{i}", QUESTION, f"Sort list {i}.", f"sorted(list_{i})") for i in range(n)]


@pytest.fixture
def provider() -> Iterator[RunningProvider]:
    """The fake provider, which behaves well until told otherwise."""
    with running(Behaviour(retry_after_seconds=0.02)) as running_provider:
        yield running_provider


@pytest.fixture
def ledger() -> MemoryLedger:
    """An empty ledger."""
    return MemoryLedger()


class JudgeAll(Protocol):
    """Judges units with declared judges; `options` are those of the run."""

    def __call__(
        self,
        to_rate: Sequence[Unit],
        judges: Sequence[Judge] = PAIR,
        **options: Any,
    ) -> JudgingSummary:
        """Judge."""


@pytest.fixture
def judge_all(provider: RunningProvider, ledger: MemoryLedger) -> JudgeAll:
    """Judges units against the fake provider, impatiently."""
    return judging(provider, ledger)


def judging(provider: RunningProvider, ledger: MemoryLedger) -> JudgeAll:
    """Return a judge of units against a fake provider, with what is in a ledger."""
    environ = {**provider.environment, "OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}

    def judge(
        to_rate: Sequence[Unit],
        judges: Sequence[Judge] = PAIR,
        **options: Any,
    ) -> JudgingSummary:
        evaluation = Evaluation("test", Path(), (QUESTION,), judges=tuple(judges))
        ready = live_models(
            evaluation, evaluation.live_judges, environ=environ, today=date(2026, 11, 21)
        )
        settings = {"report": lambda _: None, "retry": IMPATIENT, **options}
        return asyncio.run(
            judge_portions(
                [to_rate],
                ready,
                ledger,
                template=PromptTemplate.load(None),
                options=RequestOptions(api_keys(judges, environ=environ), **settings),
            )
        )

    return judge
