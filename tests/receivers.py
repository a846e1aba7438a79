"""Loopback receivers of alerts, by HTTP and by SMTP, that refuse the first ones."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import Message
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from aiosmtpd.smtp import SMTP, Envelope


@dataclass
class Received:
    """Messages that arrived at a receiver, and its address."""

    address: str = ""
    bodies: list[bytes] = field(default_factory=list)
    mails: list[Message] = field(default_factory=list)
    refusing: int = 0


@contextmanager
def webhook(*, refusing: int = 0) -> Iterator[Received]:
    """Yield a receiver of JSON on loopback that answers the first posts with 503."""
    received = Received(refusing=refusing)

    class Keeps(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if received.refusing:
                received.refusing -= 1
                self.send_response(503)
            else:
                received.bodies.append(body)
                self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Log nothing."""

    server = HTTPServer(("127.0.0.1", 0), Keeps)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    received.address = f"json://127.0.0.1:{server.server_port}/alert"
    try:
        yield received
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def mailbox(*, refusing: int = 0) -> Iterator[Received]:
    """Yield a mail server on loopback that refuses the first messages for now."""
    received = Received(refusing=refusing)

    class Keeps:
        async def handle_DATA(self, server: Any, session: Any, envelope: Envelope) -> str:  # noqa: N802 - aiosmtpd's name
            del server, session
            if received.refusing:
                received.refusing -= 1
                return "451 try again later"
            content = envelope.content
            assert isinstance(content, bytes)
            received.mails.append(message_from_bytes(content))
            return "250 OK"

    listening = threading.Event()
    loop = asyncio.new_event_loop()

    async def serve(ending: asyncio.Event) -> None:
        server = await loop.create_server(
            lambda: SMTP(Keeps(), loop=loop), host="127.0.0.1", port=0
        )
        port = server.sockets[0].getsockname()[1]
        received.address = f"mailto://127.0.0.1:{port}?from=eval@example.org&to=anna@example.org"
        listening.set()
        await ending.wait()
        server.close()
        await server.wait_closed()

    # All in the thread: a test with a browser has a running loop of its own in this one.
    ending = asyncio.Event()
    thread = threading.Thread(target=lambda: loop.run_until_complete(serve(ending)))
    thread.start()
    listening.wait()
    try:
        yield received
    finally:
        loop.call_soon_threadsafe(ending.set)
        thread.join()
        loop.close()
