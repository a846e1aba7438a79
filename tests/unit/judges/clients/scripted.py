"""A server on loopback that answers whatever a test wants it to."""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from eval_assets.config.judges import Vendor
from eval_assets.judges.calling.requests import (
    Endpoint,
    Message,
    ModelRequest,
    Outcome,
)
from eval_assets.judges.clients import connect

KEY = "sk-secret-of-the-tests"
OTHER_KEY = "another-key-of-the-tests"


_HEAD = b"HTTP/1.1 %d X\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"

Respond = Callable[[dict[str, Any]], tuple[int, bytes]]
"""Returns status and body for the body of a request."""


class ScriptedServer:
    """One vendor's client, and the server that it talks to, in a loop of their own."""

    def __init__(self, vendor: Vendor) -> None:
        self.received: list[dict[str, Any]] = []
        self.respond: Respond = lambda _: (200, b"")
        self.further_headers = b""
        self.loop = asyncio.new_event_loop()
        self._server = self.loop.run_until_complete(
            asyncio.start_server(self._serve, "127.0.0.1", 0)
        )
        port: int = self._server.sockets[0].getsockname()[1]
        self.base_url = base_url = f"http://127.0.0.1:{port}"
        self.client = connect(Endpoint(vendor, base_url, "m"), api_key=KEY, keys=[KEY, OTHER_KEY])
        self.request = ModelRequest(
            Endpoint(vendor, base_url, "m"), (Message("user", "Rate it."),), {}, max_tokens=100
        )

    def answer(self, body: bytes, *, status: int = 200) -> Outcome:
        """Return what the client makes of a body."""
        self.respond = lambda _: (status, body)
        return self.loop.run_until_complete(self.client.ask(self.request))

    def close(self) -> None:
        """Stop serving."""
        self._server.close()
        self.loop.run_until_complete(self.client.close())
        self.loop.run_until_complete(self._server.wait_closed())
        self.loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = head.partition(b"content-length: ")[2].partition(b"\r\n")[0]
                self.received.append(json.loads(await reader.readexactly(int(length))))
                status, body = self.respond(self.received[-1])
                head = _HEAD % (status, len(body))
                writer.write(head[:-2] + self.further_headers + b"\r\n" + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


@contextmanager
def scripted(vendor: Vendor) -> Iterator[ScriptedServer]:
    """A scripted server and its client."""
    server = ScriptedServer(vendor)
    try:
        yield server
    finally:
        server.close()
