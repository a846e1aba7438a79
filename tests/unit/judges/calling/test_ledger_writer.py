"""Attempts on their way into the ledger."""

import asyncio
import threading
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


class WaitingLedger(MemoryLedger):
    """A ledger whose commits wait for the test."""

    def __init__(self) -> None:
        super().__init__()
        self.is_at_work = threading.Event()
        self.may_end = threading.Event()

    def record(self, new_attempts: Sequence[Attempt]) -> None:
        """Keep attempts when the test allows it."""
        self.is_at_work.set()
        self.may_end.wait()
        super().record(new_attempts)


def test_recording_returns_only_when_it_is_committed_and_the_event_loop_goes_on_meanwhile() -> None:
    ledger = WaitingLedger()

    async def scenario() -> None:
        recording = asyncio.create_task(LedgerWriter(ledger).record(attempt(0)))
        await asyncio.to_thread(ledger.is_at_work.wait)
        await asyncio.sleep(0)
        assert not recording.done()
        ledger.may_end.set()
        await recording
        assert len(ledger.attempts) == 1

    asyncio.run(scenario())


def test_the_attempt_of_a_cancelled_task_is_still_committed() -> None:
    ledger = WaitingLedger()

    async def scenario() -> None:
        writer = LedgerWriter(ledger)
        task = asyncio.create_task(writer.record(attempt(0)))
        await asyncio.to_thread(ledger.is_at_work.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        ledger.may_end.set()
        await writer.close()

    asyncio.run(scenario())
    assert len(ledger.attempts) == 1


def test_a_busy_event_loop_delays_no_commit() -> None:
    ledger = WaitingLedger()

    async def scenario() -> None:
        writer = LedgerWriter(ledger)
        first = asyncio.create_task(writer.record(attempt(0)))
        await asyncio.to_thread(ledger.is_at_work.wait)
        second = asyncio.create_task(writer.record(attempt(1)))
        await asyncio.sleep(0)
        ledger.may_end.set()
        while ledger.n_commits < 2:
            time.sleep(0.001)  # noqa: ASYNC251 - the loop is kept busy on purpose
        await asyncio.gather(first, second)

    asyncio.run(scenario())


class LoggingLedger(WaitingLedger):
    """A ledger that keeps what it was asked to do, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.log: list[tuple[str, list[str]]] = []

    def claim(self, requested: Sequence[Request]) -> dict[str, Reply | ClaimState]:
        """Claim everything."""
        self.log.append(("claim", [item.call_key for item in requested]))
        return super().claim(requested)

    def release(self, call_keys: Collection[str]) -> None:
        """Give claims up."""
        self.log.append(("release", sorted(call_keys)))

    def record(self, new_attempts: Sequence[Attempt]) -> None:
        """Keep attempts."""
        self.log.append(("record", [item.call_key for item in new_attempts]))
        super().record(new_attempts)


def test_claims_wait_for_a_commit_together_behind_what_was_paid_for() -> None:
    ledger = LoggingLedger()

    async def scenario() -> list[Reply | ClaimState]:
        writer = LedgerWriter(ledger)
        writer.release("k7", "k8")
        recording = asyncio.create_task(writer.record(attempt(0)))
        await asyncio.to_thread(ledger.is_at_work.wait)
        claims = [asyncio.create_task(writer.claim(request(number))) for number in (1, 2)]
        await asyncio.sleep(0)  # both are handed over during the commit
        ledger.may_end.set()
        await recording
        return await asyncio.gather(*claims)

    states = asyncio.run(scenario())

    assert states == ["claimed", "claimed"]
    assert ledger.log == [
        ("record", ["k0"]),
        ("release", ["k7", "k8"]),
        ("claim", ["k1", "k2"]),
    ]


def test_what_arrives_during_a_commit_goes_into_the_next_one() -> None:
    ledger = WaitingLedger()

    async def scenario() -> None:
        writer = LedgerWriter(ledger)
        first = asyncio.create_task(writer.record(attempt(0)))
        await asyncio.to_thread(ledger.is_at_work.wait)
        later = [asyncio.create_task(writer.record(attempt(number))) for number in range(1, 50)]
        await asyncio.sleep(0)
        ledger.may_end.set()
        await asyncio.gather(first, *later)

    asyncio.run(scenario())
    assert len(ledger.attempts) == 50
    assert ledger.n_commits == 2


def test_what_a_ledger_raises_is_raised_before_the_next_request() -> None:
    class FullLedger(MemoryLedger):
        def record(self, new_attempts: Sequence[Attempt]) -> None:
            """Keep nothing."""
            del new_attempts
            raise OSError("the disk is full")

    async def scenario() -> None:
        writer = LedgerWriter(FullLedger())
        writer.require_working()
        with pytest.raises(OSError, match="full"):
            await writer.record(attempt(0))
        with pytest.raises(OSError, match="full"):
            writer.require_working()

    asyncio.run(scenario())


def test_a_claim_of_what_was_answered_meanwhile_brings_the_reply() -> None:
    ledger = MemoryLedger()
    ledger.attempts.append(attempt(1))

    assert asyncio.run(LedgerWriter(ledger).claim(request(1))) == Reply("", "ok")
