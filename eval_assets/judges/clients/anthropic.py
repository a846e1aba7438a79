"""Anthropic's messages and message batches."""

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from types import ModuleType
from typing import Any, ClassVar

import anthropic

from eval_assets.config.models import Usage
from eval_assets.judges.calling.requests import BatchUndecided, ModelRequest, Outcome, RequestFailed
from eval_assets.judges.clients.failures import (
    failure_of,
    mapping,
    moment_in,
    named,
    outcome_of,
    status_of,
    text_of,
    token_count,
)
from eval_assets.judges.clients.official import OfficialClient
from eval_assets.ledger import Batch, ReplyStatus

_STATUSES: Mapping[str, ReplyStatus] = {
    "max_tokens": "truncated",
    "model_context_window_exceeded": "truncated",
    "refusal": "refused",
}

_SUBMITTED_WITHIN = timedelta(minutes=15)
"""Longer than the wait for the submission of a batch."""

_CLOCKS_DIFFER = timedelta(minutes=1)


class AnthropicClient(OfficialClient):
    """The client of Anthropic's API, whose base URL does not contain the version."""

    sdk_class = anthropic.AsyncAnthropic
    errors: ClassVar[ModuleType] = anthropic
    chat_path = "/v1/messages"
    batches_path = "/v1/messages/batches"
    request_id_header = "request-id"
    page_name = "after_id"
    batch_state = "processing_status"
    ended_states = ("ended",)
    counted_results = ("succeeded", "errored", "canceled", "expired")

    @staticmethod
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
        if isinstance(request.schema, Mapping):
            output["format"] = {"type": "json_schema", "schema": _without_bounds(request.schema)}
        if output:
            body["output_config"] = output
        return body | settings

    def _has_reply(self, body: Mapping[str, Any]) -> bool:
        return "content" in body

    def _content_of(self, body: Mapping[str, Any]) -> tuple[str | None, ReplyStatus]:
        content = text_of(body["content"]) if "content" in body else None
        return content, status_of(body.get("stop_reason"), _STATUSES)

    def _usage_of(self, usage: Mapping[str, Any]) -> Usage | None:
        n_input = token_count(usage.get("input_tokens"))
        n_output = token_count(usage.get("output_tokens"))
        if n_input is None or n_output is None:
            return None
        cached = token_count(usage.get("cache_read_input_tokens")) or 0
        written = token_count(usage.get("cache_creation_input_tokens")) or 0
        details = mapping(usage.get("output_tokens_details"))
        n_thinking = min(n_output, token_count(details.get("thinking_tokens")) or 0)
        # The vendor counts the cached part of the input separately.
        return Usage(n_input + cached + written, n_output, cached, written, n_thinking)

    async def submit_batch(self, requests: Sequence[ModelRequest], *, intent_id: str) -> str:
        """Submit a batch."""
        del intent_id  # batches carry no name of ours
        entries = [{"custom_id": r.key, "params": self.request_body(r)} for r in requests]
        response = await self.send(self.batches_path, {"requests": entries})
        return str(self.batch_in(response, key="id")["id"])

    async def find_batch(self, batch: Batch, *, known_ids: Collection[str]) -> str | None:
        """Return the batch of then whose results name our requests."""
        async for listed in self.batches():
            created_at = moment_in(listed.get("created_at"))
            if created_at is None or created_at < batch.intended_at - _CLOCKS_DIFFER:
                break
            batch_id, counts = listed.get("id"), mapping(listed.get("request_counts"))
            n_requests = sum(token_count(n) or 0 for n in counts.values())
            if (
                not isinstance(batch_id, str)
                or batch_id in known_ids
                or n_requests != len(batch.subjects)
                or created_at > batch.intended_at + _SUBMITTED_WITHIN
            ):
                continue
            # Other evaluations of the account have batches of this size as well.
            if (results := await self.collect_batch(batch_id)) is None:
                raise BatchUndecided
            if not batch.subjects.keys().isdisjoint(results.outcomes):
                return batch_id
        return None

    def _result_paths(self, batch: Mapping[str, Any]) -> list[str]:
        return [f"{self.batches_path}/{batch.get('id')}/results"]

    def _batched_outcome(self, result: Mapping[str, Any]) -> Outcome:
        match result.get("result"):
            case {"type": "succeeded", "message": message}:
                return self.read_reply(json.dumps(message))
            case {"type": "errored", "error": error}:
                # Batches have no HTTP status; the kind of error determines the equivalent one.
                kind = mapping(mapping(error).get("error")).get("type")
                status = 400 if kind == "invalid_request_error" else 500
                request_id = mapping(error).get("request_id")
                failure = failure_of(status, error, request_id=request_id, keys=self.keys)
                return outcome_of(failure)
            case other:
                ended = named(mapping(other).get("type", "no result"), keys=self.keys)
                return RequestFailed(f"the request ended in its batch: {ended}", remedy="retry")


def _without_bounds(schema: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return the schema without bounds on numbers, which the vendor refuses."""
    if isinstance(schema, dict):
        return {
            name: _without_bounds(part)
            for name, part in schema.items()
            if name not in ("minimum", "maximum")
        }
    return schema


CLIENT = AnthropicClient
