"""Writer of the ledger: a separate thread that commits everything that arrives together at once."""

import asyncio
import math
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

from eval_assets.judges.calling.live_model import AnyLiveModel
from eval_assets.judges.calling.requests import Outcome, RequestFailed
from eval_assets.ledger import Attempt, CallSubject, Ledger, Reply

_LATE_SECONDS = 0.1


class LedgerWriter:
    """Looks up requests and records attempts without holding up the event loop, or waiting for it.

    A commit begins as soon as there is something to commit; what arrives while it is under way goes
    into the next one. So a slow ledger makes for few commits, not for few requests. The thread goes
    from one commit to the next by itself: a busy event loop delays no reply on its way to the disk.
    """

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.failure: BaseException | None = None
        self._attempts: list[Attempt] = []
        self._prompts: dict[str, str] = {}
        self._keys: list[str] = []
        self._next: asyncio.Future[dict[str, Reply]] | None = None
        self._writing_since = math.inf
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ledger")
        self._handing_over = threading.Lock()

    def record(self, attempt: Attempt, prompt: str) -> "asyncio.Future[dict[str, Reply]]":
        """Let an attempt, with what it asked, be committed as soon as possible.

        Shield the result: what a cancelled caller has handed over is committed all the same. It
        raises what the ledger raises; then nothing is recorded any more.
        """
        with self._handing_over:
            self._attempts.append(attempt)
            self._prompts[attempt.call_key] = prompt
            return self._begin()

    async def stored_reply(self, call_key: str) -> Reply | None:
        """Return the reply to a request that is about to be sent, if there is one by now."""
        with self._handing_over:
            self._keys.append(call_key)
            replies = self._begin()
        return (await asyncio.shield(replies)).get(call_key)

    def require_working(self) -> None:
        """Raise the ledger's error, if any: nothing may be paid that cannot be stored."""
        if self.failure is not None:
            raise self.failure

    @property
    def is_late(self) -> bool:
        """Return whether a commit takes long: on a full disk it waits, and may fail in the end."""
        return time.monotonic() - self._writing_since > _LATE_SECONDS

    async def close(self) -> None:
        """Wait until everything handed over is committed."""
        await asyncio.to_thread(self._thread.shutdown)

    def _begin(self) -> "asyncio.Future[dict[str, Reply]]":
        """Let the thread write after its current commit."""
        if self._next is None:
            self._next = asyncio.wrap_future(self._thread.submit(self._write))
            self._next.add_done_callback(self._heed)
        return self._next

    def _heed(self, written: "asyncio.Future[dict[str, Reply]]") -> None:
        self.failure = self.failure or written.exception()

    def _write(self) -> dict[str, Reply]:
        """Commit the attempts that wait, and look up the requests; in the thread."""
        with self._handing_over:
            attempts, prompts, keys = self._attempts, self._prompts, self._keys
            self._attempts, self._prompts, self._keys, self._next = [], {}, [], None
        self._writing_since = time.monotonic()
        try:
            if attempts:
                self.ledger.record(attempts, prompts)
            return self.ledger.replies(keys) if keys else {}
        finally:
            self._writing_since = math.inf


def attempt_row(  # noqa: PLR0913 - the columns of a row
    request_key: str,
    model: AnyLiveModel,
    subject: CallSubject,
    outcome: Outcome,
    *,
    number: int,
    started_at: datetime,
    charged_usd: float | None = None,
) -> Attempt:
    """Return the ledger's row for an attempt that has just ended."""
    reply = outcome if isinstance(outcome, Reply) else None
    arrived = outcome.reply if isinstance(outcome, RequestFailed) else outcome
    usage = arrived.usage if arrived else None
    cost_usd = model.cost_usd(usage)
    return Attempt(
        call_key=request_key,
        attempt=number,
        judge_id=model.id,
        provider=model.endpoint.provider,
        base_url=model.endpoint.base_url,
        model_requested=model.endpoint.model,
        model_returned=arrived.model_returned if arrived else None,
        status=outcome.status,
        http_status=outcome.http_status,
        cost_usd=cost_usd,
        charged_usd=(cost_usd or 0.0) if charged_usd is None else charged_usd,
        in_batch=model.declared.batch,
        latency_seconds=max(0.0, (datetime.now(UTC) - started_at).total_seconds()),
        started_at=started_at,
        request_id=outcome.request_id,
        raw_output=reply.text if reply else None,
        raw_reply=outcome.body,
        error=None if reply else str(outcome),
        **vars(subject),
        **(vars(usage) if usage else {}),
    )
