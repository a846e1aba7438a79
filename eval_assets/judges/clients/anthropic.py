"""Anthropic's messages and message batches."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import anthropic
import anthropic.resources.messages  # otherwise the first request does, in its own time
from anthropic.types import Message
from anthropic.types.messages import MessageBatchIndividualResponse

from eval_assets.judges.calling.requests import Answer, ModelRequest, RequestFailed
from eval_assets.judges.clients.errors import (
    failure_of,
    filtered,
    is_filtered,
    translate_errors,
    without_key,
)
from eval_assets.ledger import Reply, ReplyStatus
from eval_assets.models import Capabilities, Usage

if TYPE_CHECKING:
    from anthropic.types.messages.batch_create_params import Request

_STATUSES: dict[str | None, ReplyStatus] = {
    "max_tokens": "truncated",
    "model_context_window_exceeded": "truncated",
    "refusal": "refused",
}


class VendorClient:
    """The official client; each method is one attempt.

    Args:
        base_url: Endpoint, without its version: `https://api.anthropic.com`.
        api_key: Key, which appears in no reply and no failure.
        capabilities: What the model takes; nothing in a request's form depends on it here.
    """

    def __init__(self, *, base_url: str, api_key: str, capabilities: Capabilities) -> None:
        del capabilities
        self._api_key = api_key
        # No retries: one retry policy, one ledger row per attempt. No timeout: the caller's holds.
        self._sdk = anthropic.AsyncAnthropic(
            api_key=api_key, base_url=base_url, max_retries=0, timeout=None
        )

    async def ask(self, request: ModelRequest) -> Reply:
        """Return the reply to a request; see `Client.ask`."""
        body = request_body(request)
        with translate_errors(anthropic, api_key=self._api_key):
            try:
                # All of it as extra body, which goes before the arguments: these know no
                # temperature, though some models do, and walking through typed messages costs a
                # fifth of a request.
                response = await self._sdk.messages.with_raw_response.create(
                    model=request.endpoint.model,
                    messages=[],
                    max_tokens=request.max_tokens,
                    extra_body=body,
                )
            except anthropic.BadRequestError as error:
                if is_filtered(error.status_code, error.body):
                    return filtered(error.request_id)
                raise
            message: object = await response.parse()
        request_id = response.headers.get("request-id")
        return reply_of(message, request_id=request_id, api_key=self._api_key)

    async def submit_batch(self, requests: Sequence[ModelRequest]) -> str:
        """Submit a batch; see `Client.submit_batch`."""
        entries = [{"custom_id": each.key, "params": request_body(each)} for each in requests]
        with translate_errors(anthropic, api_key=self._api_key):
            batch = await self._sdk.messages.batches.create(requests=cast("list[Request]", entries))
        return batch.id

    async def has_ended(self, batch_id: str) -> bool:
        """Return whether a batch can be collected; see `Client.has_ended`."""
        with translate_errors(anthropic, api_key=self._api_key):
            batch = await self._sdk.messages.batches.retrieve(batch_id)
        return batch.processing_status == "ended"

    async def collect_batch(self, batch_id: str) -> Mapping[str, Answer]:
        """Return the answers of a batch; see `Client.collect_batch`."""
        with translate_errors(anthropic, api_key=self._api_key):
            entries = await self._sdk.messages.batches.results(batch_id)
            return {entry.custom_id: self._answer(entry) async for entry in entries}

    async def close(self) -> None:
        """Close the connections."""
        await self._sdk.close()

    def _answer(self, entry: MessageBatchIndividualResponse) -> Answer:
        """Return the answer that an entry of a batch's results holds."""
        match entry.result.type:
            case "succeeded":
                try:
                    return reply_of(entry.result.message, request_id=None, api_key=self._api_key)
                except RequestFailed as failure:
                    return failure
            case "errored":
                body = entry.result.error.model_dump()
                # Batches give no HTTP status; the kind of error decides what it would have been.
                is_refused = entry.result.error.error.type == "invalid_request_error"
                status = 400 if is_refused else 500
                if is_filtered(status, body):
                    return filtered(None)
                return failure_of(
                    http_status=status,
                    body=body,
                    headers={},
                    request_id=entry.result.error.request_id,
                    api_key=self._api_key,
                )
            case other:
                return RequestFailed(f"the request has {other} in its batch", remedy="retry")


def request_body(request: ModelRequest) -> dict[str, Any]:
    """Return the body of the HTTP request, as JSON."""
    settings = dict(request.settings)
    system = [m.text for m in request.messages if m.role == "system"]
    body: dict[str, Any] = {
        "model": request.endpoint.model,
        "max_tokens": request.max_tokens,
        "messages": [
            {"role": m.role, "content": m.text} for m in request.messages if m.role != "system"
        ],
    }
    if system:
        # Marked for the cache: the system part is the same for all units of a question.
        cache = {"type": "ephemeral"}
        body["system"] = [{"type": "text", "text": "\n".join(system), "cache_control": cache}]
    output: dict[str, Any] = {}
    if (effort := settings.pop("effort", None)) is not None:
        output["effort"] = effort
    if request.schema is not None:
        output["format"] = {"type": "json_schema", "schema": _without_bounds(request.schema)}
    if output:
        body["output_config"] = output
    return body | settings


def reply_of(message: object, *, request_id: str | None, api_key: str) -> Reply:
    """Return the reply that a message holds: its text, which a thinking block may precede.

    Raises:
        RequestFailed: If it is not a message.
    """
    if not isinstance(message, Message):
        raise RequestFailed("the reply holds no message", remedy="retry", may_be_billed=True)
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
    """Return the schema without bounds on numbers, which the vendor refuses."""
    if isinstance(schema, dict):
        return {
            name: _without_bounds(part)
            for name, part in schema.items()
            if name not in ("minimum", "maximum")
        }
    return schema
