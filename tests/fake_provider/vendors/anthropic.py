"""Anthropic's messages on the wire (as anthropic 2.11 reads and writes them)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from tests.fake_provider.completions import n_tokens
from tests.fake_provider.exchange import ProviderError
from tests.fake_provider.questions import (
    Question,
    messages_of,
    model_named,
    subject_of,
    text_of,
    token_limit,
)
from tests.fake_provider.vendors.wire import Wire

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.fake_provider.completions import Completion, Ending
    from tests.fake_provider.exchange import ErrorKind, JsonObject
    from tests.fake_provider.models import Model
    from tests.fake_provider.questions import FindModel
    from tests.fake_provider.rate_limit import Allowance, RateLimit

_SMALLEST_CACHED_TOKENS: Final = 1024
_THINKING: Final = {
    "type": "thinking",
    "thinking": "Made up by the fake provider: no thought was had.",
    "signature": "bm90IGEgc2lnbmF0dXJl",
}
_STOP_REASONS: Final[Mapping[Ending, str]] = {
    "stop": "end_turn",
    "length": "max_tokens",
    "refusal": "refusal",
}
_UNSUPPORTED_BOUNDS: Final = (
    "exclusiveMaximum",
    "exclusiveMinimum",
    "maximum",
    "minimum",
    "multipleOf",
)

_ERRORS: Final[Mapping[ErrorKind, tuple[int, str, str]]] = {
    "rate_limit": (
        429,
        "rate_limit_error",
        "This request would exceed the rate limit for your organization.",
    ),
    "unavailable": (503, "api_error", "Service temporarily unavailable"),
    "overloaded": (529, "overloaded_error", "Overloaded"),
    "server_error": (500, "api_error", "Internal server error"),
    "bad_request": (400, "invalid_request_error", "The request could not be processed."),
    "unauthorized": (401, "authentication_error", "invalid x-api-key"),
    "forbidden": (
        403,
        "permission_error",
        "Your API key does not have permission to use the specified resource.",
    ),
    "not_found": (404, "not_found_error", "Not found"),
    "quota": (
        429,
        "rate_limit_error",
        "You have reached your specified API usage limits.",
    ),
    "no_credit": (
        400,
        "invalid_request_error",
        "Your credit balance is too low to access the Anthropic API.",
    ),
}
"""Status, type and usual message of each error."""


def _read(body: JsonObject, find_model: FindModel) -> Question:
    model = model_named(body.get("model"), find_model, vendor="anthropic")
    messages = messages_of(body)
    max_tokens = token_limit(body, "max_tokens")
    if max_tokens is None:
        raise ProviderError("bad_request", "max_tokens: Field required")
    _check_settings(body, model)
    for number, (role, _text) in enumerate(messages):
        if role not in {"user", "assistant"}:
            raise ProviderError(
                "bad_request",
                f'messages.{number}.role: Unexpected role "{role}". '
                "The Messages API accepts a top-level `system` parameter.",
            )
    system = body.get("system", "")
    system_text = text_of(system, condition="system")
    cacheable = n_tokens(system_text) >= _SMALLEST_CACHED_TOKENS and (
        "cache_control" in body
        or (isinstance(system, list) and any("cache_control" in block for block in system))
    )
    return Question(
        model=model.id,
        prompt="\n".join((system_text, *(text for _role, text in messages))),
        subject=subject_of(text for role, text in messages if role == "user"),
        schema=_asked_schema(body.get("output_config")),
        as_json=False,
        max_tokens=max_tokens,
        cacheable=system_text if cacheable else "",
    )


def _check_settings(body: JsonObject, model: Model) -> None:
    if body.get("stream"):
        raise ProviderError("bad_request", "stream: this fake provider does not stream")
    match body.get("output_config"):
        case {"effort": str()} if model.takes == "sampling":
            raise ProviderError("bad_request", "This model does not support the effort parameter.")
    if model.takes != "effort":
        return
    for name in ("temperature", "top_p", "top_k"):
        if body.get(name) not in (None, 1):
            raise ProviderError("bad_request", f"`{name}` is deprecated for this model.")


def _asked_schema(output_config: object) -> JsonObject | None:
    match output_config:
        case {"format": {"type": "json_schema", "schema": dict(schema)}}:
            _check_schema(schema)
            return schema
        case {"format": None} | None:
            return None
        case {"format": _}:
            raise ProviderError("bad_request", "output_config.format: Input should be json_schema")
        case _:
            return None


def _check_schema(schema: JsonObject) -> None:
    """Refuse what the vendor refuses: open objects, and bounds on numbers."""
    prefix = "output_config.format.schema: "
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        raise ProviderError(
            "bad_request",
            prefix + "For 'object' type, 'additionalProperties' must be explicitly set to false",
        )
    bounds = [name for name in _UNSUPPORTED_BOUNDS if name in schema]
    if bounds:
        raise ProviderError(
            "bad_request",
            f"{prefix}For '{schema.get('type')}' type, properties {', '.join(bounds)} "
            "are not supported",
        )
    for part in schema.get("properties", {}).values():
        _check_schema(part)


def _written(completion: Completion) -> JsonObject:
    if completion.ending == "content_filter":
        raise ProviderError("bad_request", "Output blocked by content filtering policy")
    content: list[JsonObject] = [dict(_THINKING)] if completion.thought else []
    refused = completion.ending == "refusal"
    if completion.text and not refused:
        content.append({"type": "text", "text": completion.text, "citations": None})
    details = {"type": "refusal", "category": "general_harms", "explanation": completion.text}
    cached = completion.cache_read_tokens + completion.cache_written_tokens
    return {
        "id": f"msg_{completion.id}",
        "type": "message",
        "role": "assistant",
        "model": completion.model,
        "content": content,
        "stop_reason": _STOP_REASONS[completion.ending],
        "stop_sequence": None,
        "stop_details": details if refused else None,
        "usage": {
            "input_tokens": completion.prompt_tokens - cached,
            "cache_creation_input_tokens": completion.cache_written_tokens,
            "cache_read_input_tokens": completion.cache_read_tokens,
            "cache_creation": {
                "ephemeral_5m_input_tokens": completion.cache_written_tokens,
                "ephemeral_1h_input_tokens": 0,
            },
            "output_tokens": completion.output_tokens,
            "output_tokens_details": {"thinking_tokens": completion.thinking_tokens},
            "service_tier": "batch" if completion.in_batch else "standard",
        },
    }


def _error(problem: ProviderError, request_id: str) -> tuple[int, JsonObject]:
    status, type_, message = _ERRORS[problem.kind]
    if problem.model is not None:
        message = f"model: {problem.model}"
    error: JsonObject = {"type": type_, "message": problem.message or message}
    if problem.kind == "quota":
        error["details"] = {"error_code": "enforced_spend_limit_reached"}
    return status, {"type": "error", "error": error, "request_id": request_id}


def _limit_headers(limit: RateLimit, allowance: Allowance) -> dict[str, str]:
    reset_at = datetime.now(UTC) + timedelta(seconds=allowance.reset_seconds)
    headers = {}
    for name, most, n_left in (
        ("requests", limit.requests, allowance.requests_left),
        ("input-tokens", limit.input_tokens, allowance.input_tokens_left),
    ):
        if most is not None:
            headers[f"anthropic-ratelimit-{name}-limit"] = str(most)
            headers[f"anthropic-ratelimit-{name}-remaining"] = str(n_left)
            headers[f"anthropic-ratelimit-{name}-reset"] = reset_at.isoformat()
    return headers


ANTHROPIC: Final = Wire(
    vendor="anthropic",
    read=_read,
    written=_written,
    error=_error,
    request_id_header="request-id",
    limit_headers=_limit_headers,
)
