"""The Anthropic SDK against the fake provider."""

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, date, datetime

import anthropic
import pytest
from anthropic import AsyncAnthropic
from anthropic.types import Message, ModelInfo, TextBlock, ThinkingBlock

from tests.fake_provider.behaviour import Behaviour
from tests.fake_provider.models import Model
from tests.fake_provider.server import RunningProvider, running

Ask = Callable[..., Message]


def text_in(reply: Message) -> str:
    return "".join(block.text for block in reply.content if isinstance(block, TextBlock))


def test_a_judge_gets_a_score_that_the_schema_allows_with_usage_and_request_id(
    ask_anthropic: Ask,
) -> None:
    text = "<response>Tea.</response>"
    reply = ask_anthropic(text)
    assert reply.stop_reason == "end_turn"
    verdict = json.loads(text_in(reply))
    assert list(verdict) == ["rationale", "score"]
    assert verdict["score"] in range(5)
    assert reply.id.startswith("msg_")
    assert reply.model == "claude-haiku-5-5"
    assert (reply._request_id or "").startswith("req_")  # noqa: SLF001 - the SDK documents it
    # "Judge.", a line break and the text, at four characters a token.
    assert reply.usage.input_tokens == -(-len("Judge.\n" + text) // 4)
    assert reply.usage.service_tier == "standard"


def test_text_may_come_in_blocks(ask_anthropic: Ask) -> None:
    blocks = [{"type": "text", "text": "<response>Tea.</response>"}]
    in_blocks = ask_anthropic(
        system=[{"type": "text", "text": "Judge."}],
        messages=[{"role": "user", "content": blocks}],
    )
    assert text_in(in_blocks) == text_in(ask_anthropic())


@pytest.mark.parametrize(
    ("kind", "error", "expected"),
    [
        ("rate_limit", anthropic.RateLimitError, (429, "rate_limit_error")),
        ("rate_limit_without_hint", anthropic.RateLimitError, (429, "rate_limit_error")),
        ("quota", anthropic.RateLimitError, (429, "rate_limit_error")),
        ("no_credit", anthropic.BadRequestError, (400, "invalid_request_error")),
        ("unavailable", anthropic.InternalServerError, (503, "api_error")),
        ("overloaded", anthropic.InternalServerError, (529, "overloaded_error")),
        ("server_error", anthropic.InternalServerError, (500, "api_error")),
        ("bad_request", anthropic.BadRequestError, (400, "invalid_request_error")),
        ("content_filter", anthropic.BadRequestError, (400, "invalid_request_error")),
        ("unauthorized", anthropic.AuthenticationError, (401, "authentication_error")),
        ("forbidden", anthropic.PermissionDeniedError, (403, "permission_error")),
    ],
)
def test_an_error_fault_reaches_the_caller_as_the_sdks_own_exception(
    ask_anthropic: Ask,
    spoilt: RunningProvider,
    kind: str,
    error: type[anthropic.APIStatusError],
    expected: tuple[object, ...],
) -> None:
    with pytest.raises(error) as raised:
        ask_anthropic(on=spoilt, key=f"sk-{kind}")
    assert (raised.value.status_code, raised.value.type) == expected
    assert (raised.value.request_id or "").startswith("req_")
    hint = raised.value.response.headers.get("retry-after")
    assert hint == ("0.250" if kind == "rate_limit" else None)
    spend_limit = "enforced_spend_limit_reached" if kind == "quota" else None
    assert raised.value.error_code == spend_limit


def test_a_hanging_call_ends_with_the_callers_patience(
    ask_anthropic: Ask, spoilt: RunningProvider
) -> None:
    with pytest.raises(anthropic.APITimeoutError):
        ask_anthropic(on=spoilt, key="sk-hang", timeout=0.2)


def test_a_reset_connection_is_not_a_timeout(ask_anthropic: Ask, spoilt: RunningProvider) -> None:
    with pytest.raises(anthropic.APIConnectionError) as raised:
        ask_anthropic(on=spoilt, key="sk-reset")
    assert not isinstance(raised.value, anthropic.APITimeoutError)


def test_a_cut_off_reply_is_not_json_and_says_so(
    ask_anthropic: Ask, spoilt: RunningProvider
) -> None:
    reply = ask_anthropic(on=spoilt, key="sk-cut_off")
    assert reply.stop_reason == "max_tokens"
    with pytest.raises(json.JSONDecodeError):
        json.loads(text_in(reply))


def test_a_refusal_has_no_content_but_details(ask_anthropic: Ask, spoilt: RunningProvider) -> None:
    reply = ask_anthropic(on=spoilt, key="sk-refusal")
    assert (reply.stop_reason, reply.content) == ("refusal", [])
    assert reply.stop_details is not None
    assert reply.stop_details.category == "general_harms"


def test_thinking_can_come_before_the_text(ask_anthropic: Ask, spoilt: RunningProvider) -> None:
    reply = ask_anthropic(on=spoilt, key="sk-thinking_first")
    assert [type(block) for block in reply.content] == [ThinkingBlock, TextBlock]
    assert text_in(reply) == text_in(ask_anthropic())
    assert reply.usage.output_tokens_details is not None
    assert reply.usage.output_tokens_details.thinking_tokens == 256


def test_thinking_can_use_up_all_tokens(ask_anthropic: Ask, spoilt: RunningProvider) -> None:
    reply = ask_anthropic(on=spoilt, key="sk-thinking_first", max_tokens=100)
    assert reply.stop_reason == "max_tokens"
    assert [type(block) for block in reply.content] == [ThinkingBlock]
    assert reply.usage.output_tokens == 100


def test_a_duplicate_has_the_id_of_another_reply(
    ask_anthropic: Ask, spoilt: RunningProvider
) -> None:
    ids = {ask_anthropic(text, on=spoilt, key="sk-duplicate").id for text in ("one", "two")}
    assert len(ids) == 1


def test_a_marked_beginning_is_written_to_the_cache_and_then_read(ask_anthropic: Ask) -> None:
    # 4 400 characters are 1 100 tokens; "Judge well." has 11.
    marked = {"type": "text", "text": "Judge well." * 400, "cache_control": {"type": "ephemeral"}}
    usages = [ask_anthropic(text, system=[marked]).usage for text in ("one", "two")]
    assert [usage.cache_creation_input_tokens for usage in usages] == [1100, 0]
    assert [usage.cache_read_input_tokens for usage in usages] == [0, 1100]
    # A line break and three letters are one token more.
    assert [usage.input_tokens for usage in usages] == [1, 1]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"extra_body": {"temperature": 0}}, "`temperature` is deprecated"),
        ({"extra_body": {"top_p": 0.5}}, "`top_p` is deprecated"),
        ({"model": "claude-haiku-4-5"}, "does not support the effort parameter"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"messages": []}, "at least one message"),
        ({"messages": [{"role": "system", "content": "Judge."}]}, "Unexpected role"),
        (
            {
                "output_config": {
                    "format": {
                        "type": "json_schema",
                        "schema": {
                            "type": "object",
                            "properties": {
                                "score": {"type": "integer", "minimum": 0, "maximum": 4}
                            },
                            "additionalProperties": False,
                        },
                    }
                }
            },
            "For 'integer' type, properties maximum, minimum are not supported",
        ),
        (
            {"output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}}},
            "'additionalProperties' must be explicitly set to false",
        ),
    ],
)
def test_what_the_vendor_refuses_is_refused(
    ask_anthropic: Ask, settings: dict[str, object], message: str
) -> None:
    with pytest.raises(anthropic.BadRequestError, match=message):
        ask_anthropic(**settings)


def test_older_models_take_a_temperature(ask_anthropic: Ask) -> None:
    reply = ask_anthropic(model="claude-sonnet-4-6", extra_body={"temperature": 0})
    assert reply.stop_reason == "end_turn"


def test_a_model_is_gone_the_day_after_its_last(ask_anthropic: Ask) -> None:
    models = (Model("claude-old", "anthropic", ends_on=date(2026, 2, 19)),)
    with running(Behaviour(models=models, today=date(2026, 2, 19))) as provider:
        assert ask_anthropic(on=provider, model="claude-old").model == "claude-old"
        provider.behave(Behaviour(models=models, today=date(2026, 2, 20)))
        with pytest.raises(anthropic.NotFoundError, match="model: claude-old"):
            ask_anthropic(on=provider, model="claude-old")


def test_the_models_endpoint_gives_a_models_lifecycle() -> None:
    async def look(provider: RunningProvider) -> dict[str, ModelInfo]:
        async with AsyncAnthropic(base_url=provider.anthropic_base_url, api_key="k") as client:
            return {model.id: model async for model in client.models.list()}

    with running(Behaviour(today=date(2026, 11, 21))) as provider:
        models = asyncio.run(look(provider))
    assert not any(name.startswith("gpt") for name in models)
    assert models["claude-haiku-5-5"].lifecycle == "active"
    assert models["claude-sonnet-4-5"].lifecycle == "deprecated"
    assert models["claude-sonnet-4-5"].retires_at == datetime(2026, 11, 30, tzinfo=UTC)
    assert models["claude-3-5-haiku-20241022"].lifecycle == "retired"
