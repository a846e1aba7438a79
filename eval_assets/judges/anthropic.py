"""Anthropic's messages."""

from typing import Any

import anthropic
import anthropic.resources.messages  # else the first call does, in its own time
from anthropic.types import Message

from eval_assets.judges.call import BatchClient, Call, CallFailed
from eval_assets.judges.failures import failures_told, filtered, is_filtered, without_key
from eval_assets.ledger import Reply, ReplyStatus
from eval_assets.models import Usage

_STATUSES: dict[str | None, ReplyStatus] = {
    "max_tokens": "truncated",
    "model_context_window_exceeded": "truncated",
    "refusal": "refused",
}


class AnthropicClient:
    """The official client, asked once per call.

    Args:
        base_url: Endpoint, without its version: `https://api.anthropic.com`.
        api_key: Key, which appears in no reply and no failure.
    """

    def __init__(self, *, base_url: str, api_key: str) -> None:
        self.api_key = api_key
        # No retries: one retry policy, one ledger row per attempt. No timeout: the caller's holds.
        self.sdk = anthropic.AsyncAnthropic(
            api_key=api_key, base_url=base_url, max_retries=0, timeout=None
        )

    async def ask(self, call: Call) -> Reply:
        """Ask once; see `Client.ask`."""
        body = request_body(call)
        with failures_told(anthropic, api_key=self.api_key):
            try:
                # All of it as extra body, which goes before the arguments: these know no
                # temperature, though some models do, and walking through typed messages costs a
                # fifth of a call.
                response = await self.sdk.messages.with_raw_response.create(
                    model=call.endpoint.model,
                    messages=[],
                    max_tokens=call.max_tokens,
                    extra_body=body,
                )
            except anthropic.BadRequestError as error:
                if is_filtered(error.status_code, error.body):
                    return filtered(error.request_id)
                raise
            message: object = await response.parse()
        request_id = response.headers.get("request-id")
        return reply_of(message, request_id=request_id, api_key=self.api_key)

    def batches(self) -> BatchClient:
        """The vendor's batch endpoint."""
        from eval_assets.judges.anthropic_batch import AnthropicBatches  # noqa: PLC0415 - it needs this module

        return AnthropicBatches(self)

    async def close(self) -> None:
        """Close the connections."""
        await self.sdk.close()


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


def reply_of(message: object, *, request_id: str | None, api_key: str) -> Reply:
    """What a message says: its text, which a thinking block may precede.

    Raises:
        CallFailed: If it is none.
    """
    if not isinstance(message, Message):
        raise CallFailed("the reply holds no message", remedy="retry", may_be_billed=True)
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
