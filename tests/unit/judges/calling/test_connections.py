"""Tests of the clients that a model is asked through."""

import asyncio
from typing import Any

from eval_assets.judges.clients import Connections
from eval_assets.ledger import Reply


class FakeClient:
    """Answers when it is let go, and counts its requests in flight."""

    def __init__(self, let_go: asyncio.Event) -> None:
        self.let_go = let_go
        self.n_asked = 0
        self.is_closed = False

    async def ask(self, request: Any) -> Reply:
        """Return the request's name as the reply."""
        self.n_asked += 1
        await self.let_go.wait()
        return Reply(request, "ok")

    async def close(self) -> None:
        """Remember that it was closed."""
        self.is_closed = True


async def _asked(n_requests: int, *, rounds: int = 1) -> list[FakeClient]:
    """Send so many requests at once, each round after the one before; return the clients."""
    let_go = asyncio.Event()
    clients: list[FakeClient] = []

    def connect() -> Any:
        clients.append(FakeClient(let_go))
        return clients[-1]

    connections = Connections(connect)
    for _ in range(rounds):
        let_go.clear()
        names: list[Any] = [f"{i}" for i in range(n_requests)]
        tasks = [asyncio.create_task(connections.ask(name)) for name in names]
        await asyncio.sleep(0)
        let_go.set()
        assert await asyncio.gather(*tasks) == [Reply(name, "ok") for name in names]
    await connections.close()
    return clients


def test_a_client_never_has_more_than_ten_requests_in_flight() -> None:
    clients = asyncio.run(_asked(25))
    assert [client.n_asked for client in clients] == [10, 10, 5]


def test_a_client_with_room_is_used_again() -> None:
    clients = asyncio.run(_asked(10, rounds=3))
    assert [client.n_asked for client in clients] == [30]


def test_every_client_is_closed() -> None:
    assert all(client.is_closed for client in asyncio.run(_asked(25)))


def test_nothing_is_connected_before_the_first_request() -> None:
    assert asyncio.run(_asked(0)) == []


def test_the_first_client_serves_what_is_asked_once() -> None:
    clients: list[Any] = []

    def connect() -> Any:
        clients.append(FakeClient(asyncio.Event()))
        return clients[-1]

    connections = Connections(connect)
    assert [connections.first, connections.first] == [clients[0], clients[0]]
    assert len(clients) == 1
