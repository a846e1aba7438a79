"""Attempts on their way into the ledger."""

import asyncio
import time
from collections.abc import Collection, Sequence
from datetime import UTC, datetime

import pytest

from eval_assets.judges.calling.ledger_writer import LedgerWriter
from eval_assets.ledger import Attempt, ClaimState, Reply, Request
from tests.unit.judges.conftest import MemoryLedger


def attempt(number: int) -> Attempt:
    return Attempt(
        call_key=f"k{number}",
        attempt=1,
        judge_id="gpt",
        operation="judging",
        response_id=f"r{number}",
        question_id="q",
        replicate=0,
        provider="openai",
        base_url="http://127.0.0.1",
        model_requested="gpt-6-luna",
        status="ok",
        started_at=datetime(2026, 11, 21, tzinfo=UTC),
        latency_seconds=0.5,
    )


def request(number: int) -> Request:
    return Request(f"k{number}", "gpt", "judging", "gpt-6-luna", "{}", 0.01)


class SlowLedger(MemoryLedger):
    """A ledger that takes its time."""

    def record(self, made: Sequence[Attempt]) -> None:
        """Keep attempts, slowly."""
        time.sleep(0.05)
        super().record(made)


def test_what_arrives_together_is_committed_together() -> None:
    ledger = SlowLedger()

    async def scenario() -> None:
        writer = LedgerWriter(ledger)
        await asyncio.gather(*(writer.record(attempt(number)) for number in range(100)))

    asyncio.run(scenario())
    assert [each.call_key for each in ledger.attempts] == [f"k{number}" for number in range(100)]
    assert ledger.n_commits == 1


def test_recording_returns_only_when_it_is_committed() -> None:
    ledger = SlowLedger()

    async def scenario() -> None:
        writer = LedgerWriter(ledger)
        await writer.record(attempt(0))
        assert len(ledger.attempts) == 1

    asyncio.run(scenario())


def test_the_attempt_of_a_cancelled_task_is_still_committed() -> None:
    ledger = SlowLedger()

    async def scenario() -> None:
        writer = LedgerWriter(ledger)
        task = asyncio.create_task(writer.record(attempt(0)))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await writer.close()

    asyncio.run(scenario())
    assert len(ledger.attempts) == 1


def test_the_event_loop_goes_on_meanwhile() -> None:
    ledger = SlowLedger()

    async def scenario() -> int:
        writer, ticks = LedgerWriter(ledger), 0
        task = asyncio.create_task(writer.record(attempt(0)))
        while not task.done():
            await asyncio.sleep(0.005)
            ticks += 1
        return ticks

    assert asyncio.run(scenario()) >= 5


class LoggingLedger(MemoryLedger):
    """A ledger that keeps what it was asked to do, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.log: list[tuple[str, list[str]]] = []

    def claim(self, asked: Sequence[Request]) -> dict[str, Reply | ClaimState]:
        """Claim everything."""
        self.log.append(("claim", [each.call_key for each in asked]))
        return super().claim(asked)

    def release(self, call_keys: Collection[str]) -> None:
        """Give claims up."""
        self.log.append(("release", sorted(call_keys)))

    def record(self, made: Sequence[Attempt]) -> None:
        """Keep attempts."""
        self.log.append(("record", [each.call_key for each in made]))
        super().record(made)


def test_claims_wait_for_a_commit_together_behind_what_was_paid_for() -> None:
    ledger = LoggingLedger()

    async def scenario() -> list[Reply | ClaimState]:
        writer = LedgerWriter(ledger)
        writer.release("k7", "k8")
        recording = asyncio.create_task(writer.record(attempt(0)))
        states = await asyncio.gather(*(writer.claim(request(number)) for number in (1, 2)))
        await recording
        return states

    states = asyncio.run(scenario())

    assert states == ["claimed", "claimed"]
    assert ledger.log == [
        ("record", ["k0"]),
        ("release", ["k7", "k8"]),
        ("claim", ["k1", "k2"]),
    ]


def test_what_arrives_during_a_commit_goes_into_the_next_one() -> None:
    ledger = SlowLedger()

    async def scenario() -> None:
        writer = LedgerWriter(ledger)
        first = asyncio.create_task(writer.record(attempt(0)))
        await asyncio.sleep(0.01)
        await asyncio.gather(first, *(writer.record(attempt(number)) for number in range(1, 50)))

    asyncio.run(scenario())
    assert len(ledger.attempts) == 50
    assert ledger.n_commits == 2


def test_a_claim_of_what_was_answered_meanwhile_brings_the_reply() -> None:
    ledger = MemoryLedger()
    ledger.attempts.append(attempt(1))

    assert asyncio.run(LedgerWriter(ledger).claim(request(1))) == Reply("", "ok")
