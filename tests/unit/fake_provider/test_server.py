"""The HTTP server: latency, concurrency, and the ways a connection ends."""

import asyncio
import json
import socket
import time

import httpx2
import pytest
from openai import AsyncOpenAI, DefaultAsyncHttpx2Client

from tests.fake_provider.behaviour import Behaviour
from tests.fake_provider.faults import Faults
from tests.fake_provider.rate_limit import RateLimit
from tests.fake_provider.server import RunningProvider, running

BODY = json.dumps({"model": "gpt-6-luna", "messages": [{"role": "user", "content": "Hi"}]}).encode()
REQUEST = (
    b"POST /v1/chat/completions HTTP/1.1\r\nhost: fake\r\nauthorization: Bearer sk-any\r\n"
    b"content-length: %d\r\n\r\n%b" % (len(BODY), BODY)
)


def received(connection: socket.socket, *, n_replies: int) -> bytes:
    data = b""
    while data.count(b"HTTP/1.1") < n_replies or not data.endswith(b"}"):
        data += connection.recv(65536)
    return data


def test_questions_in_flight_wait_together_and_are_counted() -> None:
    async def ask_all(provider: RunningProvider, n: int) -> float:
        async with AsyncOpenAI(
            base_url=provider.openai_base_url,
            api_key="sk-any",
            max_retries=0,
            http_client=DefaultAsyncHttpx2Client(),
        ) as client:
            started = time.perf_counter()
            await asyncio.gather(
                *(
                    client.chat.completions.create(
                        model="gpt-6-luna", messages=[{"role": "user", "content": str(number)}]
                    )
                    for number in range(n)
                )
            )
            return time.perf_counter() - started

    with running(Behaviour(latency_seconds=0.6)) as provider:
        elapsed = asyncio.run(ask_all(provider, 40))
        assert 0.6 <= elapsed < 40 * 0.6 / 2
        assert provider.log.max_in_flight == 40
        assert provider.log.n_in_flight == 0
        assert len(provider.log.completions) == provider.log.n_received == 40
        provider.behave(Behaviour())
        asyncio.run(ask_all(provider, 1))
        assert provider.log.max_in_flight == 40


def test_errors_come_at_once() -> None:
    with running(Behaviour(latency_seconds=30)) as provider:
        assert httpx2.get(f"{provider.openai_base_url}/models").status_code == 401


@pytest.mark.parametrize("latency_seconds", [0, 0.03])
def test_requests_sent_together_are_answered_one_after_the_other(latency_seconds: float) -> None:
    with (
        running(Behaviour(latency_seconds=latency_seconds)) as provider,
        socket.create_connection(("127.0.0.1", provider.port)) as connection,
    ):
        started = time.perf_counter()
        connection.sendall(REQUEST * 3)
        assert received(connection, n_replies=3).count(b"HTTP/1.1 200 OK") == 3
        assert time.perf_counter() - started >= 3 * latency_seconds
        assert provider.log.max_in_flight == 1


def test_a_request_may_arrive_in_pieces(sound: RunningProvider) -> None:
    with socket.create_connection(("127.0.0.1", sound.port)) as connection:
        for start in range(0, len(REQUEST), 40):
            connection.sendall(REQUEST[start : start + 40])
            time.sleep(0.001)
        assert received(connection, n_replies=1).startswith(b"HTTP/1.1 200 OK")


@pytest.mark.parametrize("request_text", [b"GARBAGE\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00"])
def test_what_is_not_http_is_answered_400_and_cut(
    sound: RunningProvider, request_text: bytes
) -> None:
    with socket.create_connection(("127.0.0.1", sound.port)) as connection:
        connection.sendall(request_text)
        assert connection.recv(65536).startswith(b"HTTP/1.1 400 Bad Request")
        assert connection.recv(65536) == b""


def test_a_body_that_is_not_json_is_refused(sound: RunningProvider) -> None:
    for body in (b"{", b"[]"):
        reply = httpx2.post(
            f"{sound.openai_base_url}/chat/completions",
            headers={"authorization": "Bearer sk-any"},
            content=body,
        )
        assert reply.status_code == 400
        assert reply.json()["error"]["type"] == "invalid_request_error"


def test_connection_close_is_honoured(sound: RunningProvider) -> None:
    closing = REQUEST.replace(b"host: fake", b"host: fake\r\nconnection: close")
    with socket.create_connection(("127.0.0.1", sound.port)) as connection:
        connection.sendall(closing)
        received(connection, n_replies=1)
        assert connection.recv(65536) == b""


def test_a_reset_is_a_reset() -> None:
    with (
        running(Behaviour(faults=Faults(rates={"reset": 1.0}))) as provider,
        socket.create_connection(("127.0.0.1", provider.port)) as connection,
    ):
        connection.sendall(REQUEST)
        with pytest.raises(ConnectionResetError):
            connection.recv(65536)
        assert [request.status for request in provider.log.requests] == [None]


def test_the_end_cuts_those_who_still_wait() -> None:
    with running(Behaviour(faults=Faults(rates={"hang": 1.0}))) as provider:
        connection = socket.create_connection(("127.0.0.1", provider.port))
        connection.sendall(REQUEST)
        while not provider.log.n_in_flight:
            time.sleep(0.001)
    with connection, pytest.raises(ConnectionResetError):
        connection.recv(65536)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", provider.port))


def test_a_caller_who_gives_up_is_no_longer_in_flight() -> None:
    latency_seconds = 0.1
    with running(Behaviour(latency_seconds=latency_seconds)) as provider:
        with socket.create_connection(("127.0.0.1", provider.port)) as connection:
            connection.sendall(REQUEST)
            while not provider.log.n_in_flight:
                time.sleep(0.001)
        while provider.log.n_in_flight:
            time.sleep(0.001)
        time.sleep(2 * latency_seconds)  # the answer, if it were still sent, would count again
        assert provider.log.n_in_flight == 0


def test_a_taken_port_is_an_error_of_the_caller(sound: RunningProvider) -> None:
    with pytest.raises(OSError, match="in use"), running(port=sound.port):
        pass


def test_limits_stand_in_each_vendors_headers() -> None:
    limit = RateLimit(requests=10, input_tokens=1000)
    with running(Behaviour(limit=limit)) as provider:
        openai_headers = httpx2.post(
            f"{provider.openai_base_url}/chat/completions",
            headers={"authorization": "Bearer sk-any"},
            content=BODY,
        ).headers
        anthropic_headers = httpx2.post(
            f"{provider.anthropic_base_url}/v1/messages",
            headers={"x-api-key": "sk-any", "anthropic-version": "2023-06-01"},
            json={**json.loads(BODY), "model": "claude-haiku-5-5", "max_tokens": 9},
        ).headers
    assert openai_headers["x-ratelimit-limit-requests"] == "10"
    assert openai_headers["x-ratelimit-remaining-requests"] == "9"
    assert openai_headers["x-ratelimit-remaining-tokens"] == "999"
    assert anthropic_headers["anthropic-ratelimit-requests-remaining"] == "9"
    assert anthropic_headers["anthropic-ratelimit-input-tokens-limit"] == "1000"


def test_the_log_keeps_what_came_and_can_be_emptied() -> None:
    with running(Behaviour(log_size=2)) as provider:
        for key in ("one", "two", "three"):
            httpx2.post(
                f"{provider.openai_base_url}/chat/completions",
                headers={"authorization": f"Bearer {key}"},
                content=BODY,
            ).raise_for_status()
        requests = provider.log.requests
        assert [request.key for request in requests] == ["two", "three"]
        assert provider.log.n_received == 3
        assert requests[0].json["model"] == "gpt-6-luna"
        assert (requests[0].vendor, requests[0].method) == ("openai", "POST")
        assert requests[0].at_seconds < requests[1].at_seconds < time.monotonic()
        provider.log.clear()
        assert (provider.log.requests, provider.log.n_received) == ((), 0)
