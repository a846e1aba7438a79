"""Model requests and the interface of vendors' clients."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import KW_ONLY, asdict, dataclass
from functools import cached_property
from typing import Any, Literal

from eval_assets.config.judges import Setting, Vendor
from eval_assets.config.models import MaxTokensName
from eval_assets.ledger import FailureStatus, Reply

Role = Literal["system", "user", "assistant"]

_BYTES_PER_TOKEN = 4


@dataclass(frozen=True)
class Message:
    """One message of a conversation."""

    role: Role
    text: str


@dataclass(frozen=True)
class Endpoint:
    """A model and the server that it is served by.

    The server's URL is part of a request's identity, because one name may mean two models.
    """

    provider: Vendor
    base_url: str
    model: str


Feature = Literal[
    "json_schema",
    "json_object",
    "temperature",
    "effort",
    "seed",
    "max_tokens",
    "max_completion_tokens",
    "system",
]
"""A part of a request that a model or server may refuse, so that it is left out or replaced."""


@dataclass(frozen=True)
class ModelRequest:
    """Everything that determines a model's reply.

    The schema may be "json_object" for any JSON object; only the first message may be of the system
    role. Requests that differ only in the replicate are sent separately. One field decides nothing:
    `max_tokens_name` is a name on the wire.
    """

    endpoint: Endpoint
    messages: tuple[Message, ...]
    settings: Mapping[str, Setting]
    max_tokens: int
    schema: Mapping[str, Any] | Literal["json_object"] | None = None
    replicate: int = 0
    max_tokens_name: MaxTokensName = "max_tokens"

    @cached_property
    def key(self) -> str:
        """Fingerprint of the request: SHA-256 in hexadecimal, 64 characters."""
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

    @property
    def prompt(self) -> str:
        """What is sent, as rendered: JSON of messages, settings and schema."""
        content = {
            "messages": [asdict(message) for message in self.messages],
            "settings": dict(self.settings),
            "max_tokens": self.max_tokens,
            "schema": self.schema,
        }
        return json.dumps(content, ensure_ascii=False)

    @cached_property
    def n_bytes(self) -> int:
        """Length of the input in bytes of UTF-8: no vendor counts more tokens than that."""
        schema = json.dumps(self.schema) if self.schema else ""
        texts = (message.text.encode("utf-8", "surrogatepass") for message in self.messages)
        return sum(map(len, texts)) + len(schema)

    @property
    def estimated_tokens(self) -> int:
        """Estimated tokens of the input."""
        return self.n_bytes // _BYTES_PER_TOKEN


Remedy = Literal["retry", "adapt", "give_up", "stop"]
"""Response to a failure: to try again, at once in another form, to mark the unit, or to stop
asking the model."""


@dataclass(eq=False)
class RequestFailed(Exception):  # noqa: N818 - named for what happened, as TimeoutError is
    """A request without a reply; the message is the reason in one line, without any key.

    Args:
        is_overload: Whether the vendor asks for fewer requests.
        is_filtered: Whether a filter withheld the reply because of this one input.
        may_be_billed: Whether the vendor may have answered all the same.
        refused: Parts of a request that the message names, most likely first.
        may_be_form: Whether the form of the reply may be the reason, though nothing says so.
        body: Body that arrived in place of a reply, if it may have been one.
        reply: A reply that arrived and does not count, though it is paid.
    """

    message: str
    _: KW_ONLY
    remedy: Remedy = "give_up"
    status: FailureStatus = "api_error"
    http_status: int | None = None
    retry_after_seconds: float | None = None
    is_overload: bool = False
    is_filtered: bool = False
    may_be_billed: bool = False
    refused: tuple[Feature, ...] = ()
    may_be_form: bool = False
    body: str | None = None
    request_id: str | None = None
    reply: Reply | None = None
    is_sent: bool = True

    def __str__(self) -> str:
        return self.message


class BatchUndecided(Exception):  # noqa: N818 - as above
    """A batch at the vendor may be the one looked for, and cannot be read before it has ended."""


Outcome = Reply | RequestFailed
"""Outcome of a request."""


@dataclass(frozen=True)
class BatchResults:
    """Results of a batch that has ended, by request key.

    By the vendor's counts there are `n_expected`: a download may end early unnoticed. Requests
    without an outcome have ended with the `failure`.
    """

    outcomes: Mapping[str, Outcome]
    n_expected: int
    failure: RequestFailed
