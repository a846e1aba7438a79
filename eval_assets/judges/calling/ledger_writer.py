"""Writer of the ledger: a separate thread that commits everything that arrives together at once."""

import asyncio
import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from eval_assets.judges.calling.live_model import AnyLiveModel
from eval_assets.judges.calling.requests import ModelRequest, Outcome, RequestFailed
from eval_assets.ledger import Attempt, CallSubject, ClaimState, Ledger, Refusal, Reply, Request

_Result = TypeVar("_Result")


class LedgerWriter:
    """Claims requests and records attempts without holding up the event loop, or waiting for it.

    A commit begins as soon as there is something to commit; what arrives while it is under way goes
    into the next one. So a slow ledger makes for few commits, not for few requests. The thread goes
    from one commit to the next by itself: a busy event loop delays no reply on its way to the disk.
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
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ledger")
        self._handing_over = threading.Lock()

    async def record(self, *attempts: Attempt) -> None:
        """Return when the attempts are committed.

        Raises:
            Exception: What the ledger raises; then nothing is recorded any more.
        """
        with self._handing_over:
            self._attempts += attempts
            self._recorded = recorded = self._recorded or self._begin(self._record)
        await asyncio.shield(recorded)

    async def claim(self, request: Request) -> Reply | ClaimState:
        """Claim a request; see `Ledger.claim`."""
        with self._handing_over:
            self._claims[request.call_key] = request
            self._claimed = claimed = self._claimed or self._begin(self._claim)
        return (await asyncio.shield(claimed))[request.call_key]

    def release(self, *call_keys: str) -> None:
        """Release claims with the next commit; the requests are not sent again."""
        with self._handing_over:
            self._released.update(call_keys)

    async def withdraw(self, call_key: str, error: str) -> None:
        """Turn a reply into a failure, after it was committed."""
        # The thread writes in turn, so a reply that was handed over before is in the ledger.
        await asyncio.shield(self._begin(partial(self.ledger.withdraw, [call_key], error)))

    def remember(self, refused: Refusal) -> None:
        """Record refusals of an endpoint with the next attempts."""
        with self._handing_over:
            self._refused.append(refused)

    @property
    def has_failed(self) -> bool:
        """Return whether the ledger has raised anything."""
        return self._failure is not None

    def require_working(self) -> None:
        """Raise the ledger's error, if any: nothing may be paid that cannot be stored."""
        if self._failure is not None:
            raise self._failure

    async def close(self) -> None:
        """Wait until everything handed over is committed."""
        await asyncio.to_thread(self._thread.shutdown)

    def _begin(self, write: Callable[[], _Result]) -> "asyncio.Future[_Result]":
        """Let the thread write after its current commit."""
        # Those who wait shield it: what a cancelled caller has handed over is written all the same.
        written = asyncio.wrap_future(self._thread.submit(write))
        written.add_done_callback(self._heed)
        return written

    def _heed(self, written: "asyncio.Future[Any]") -> None:
        """Store the ledger's error."""
        self._failure = self._failure or written.exception()

    def _record(self) -> None:
        """Commit the attempts that wait; in the thread."""
        with self._handing_over:
            self._recorded = None
            attempts, self._attempts = self._attempts, []
            refused, self._refused = self._refused, []
        self.ledger.record(attempts)
        if refused:
            self.ledger.record_refusals(refused)

    def _claim(self) -> dict[str, Reply | ClaimState]:
        """Claim the requests that wait; in the thread."""
        with self._handing_over:
            self._claimed = None
            released, self._released = self._released, set()
            claims, self._claims = self._claims, {}
        if released:
            self.ledger.release(released)
        return self.ledger.claim(list(claims.values()))


def request_row(
    request: ModelRequest, model: AnyLiveModel, subject: CallSubject, *, most_usd: float
) -> Request:
    """Return the ledger's row for a request that is about to be sent."""
    content = {
        "messages": [asdict(message) for message in request.messages],
        "settings": dict(request.settings),
        "max_tokens": request.max_tokens,
        "schema": request.schema,
    }
    return Request(
        call_key=request.key,
        judge_id=model.id,
        model=request.endpoint.model,
        prompt=json.dumps(content, ensure_ascii=False),
        most_usd=most_usd,
        **vars(subject),
    )


def attempt_row(  # noqa: PLR0913 - the columns of a row
    request_key: str,
    model: AnyLiveModel,
    subject: CallSubject,
    outcome: Outcome,
    *,
    number: int,
    started_at: datetime,
    latency_seconds: float,
    charged_usd: float | None = None,
) -> Attempt:
    """Return the ledger's row for an attempt."""
    endpoint = model.endpoint
    reply = outcome if isinstance(outcome, Reply) else None
    arrived = outcome.reply if isinstance(outcome, RequestFailed) else outcome
    usage = arrived.usage if arrived else None
    return Attempt(
        call_key=request_key,
        attempt=number,
        judge_id=model.id,
        provider=endpoint.provider,
        base_url=endpoint.base_url,
        model_requested=endpoint.model,
        model_returned=arrived.model_returned if arrived else None,
        status=outcome.status,
        http_status=outcome.http_status,
        cost_usd=model.cost_usd(usage),
        charged_usd=charged_usd,
        in_batch=model.declared.batch,
        latency_seconds=latency_seconds,
        started_at=started_at,
        request_id=outcome.request_id,
        raw_output=reply.text if reply else None,
        raw_reply=outcome.body,
        error=None if reply else str(outcome),
        **vars(subject),
        **(vars(usage) if usage else {}),
    )
