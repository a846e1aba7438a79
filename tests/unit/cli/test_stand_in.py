"""The package's stand-in, asked by the clients that ask the vendors."""

import asyncio
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, get_args

import httpx2
import pytest

from eval_assets.cli.fake_provider import StandIn
from eval_assets.config.judges import Vendor
from eval_assets.judges.calling.requests import (
    Endpoint,
    Message,
    ModelRequest,
    Outcome,
    RequestFailed,
)
from eval_assets.judges.clients import connect
from eval_assets.judges.prompts.prompt import verdict_schema
from eval_assets.judges.replies import parse_reply
from eval_assets.ledger import Reply
from eval_assets.scale import Scale

SCALES = (Scale.from_steps(low=1, high=5), Scale(low=0, high=10))
RESPONSE = "<response-00aa>Tea.</response-00aa>"


@contextmanager
def standing_in(*, fault_share: float = 0.0) -> Iterator[StandIn]:
    with StandIn(0, latency_seconds=0.0, fault_share=fault_share) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def server() -> Iterator[StandIn]:
    with standing_in() as server:
        yield server


def ask(
    server: StandIn,
    vendor: Vendor,
    text: str = RESPONSE,
    *,
    schema: Mapping[str, Any] | None = None,
    model: str = "a-model",
) -> Outcome:
    request = ModelRequest(
        Endpoint(vendor, server.environment[f"{vendor.upper()}_BASE_URL"], model),
        messages=(Message("system", "Rate the text in <response-1>."), Message("user", text)),
        settings={},
        max_tokens=1000,
        schema=schema,
        max_tokens_name="max_completion_tokens",
    )

    async def asking() -> Outcome:
        client = connect(request.endpoint, api_key="sk-any", keys=["sk-any"])
        try:
            return await client.ask(request)
        finally:
            await client.close()

    return asyncio.run(asking())


def text_of(answer: Outcome) -> str:
    assert isinstance(answer, Reply), answer
    assert answer.usage is not None
    assert answer.usage.input_tokens > 0
    return answer.text


@pytest.mark.parametrize("vendor", get_args(Vendor))
@pytest.mark.parametrize("scale", SCALES)
def test_both_protocols_answer_with_scores_on_the_scale(
    server: StandIn, vendor: Vendor, scale: Scale
) -> None:
    texts = [f"<response-1>Tea {n}.</response-1>" for n in range(12)]
    schema = verdict_schema(scale)

    parsed_replies = [
        parse_reply(text_of(ask(server, vendor, t, schema=schema)), scale) for t in texts
    ]

    assert {parsed.status for parsed in parsed_replies} == {"ok"}
    assert len({parsed.score for parsed in parsed_replies}) > 2


def test_score_is_repeated_and_differs_little_between_models(server: StandIn) -> None:
    scale = SCALES[1]
    schema = verdict_schema(scale)

    scores = [
        parse_reply(text_of(ask(server, "openai", schema=schema, model=model)), scale).score
        for model in ("one", "one", "another")
    ]

    assert scores[0] == scores[1]
    assert abs(scores[0] - scores[2]) <= 2.0


def test_prompt_that_lists_scores_is_answered_without_a_schema(server: StandIn) -> None:
    text = text_of(ask(server, "openai", f"{RESPONSE} The score is one of 1, 2, 3."))

    assert parse_reply(text, Scale.from_steps(low=1, high=3)).status == "ok"


def test_prompt_with_a_range_is_answered_with_json_or_the_number_alone(server: StandIn) -> None:
    """As dual-judge asks models without schemas, and for bare numbers."""
    scale = Scale(low=0, high=1)
    prompt = f"{RESPONSE} Scale: a number from 0.0 to 1.0."
    answer = parse_reply(text_of(ask(server, "anthropic", prompt)), scale)
    number = float(text_of(ask(server, "anthropic", f"{prompt} Reply with the number alone.")))

    assert answer.status == "ok"
    assert 0 <= number <= 1


@pytest.mark.parametrize("vendor", get_args(Vendor))
def test_other_requests_are_answered_with_a_text(server: StandIn, vendor: Vendor) -> None:
    text = text_of(ask(server, vendor, "Which tea?"))

    assert text.startswith("This text was made up in place of a-model")
    assert text == text_of(ask(server, vendor, "Which tea?"))


@pytest.mark.parametrize("vendor", get_args(Vendor))
def test_refused_requests_are_to_be_sent_again(vendor: Vendor) -> None:
    with standing_in(fault_share=1.0) as refusing:
        answer = ask(refusing, vendor)

    assert isinstance(answer, RequestFailed)
    assert (answer.http_status, answer.remedy, answer.is_overload) == (503, "retry", True)
    assert refusing.n_received == 1


def test_request_that_was_refused_may_be_answered_later() -> None:
    with standing_in(fault_share=0.5) as flaky:
        answers = [ask(flaky, "openai") for _ in range(12)]

    assert {type(answer) for answer in answers} == {Reply, RequestFailed}


@pytest.mark.parametrize(
    ("request_line", "key", "body", "status"),
    [
        ("POST /v1/chat/completions", "", "{}", 401),
        ("POST /v1/messages", "sk-any", "tea", 400),
        ("POST /v1/messages", "sk-any", '{"model": "m"}', 400),
        ("POST /v1/batches", "sk-any", "{}", 404),
        ("GET /v1/batches", "sk-any", "", 404),
    ],
)
def test_other_requests_are_errors(
    server: StandIn, request_line: str, key: str, body: str, status: int
) -> None:
    method, path = request_line.split()
    url = server.environment["ANTHROPIC_BASE_URL"] + path

    reply = httpx2.request(method, url, headers={"x-api-key": key}, content=body)

    assert reply.status_code == status
