"""One shared HTTP client with requests of our own beside the vendor's SDK, on the same server.

The prototype sends what the SDK sends and reads replies as judges do. It translates no errors,
follows no redirects and masks no keys in failures.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial

import httpx2
import openai

from benchmarks.judging import _judges, _request, _units, serving
from benchmarks.table import Row, duration, markdown
from eval_assets.config.judges import Judge
from eval_assets.judges.calling.connections import Connections
from eval_assets.judges.calling.requests import ModelRequest, Outcome
from eval_assets.judges.clients import connect
from eval_assets.judges.clients.openai import OpenAIClient, request_body
from eval_assets.ledger import Reply

N_CALLS = 2_000
N_IN_FLIGHT = 64
N_TURNS = 3
KEY = "sk-benchmark"

Ask = Callable[[ModelRequest], Awaitable[Outcome]]


class _Prototype:
    """Shared HTTP clients, each for so many requests in flight."""

    def __init__(self, reader: OpenAIClient, *, base_url: str, n_clients: int) -> None:
        self._reader = reader
        self._url = f"{base_url}/chat/completions"
        self._headers = {"authorization": f"Bearer {KEY}", "content-type": "application/json"}
        self._n_asked = 0
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
        self.clients = [httpx2.AsyncClient(timeout=None, limits=limits) for _ in range(n_clients)]

    async def ask(self, request: ModelRequest) -> Outcome:
        """Send a request and return the reply."""
        self._n_asked += 1
        client = self.clients[self._n_asked % len(self.clients)]
        content = json.dumps(request_body(request)).encode()
        response = await client.post(self._url, content=content, headers=self._headers)
        assert response.status_code == httpx2.codes.OK, response.text
        return self._reader.read_reply(response.text, response.headers.get("x-request-id"))


def table() -> str:
    """Measure the clients in turn on one server."""
    with serving(latency_seconds=0.05) as environ:
        (judge,) = _judges(environ, Judge("gpt", "openai", "gpt-6-luna"))
        requests = [_request(judge, unit) for unit in _units(N_CALLS)]
        ways: dict[str, Callable[[Sequence[ModelRequest]], Coroutine[None, None, None]]] = {
            "the SDK alone": _sdk,
            "the SDK, as judges use it": _as_judges,
            "one shared httpx2 client": partial(_shared, n_clients=1),
            "shared httpx2 clients, 10 in flight each": partial(
                _shared, n_clients=-(-N_IN_FLIGHT // 10)
            ),
        }
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(N_TURNS):
            for name, way in ways.items():
                started = time.process_time()
                asyncio.run(way(requests))
                seconds[name].append((time.process_time() - started) / N_CALLS)
    sdk_seconds = min(seconds["the SDK, as judges use it"])
    return markdown(
        [
            Row(
                work=f"CPU per call, {N_CALLS:,} calls, {N_IN_FLIGHT} in flight: {name}",
                ours=duration(sdk_seconds),
                peer=duration(min(times)),
                ratio=f"{min(times) / sdk_seconds:.2f} x",
                target="",
                met=None,
            )
            for name, times in seconds.items()
        ]
    )


async def _all(requests: Sequence[ModelRequest], ask: Ask) -> None:
    """Send all requests, a number at a time; every reply has a text."""
    in_flight = asyncio.Semaphore(N_IN_FLIGHT)

    async def one(request: ModelRequest) -> Outcome:
        async with in_flight:
            return await ask(request)

    answers = await asyncio.gather(*map(one, requests))
    assert all(isinstance(answer, Reply) and answer.text for answer in answers)


async def _sdk(requests: Sequence[ModelRequest]) -> None:
    """Send by the SDK's own method, whose types parse the reply."""
    base_url = requests[0].endpoint.base_url
    async with openai.AsyncOpenAI(
        api_key=KEY, base_url=base_url, max_retries=0, timeout=None
    ) as client:

        async def ask(request: ModelRequest) -> Outcome:
            reply = await client.chat.completions.create(**request_body(request))
            return Reply(reply.choices[0].message.content or "", "ok")

        await _all(requests, ask)


async def _as_judges(requests: Sequence[ModelRequest]) -> None:
    """Send by the SDK's transport, with several clients, and parse the bodies ourselves."""
    endpoint = requests[0].endpoint
    connections = Connections(partial(connect, endpoint, api_key=KEY, keys=frozenset([KEY])))
    await _all(requests, connections.ask)
    await connections.close()


async def _shared(requests: Sequence[ModelRequest], *, n_clients: int) -> None:
    """Send by the prototype."""
    base_url = requests[0].endpoint.base_url
    reader = OpenAIClient(base_url=base_url, api_key=KEY, keys=frozenset([KEY]))
    prototype = _Prototype(reader, base_url=base_url, n_clients=n_clients)
    await _all(requests, prototype.ask)
    for client in prototype.clients:
        await client.aclose()
    await reader.close()
