"""Ctrl-C and SIGTERM while requests are in flight, in a process of its own."""

import asyncio
import dataclasses
import os
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from eval_assets.config.evaluation import Evaluation
from eval_assets.judges.calling.live_model import live_models
from eval_assets.judges.calling.session import RequestOptions
from eval_assets.judges.judging import judge_portions
from eval_assets.judges.prompts.prompt import PromptTemplate
from tests.fake_provider.behaviour import Behaviour
from tests.fake_provider.server import RunningProvider, running
from tests.processes import live_processes
from tests.unit.judges.conftest import KEY, PAIR, QUESTION, MemoryLedger, units


@dataclass(frozen=True)
class Run:
    """A process that judges, what it prints on stderr, and what receives its result."""

    process: BaseProcess
    stderr: Path
    receiver: Connection

    def send(self, number: signal.Signals) -> None:
        """Send a signal."""
        os.kill(self.process.pid or 0, number)


def judge(environment: Mapping[str, str], stderr: Path, report: Connection) -> None:
    """Judge 500 responses; report what ended it, and how many replies are kept."""
    os.environ.clear()
    os.environ.update(environment)
    os.dup2(os.open(stderr, os.O_WRONLY | os.O_CREAT), 2)
    ledger = MemoryLedger()
    pair = tuple(dataclasses.replace(judge, max_in_flight=16) for judge in PAIR)
    evaluation = Evaluation("test", Path(), (QUESTION,), judges=pair)
    judges = live_models(
        evaluation, evaluation.live_judges, environ=os.environ, today=date(2026, 11, 21)
    )
    for model in judges:  # known, so that no request is sent alone
        ledger.in_flight[model.endpoint.base_url, model.endpoint.model] = 16
    options = RequestOptions({"gpt": KEY, "haiku": "x" * 20})
    judging = judge_portions(
        [units(500)], judges, ledger, template=PromptTemplate.load(None), options=options
    )
    try:
        asyncio.run(judging)
    except BaseException as error:  # noqa: BLE001 - it is reported
        ended = type(error).__name__
    else:
        ended = "no exception"
    report.send((ended, len([attempt for attempt in ledger.attempts if attempt.raw_output])))


@pytest.fixture
def provider() -> Iterator[RunningProvider]:
    with running(Behaviour(latency_seconds=0.5)) as running_provider:
        yield running_provider


@contextmanager
def started(provider: RunningProvider, folder: Path) -> Iterator[Run]:
    """Yield a run with requests in flight."""
    context = live_processes(__name__)
    receiver, sender = context.Pipe(duplex=False)
    stderr = folder / "stderr"
    process = context.Process(target=judge, args=(provider.environment, stderr, sender))
    process.start()
    sender.close()
    while provider.log.n_in_flight < 8:
        assert process.is_alive()
        time.sleep(0.01)
    try:
        yield Run(process, stderr, receiver)
    finally:
        process.kill()
        process.join()


@pytest.mark.slow
def test_requests_in_flight_are_waited_for_and_kept(
    provider: RunningProvider, tmp_path: Path
) -> None:
    with started(provider, tmp_path) as run:
        run.send(signal.SIGINT)
        ended, n_replies = run.receiver.recv()
        errors = run.stderr.read_text()

    assert ended == "KeyboardInterrupt"
    assert n_replies == provider.log.n_received < 1000
    assert "interrupted: waiting up to 10 s for " in errors
    assert "0 given up" in errors


@pytest.mark.slow
def test_a_second_signal_ends_at_once(provider: RunningProvider, tmp_path: Path) -> None:
    provider.behave(Behaviour(latency_seconds=3600))
    with started(provider, tmp_path) as run:
        run.send(signal.SIGINT)
        while "interrupted: waiting" not in run.stderr.read_text():
            assert run.process.is_alive()
            time.sleep(0.01)
        run.send(signal.SIGINT)

        assert run.receiver.recv() == ("KeyboardInterrupt", 0)


@pytest.mark.slow
def test_sigterm_ends_the_process_after_what_is_in_flight(
    provider: RunningProvider, tmp_path: Path
) -> None:
    with started(provider, tmp_path) as run:
        n_asked = provider.log.n_received
        run.send(signal.SIGTERM)
        run.process.join(timeout=300)
        exit_code, errors = run.process.exitcode, run.stderr.read_text()

    assert exit_code == -signal.SIGTERM
    assert "requests in flight ended and are stored, 0 given up" in errors
    assert provider.log.n_received <= n_asked + 32
