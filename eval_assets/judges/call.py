"""A call: one question to one model, and what may come back."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol

from eval_assets.evaluation import Setting
from eval_assets.ledger import AttemptStatus, Reply

Vendor = Literal["openai", "anthropic"]
Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True)
class Message:
    """One message of a conversation."""

    role: Role
    text: str


@dataclass(frozen=True)
class Endpoint:
    """A model where it is served.

    Args:
        provider: Whose wire format is spoken.
        base_url: Where; part of a call's identity, because one name may mean two models.
        model: Name of the model.
    """

    provider: Vendor
    base_url: str
    model: str


@dataclass(frozen=True)
class Call:
    """Everything that decides what a model answers.

    Args:
        endpoint: The model asked.
        messages: The conversation so far; of the system role at most the first.
        settings: What is sent with it, only what the model takes.
        max_tokens: Most output tokens, thinking included.
        schema: JSON schema that the reply is held to; None for free text.
        replicate: Number of the replicate: calls that differ only in it are asked anew.
    """

    endpoint: Endpoint
    messages: tuple[Message, ...]
    settings: Mapping[str, Setting]
    max_tokens: int
    schema: Mapping[str, Any] | None = None
    replicate: int = 0

    @cached_property
    def key(self) -> str:
        """Fingerprint of the call: SHA-256 in hexadecimal, 64 characters."""
        identity = (
            self.endpoint.provider,
            self.endpoint.base_url,
            self.endpoint.model,
            [(message.role, message.text) for message in self.messages],
            dict(self.settings),
            self.max_tokens,
            self.schema,
            self.replicate,
        )
        return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()

    @cached_property
    def size(self) -> int:
        """Length of the input in bytes of UTF-8: no vendor counts more tokens than that."""
        schema = json.dumps(self.schema) if self.schema else ""
        return sum(len(m.text.encode("utf-8", "surrogatepass")) for m in self.messages) + len(
            schema
        )


Remedy = Literal["retry", "give_up", "stop"]
"""What a failure calls for: trying again, marking the unit, or stopping the judge."""


class CallFailed(Exception):  # noqa: N818 - named for what happened, as TimeoutError is
    """No reply came back.

    Args:
        message: What went wrong, in one line, without any key.
        remedy: What to do about it.
        http_status: HTTP status; None where no response arrived.
        retry_after_seconds: How long the vendor asks to wait; None where it does not say.
        is_overload: Whether the vendor asks for fewer calls.
        is_timeout: Whether the deadline passed.
        may_be_billed: Whether the vendor may have answered all the same.
        request_id: The vendor's name of the request.
    """

    def __init__(  # noqa: PLR0913 - what a ledger row and the limiter need to know
        self,
        message: str,
        *,
        remedy: Remedy,
        http_status: int | None = None,
        retry_after_seconds: float | None = None,
        is_overload: bool = False,
        is_timeout: bool = False,
        may_be_billed: bool = False,
        request_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.remedy = remedy
        self.http_status = http_status
        self.retry_after_seconds = retry_after_seconds
        self.is_overload = is_overload
        self.is_timeout = is_timeout
        self.may_be_billed = may_be_billed
        self.request_id = request_id

    @property
    def status(self) -> AttemptStatus:
        """What the ledger calls it."""
        return "timeout" if self.is_timeout else "api_error"


Results = Mapping[str, Reply | CallFailed]
"""What came of each call of a batch, by call key; what a vendor passes over is left out."""


class BatchClient(Protocol):
    """One vendor's batch endpoint."""

    async def submit(self, calls: Sequence[Call]) -> str:
        """Submit a batch; return the vendor's name of it.

        Raises:
            CallFailed: If it was not accepted.
        """

    async def has_ended(self, batch_id: str) -> bool:
        """Tell whether the vendor has done all it will do on a batch.

        Raises:
            CallFailed: If the vendor does not say.
        """

    async def collect(self, batch_id: str) -> Results:
        """Fetch what came of a batch that has ended.

        Raises:
            CallFailed: If nothing could be fetched.
        """


class Client(Protocol):
    """One vendor's API; one network call per request, no retry and no deadline of its own."""

    async def ask(self, call: Call) -> Reply:
        """Ask once.

        Raises:
            CallFailed: If no reply came back.
        """

    def batches(self) -> BatchClient:
        """The vendor's batch endpoint."""

    async def close(self) -> None:
        """Close the connections."""
