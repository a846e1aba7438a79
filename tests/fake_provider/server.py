"""The HTTP server in front of the provider, on loopback only.

It speaks HTTP/1.1 by itself, with httptools as the parser, instead of through a web framework: a
fake provider has to cut connections and to leave callers waiting, which frameworks do not offer,
and should cost a benchmark as little as possible.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, cast

import httptools

from tests.fake_provider.behaviour import Behaviour
from tests.fake_provider.exchange import Answer, Reply, Request
from tests.fake_provider.provider import FakeProvider

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fake_provider.log import RequestLog

LOOPBACK: Final = "127.0.0.1"

_BACKLOG: Final = 4096
_RESET_ON_CLOSE: Final = struct.pack("ii", 1, 0)
_BAD_REQUEST: Final = Reply(400, b"", {"connection": "close"})
_EXAMPLE_KEY: Final = "sk-fake-provider"


@dataclass(frozen=True)
class RunningProvider:
    """A fake provider that is being served.

    Args:
        provider: The provider behind the server.
        port: Where it listens on loopback.
    """

    provider: FakeProvider
    port: int

    @property
    def openai_base_url(self) -> str:
        """Base URL for `AsyncOpenAI`."""
        return f"http://{LOOPBACK}:{self.port}/v1"

    @property
    def anthropic_base_url(self) -> str:
        """Base URL for `AsyncAnthropic`."""
        return f"http://{LOOPBACK}:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        """The SDKs' own variables, set so that another process finds this provider."""
        return {
            "OPENAI_BASE_URL": self.openai_base_url,
            "OPENAI_API_KEY": _EXAMPLE_KEY,
            "ANTHROPIC_BASE_URL": self.anthropic_base_url,
            "ANTHROPIC_API_KEY": _EXAMPLE_KEY,
        }

    @property
    def log(self) -> RequestLog:
        """Log of the requests."""
        return self.provider.log

    def behave(self, behaviour: Behaviour) -> None:
        """Change how it behaves from now on; scripts and rate limits start afresh."""
        self.provider.behaviour = behaviour


@contextmanager
def running(behaviour: Behaviour | None = None, *, port: int = 0) -> Iterator[RunningProvider]:
    """Serve a fake provider from a thread of this process, until the block is left.

    Leaving the block cuts every connection, also those of callers still waiting.

    Args:
        behaviour: How it behaves; None to answer everything well and at once.
        port: Where to listen on loopback; 0 for any free port.

    Yields:
        The running provider.

    Raises:
        OSError: If the port is taken.

    Examples:
        >>> with running() as provider:
        ...     provider.log.n_received
        0
    """
    provider = FakeProvider(behaviour or Behaviour())
    with socket.create_server((LOOPBACK, port), backlog=_BACKLOG) as listener:
        loop = asyncio.new_event_loop()
        stop = asyncio.Event()
        thread = threading.Thread(
            target=lambda: loop.run_until_complete(_serve(provider, listener, stop)),
            name="fake-provider",
            daemon=True,
        )
        thread.start()
        try:
            yield RunningProvider(provider, listener.getsockname()[1])
        finally:
            loop.call_soon_threadsafe(stop.set)
            thread.join()
            loop.close()


async def _serve(provider: FakeProvider, listener: socket.socket, stop: asyncio.Event) -> None:
    connections: set[_Connection] = set()
    server = await asyncio.get_running_loop().create_server(
        lambda: _Connection(provider, connections), sock=listener, backlog=_BACKLOG
    )
    await stop.wait()
    server.close()
    for connection in list(connections):
        connection.cut()
    await asyncio.sleep(0)


class _Connection(asyncio.Protocol):
    """One caller's connection; answers its requests one after the other.

    asyncio calls `connection_made`, `data_received` and `connection_lost`; the parser calls the
    methods whose names begin with `on_`.
    """

    def __init__(self, provider: FakeProvider, connections: set[_Connection]) -> None:
        self._provider = provider
        self._connections = connections
        self._parser = httptools.HttpRequestParser(self)
        self._transport: asyncio.Transport
        self._waiting: deque[tuple[Request, bool]] = deque()
        self._answering = False
        self._last: Answer | None = None
        self._is_shifted = False
        self._timer: asyncio.TimerHandle | None = None
        self._start_request()

    def _start_request(self) -> None:
        self._url = b""
        self._headers: dict[str, str] = {}
        self._body: list[bytes] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._connections.add(self)

    def data_received(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self._transport.write(_BAD_REQUEST.encoded())
            self._transport.close()
            return
        # Not from within the parser, which would take an error of ours for a malformed request.
        self._answer_waiting()

    def connection_lost(self, _exc: Exception | None) -> None:
        self._connections.discard(self)
        if self._timer is not None:
            self._timer.cancel()
        if self._answering:
            self._provider.log.left()
        self._waiting.clear()

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_body(self, body: bytes) -> None:
        self._body.append(body)

    def on_message_complete(self) -> None:
        request = Request(
            method=self._parser.get_method().decode("latin-1"),
            path=httptools.parse_url(self._url).path.decode("latin-1"),
            headers=self._headers,
            body=b"".join(self._body),
        )
        self._waiting.append((request, self._parser.should_keep_alive()))
        self._start_request()

    def _answer_waiting(self) -> None:
        while self._waiting and not self._answering:
            request, keep_alive = self._waiting.popleft()
            self._answering = True
            self._provider.log.arrived()
            answer = self._provider.answer(request)
            answer = self._shifted(request, answer)
            if not isinstance(answer, Reply):
                if answer.kind == "reset":
                    self.cut()
            elif answer.delay_seconds > 0:
                send = partial(self._send_late, answer, keep_alive=keep_alive)
                self._timer = asyncio.get_running_loop().call_later(answer.delay_seconds, send)
            else:
                self._send(answer, keep_alive=keep_alive)

    def _shifted(self, request: Request, answer: Answer) -> Answer:
        """Return the reply to the request before, once a request has begun the shift."""
        text, last = self._provider.behaviour.shift_on, self._last
        self._last = answer
        if last and text and self._provider.may_shift and text.encode() in request.body:
            self._is_shifted, self._provider.may_shift = True, False
        return last if self._is_shifted and last is not None else answer

    def _send_late(self, reply: Reply, *, keep_alive: bool) -> None:
        self._send(reply, keep_alive=keep_alive)
        self._answer_waiting()

    def _send(self, reply: Reply, *, keep_alive: bool) -> None:
        self._transport.write(reply.encoded())
        self._provider.log.sent(reply.request_id)
        self._answering = False
        self._provider.log.left()
        if not keep_alive:
            self._waiting.clear()
            self._transport.close()

    def cut(self) -> None:
        """End the connection with a TCP reset, whatever is still to be answered."""
        sock = self._transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        self._transport.abort()
