"""OpenAI's chat completions, which many other servers speak too, and its batches."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import openai
import openai.resources.chat.completions  # otherwise the first request does, in its own time
from openai.types import CompletionUsage
from openai.types.chat import ChatCompletion, ChatCompletionMessage
from openai.types.chat.chat_completion import Choice

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

_STATUSES: dict[str, ReplyStatus] = {"length": "truncated", "content_filter": "content_filter"}
_BATCH_ENDED = ("completed", "expired", "cancelled", "failed")


class VendorClient:
    """The official client; each method is one attempt.

    Args:
        base_url: Endpoint, with its version: `https://api.openai.com/v1`.
        api_key: Key, which appears in no reply and no failure.
        capabilities: What the model takes.
    """

    def __init__(self, *, base_url: str, api_key: str, capabilities: Capabilities) -> None:
        self._api_key = api_key
        self._capabilities = capabilities
        # No retries: one retry policy, one ledger row per attempt. No timeout: the caller's holds.
        self._sdk = openai.AsyncOpenAI(
            api_key=api_key, base_url=base_url, max_retries=0, timeout=None
        )

    async def ask(self, request: ModelRequest) -> Reply:
        """Return the reply to a request; see `Client.ask`."""
        body = request_body(request, self._capabilities)
        with translate_errors(openai, api_key=self._api_key):
            try:
                # All of it as extra body, which goes before the arguments: these know less than
                # the models do, and walking through typed messages costs a fifth of a request.
                response = await self._sdk.chat.completions.with_raw_response.create(
                    model=request.endpoint.model, messages=[], extra_body=body
                )
            except openai.BadRequestError as error:
                if is_filtered(error.status_code, error.body):
                    return filtered(error.request_id)
                raise
            completion: object = response.parse()
        request_id = response.headers.get("x-request-id")
        return reply_of(completion, request_id=request_id, api_key=self._api_key)

    async def submit_batch(self, requests: Sequence[ModelRequest]) -> str:
        """Submit a batch; see `Client.submit_batch`."""
        lines = [
            json.dumps(
                {
                    "custom_id": request.key,
                    "method": "POST",
                    "url": "/v1/chat/completions",
                    "body": request_body(request, self._capabilities),
                }
            )
            for request in requests
        ]
        with translate_errors(openai, api_key=self._api_key):
            file = await self._sdk.files.create(
                file=("requests.jsonl", "\n".join(lines).encode()), purpose="batch"
            )
            batch = await self._sdk.batches.create(
                input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h"
            )
        return batch.id

    async def has_ended(self, batch_id: str) -> bool:
        """Return whether a batch can be collected; see `Client.has_ended`."""
        with translate_errors(openai, api_key=self._api_key):
            batch = await self._sdk.batches.retrieve(batch_id)
        return batch.status in _BATCH_ENDED

    async def collect_batch(self, batch_id: str) -> Mapping[str, Answer]:
        """Return the answers of a batch; see `Client.collect_batch`."""
        with translate_errors(openai, api_key=self._api_key):
            batch = await self._sdk.batches.retrieve(batch_id)
            files = [
                await self._sdk.files.content(file)
                for file in (batch.output_file_id, batch.error_file_id)
                if file
            ]
        lines = [json.loads(line) for file in files for line in file.text.splitlines() if line]
        return {line["custom_id"]: self._answer(line) for line in lines}

    async def close(self) -> None:
        """Close the connections."""
        await self._sdk.close()

    def _answer(self, line: dict[str, Any]) -> Answer:
        """Return the answer that a line of a batch's results holds."""
        response = line.get("response")
        if response is None:
            message = (line.get("error") or {}).get("message", "no reply in the batch")
            return RequestFailed(message, remedy="retry")
        status, body = response["status_code"], response["body"]
        request_id = response.get("request_id")
        if status != 200:  # noqa: PLR2004 - HTTP's number for a good answer
            if is_filtered(status, body):
                return filtered(request_id)
            return failure_of(
                http_status=status,
                body=body,
                headers={},
                request_id=request_id,
                api_key=self._api_key,
            )
        try:
            with translate_errors(openai, api_key=self._api_key):
                completion = ChatCompletion.model_validate(body)
            return reply_of(completion, request_id=request_id, api_key=self._api_key)
        except RequestFailed as failure:
            return failure


def request_body(request: ModelRequest, capabilities: Capabilities) -> dict[str, Any]:
    """Return the body of the HTTP request, as JSON."""
    settings = dict(request.settings)
    body: dict[str, Any] = {
        "model": request.endpoint.model,
        "messages": [{"role": m.role, "content": m.text} for m in request.messages],
        capabilities.max_tokens_name: request.max_tokens,
    }
    if request.schema is not None:
        schema = {"name": "verdict", "strict": True, "schema": dict(request.schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    if (effort := settings.pop("effort", None)) is not None:
        body["reasoning_effort"] = effort
    return body | settings


def reply_of(completion: object, *, request_id: str | None, api_key: str) -> Reply:
    """Return the reply that a completion holds.

    Raises:
        RequestFailed: If it is not a completion: compatible servers send all sorts of things.
    """
    match completion:
        case ChatCompletion(choices=[Choice(message=ChatCompletionMessage() as message), *_]):
            status = _STATUSES.get(completion.choices[0].finish_reason, "ok")
        case _:
            what = "the reply holds no completion"
            raise RequestFailed(what, remedy="retry", may_be_billed=True)
    text = message.content or ""
    if message.refusal:
        text, status = message.refusal, "refused"
    return Reply(
        text=without_key(text, api_key),
        status=status,
        usage=_usage(completion.usage),
        model_returned=completion.model,
        request_id=request_id,
    )


def _usage(usage: CompletionUsage | None) -> Usage | None:
    if usage is None:
        return None
    details = usage.prompt_tokens_details
    return Usage(
        input_tokens=usage.prompt_tokens,
        output_tokens=usage.completion_tokens,
        cached_input_tokens=(details and details.cached_tokens) or 0,
        cache_write_tokens=(details and details.cache_write_tokens) or 0,
    )
