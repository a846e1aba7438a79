"""Attempts on their way into the ledger: those that arrive together are committed together."""

import asyncio
import time
from collections.abc import Sequence
from datetime import datetime

from eval_assets.judges.calling.live_model import AnyLiveModel
from eval_assets.judges.calling.requests import Answer, Subject
from eval_assets.ledger import Attempt, Ledger, Reply

_GATHERING_SECONDS = 0.05
"""What arrives within this time is committed together."""


class LedgerWriter:
    """Records attempts without holding up the event loop.

    What arrives while a commit is under way goes into the next one, and between two commits as much
    time passes as the last one took: a slow ledger makes for few commits, not for few requests.

    Args:
        ledger: Ledger to write to.
    """

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self._failure: BaseException | None = None
        self._waiting: list[Attempt] = []
        self._next: asyncio.Future[None] | None = None
        self._writer: asyncio.Task[None] | None = None

    async def record(self, *attempts: Attempt) -> None:
        """Return when the attempts are committed.

        Raises:
            Exception: What the ledger raises; then nothing is recorded any more.
        """
        self._waiting += attempts
        if self._next is None:
            self._next = asyncio.get_running_loop().create_future()
        committed = self._next
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write())
        # Shielded: the attempt of a cancelled caller is written all the same.
        await asyncio.shield(committed)

    def require_working(self) -> None:
        """Raise what the ledger raised, if it did: nothing is to be paid that cannot be kept."""
        if self._failure is not None:
            raise self._failure

    async def close(self) -> None:
        """Wait until everything handed over is committed."""
        if self._writer is not None:
            await self._writer

    async def _write(self) -> None:
        """Commit what waits until nothing does."""
        pause = _GATHERING_SECONDS
        while self._waiting and self._next is not None:
            await asyncio.sleep(pause)
            started = time.monotonic()
            attempts, committed = self._waiting, self._next
            self._waiting, self._next = [], None
            await self._commit(attempts, committed)
            pause = max(_GATHERING_SECONDS, time.monotonic() - started)

    async def _commit(self, attempts: Sequence[Attempt], committed: asyncio.Future[None]) -> None:
        """Commit attempts and wake whoever waits for them."""
        write = asyncio.create_task(asyncio.to_thread(self.ledger.record, attempts))
        await asyncio.wait([write])
        if (error := write.exception()) is not None:
            self._failure = error
            committed.set_exception(error)
        else:
            committed.set_result(None)


def attempt_row(  # noqa: PLR0913 - everything that a row is made of
    request_key: str,
    model: AnyLiveModel,
    subject: Subject,
    answer: Answer,
    *,
    number: int,
    started_at: datetime,
    latency_seconds: float,
) -> Attempt:
    """Return the ledger's row for an attempt."""
    endpoint = model.endpoint
    reply = answer if isinstance(answer, Reply) else None
    usage = reply.usage if reply else None
    return Attempt(
        call_key=request_key,
        attempt=number,
        judge_id=model.id,
        operation=subject.operation,
        response_id=subject.response_id,
        question_id=subject.question_id,
        replicate=subject.replicate,
        provider=endpoint.provider,
        base_url=endpoint.base_url,
        model_requested=endpoint.model,
        model_returned=reply.model_returned if reply else None,
        status=answer.status,
        http_status=answer.http_status,
        input_tokens=usage.input_tokens if usage else None,
        output_tokens=usage.output_tokens if usage else None,
        cached_input_tokens=usage.cached_input_tokens if usage else None,
        cost_usd=model.cost_usd(usage),
        in_batch=model.declared.batch,
        latency_seconds=latency_seconds,
        started_at=started_at,
        request_id=answer.request_id,
        raw_output=answer.text if isinstance(answer, Reply) else answer.body,
        error=None if reply else str(answer),
    )
