"""Judging by servers with quirks and by replies of odd shapes, as the fake provider speaks them."""

from collections import Counter

import pytest

from eval_assets.config.judges import Judge
from tests.fake_provider.behaviour import Behaviour
from tests.fake_provider.faults import Faults
from tests.fake_provider.odd_shapes import SHAPES
from tests.fake_provider.server import RunningProvider
from tests.fake_provider.vendors.compatible import LIKES, Like
from tests.unit.judges.conftest import JudgeAll, MemoryLedger, units

MODELS = {
    "deepseek": "deepseek-v4-flash",
    "mistral": "magistral-small",
    "ollama": "qwen3:8b",
    "vllm": "our/own-model",
    "gemini": "gemini-2.5-flash",
}


@pytest.mark.parametrize("like", LIKES)
def test_every_unit_is_scored_by_a_server_with_quirks(
    provider: RunningProvider, ledger: MemoryLedger, judge_all: JudgeAll, like: Like
) -> None:
    provider.behave(Behaviour(like=like))
    judge = Judge("own", "openai", MODELS[like], settings={"seed": 7})

    summary = judge_all(units(20), [judge])

    assert Counter(score.status for score in summary.scores) == {"ok": 20}
    assert all(attempt.raw_reply for attempt in ledger.attempts)
    provider.log.clear()
    judge_all(units(21), [judge])
    assert len(provider.log.completions) == 1  # what was refused is remembered


def test_no_odd_reply_ends_a_run_and_every_reply_is_kept(
    provider: RunningProvider, ledger: MemoryLedger, judge_all: JudgeAll
) -> None:
    provider.behave(Behaviour(faults=Faults(rates={"odd_shape": 1.0})))

    summary = judge_all(units(5 * len(SHAPES)))

    result = Counter(score.status for score in summary.scores)
    assert result.keys() == {"ok", "unparsable", "missing", "api_error"}
    assert result["ok"] > 2 * len(SHAPES)
    assert all(attempt.raw_reply for attempt in ledger.attempts)
    unknown = [a for a in ledger.attempts if a.status != "api_error" and a.cost_usd is None]
    assert unknown
    assert all(attempt.charged_usd for attempt in unknown)
