"""Ctrl-C and SIGTERM while requests are in flight, in a process of its own."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fake_provider.behaviour import Behaviour
from tests.fake_provider.server import RunningProvider, running
from tests.unit.judges.conftest import KEY

JUDGE = """
import asyncio, json, os, sys
from datetime import date
from pathlib import Path
from eval_assets.config.evaluation import Evaluation
from eval_assets.judges.calling.session import RequestOptions
from eval_assets.judges.calling.live_model import live_judges
from eval_assets.judges.judging import judge_portions
from eval_assets.judges.prompts.prompt import PromptTemplate
from tests.unit.judges.conftest import PAIR, QUESTION, MemoryLedger, units

ledger = MemoryLedger()
evaluation = Evaluation("test", Path(), (QUESTION,), (), (), judges=PAIR)
judges = live_judges(evaluation, environ=os.environ, today=date(2026, 11, 21))
options = RequestOptions({"gpt": os.environ["OPENAI_API_KEY"], "haiku": "x" * 20})
try:
    asyncio.run(
        judge_portions(
            [units(500)], judges, ledger, template=PromptTemplate.load(None), options=options
        )
    )
except BaseException as error:
    ended = type(error).__name__
else:
    ended = "no exception"
replies = [attempt for attempt in ledger.attempts if attempt.raw_output]
print(json.dumps({"ended": ended, "n_replies": len(replies)}))
"""


@pytest.fixture
def provider() -> Iterator[RunningProvider]:
    with running(Behaviour(latency_seconds=0.5)) as running_provider:
        yield running_provider


def start(provider: RunningProvider) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", JUDGE],
        env={"OPENAI_API_KEY": KEY, "PATH": "/usr/bin", **provider.environment},
        cwd=Path(__file__).parents[4],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while provider.log.n_in_flight < 8:
        assert process.poll() is None
        time.sleep(0.01)
    return process


@pytest.mark.slow
def test_requests_in_flight_are_waited_for_and_kept(provider: RunningProvider) -> None:
    process = start(provider)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=300)
    text = json.loads(output)
    assert text["ended"] == "KeyboardInterrupt"
    assert text["n_replies"] == provider.log.n_received < 1000
    assert "interrupted: waiting up to 10 s for " in errors
    assert "0 given up" in errors


@pytest.mark.slow
def test_a_second_signal_ends_at_once(provider: RunningProvider) -> None:
    provider.behave(Behaviour(latency_seconds=3600))
    process = start(provider)
    process.send_signal(signal.SIGINT)
    stderr = process.stderr
    assert stderr is not None
    while "interrupted: waiting" not in (line := stderr.readline()):
        assert line
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=300)
    assert json.loads(output) == {"ended": "KeyboardInterrupt", "n_replies": 0}


@pytest.mark.slow
def test_sigterm_ends_the_process_after_what_is_in_flight(provider: RunningProvider) -> None:
    process = start(provider)
    n_asked = provider.log.n_received
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == -signal.SIGTERM
    assert "requests in flight ended and are stored, 0 given up" in errors
    assert provider.log.n_received <= n_asked + 32
