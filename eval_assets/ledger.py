"""The ledger of calls: what every attempt to ask a model brought, and what it cost."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from eval_assets.models import Usage

Operation = Literal["judging", "generation"]

ReplyStatus = Literal["ok", "truncated", "refused", "content_filter", "unparsable"]
"""What kind of reply arrived: `ok` means that its text is whole, not that it holds a rating;
`unparsable` that it has a shape without text."""

AttemptStatus = ReplyStatus | Literal["timeout", "api_error"]


@dataclass(frozen=True)
class Attempt:
    """One attempt to ask a model: one row of `judge_calls`.

    Args:
        call_key: Fingerprint of everything that decides what the model answers.
        attempt: Number of the attempt in its run, from 1.
        judge_id: Judge, or generator, that was asked.
        operation: What for.
        response_id: Response that was judged, or is to be made; None where there is none.
        question_id: Rubric question; None for a generation.
        replicate: Number of the replicate, from 0.
        provider: Whose API was spoken.
        base_url: Endpoint.
        model_requested: Model asked.
        model_returned: Model that answered, by its own account.
        status: What came of it.
        http_status: HTTP status; None where no response arrived.
        input_tokens: All input tokens; None where they are not known.
        output_tokens: All output tokens, thinking included.
        cached_input_tokens: Part of the input that the vendor's cache held.
        cost_usd: What it cost; None where tokens or price are not known.
        in_batch: Whether it was asked on a batch endpoint.
        latency_seconds: From the request to the reply or the failure.
        started_at: When it was asked, UTC.
        request_id: The vendor's name of the request, for questions to their support.
        raw_output: Text of the reply, as received.
        error: What went wrong.
    """

    call_key: str
    attempt: int
    judge_id: str
    operation: Operation
    response_id: str | None
    question_id: str | None
    replicate: int
    provider: str
    base_url: str
    model_requested: str
    status: AttemptStatus
    started_at: datetime
    latency_seconds: float
    model_returned: str | None = None
    http_status: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_input_tokens: int | None = None
    cost_usd: float | None = None
    in_batch: bool = False
    request_id: str | None = None
    raw_output: str | None = None
    error: str | None = None


@dataclass(frozen=True)
class Reply:
    """What a model answered; of a reply from the ledger only text and status are known.

    Args:
        text: Text of the reply, as received; empty for a refusal without one. The whole body if
            its shape holds no text.
        status: Whether the text is whole, cut off, refused or filtered.
        usage: Tokens as the vendor counted them; None if it did not say, or is not believed.
        model_returned: Model that answered, by its own account.
        request_id: The vendor's name of the request.
        http_status: HTTP status of the reply; a filter may answer 400.
    """

    text: str
    status: ReplyStatus
    usage: Usage | None = None
    model_returned: str | None = None
    request_id: str | None = None
    http_status: int = 200


@dataclass(frozen=True)
class Batch:
    """A batch that a vendor works on.

    Args:
        batch_id: The vendor's name of it.
        judge_id: Judge that is asked.
        call_keys: Calls in it.
        submitted_at: When it was submitted, UTC.
    """

    batch_id: str
    judge_id: str
    call_keys: tuple[str, ...]
    submitted_at: datetime


class Ledger(Protocol):
    """Where attempts are kept, across runs. Calls block; each is one transaction."""

    def replies(self, call_keys: Collection[str]) -> dict[str, Reply]:
        """Replies recorded before, by call key: of a key's attempts the latest with a reply."""

    def record(self, attempts: Sequence[Attempt]) -> None:
        """Store attempts, all or none of them."""


class BatchLedger(Ledger, Protocol):
    """A ledger that also remembers which batches are under way."""

    def open_batches(self, judge_id: str) -> list[Batch]:
        """Batches of a judge that were submitted and not yet closed, oldest first."""

    def open_batch(self, batch: Batch) -> None:
        """Remember a batch that was submitted."""

    def close_batch(self, batch_id: str) -> None:
        """Forget a batch whose results are all recorded."""
