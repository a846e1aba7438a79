"""Log of requests to the fake provider, for tests."""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from tests.fake_provider.exchange import JsonObject
    from tests.fake_provider.faults import FaultKind

VendorName: TypeAlias = Literal["openai", "anthropic"]


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """One request and what became of it.

    Args:
        at_seconds: When it had arrived, on the clock of `time.monotonic`.
        request_id: What the answer names the request.
        vendor: Whose wire format it spoke.
        method: GET, POST, …
        path: The path without its query.
        key: The API key it carried; None without one.
        body: The bytes as they came.
        fault: What was made to go wrong; None for nothing.
        status: The HTTP status it got; None when it got no answer.
    """

    at_seconds: float
    request_id: str
    vendor: VendorName
    method: str
    path: str
    key: str | None
    body: bytes
    fault: FaultKind | None
    status: int | None

    @property
    def json(self) -> JsonObject:
        """The body as the JSON object it should be.

        Raises:
            ValueError: If the body is not a JSON object.
        """
        value = json.loads(self.body)
        if not isinstance(value, dict):
            raise ValueError(f"the body must be a JSON object, got {value!r}")  # noqa: TRY004 - as json does
        return value


class RequestLog:
    """The latest requests, in order of arrival; safe to read while the server works.

    Args:
        size: How many requests are kept; None for all of them.
    """

    def __init__(self, size: int | None) -> None:
        self._lock = threading.Lock()
        self._requests: deque[ReceivedRequest] = deque(maxlen=size)
        self._sent_at: dict[str, float] = {}
        self._n_received = 0
        self._n_in_flight = 0
        self._max_in_flight = 0

    @property
    def requests(self) -> tuple[ReceivedRequest, ...]:
        """The requests that are kept, oldest first."""
        with self._lock:
            return tuple(self._requests)

    @property
    def completions(self) -> tuple[ReceivedRequest, ...]:
        """Of those, the ones that asked a model for an answer at once, not in a batch."""
        generating = ("/v1/chat/completions", "/v1/messages")
        return tuple(request for request in self.requests if request.path in generating)

    @property
    def sent_at(self) -> dict[str, float]:
        """When each answer was sent, by request id, on the clock of `time.monotonic`."""
        with self._lock:
            return dict(self._sent_at)

    @property
    def n_received(self) -> int:
        """All requests received, kept or not."""
        return self._n_received

    @property
    def n_in_flight(self) -> int:
        """Requests that have arrived and are not answered yet."""
        return self._n_in_flight

    @property
    def max_in_flight(self) -> int:
        """The most requests that were ever in flight at once."""
        return self._max_in_flight

    def clear(self) -> None:
        """Forget what was received and the most in flight; what is in flight stays counted."""
        with self._lock:
            self._requests.clear()
            self._sent_at.clear()
            self._n_received = 0
            self._max_in_flight = self._n_in_flight

    def arrived(self) -> None:
        """Count a request as in flight."""
        self._n_in_flight += 1
        self._max_in_flight = max(self._max_in_flight, self._n_in_flight)

    def sent(self, request_id: str) -> None:
        """Keep when an answer was sent."""
        if self._requests.maxlen is None:
            with self._lock:
                self._sent_at[request_id] = time.monotonic()

    def left(self) -> None:
        """Count a request as answered or given up."""
        self._n_in_flight -= 1

    def add(self, request: ReceivedRequest) -> None:
        """Keep a request."""
        with self._lock:
            self._requests.append(request)
            self._n_received += 1
