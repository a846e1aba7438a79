"""A vendor's clients for one model: as many as its requests in flight need."""

from collections.abc import Callable

from eval_assets.judges.calling.requests import Answer, Client, ModelRequest

_IN_FLIGHT_PER_CLIENT = 10
"""A client looks through all its connections at each request: 200 requests in flight take half as
much processor time again in one client as in twenty."""


class Connections:
    """The clients that a model is asked through, each with few requests in flight.

    The first is made when it is needed: a run that finds everything in the ledger imports no SDK.
    """

    def __init__(self, connect: Callable[[], Client]) -> None:
        self._connect = connect
        self._clients: list[Client] = []
        self._n_in_flight: list[int] = []

    @property
    def first(self) -> Client:
        """The client for what is asked once, such as batches."""
        return self._clients[0] if self._clients else self._added()

    async def ask(self, request: ModelRequest) -> Answer:
        """Return the answer to a request; see `Client.ask`."""
        have_room = (at for at, n in enumerate(self._n_in_flight) if n < _IN_FLIGHT_PER_CLIENT)
        at = next(have_room, len(self._clients))
        client = self._clients[at] if at < len(self._clients) else self._added()
        self._n_in_flight[at] += 1
        try:
            return await client.ask(request)
        finally:
            self._n_in_flight[at] -= 1

    async def close(self) -> None:
        """Close all connections."""
        for client in self._clients:
            await client.close()

    def _added(self) -> Client:
        """Return one more client."""
        self._clients.append(self._connect())
        self._n_in_flight.append(0)
        return self._clients[-1]
