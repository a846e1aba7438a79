"""Clients of vendors' APIs, a module each with its client as `CLIENT`."""

import hashlib
import logging
from collections import Counter
from collections.abc import Callable, Collection
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from eval_assets.config.judges import VENDORS, Vendor
from eval_assets.judges.calling.requests import Endpoint, ModelRequest, Outcome, RequestFailed
from eval_assets.ledger import Reply

if TYPE_CHECKING:
    from eval_assets.judges.clients.official import OfficialClient

logger = logging.getLogger(__name__)

_IN_FLIGHT_PER_CLIENT = 10
"""A client searches all its connections at each request: 200 requests in flight take 1.5 times as
much processor time in one client as in twenty."""


def connect(endpoint: Endpoint, *, api_key: str, keys: Collection[str]) -> "OfficialClient":
    """Return a client for an endpoint; `keys` are all keys that nothing may show."""
    client: OfficialClient = _module(endpoint.provider).CLIENT(
        base_url=endpoint.base_url, api_key=api_key, keys=keys
    )
    return client


def import_sdks() -> None:
    """Import every vendor's SDK, which takes a second that must not count as latency."""
    for vendor in VENDORS:
        _module(vendor)


def _module(vendor: Vendor) -> ModuleType:
    return import_module(f"{__name__}.{vendor}")  # when it is needed: an SDK takes a second


class Connections:
    """The clients of a model, each with few requests in flight.

    The first is made when it is needed: a run that finds everything in the ledger imports no SDK.
    A gateway that repeats a reply on a connection gives each later request the reply to the one
    before. The first repetition is a failure, and no further request goes to its client.
    """

    def __init__(self, connect: Callable[[], "OfficialClient"]) -> None:
        self._connect = connect
        self._in_flight: Counter[OfficialClient] = Counter()
        self._dropped: set[OfficialClient] = set()
        self._keys_by_reply: dict[bytes, str] = {}

    @property
    def first(self) -> "OfficialClient":
        """The client for single requests, such as those of batches."""
        return self._with_less_than(float("inf"))

    async def ask(self, request: ModelRequest) -> Outcome:
        """Return the outcome of a request; see `OfficialClient.ask`."""
        client = self._with_less_than(_IN_FLIGHT_PER_CLIENT)
        self._in_flight[client] += 1
        try:
            outcome = await client.ask(request)
        finally:
            self._in_flight[client] -= 1
        if not isinstance(outcome, Reply) or not outcome.completion_id or not outcome.body:
            return outcome
        # Some servers give one id to all replies; one that is repeated is the same throughout.
        reply = hashlib.sha256(outcome.body.encode()).digest()
        if self._keys_by_reply.setdefault(reply, request.key) == request.key:
            return outcome
        if not self._dropped:
            logger.warning(
                "%s: the gateway repeats replies to other requests on one connection, which is "
                "given up; they are asked again",
                request.endpoint.base_url,
            )
        self._dropped.add(client)
        message = "the server repeated its reply to another request"
        return RequestFailed(message, remedy="retry", may_be_billed=True, body=outcome.body)

    async def close(self) -> None:
        """Close all connections."""
        for client in self._in_flight:
            await client.close()

    def _with_less_than(self, n: float) -> "OfficialClient":
        """Return the first client with fewer requests in flight; a new one if there is none."""
        for client, n_in_flight in self._in_flight.items():
            if n_in_flight < n and client not in self._dropped:
                return client
        client = self._connect()
        self._in_flight[client] = 0
        return client
