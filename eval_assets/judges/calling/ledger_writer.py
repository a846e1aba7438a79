"""The way into the ledger: what arrives together is committed together, off the event loop."""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import datetime
from functools import partial
from typing import TypeVar

from eval_assets.judges.calling.live_model import AnyLiveModel
from eval_assets.judges.calling.requests import Answer, ModelRequest, Subject
from eval_assets.ledger import Attempt, ClaimState, Ledger, Refusal, Reply, Request

_Result = TypeVar("_Result")


class LedgerWriter:
    """Claims requests and records attempts without holding up the event loop.

    A commit begins as soon as there is something to commit; what arrives while it is under way goes
    into the next one. So a slow ledger makes for few commits, not for few requests.

    Args:
        ledger: Ledger to write to.
    """

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self._failure: BaseException | None = None
        self._attempts: list[Attempt] = []
        self._refused: list[Refusal] = []
        self._released: set[str] = set()
        self._claims: dict[str, Request] = {}
        self._recorded: asyncio.Future[None] | None = None
        self._claimed: asyncio.Future[dict[str, Reply | ClaimState]] | None = None
        self._writer: asyncio.Task[None] | None = None

    async def record(self, *attempts: Attempt) -> None:
        """Return when the attempts are committed.

        Raises:
            Exception: What the ledger raises; then nothing is recorded any more.
        """
        self._attempts += attempts
        if self._recorded is None:
            self._recorded = asyncio.get_running_loop().create_future()
        await self._committed(self._recorded)

    async def claim(self, request: Request) -> Reply | ClaimState:
        """Claim a request; see `Ledger.claim`."""
        self._claims[request.call_key] = request
        if self._claimed is None:
            self._claimed = asyncio.get_running_loop().create_future()
        return (await self._committed(self._claimed))[request.call_key]

    def release(self, *call_keys: str) -> None:
        """Give up claims with the next ones: the requests are not sent again."""
        self._released.update(call_keys)

    def remember(self, refused: Refusal) -> None:
        """Record with the next attempts what an endpoint does not take."""
        self._refused.append(refused)

    def require_working(self) -> None:
        """Raise what the ledger raised, if it did: nothing is to be paid that cannot be kept."""
        if self._failure is not None:
            raise self._failure

    async def close(self) -> None:
        """Wait until everything handed over is committed."""
        if self._writer is not None:
            await self._writer

    async def _committed(self, commit: asyncio.Future[_Result]) -> _Result:
        """Return what comes of a commit that is to be made."""
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write())
        # Shielded: what a cancelled caller has handed over is written all the same.
        return await asyncio.shield(commit)

    async def _write(self) -> None:
        """Commit what waits until nothing does; what was paid for comes first."""
        while self._recorded or self._claimed:
            if (recorded := self._recorded) is not None:
                self._recorded = None
                attempts, self._attempts = self._attempts, []
                refused, self._refused = self._refused, []
                await self._commit(recorded, partial(self._record, attempts, refused))
            if (claimed := self._claimed) is not None:
                self._claimed = None
                released, self._released = self._released, set()
                claims, self._claims = self._claims, {}
                await self._commit(claimed, partial(self._claim, released, list(claims.values())))

    async def _commit(self, commit: asyncio.Future[_Result], write: Callable[[], _Result]) -> None:
        """Write in a thread, and wake whoever waits for it."""
        writing = asyncio.create_task(asyncio.to_thread(write))
        await asyncio.wait([writing])
        if (error := writing.exception()) is not None:
            self._failure = error
            commit.set_exception(error)
        else:
            commit.set_result(writing.result())

    def _record(self, attempts: Sequence[Attempt], refused: Sequence[Refusal]) -> None:
        self.ledger.record(attempts)
        if refused:
            self.ledger.record_refusals(refused)

    def _claim(
        self, released: set[str], claims: Sequence[Request]
    ) -> dict[str, Reply | ClaimState]:
        if released:
            self.ledger.release(released)
        return self.ledger.claim(claims)


def request_row(
    request: ModelRequest, model: AnyLiveModel, subject: Subject, *, most_usd: float
) -> Request:
    """Return the ledger's row for a request that is about to be sent."""
    sent = {
        "messages": [asdict(message) for message in request.messages],
        "settings": dict(request.settings),
        "max_tokens": request.max_tokens,
        "schema": request.schema,
    }
    return Request(
        call_key=request.key,
        judge_id=model.id,
        operation=subject.operation,
        model=request.endpoint.model,
        prompt=json.dumps(sent, ensure_ascii=False),
        most_usd=most_usd,
        response_id=subject.response_id,
        question_id=subject.question_id,
        replicate=subject.replicate,
    )


def attempt_row(  # noqa: PLR0913 - everything that a row is made of
    request_key: str,
    model: AnyLiveModel,
    subject: Subject,
    answer: Answer,
    *,
    number: int,
    started_at: datetime,
    latency_seconds: float,
    charged_usd: float | None = None,
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
        reasoning_tokens=usage.reasoning_tokens if usage else None,
        cache_write_tokens=usage.cache_write_tokens if usage else None,
        cost_usd=model.cost_usd(usage),
        charged_usd=charged_usd,
        in_batch=model.declared.batch,
        latency_seconds=latency_seconds,
        started_at=started_at,
        request_id=answer.request_id,
        raw_output=reply.text if reply else None,
        raw_reply=answer.body,
        error=None if reply else str(answer),
    )
