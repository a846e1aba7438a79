"""OpenAI's chat completions on the wire (as openai 3.52 reads and writes them)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from tests.fake_provider.completions import n_tokens
from tests.fake_provider.exchange import ProviderError
from tests.fake_provider.questions import (
    Question,
    messages_of,
    model_named,
    subject_of,
    token_limit,
)
from tests.fake_provider.vendors.wire import Wire

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.fake_provider.completions import Completion
    from tests.fake_provider.exchange import ErrorKind, JsonObject
    from tests.fake_provider.models import Model
    from tests.fake_provider.questions import FindModel
    from tests.fake_provider.rate_limit import Allowance, RateLimit

_SMALLEST_CACHED_TOKENS: Final = 1024
_CACHED_IN_STEPS_OF_TOKENS: Final = 128

_ERRORS: Final[Mapping[ErrorKind, tuple[int, str, str | None, str]]] = {
    "rate_limit": (
        429,
        "requests",
        "rate_limit_exceeded",
        "Rate limit reached for requests. Please try again later.",
    ),
    "unavailable": (
        503,
        "server_error",
        None,
        "The service is temporarily unavailable. Please try again later.",
    ),
    "overloaded": (
        503,
        "server_error",
        "slow_down",
        "The engine is currently overloaded. Please try again later.",
    ),
    "server_error": (
        500,
        "server_error",
        None,
        "The server had an error while processing your request. Sorry about that!",
    ),
    "bad_request": (400, "invalid_request_error", None, "The request could not be processed."),
    "unauthorized": (
        401,
        "invalid_request_error",
        "invalid_api_key",
        "Incorrect API key provided.",
    ),
    "forbidden": (
        403,
        "invalid_request_error",
        "unsupported_country_region_territory",
        "Country, region, or territory not supported.",
    ),
    "not_found": (404, "invalid_request_error", "model_not_found", "Not found."),
    "quota": (
        429,
        "insufficient_quota",
        "insufficient_quota",
        "You exceeded your current quota, please check your plan and billing details.",
    ),
    "no_credit": (
        429,
        "insufficient_quota",
        "billing_hard_limit_reached",
        "Billing hard limit has been reached.",
    ),
}
"""Status, type, code and usual message of each error."""


def _read(body: JsonObject, find_model: FindModel) -> Question:
    model = model_named(body.get("model"), find_model, vendor="openai")
    messages = messages_of(body)
    _check_settings(body, model)
    schema, as_json = _asked_format(body.get("response_format"))
    system = "\n".join(text for role, text in messages if role in {"system", "developer"})
    cacheable = n_tokens(system) >= _SMALLEST_CACHED_TOKENS
    return Question(
        model=model.id,
        prompt="\n".join(text for _role, text in messages),
        subject=subject_of(text for role, text in messages if role == "user"),
        schema=schema,
        as_json=as_json,
        max_tokens=token_limit(body, "max_completion_tokens") or token_limit(body, "max_tokens"),
        cacheable=system if cacheable else "",
    )


def _check_settings(body: JsonObject, model: Model) -> None:
    if body.get("stream"):
        raise ProviderError("bad_request", "This fake provider does not stream.", param="stream")
    if model.takes == "sampling" and body.get("reasoning_effort") is not None:
        raise ProviderError(
            "bad_request",
            "Unsupported parameter: 'reasoning_effort' is not supported with this model.",
            param="reasoning_effort",
            code="unsupported_parameter",
        )
    if model.takes != "effort":
        return
    for name in ("temperature", "top_p"):
        if body.get(name) not in (None, 1):
            raise ProviderError(
                "bad_request",
                f"Unsupported value: '{name}' does not support {body[name]} with this model. "
                "Only the default (1) value is supported.",
                param=name,
                code="unsupported_value",
            )
    if "max_tokens" in body:
        raise ProviderError(
            "bad_request",
            "Unsupported parameter: 'max_tokens' is not supported with this model. "
            "Use 'max_completion_tokens' instead.",
            param="max_tokens",
            code="unsupported_parameter",
        )


def _asked_format(response_format: object) -> tuple[JsonObject | None, bool]:
    """Return the JSON schema asked for, and whether any JSON object was asked for."""
    match response_format:
        case None | {"type": "text"}:
            return None, False
        case {"type": "json_object"}:
            return None, True
        case {
            "type": "json_schema",
            "json_schema": {"name": str(name), "schema": dict(schema), **settings},
        }:
            if settings.get("strict"):
                _check_strict(schema, name=name)
            return schema, False
        case _:
            raise ProviderError(
                "bad_request",
                "Invalid value. Supported values are: 'json_object', 'json_schema', and 'text'.",
                param="response_format.type",
                code="invalid_value",
            )


def _check_strict(schema: JsonObject, *, name: str) -> None:
    """Refuse what strict mode refuses: other properties, or optional ones."""
    prefix = f"Invalid schema for response_format '{name}': In context=(), "
    if schema.get("additionalProperties") is not False:
        raise ProviderError(
            "bad_request",
            prefix + "'additionalProperties' is required to be supplied and to be false.",
            param="response_format",
        )
    if set(schema.get("properties", {})) != set(schema.get("required", [])):
        raise ProviderError(
            "bad_request",
            prefix + "'required' is required to be supplied and to be an array including "
            "every key in properties.",
            param="response_format",
        )


def _written(completion: Completion) -> JsonObject:
    refused = completion.ending == "refusal"
    message: JsonObject = {
        "role": "assistant",
        "content": None if refused else completion.text,
        "refusal": completion.text if refused else None,
        "annotations": [],
    }
    step = _CACHED_IN_STEPS_OF_TOKENS
    return {
        "id": f"chatcmpl-{completion.id}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": completion.model,
        "choices": [
            {
                "index": 0,
                "message": message,
                "logprobs": None,
                "finish_reason": "stop" if refused else completion.ending,
            }
        ],
        "usage": {
            "prompt_tokens": completion.prompt_tokens,
            "completion_tokens": completion.output_tokens,
            "total_tokens": completion.prompt_tokens + completion.output_tokens,
            "prompt_tokens_details": {
                "cached_tokens": completion.cache_read_tokens // step * step,
                "audio_tokens": 0,
            },
            "completion_tokens_details": {
                "reasoning_tokens": completion.thinking_tokens,
                "audio_tokens": 0,
                "accepted_prediction_tokens": 0,
                "rejected_prediction_tokens": 0,
            },
        },
        "service_tier": "default",
        "system_fingerprint": None,
    }


def _error(problem: ProviderError, request_id: str) -> tuple[int, JsonObject]:  # noqa: ARG001
    status, type_, code, message = _ERRORS[problem.kind]
    if problem.model is not None:
        message = f"The model `{problem.model}` does not exist or you do not have access to it."
    error = {
        "message": problem.message or message,
        "type": type_,
        "param": problem.param,
        "code": problem.code or code,
    }
    return status, {"error": error}


def _limit_headers(limit: RateLimit, allowance: Allowance) -> dict[str, str]:
    reset = f"{allowance.reset_seconds * 1000:.0f}ms"
    headers = {}
    for name, most, n_left in (
        ("requests", limit.requests, allowance.requests_left),
        ("tokens", limit.input_tokens, allowance.input_tokens_left),
    ):
        if most is not None:
            headers[f"x-ratelimit-limit-{name}"] = str(most)
            headers[f"x-ratelimit-remaining-{name}"] = str(n_left)
            headers[f"x-ratelimit-reset-{name}"] = reset
    return headers


OPENAI: Final = Wire(
    vendor="openai",
    read=_read,
    written=_written,
    error=_error,
    request_id_header="x-request-id",
    limit_headers=_limit_headers,
)
