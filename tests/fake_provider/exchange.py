"""Exchange between the server and the provider behind it: requests in, answers out."""

from __future__ import annotations

import json
from dataclasses import KW_ONLY, dataclass, field
from http.client import responses
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

JsonObject: TypeAlias = dict[str, Any]
"""A JSON object as `json` reads and writes it: the wire's own shape, checked when it is used."""

ErrorKind: TypeAlias = Literal[
    "rate_limit",
    "unavailable",
    "overloaded",
    "server_error",
    "bad_request",
    "unauthorized",
    "forbidden",
    "not_found",
    "quota",
    "no_credit",
]

_ENCODER: Final = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request, read completely.

    Args:
        method: GET, POST, …
        path: The path without its query.
        headers: By lower-case name.
        body: The bytes as they came.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def key(self) -> str | None:
        """The API key, in either of the two headers the vendors use; None without one."""
        key = self.headers.get("x-api-key")
        if key is None:
            key = self.headers.get("authorization", "").partition(" ")[2].strip()
        return key or None


@dataclass(frozen=True, slots=True)
class Reply:
    """One HTTP answer.

    Args:
        status: HTTP status.
        body: What to send.
        headers: Beyond length and type.
        content_type: Media type of the body.
        delay_seconds: How long the answer is held back.
        request_id: What it names the request.
    """

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    delay_seconds: float = 0.0
    request_id: str = ""

    def encoded(self) -> bytes:
        """Return the answer as HTTP/1.1 bytes."""
        lines = [
            f"HTTP/1.1 {self.status} {responses.get(self.status, 'Overloaded')}",
            f"content-type: {self.content_type}",
            f"content-length: {len(self.body)}",
            *(f"{name}: {value}" for name, value in self.headers.items()),
        ]
        return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + self.body


@dataclass(frozen=True, slots=True)
class Silence:
    """No answer: `hang` keeps the caller waiting, `reset` cuts the connection."""

    kind: Literal["hang", "reset"]


Answer: TypeAlias = Reply | Silence


@dataclass(eq=False)
class ProviderError(Exception):
    """A vendor's answer with an error status; its wire module knows the wording.

    Args:
        kind: Which error.
        message: For people; None for the vendor's usual one.
        param: The request field at fault, if the vendor names it.
        code: A finer code, if the vendor gives one.
        model: The model that was not found.
        retry_after_seconds: What the header `retry-after` says; None for no such header.
    """

    kind: ErrorKind
    message: str | None = None
    _: KW_ONLY
    param: str | None = None
    code: str | None = None
    model: str | None = None
    retry_after_seconds: float | None = None


def json_object(body: bytes) -> JsonObject:
    """Return the JSON object in a request body.

    Raises:
        ProviderError: `bad_request`, if there is none.
    """
    try:
        value = json.loads(body)
    except ValueError as error:
        message = "We could not parse the JSON body of your request."
        raise ProviderError("bad_request", message) from error
    if not isinstance(value, dict):
        raise ProviderError("bad_request", "The body of your request must be a JSON object.")
    return value


def json_reply(value: object, *, status: int = 200) -> Reply:
    """Return an answer in JSON."""
    return Reply(status=status, body=json_bytes(value))


def json_bytes(value: object) -> bytes:
    """Return compact JSON in UTF-8, as both vendors send it."""
    return _ENCODER.encode(value).encode()
