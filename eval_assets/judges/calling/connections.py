"""A vendor's clients for one model, as many as the requests in flight require."""

import hashlib
import logging
from collections.abc import Callable
from dataclasses import dataclass

from eval_assets.judges.calling.requests import Client, ModelRequest, Outcome, RequestFailed
from eval_assets.ledger import Reply

logger = logging.getLogger(__name__)

_IN_FLIGHT_PER_CLIENT = 10
"""A client searches all its connections at each request: 200 requests in flight take 1.5 times as
much processor time in one client as in twenty."""


@dataclass(eq=False)
class _OpenClient:
    """A client and its requests in flight."""

    client: Client
    n_in_flight: int = 0


class Connections:
    """The clients of a model, each with few requests in flight.

    The first is made when it is needed: a run that finds everything in the ledger imports no SDK.
    A gateway that repeats a reply on a connection gives each later request the reply to the one
    before. The first repetition is a failure, and no further request goes to its client.
    """

    def __init__(self, connect: Callable[[], Client]) -> None:
        self._connect = connect
        self._open: list[_OpenClient] = []
        self._dropped: list[_OpenClient] = []
        self._keys_by_reply: dict[bytes, str] = {}

    @property
    def first(self) -> Client:
        """The client for single requests, such as those of batches."""
        return (self._open[0] if self._open else self._added()).client

    async def ask(self, request: ModelRequest) -> Outcome:
        """Return the outcome of a request; see `Client.ask`."""
        have_room = (item for item in self._open if item.n_in_flight < _IN_FLIGHT_PER_CLIENT)
        item = next(have_room, None) or self._added()
        item.n_in_flight += 1
        try:
            outcome = await item.client.ask(request)
        finally:
            item.n_in_flight -= 1
        if not self._is_repeated(request, outcome):
            return outcome
        if not self._dropped:
            logger.warning(
                "%s: the gateway repeats replies to other requests on one connection, which is "
                "given up; they are asked again",
                request.endpoint.base_url,
            )
        if item in self._open:
            self._open.remove(item)
            self._dropped.append(item)
        message = "the server repeated its reply to another request"
        return RequestFailed(message, remedy="retry", may_be_billed=True)

    async def close(self) -> None:
        """Close all connections."""
        for item in self._open + self._dropped:
            await item.client.close()

    def _is_repeated(self, request: ModelRequest, outcome: Outcome) -> bool:
        """Return whether another request got this reply before."""
        if not isinstance(outcome, Reply) or not outcome.completion_id or not outcome.body:
            return False
        # Some servers give one id to all replies; one that is repeated is the same throughout.
        reply = hashlib.sha256(outcome.body.encode()).digest()
        return self._keys_by_reply.setdefault(reply, request.key) != request.key

    def _added(self) -> _OpenClient:
        """Return one more client."""
        self._open.append(_OpenClient(self._connect()))
        return self._open[-1]
