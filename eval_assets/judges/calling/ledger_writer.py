"""Writer of the ledger: a separate thread that commits everything that arrives together at once."""

import asyncio
import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from datetime import datetime
from typing import Any, TypeVar

from eval_assets.judges.calling.live_model import AnyLiveModel
from eval_assets.judges.calling.requests import ModelRequest, Outcome, RequestFailed
from eval_assets.ledger import Attempt, CallSubject, Ledger, Reply

_Result = TypeVar("_Result")


class LedgerWriter:
    """Looks up requests and records attempts without holding up the event loop, or waiting for it.

    A commit begins as soon as there is something to commit; what arrives while it is under way goes
    into the next one. So a slow ledger makes for few commits, not for few requests. The thread goes
    from one commit to the next by itself: a busy event loop delays no reply on its way to the disk.
    """

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self._failure: BaseException | None = None
        self._attempts: list[Attempt] = []
        self._prompts: dict[str, str] = {}
        self._keys: list[str] = []
        self._recorded: asyncio.Future[None] | None = None
        self._lookup: asyncio.Future[dict[str, Reply]] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ledger")
        self._handing_over = threading.Lock()

    async def record(self, attempt: Attempt, prompt: str) -> None:
        """Return when an attempt, with what it asked, is committed.

        Raises:
            Exception: What the ledger raises; then nothing is recorded any more.
        """
        await asyncio.shield(self.hand_over(attempt, prompt))

    def hand_over(self, attempt: Attempt, prompt: str) -> "asyncio.Future[None]":
        """Let an attempt be committed as soon as possible."""
        with self._handing_over:
            self._attempts.append(attempt)
            self._prompts[attempt.call_key] = prompt
            self._recorded = recorded = self._recorded or self._begin(self._record)
        return recorded

    async def stored_reply(self, call_key: str) -> Reply | None:
        """Return the reply to a request that is about to be sent, if there is one by now."""
        with self._handing_over:
            self._keys.append(call_key)
            self._lookup = lookup = self._lookup or self._begin(self._look_up)
        return (await asyncio.shield(lookup)).get(call_key)

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
            prompts, self._prompts = self._prompts, {}
        self.ledger.record(attempts, prompts)

    def _look_up(self) -> dict[str, Reply]:
        """Look up the requests that wait; in the thread."""
        with self._handing_over:
            self._lookup = None
            keys, self._keys = self._keys, []
        return self.ledger.replies(keys)


def prompt_of(request: ModelRequest) -> str:
    """Return what is sent, as rendered: JSON of messages, settings and schema."""
    content = {
        "messages": [asdict(message) for message in request.messages],
        "settings": dict(request.settings),
        "max_tokens": request.max_tokens,
        "schema": request.schema,
    }
    return json.dumps(content, ensure_ascii=False)


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
