"""Replies as vendors really send them: of any shape, through the real SDK clients."""

import json
import math
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eval_assets.config.judges import Vendor
from eval_assets.config.rubric import RubricQuestion
from eval_assets.judges.calling.requests import RequestFailed
from eval_assets.judges.replies import read_outcome
from eval_assets.ledger import Reply
from eval_assets.scale import LIKERT5
from tests.unit.judges.clients.scripted import KEY, OTHER_KEY, ScriptedServer, scripted

CLARITY = RubricQuestion(id="clarity", question="How clear is it?", scale=LIKERT5, level="ordinal")
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**40), 10**40)
    | st.floats()
    | st.text(alphabet=st.characters(), max_size=20)
    | st.sampled_from([KEY, OTHER_KEY, "text", "stop", "length", '{"score": 3}', "\ud800", "\0"])
)
NAMES = st.sampled_from(
    ["choices", "message", "content", "finish_reason", "refusal", "usage", "prompt_tokens",
     "completion_tokens", "total_tokens", "prompt_tokens_details", "cached_tokens", "model",
     "error", "code", "type", "text", "thinking", "stop_reason", "input_tokens", "output_tokens",
     "id", "cache_read_input_tokens", "status_code", "score"]
)  # fmt: skip
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5)
)


def mostly(shape: Any) -> st.SearchStrategy[Any]:
    """A value of the given shape, in which parts are exchanged for others now and then."""
    match shape:
        case dict():
            fields = st.fixed_dictionaries({}, optional={k: mostly(v) for k, v in shape.items()})
            return fields | VALUES
        case list():
            return st.lists(mostly(shape[0]), max_size=3) | VALUES
        case _:
            return st.just(shape) | VALUES


COMPLETIONS = mostly(
    {
        "choices": [
            {
                "message": {"content": '{"score": 4}', "refusal": None},
                "finish_reason": "stop",
            }
        ],
        "usage": {
            "prompt_tokens": 10,
            "completion_tokens": 5,
            "total_tokens": 15,
            "prompt_tokens_details": {"cached_tokens": 3},
        },
        "model": "m",
        "error": {"message": "no", "code": 429},
    }
)
MESSAGES = mostly(
    {
        "content": [{"type": "text", "text": '{"score": 4}'}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 3},
        "model": "m",
        "error": {"type": "overloaded_error", "message": "no"},
    }
)


@pytest.fixture(scope="module")
def openai() -> Iterator[ScriptedServer]:
    with scripted("openai") as server:
        yield server


@pytest.fixture(scope="module")
def anthropic() -> Iterator[ScriptedServer]:
    with scripted("anthropic") as server:
        yield server


def check(server: ScriptedServer, body: object) -> None:
    """Whatever arrives is a reply or a failure that can be stored, priced and read."""
    answer = server.answer(json.dumps(body).encode())
    reading = read_outcome(answer, CLARITY)
    if isinstance(answer, Reply):
        usage = answer.usage
        assert usage is None or 0 <= usage.input_tokens + usage.output_tokens < 10**8
        assert usage is None or (
            usage.cached_input_tokens + usage.cache_write_tokens <= usage.input_tokens
        )
        assert answer.body
        texts = [answer.text, answer.model_returned or "", answer.request_id or "", answer.body]
    else:
        texts = [str(answer), answer.body or "", answer.request_id or ""]
        assert "\n" not in str(answer)
    for text in texts:
        assert KEY not in text
        assert OTHER_KEY not in text
        assert "\0" not in text
        text.encode("utf-8")
    assert (reading.status == "ok") == (not math.isnan(reading.score))


MANY = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)


@pytest.mark.slow
@MANY
@given(body=COMPLETIONS)
def test_no_completion_of_whatever_shape_breaks_a_run(body: object, openai: ScriptedServer) -> None:
    check(openai, body)


@pytest.mark.slow
@MANY
@given(body=MESSAGES)
def test_no_message_of_whatever_shape_breaks_a_run(body: object, anthropic: ScriptedServer) -> None:
    check(anthropic, body)


def completion(**changed: Any) -> bytes:
    message = {"role": "assistant", "content": '{"score": 4}'}
    body: dict[str, Any] = {
        "choices": [{"message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5},
        "model": "m",
    }
    for name, value in changed.items():
        if name in ("content", "refusal"):
            message[name] = value
        elif name == "finish_reason":
            body["choices"][0][name] = value
        else:
            body[name] = value
    return json.dumps(body).encode()


def reply_to(server: ScriptedServer, body: bytes) -> Reply:
    answer = server.answer(body)
    assert isinstance(answer, Reply), answer
    return answer


def test_content_in_parts_is_joined_and_thoughts_are_left_out(openai: ScriptedServer) -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Score: 1?"}]}
    parts = [thought, {"type": "text", "text": '{"score"'}, {"type": "text", "text": ": 4}"}]
    reply = reply_to(openai, completion(content=parts))
    assert (reply.text, reply.status) == ('{"score": 4}', "ok")
    assert read_outcome(reply, CLARITY).score == 4


def test_content_that_is_the_object_itself_is_read(openai: ScriptedServer) -> None:
    reply = reply_to(openai, completion(content={"score": 2}))
    assert read_outcome(reply, CLARITY).score == 2


@pytest.mark.parametrize(
    ("content", "status"),
    [(None, "missing"), ("", "missing"), ([], "missing"), (7, "unparsable"), ([7], "unparsable")],
)
def test_content_without_text_is_no_score(
    openai: ScriptedServer, content: object, status: str
) -> None:
    assert read_outcome(openai.answer(completion(content=content)), CLARITY).status == status


def test_a_reply_of_unknown_shape_is_kept_as_it_came(openai: ScriptedServer) -> None:
    body = b'{"result": {"score": 5}, "score": 5}'
    reply = reply_to(openai, body)
    assert (reply.text.encode(), reply.status) == (body, "unparsable")
    reading = read_outcome(reply, CLARITY)
    assert (reading.status, reading.raw_output.encode()) == ("unparsable", body)


@pytest.mark.parametrize(
    "usage",
    [
        None,
        "12 tokens",
        {},
        {"completion_tokens": 5},
        {"prompt_tokens": -1, "completion_tokens": 5},
        {"prompt_tokens": "10", "completion_tokens": 5},
        {"prompt_tokens": True, "completion_tokens": 5},
        {"prompt_tokens": 10, "completion_tokens": 2**64},
        {"prompt_tokens": 10, "completion_tokens": 1e30},
        {"prompt_tokens": 1, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 9}},
    ],
)
def test_usage_that_cannot_be_is_not_believed(openai: ScriptedServer, usage: object) -> None:
    reply = reply_to(openai, completion(usage=usage))
    assert (reply.usage, reply.text) == (None, '{"score": 4}')


def test_thinking_that_only_the_total_counts_is_billed_as_output(openai: ScriptedServer) -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 115}
    token_usage = reply_to(openai, completion(usage=usage)).usage
    assert token_usage is not None
    assert (token_usage.input_tokens, token_usage.output_tokens) == (10, 105)


@pytest.mark.parametrize(
    ("reason", "status"),
    [
        ("stop", "ok"),
        (["length"], "truncated"),
        ("model_length", "truncated"),
        ({"type": "stop"}, "ok"),
        (None, "ok"),
        ("content_filter", "content_filter"),
    ],
)
def test_the_reason_for_the_end_may_have_any_shape(
    openai: ScriptedServer, reason: object, status: str
) -> None:
    assert reply_to(openai, completion(finish_reason=reason)).status == status


def test_lone_surrogates_and_nul_are_replaced(openai: ScriptedServer) -> None:
    reply = reply_to(openai, completion(content="a\ud800b\0c"))
    assert reply.text == "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}c"


def test_an_error_with_a_good_status_is_a_failure_like_any_other(openai: ScriptedServer) -> None:
    limited = openai.answer(b'{"error": {"code": 429, "message": "slow down"}}')
    assert isinstance(limited, RequestFailed)
    assert (limited.remedy, limited.may_be_billed) == ("retry", True)
    unpaid = openai.answer(b'{"error": {"code": 402, "message": "no credits"}}')
    assert isinstance(unpaid, RequestFailed)
    assert unpaid.remedy == "stop"
    flagged = openai.answer(b'{"error": {"code": 403, "message": "your input was flagged"}}')
    assert isinstance(flagged, Reply)
    assert flagged.status == "content_filter"


@pytest.mark.parametrize(
    "body", [b"", b"<html>Bad gateway</html>", b"[1, 2]", b'"text"', b"\xff\xfe{}", b"[" * 100_000]
)
@pytest.mark.parametrize("vendor", ["openai", "anthropic"])
def test_what_is_not_a_json_object_is_tried_again_and_kept(
    vendor: str, body: bytes, request: pytest.FixtureRequest
) -> None:
    failure = request.getfixturevalue(vendor).answer(body)
    assert isinstance(failure, RequestFailed)
    assert (failure.remedy, failure.may_be_billed) == ("retry", True)
    assert failure.body == body.decode("utf-8", "replace")


def test_another_key_that_an_error_echoes_is_masked(openai: ScriptedServer) -> None:
    body = {"error": {"message": f"bad key {OTHER_KEY} or sk-live-{'a1' * 20}\x1b[31m\n!"}}
    failure = openai.answer(json.dumps(body).encode(), status=401)
    assert str(failure) == "401: bad key [key] or [key] !"


def test_a_claude_reply_is_its_text_blocks(anthropic: ScriptedServer) -> None:
    body = {
        "content": [
            {"type": "thinking", "thinking": "Score: 1?", "signature": "x"},
            {"type": "text", "text": '{"score": 3}'},
        ],
        "stop_reason": "end_turn",
        "model": "claude",
        "usage": {"input_tokens": 7, "output_tokens": 2, "cache_creation_input_tokens": 5},
    }
    reply = reply_to(anthropic, json.dumps(body).encode())
    assert (reply.text, reply.model_returned) == ('{"score": 3}', "claude")
    assert reply.usage is not None
    assert (reply.usage.input_tokens, reply.usage.cache_write_tokens) == (12, 5)
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
    assert isinstance(anthropic.answer(json.dumps(error).encode()), RequestFailed)


@pytest.mark.parametrize("vendor", ["openai", "anthropic"])
def test_a_redirect_to_another_host_is_not_followed(vendor: Vendor) -> None:
    with scripted(vendor) as server, scripted(vendor) as other_place:
        server.further_headers = f"location: {other_place.base_url}/x\r\n".encode()
        answer = server.answer(b"", status=307)
        assert isinstance(answer, RequestFailed)
        assert answer.remedy == "stop"
        assert "redirects to another host" in str(answer)
        assert other_place.received == []
