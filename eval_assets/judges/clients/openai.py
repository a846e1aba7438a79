"""OpenAI's chat completions, which many other servers offer too, and its batches."""

import json
from collections.abc import Collection, Mapping, Sequence
from types import ModuleType
from typing import Any, ClassVar

import openai

from eval_assets.config.models import Usage
from eval_assets.judges.calling.requests import ModelRequest, Outcome, RequestFailed
from eval_assets.judges.clients.failures import (
    failure_of,
    mapping,
    named,
    outcome_of,
    status_of,
    text_of,
    token_count,
    translate_errors,
)
from eval_assets.judges.clients.official import OfficialClient
from eval_assets.ledger import Batch, ReplyStatus

_STATUSES: Mapping[str, ReplyStatus] = {
    "length": "truncated",
    "model_length": "truncated",  # Mistral
    "content_filter": "content_filter",
}
_OK = 200
_MOST_REASONS = 3

_INTENT = "eval_assets_batch"
"""Key of the batch's metadata that identifies it."""

_CLOCKS_DIFFER_SECONDS = 3600


class OpenAIClient(OfficialClient):
    """The client of OpenAI's API, whose base URL contains the version."""

    sdk_class = openai.AsyncOpenAI
    errors: ClassVar[ModuleType] = openai
    chat_path = "/chat/completions"
    batches_path = "/batches"
    request_id_header = "x-request-id"
    page_name = "after"
    batch_state = "status"
    ended_states = ("completed", "expired", "cancelled", "failed")
    counted_results = ("completed", "failed")

    @staticmethod
    def request_body(request: ModelRequest) -> dict[str, Any]:
        """Return the body of the HTTP request, as JSON."""
        settings = dict(request.settings)
        body: dict[str, Any] = {
            "model": request.endpoint.model,
            "messages": [{"role": m.role, "content": m.text} for m in request.messages],
            request.max_tokens_name: request.max_tokens,
        }
        if request.schema == "json_object":
            body["response_format"] = {"type": "json_object"}
        elif request.schema is not None:
            schema = {"name": "verdict", "strict": True, "schema": dict(request.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        if (effort := settings.pop("effort", None)) is not None:
            body["reasoning_effort"] = effort
        return body | settings

    def _has_reply(self, body: Mapping[str, Any]) -> bool:
        return bool(_choice(body))

    def _content_of(self, body: Mapping[str, Any]) -> tuple[str | None, ReplyStatus]:
        message = mapping(_choice(body).get("message"))
        if isinstance(refusal := message.get("refusal"), str) and refusal:
            return refusal, "refused"
        content = text_of(message["content"]) if "content" in message else None
        return content, status_of(_choice(body).get("finish_reason"), _STATUSES)

    def _usage_of(self, usage: Mapping[str, Any]) -> Usage | None:
        # Servers name them as in either of OpenAI's APIs.
        n_input = token_count(usage.get("prompt_tokens", usage.get("input_tokens")))
        n_output = token_count(usage.get("completion_tokens", usage.get("output_tokens")))
        if n_input is None or n_output is None:
            return None
        # Some count thinking in the total alone, and bill it as output.
        n_total = token_count(usage.get("total_tokens")) or 0
        n_output = max(n_output, n_total - n_input)
        input_details = mapping(usage.get("prompt_tokens_details"))
        output_details = mapping(usage.get("completion_tokens_details"))
        cached = token_count(input_details.get("cached_tokens")) or 0
        written = token_count(input_details.get("cache_write_tokens")) or 0
        if cached + written > n_input:
            return None
        n_thinking = token_count(output_details.get("reasoning_tokens")) or 0
        return Usage(n_input, n_output, cached, written, min(n_output, n_thinking))

    async def submit_batch(self, requests: Sequence[ModelRequest], *, intent_id: str) -> str:
        """Submit a file of requests as a batch under our name."""
        lines = [
            json.dumps(
                {
                    "custom_id": request.key,
                    "method": "POST",
                    "url": "/v1/chat/completions",
                    "body": self.request_body(request),
                }
            )
            for request in requests
        ]
        with translate_errors(openai, keys=self.keys):
            file = await self.sdk.files.create(
                file=("requests.jsonl", "\n".join(lines).encode()), purpose="batch"
            )
        body = {
            "input_file_id": file.id,
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "metadata": {_INTENT: intent_id},
        }
        response = await self.send(self.batches_path, body)
        return str(self.batch_in(response, key="id")["id"])

    async def find_batch(self, batch: Batch, *, known_ids: Collection[str]) -> str | None:
        """Return the batch submitted under our name."""
        del known_ids
        earliest = batch.intended_at.timestamp() - _CLOCKS_DIFFER_SECONDS
        async for listed in self.batches():
            if mapping(listed.get("metadata")).get(_INTENT) == batch.intent_id:
                return str(listed.get("id"))
            created_at = listed.get("created_at")
            if isinstance(created_at, int | float) and created_at < earliest:
                return None
        return None

    def _result_paths(self, batch: Mapping[str, Any]) -> list[str]:
        files = (batch.get(name) for name in ("output_file_id", "error_file_id"))
        return [f"/files/{file_id}/content" for file_id in files if isinstance(file_id, str)]

    def _batched_outcome(self, result: Mapping[str, Any]) -> Outcome:
        match result:
            case {"response": {"status_code": int(status)} as response}:
                body, request_id = response.get("body"), response.get("request_id")
                if status == _OK:
                    return self.read_reply(json.dumps(body), request_id)
                failure = failure_of(status, body, request_id=request_id, keys=self.keys)
                return outcome_of(failure)
        message = mapping(result.get("error")).get("message", "no reply in the batch")
        return RequestFailed(named(message, keys=self.keys), remedy="retry")

    def _refusal_of(self, batch: Mapping[str, Any]) -> str | None:
        """Return the first reasons, each with its line."""
        if batch["status"] != "failed":
            return None
        errors = mapping(batch.get("errors")).get("data")
        reasons = [
            (f"line {error['line']}: " if isinstance(error.get("line"), int) else "")
            + str(error.get("message") or error.get("code") or "no reason given")
            for error in map(mapping, errors[:_MOST_REASONS] if isinstance(errors, list) else ())
        ]
        return "; ".join(dict.fromkeys(reasons)) or "no reason given"


def _choice(body: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = body.get("choices")
    return mapping(choices[0]) if isinstance(choices, list) and choices else {}


CLIENT = OpenAIClient
