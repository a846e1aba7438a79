"""The ledger of calls: outcome and cost of every attempt to ask a model."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Literal, Protocol

from eval_assets.config.models import Usage

Operation = Literal["judging", "generation"]

ReplyStatus = Literal["ok", "truncated", "refused", "content_filter", "unparsable"]
"""Kind of reply that arrived: `ok` means that its text is whole, not that it holds a rating;
`unparsable` that it has a shape without text."""

FailureStatus = Literal["timeout", "api_error", "missing", "budget_stopped"]
"""Kind of failure; after the last two no request was sent."""

Status = ReplyStatus | FailureStatus | Literal["out_of_range"]
"""Status of a rating or a response; only `ok` comes with a score, or a whole text."""

USABLE_SECONDS = 1.0
"""How long a request that was taken from a shared rate may be sent, from its start on."""

N_SLOTS = 64
"""Slots into which the units of an evaluation fall by what they show."""


@dataclass(frozen=True)
class Shard:
    """A share of the units that judges rate; all of them unless told otherwise.

    A response's slot follows from its texts, today and on any machine, so that equal requests are
    in one shard.
    """

    index: int = 0
    n_shards: int = 1

    @property
    def slots(self) -> range:
        """Its slots: every n-th."""
        return range(self.index, N_SLOTS, self.n_shards)


WHOLE = Shard()
"""All units."""


@dataclass(frozen=True)
class CallSubject:
    """The subject of a request: a response that is judged on a question, or generated."""

    operation: Operation
    response_id: str | None
    question_id: str | None = None
    replicate: int = 0


@dataclass(frozen=True)
class Attempt:
    """One attempt to ask a model: one row of `judge_calls`, whose columns schema.sql describes.

    `charged_usd`, which counts towards budgets, is an estimate if the cost is not known.
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
    status: ReplyStatus | FailureStatus
    started_at: datetime
    latency_seconds: float
    model_returned: str | None = None
    http_status: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_input_tokens: int | None = None
    reasoning_tokens: int | None = None
    cache_write_tokens: int | None = None
    cost_usd: float | None = None
    charged_usd: float = 0.0
    in_batch: bool = False
    request_id: str | None = None
    raw_output: str | None = None
    raw_reply: str | None = None
    error: str | None = None


@dataclass(frozen=True)
class Reply:
    """A model's reply; of one from the ledger only text and status are known.

    The text is the whole `body` if its shape holds none. The usage is None if the vendor did not
    say, or is not believed. `completion_id` is the vendor's name of the reply.
    """

    text: str
    status: ReplyStatus
    usage: Usage | None = None
    model_returned: str | None = None
    request_id: str | None = None
    http_status: int = 200
    body: str | None = None
    completion_id: str | None = None


@dataclass(frozen=True)
class EndpointMemory:
    """What runs found out about a model at an endpoint.

    `refused` is what it does not take, with what it said; `in_flight` how many requests at a time
    it served, None if it never answered.
    """

    refused: Mapping[str, str] = field(default_factory=dict)
    in_flight: int | None = None


@dataclass(frozen=True)
class Batch:
    """A batch that is about to be submitted, or that a vendor works on, by key of its requests.

    `intent_id` is our name of it, under which the vendor is asked for it after a crash; `batch_id`
    the vendor's, None if it is not known whether the vendor has it. It is closed when its results
    are all recorded, or if the vendor does not have it.
    """

    intent_id: str
    judge_id: str
    subjects: Mapping[str, CallSubject]
    intended_at: datetime
    most_usd: float = 0.0
    batch_id: str | None = None
    is_closed: bool = False


@dataclass(frozen=True)
class RateLimits:
    """Most requests and tokens in any minute, of one account for one model, by all processes.

    The account is a fingerprint of endpoint, model and key; None is no such limit.
    """

    account: str
    requests_per_minute: float | None
    input_tokens_per_minute: float | None


class Ledger(Protocol):
    """Requests and their outcomes, kept across runs. Methods block; each is one transaction.

    Whoever asks holds the slots of the units, so that two runs never send a request twice.
    """

    def replies(self, call_keys: Collection[str]) -> dict[str, Reply]:
        """Return the replies recorded so far, by request key.

        Raises:
            StoreError: If another run asks the same units by now.
        """

    def keys_in_batches(self, call_keys: Collection[str]) -> frozenset[str]:
        """Return the requests of these that a vendor works on, which may take a day."""

    def record(
        self, new_attempts: Sequence[Attempt], prompts: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """Store attempts and what they asked, by request key; all or none of them."""

    def left_usd(self) -> float | None:
        """Return what is left of the caps, or of a shard's part of them; None without a cap."""

    def take(
        self, limits: RateLimits, tokens: Sequence[int], *, delay_seconds: float
    ) -> list[float]:
        """Take requests with so many input tokens each of the rates that all processes keep.

        None can be sent before the delay is over. Returns the seconds until the start of each that
        was taken, below 0 if that is over: of the first, and of those that start soon after it.
        """

    def endpoint_memory(self, base_url: str, model: str) -> EndpointMemory:
        """Return what earlier runs found out about an endpoint."""

    def remember_endpoint(self, base_url: str, model: str, memory: EndpointMemory) -> None:
        """Add what a run found out about an endpoint."""

    def open_batches(self, judge_id: str) -> list[Batch]:
        """Return a judge's batches that are not closed, oldest first; none to a shard."""

    def known_batches(self) -> frozenset[str]:
        """Return the vendors' names of all batches that were ever submitted."""

    def store_batch(self, batch: Batch, prompts: Mapping[str, str] = MappingProxyType({})) -> None:
        """Remember a batch before it is submitted, with what it asks, and how it went on since."""
