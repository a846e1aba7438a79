"""Attempts on their way into the ledger."""

import asyncio
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType

import pytest

from eval_assets.judges.calling.ledger_writer import LedgerWriter
from eval_assets.ledger import Attempt, Reply
from tests.unit.judges.conftest import MemoryLedger

PROMPT = '{"messages": []}'


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


async def recorded(writer: LedgerWriter, number: int) -> None:
    await asyncio.shield(writer.record(attempt(number), PROMPT))


class WaitingLedger(MemoryLedger):
    """A ledger whose commits wait for the test."""

    def __init__(self) -> None:
        super().__init__()
        self.is_at_work = threading.Event()
        self.may_end = threading.Event()

    def record(
        self, new_attempts: Sequence[Attempt], prompts: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """Keep attempts when the test allows it."""
        self.is_at_work.set()
        self.may_end.wait()
        super().record(new_attempts, prompts)


def test_recording_returns_only_when_it_is_committed_and_the_event_loop_goes_on_meanwhile() -> None:
    ledger = WaitingLedger()

    async def scenario() -> None:
        recording = asyncio.create_task(recorded(LedgerWriter(ledger), 0))
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
        task = asyncio.create_task(recorded(writer, 0))
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
        first = asyncio.create_task(recorded(writer, 0))
        await asyncio.to_thread(ledger.is_at_work.wait)
        second = asyncio.create_task(recorded(writer, 1))
        await asyncio.sleep(0)
        ledger.may_end.set()
        while ledger.n_commits < 2:
            time.sleep(0.001)  # noqa: ASYNC251 - the loop is kept busy on purpose
        await asyncio.gather(first, second)

    asyncio.run(scenario())


def test_requests_are_looked_up_together_behind_what_was_paid_for() -> None:
    looked_up: list[Collection[str]] = []

    class LoggingLedger(WaitingLedger):
        def replies(self, call_keys: Collection[str]) -> dict[str, Reply]:
            """Return the replies that were committed before."""
            looked_up.append(call_keys)
            return super().replies(call_keys)

    ledger = LoggingLedger()

    async def scenario() -> list[Reply | None]:
        writer = LedgerWriter(ledger)
        recording = asyncio.create_task(recorded(writer, 0))
        await asyncio.to_thread(ledger.is_at_work.wait)
        lookups = [asyncio.create_task(writer.stored_reply(f"k{number}")) for number in (0, 1)]
        await asyncio.sleep(0)  # both are handed over during the commit
        ledger.may_end.set()
        await recording
        return await asyncio.gather(*lookups)

    assert asyncio.run(scenario()) == [Reply("", "ok"), None]
    assert looked_up == [["k0", "k1"]]
    assert ledger.prompts == {"k0": PROMPT}


def test_what_arrives_during_a_commit_goes_into_the_next_one() -> None:
    ledger = WaitingLedger()

    async def scenario() -> None:
        writer = LedgerWriter(ledger)
        first = asyncio.create_task(recorded(writer, 0))
        await asyncio.to_thread(ledger.is_at_work.wait)
        later = [asyncio.create_task(recorded(writer, number)) for number in range(1, 50)]
        await asyncio.sleep(0)
        ledger.may_end.set()
        await asyncio.gather(first, *later)

    asyncio.run(scenario())
    assert len(ledger.attempts) == 50
    assert ledger.n_commits == 2


def test_what_a_ledger_raises_is_raised_before_the_next_request() -> None:
    class FullLedger(MemoryLedger):
        def record(
            self, new_attempts: Sequence[Attempt], prompts: Mapping[str, str] = MappingProxyType({})
        ) -> None:
            """Keep nothing."""
            del new_attempts, prompts
            raise OSError("the disk is full")

    async def scenario() -> None:
        writer = LedgerWriter(FullLedger())
        writer.require_working()
        with pytest.raises(OSError, match="full"):
            await recorded(writer, 0)
        with pytest.raises(OSError, match="full"):
            writer.require_working()

    asyncio.run(scenario())
