"""Anthropic's messages."""

from typing import Any

import anthropic
from anthropic.types import Message

from eval_assets.judges.call import Call, CallFailed, Reply
from eval_assets.judges.failures import (
    connection_failure,
    failure_of,
    is_filtered,
    without_key,
)
from eval_assets.ledger import ReplyStatus
from eval_assets.models import Usage

_STATUSES: dict[str | None, ReplyStatus] = {
    "max_tokens": "truncated",
    "model_context_window_exceeded": "truncated",
    "refusal": "refused",
}
_SAMPLING = ("temperature", "top_p", "top_k")
"""No arguments of the client any more; the models that still take them find them in the body."""


class AnthropicClient:
    """The official client, asked once per call.

    Args:
        base_url: Endpoint, without its version: `https://api.anthropic.com`.
        api_key: Key, which appears in no reply and no failure.
    """

    def __init__(self, *, base_url: str, api_key: str) -> None:
        self._key = api_key
        # No retries: one retry policy, one ledger row per attempt. No timeout: the caller's holds.
        self.sdk = anthropic.AsyncAnthropic(
            api_key=api_key, base_url=base_url, max_retries=0, timeout=None
        )

    async def ask(self, call: Call) -> Reply:
        """Ask once; see `Client.ask`."""
        body = request_body(call)
        sampling = {name: body.pop(name) for name in _SAMPLING if name in body}
        try:
            response = await self.sdk.messages.with_raw_response.create(**body, extra_body=sampling)
            message: object = await response.parse()
        except anthropic.APIStatusError as error:
            return self._filtered_or_raise(error)
        except anthropic.APIConnectionError as error:
            raise connection_failure(error.__cause__) from None
        except (anthropic.APIError, ValueError) as error:
            raise CallFailed(
                f"not a message: {type(error).__name__}", remedy="retry", may_be_billed=True
            ) from None
        if not isinstance(message, Message):
            raise CallFailed("the reply holds no message", remedy="retry", may_be_billed=True)
        request_id = response.headers.get("request-id")
        return reply_of(message, request_id=request_id, api_key=self._key)

    async def close(self) -> None:
        """Close the connections."""
        await self.sdk.close()

    def _filtered_or_raise(self, error: anthropic.APIStatusError) -> Reply:
        """An error response is a reply only where the vendor's filter sent it."""
        if is_filtered(error.status_code, error.body):
            nothing = Usage(0, 0)  # an error is not billed
            return Reply("", "content_filter", nothing, None, error.request_id, http_status=400)
        # Not chained: the SDK's error holds the request, and with it the key.
        raise failure_of(
            http_status=error.status_code,
            body=error.body,
            headers=error.response.headers,
            request_id=error.request_id,
            api_key=self._key,
        ) from None


def request_body(call: Call) -> dict[str, Any]:
    """The body of the request, as JSON."""
    settings = dict(call.settings)
    system = [m.text for m in call.messages if m.role == "system"]
    body: dict[str, Any] = {
        "model": call.endpoint.model,
        "max_tokens": call.max_tokens,
        "messages": [
            {"role": m.role, "content": m.text} for m in call.messages if m.role != "system"
        ],
    }
    if system:
        # Marked for the cache: the system part is the same for all units of a question.
        cache = {"type": "ephemeral"}
        body["system"] = [{"type": "text", "text": "\n".join(system), "cache_control": cache}]
    output: dict[str, Any] = {}
    if (effort := settings.pop("effort", None)) is not None:
        output["effort"] = effort
    if call.schema is not None:
        output["format"] = {"type": "json_schema", "schema": _without_bounds(call.schema)}
    if output:
        body["output_config"] = output
    return body | settings


def reply_of(message: Message, *, request_id: str | None, api_key: str) -> Reply:
    """What a message says: its text, which a thinking block may precede."""
    text = "".join(block.text for block in message.content if block.type == "text")
    usage = message.usage
    cached, written = usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0
    return Reply(
        text=without_key(text, api_key),
        status=_STATUSES.get(message.stop_reason, "ok"),
        usage=Usage(
            # The vendor counts the cached part separately.
            input_tokens=usage.input_tokens + cached + written,
            output_tokens=usage.output_tokens,
            cached_input_tokens=cached,
            cache_write_tokens=written,
        ),
        model_returned=message.model,
        request_id=request_id,
    )


def _without_bounds(schema: Any) -> Any:  # noqa: ANN401 - any JSON
    """The schema without bounds on numbers, which the vendor refuses; the prompt states them."""
    if isinstance(schema, dict):
        return {
            name: _without_bounds(part)
            for name, part in schema.items()
            if name not in ("minimum", "maximum")
        }
    return schema
