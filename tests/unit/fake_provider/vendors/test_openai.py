"""The OpenAI SDK against the fake provider."""

import asyncio
import json
from collections.abc import Callable
from datetime import date
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletion

from tests.fake_provider.behaviour import Behaviour
from tests.fake_provider.models import Model
from tests.fake_provider.server import RunningProvider, running

Ask = Callable[..., ChatCompletion]


def score_in(reply: ChatCompletion) -> int:
    return int(json.loads(reply.choices[0].message.content or "")["score"])


def usage_of(reply: ChatCompletion) -> Any:
    assert reply.usage is not None
    return reply.usage


def test_a_judge_gets_a_score_that_the_schema_allows_with_usage_and_request_id(
    ask_openai: Ask,
) -> None:
    text = "<response>Tea.</response>"
    reply = ask_openai(text)
    choice = reply.choices[0]
    assert choice.finish_reason == "stop"
    assert set(json.loads(choice.message.content or "")) == {"rationale", "score"}
    assert score_in(reply) in range(5)
    assert choice.message.refusal is None
    assert reply.id.startswith("chatcmpl-")
    assert reply.model == "gpt-6-luna"
    assert (reply._request_id or "").startswith("req_")  # noqa: SLF001 - the SDK documents it
    usage = usage_of(reply)
    # "Judge.", a line break and the text, at four characters a token.
    assert usage.prompt_tokens == -(-len("Judge.\n" + text) // 4)
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens


def test_the_same_response_gets_the_same_score_whatever_stands_around_it(ask_openai: Ask) -> None:
    scores = {score_in(ask_openai(f"{around}<response>Tea.</response>")) for around in ("", "Hm. ")}
    reasked = [
        {"role": "user", "content": "<response>Tea.</response>"},
        {"role": "assistant", "content": "Four, I think."},
        {"role": "user", "content": "Answer in JSON only."},
    ]
    scores.add(score_in(ask_openai(messages=reasked)))
    # A model's own taste moves a score by at most a tenth of the scale, so by at most one of five.
    assert max(scores) - min(scores) <= 1


def test_a_later_message_does_not_decide_the_score(ask_openai: Ask) -> None:
    reminder = {"role": "user", "content": "Answer in JSON only."}
    scores = {
        score_in(ask_openai(messages=[{"role": "user", "content": f"Tea {number}?"}, reminder]))
        for number in range(8)
    }
    # One subject's scores differ by at most one of five, whatever else the prompt says.
    assert max(scores) - min(scores) > 1


def test_asking_again_gives_the_same_text_under_another_id(ask_openai: Ask) -> None:
    first, second = ask_openai("once"), ask_openai("once")
    assert first.choices == second.choices
    assert first.id != second.id


def test_without_a_schema_the_answer_says_that_it_is_made_up(ask_openai: Ask) -> None:
    answers = {
        ask_openai(text, response_format=openai.omit).choices[0].message.content or ""
        for text in ("What is tea?", "What is coffee?")
    }
    assert len(answers) == 2
    assert all("made up" in answer for answer in answers)


@pytest.mark.parametrize(
    ("kind", "error", "expected"),
    [
        ("rate_limit", openai.RateLimitError, (429, "requests", "rate_limit_exceeded")),
        (
            "rate_limit_without_hint",
            openai.RateLimitError,
            (429, "requests", "rate_limit_exceeded"),
        ),
        ("quota", openai.RateLimitError, (429, "insufficient_quota", "insufficient_quota")),
        (
            "no_credit",
            openai.RateLimitError,
            (429, "insufficient_quota", "billing_hard_limit_reached"),
        ),
        ("unavailable", openai.InternalServerError, (503, "server_error", None)),
        ("overloaded", openai.InternalServerError, (503, "server_error", "slow_down")),
        ("server_error", openai.InternalServerError, (500, "server_error", None)),
        ("bad_request", openai.BadRequestError, (400, "invalid_request_error", None)),
        (
            "unauthorized",
            openai.AuthenticationError,
            (401, "invalid_request_error", "invalid_api_key"),
        ),
        (
            "forbidden",
            openai.PermissionDeniedError,
            (403, "invalid_request_error", "unsupported_country_region_territory"),
        ),
    ],
)
def test_an_error_fault_reaches_the_caller_as_the_sdks_own_exception(
    ask_openai: Ask,
    spoilt: RunningProvider,
    kind: str,
    error: type[openai.APIStatusError],
    expected: tuple[object, ...],
) -> None:
    with pytest.raises(error) as raised:
        ask_openai(on=spoilt, key=f"sk-{kind}")
    problem = raised.value
    assert (problem.status_code, problem.type, problem.code) == expected
    assert (raised.value.request_id or "").startswith("req_")
    hint = raised.value.response.headers.get("retry-after")
    assert hint == ("0.250" if kind == "rate_limit" else None)


def test_a_hanging_call_ends_with_the_callers_patience(
    ask_openai: Ask, spoilt: RunningProvider
) -> None:
    with pytest.raises(openai.APITimeoutError):
        ask_openai(on=spoilt, key="sk-hang", timeout=0.2)


def test_a_reset_connection_is_not_a_timeout(ask_openai: Ask, spoilt: RunningProvider) -> None:
    with pytest.raises(openai.APIConnectionError) as raised:
        ask_openai(on=spoilt, key="sk-reset")
    assert not isinstance(raised.value, openai.APITimeoutError)


def test_a_cut_off_reply_is_not_json_and_says_so(ask_openai: Ask, spoilt: RunningProvider) -> None:
    choice = ask_openai(on=spoilt, key="sk-cut_off").choices[0]
    assert choice.finish_reason == "length"
    with pytest.raises(json.JSONDecodeError):
        json.loads(choice.message.content or "")


def test_prose_leaves_the_score_open(ask_openai: Ask, spoilt: RunningProvider) -> None:
    score = score_in(ask_openai())
    choice = ask_openai(on=spoilt, key="sk-prose").choices[0]
    assert choice.finish_reason == "stop"
    text = choice.message.content or ""
    assert text.endswith(f"I would give it {score} if one is generous, else 0.")


def test_a_score_can_lie_above_the_scale(ask_openai: Ask, spoilt: RunningProvider) -> None:
    assert score_in(ask_openai(on=spoilt, key="sk-out_of_range")) == 5


def test_a_refusal_has_no_content(ask_openai: Ask, spoilt: RunningProvider) -> None:
    choice = ask_openai(on=spoilt, key="sk-refusal").choices[0]
    assert (choice.finish_reason, choice.message.content) == ("stop", None)
    assert choice.message.refusal


def test_a_content_filter_leaves_nothing(ask_openai: Ask, spoilt: RunningProvider) -> None:
    choice = ask_openai(on=spoilt, key="sk-content_filter").choices[0]
    assert (choice.finish_reason, choice.message.content) == ("content_filter", "")


def test_thinking_is_counted_in_the_answers_tokens(
    ask_openai: Ask, spoilt: RunningProvider
) -> None:
    plain = usage_of(ask_openai())
    thoughtful = usage_of(ask_openai(on=spoilt, key="sk-thinking_first"))
    details = thoughtful.completion_tokens_details
    assert details.reasoning_tokens == 256
    assert thoughtful.completion_tokens == plain.completion_tokens + 256


def test_a_duplicate_has_the_id_of_another_reply(ask_openai: Ask, spoilt: RunningProvider) -> None:
    ids = {ask_openai(text, on=spoilt, key="sk-duplicate").id for text in ("one", "two")}
    assert len(ids) == 1


def test_a_gateways_page_comes_with_status_200(ask_openai: Ask, spoilt: RunningProvider) -> None:
    # The SDK hands out the page's text in place of a completion.
    assert "<html>" in str(ask_openai(on=spoilt, key="sk-html_page"))


def test_an_answer_longer_than_allowed_is_cut(ask_openai: Ask) -> None:
    reply = ask_openai(max_completion_tokens=5)
    assert reply.choices[0].finish_reason == "length"
    assert usage_of(reply).completion_tokens == 5
    assert len(reply.choices[0].message.content or "") == 5 * 4


def test_a_long_beginning_is_read_from_the_cache_the_second_time(ask_openai: Ask) -> None:
    # 4 400 characters are 1 100 tokens, cached in steps of 128: 8 x 128 = 1 024.
    system = {"role": "system", "content": "Judge well." * 400}
    replies = [
        ask_openai(messages=[system, {"role": "user", "content": text}]) for text in ("one", "two")
    ]
    details = [usage_of(reply).prompt_tokens_details for reply in replies]
    assert [detail.cached_tokens for detail in details] == [0, 1024]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"temperature": 0}, "'temperature' does not support 0"),
        ({"top_p": 0.5}, "'top_p' does not support 0.5"),
        ({"max_tokens": 100}, "Use 'max_completion_tokens' instead"),
        ({"model": "gpt-4o", "reasoning_effort": "low"}, "'reasoning_effort' is not supported"),
        ({"stream": True}, "does not stream"),
        ({"messages": []}, "at least one message"),
        ({"messages": [{"role": "user", "content": 3}]}, "string or a list of text blocks"),
        ({"response_format": {"type": "xml"}}, "Supported values"),
        (
            {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "v", "strict": True, "schema": {"type": "object"}},
                }
            },
            "'additionalProperties' is required",
        ),
        (
            {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {
                        "name": "v",
                        "strict": True,
                        "schema": {
                            "type": "object",
                            "properties": {"score": {"type": "integer"}},
                            "additionalProperties": False,
                        },
                    },
                }
            },
            "'required' is required",
        ),
    ],
)
def test_what_the_vendor_refuses_is_refused(
    ask_openai: Ask, settings: dict[str, object], message: str
) -> None:
    with pytest.raises(openai.BadRequestError, match=message):
        ask_openai(**settings)


def test_older_models_take_a_temperature(ask_openai: Ask) -> None:
    assert ask_openai(model="gpt-4o", temperature=0).model == "gpt-4o"


@pytest.mark.parametrize("model", ["gpt-0", "claude-haiku-5-5"])
def test_a_model_it_does_not_serve_is_not_found(ask_openai: Ask, model: str) -> None:
    with pytest.raises(openai.NotFoundError) as raised:
        ask_openai(model=model)
    assert raised.value.code == "model_not_found"


def test_a_model_is_gone_the_day_after_its_last(ask_openai: Ask) -> None:
    models = (Model("gpt-old", "openai", ends_on=date(2026, 10, 23)),)
    with running(Behaviour(models=models, today=date(2026, 10, 23))) as provider:
        assert ask_openai(on=provider, model="gpt-old").model == "gpt-old"
        provider.behave(Behaviour(models=models, today=date(2026, 10, 24)))
        with pytest.raises(openai.NotFoundError):
            ask_openai(on=provider, model="gpt-old")


def test_a_call_without_a_key_is_unauthorized(ask_openai: Ask) -> None:
    with pytest.raises(openai.AuthenticationError):
        ask_openai(extra_headers={"Authorization": ""})


def test_the_models_endpoint_says_when_a_model_ends(sound: RunningProvider) -> None:
    async def look() -> tuple[set[str], str | None, str | None]:
        async with AsyncOpenAI(base_url=sound.openai_base_url, api_key="sk-any") as client:
            names = {model.id async for model in client.models.list()}
            luna = await client.models.retrieve("gpt-6-luna")
            mini = await client.models.retrieve("gpt-4o-mini")
        return names, luna.shutdown_date, mini.shutdown_date

    names, luna, mini = asyncio.run(look())
    assert "gpt-6-luna" in names
    assert not any(name.startswith("claude") for name in names)
    assert (luna, mini) == (None, "2027-01-14")


def test_an_unknown_address_is_not_found(sound: RunningProvider) -> None:
    async def look() -> None:
        async with AsyncOpenAI(base_url=sound.anthropic_base_url, api_key="sk-any") as client:
            await client.models.list()

    with pytest.raises(openai.NotFoundError, match="Unknown request URL: GET /models"):
        asyncio.run(look())
