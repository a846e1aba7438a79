"""Generating, by the real SDK clients against a server that misbehaves."""

import asyncio
import json
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pytest

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.judges import Generator
from eval_assets.conversation import Conversation, Turn
from eval_assets.judges.calling.live_model import live_models
from eval_assets.judges.calling.session import RequestOptions
from eval_assets.judges.credentials import api_keys
from eval_assets.judges.generating import GenerationSummary, generate_responses
from tests.fake_provider.behaviour import Behaviour
from tests.fake_provider.faults import Faults
from tests.fake_provider.server import RunningProvider
from tests.unit.judges.conftest import IMPATIENT, MemoryLedger

TALK = Conversation("harm", "c1", (Turn(1, "Say a word."), Turn(2, "And its opposite?")))
QUESTION = Conversation(None, "c2", (Turn(1, "How are you?"),))
BOTH = (
    Generator("gpt", "openai", "gpt-4o", seeds=(1, 2), system="Be brief."),
    Generator("haiku", "anthropic", "claude-haiku-5-5"),
)


def generate(
    provider: RunningProvider,
    ledger: MemoryLedger,
    generators: Sequence[Generator] = BOTH,
    *,
    budget_usd: float | None = None,
) -> GenerationSummary:
    environ = provider.environment
    evaluation = Evaluation("test", Path(), (), generators=tuple(generators))
    return asyncio.run(
        generate_responses(
            (TALK, QUESTION),
            live_models(
                evaluation, evaluation.generators, environ=environ, today=date(2026, 11, 21)
            ),
            ledger,
            name=lambda talk, turn, rater, seed: f"{talk.convo_id}/{turn.index}/{rater}/{seed}",
            options=RequestOptions(
                api_keys(generators, environ=environ),
                budget_usd=budget_usd,
                report=lambda _: None,
                retry=IMPATIENT,
            ),
        )
    )


def test_every_turn_is_answered_for_every_generator_and_seed_once(
    provider: RunningProvider, ledger: MemoryLedger
) -> None:
    summary = generate(provider, ledger)
    answers = {
        (r.conversation.convo_id, r.turn.index, r.generator_id, r.seed) for r in summary.responses
    }
    assert answers == {
        (talk, turn, rater, seed)
        for talk, turn in (("c1", 1), ("c1", 2), ("c2", 1))
        for rater, seed in (("gpt", 1), ("gpt", 2), ("haiku", 0))
    }
    assert {response.status for response in summary.responses} == {"ok"}
    assert all(response.text for response in summary.responses)
    assert {attempt.response_id for attempt in ledger.attempts} >= {"c1/2/gpt/2", "c2/1/haiku/0"}
    repeat = generate(provider, ledger)
    assert (repeat.n_attempts, repeat.n_from_ledger) == (0, 9)
    assert repeat.responses == summary.responses


def test_a_later_turn_is_asked_with_the_answer_before_it(
    provider: RunningProvider, ledger: MemoryLedger
) -> None:
    (generator,) = BOTH[1:]
    summary = generate(provider, ledger, [generator])
    second = max(
        (json.loads(request.body)["messages"] for request in provider.log.completions), key=len
    )
    assert [message["role"] for message in second] == ["user", "assistant", "user"]
    assert second[0]["content"] == "Say a word."
    assert second[1]["content"] == summary.responses[0].text
    assert second[2]["content"] == "And its opposite?"


def test_settings_system_prompt_and_seed_are_sent_to_models_that_take_them(
    provider: RunningProvider, ledger: MemoryLedger
) -> None:
    settings = {"temperature": 0.7, "max_tokens": 321}
    generators = [
        Generator("gpt", "openai", "gpt-4o", settings=settings, system="Be brief."),
        Generator("haiku", "anthropic", "claude-haiku-5-5", settings=settings),
    ]
    generate(provider, ledger, generators)
    bodies = {item.vendor: json.loads(item.body) for item in provider.log.completions}
    openai, anthropic = bodies["openai"], bodies["anthropic"]
    assert openai["messages"][0] == {"role": "system", "content": "Be brief."}
    assert (openai["temperature"], openai["seed"]) == (0.7, 0)
    assert openai["max_completion_tokens"] == anthropic["max_tokens"] == 321
    assert not {"temperature", "seed", "system", "output_config"} & anthropic.keys()


@pytest.mark.parametrize(
    ("fault", "status"), [("bad_request", "api_error"), ("cut_off", "truncated")]
)
def test_a_failed_turn_is_a_row_with_its_status_and_ends_its_conversation(
    provider: RunningProvider, ledger: MemoryLedger, fault: str, status: str
) -> None:
    provider.behave(Behaviour(faults=Faults(by_text={"Say a word.": fault})))  # type: ignore[dict-item]
    summary = generate(provider, ledger, BOTH[1:])
    assert [response.status for response in summary.responses] == [status, "missing", "ok"]
    assert summary.responses[1].error == "an earlier turn has no response"
    assert provider.log.n_received == 2


def test_generation_keeps_the_budget(provider: RunningProvider, ledger: MemoryLedger) -> None:
    summary = generate(provider, ledger, BOTH[1:], budget_usd=1e-9)
    assert [r.status for r in summary.responses] == ["budget_stopped", "missing", "budget_stopped"]
    assert provider.log.n_received == 0
