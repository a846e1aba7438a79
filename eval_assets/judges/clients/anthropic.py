"""Anthropic's messages and message batches."""

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import anthropic
import httpx2

from eval_assets.config.models import Usage
from eval_assets.judges.calling.requests import Answer, ModelRequest, RequestFailed
from eval_assets.judges.clients.failures import (
    answer_of,
    failure_of,
    named,
    translate_errors,
    unreadable,
)
from eval_assets.judges.clients.fields import decoded, mapping, status_of, text_of, token_count
from eval_assets.judges.clients.masking import storable, without_keys
from eval_assets.ledger import Batch, Reply, ReplyStatus

_STATUSES: Mapping[str, ReplyStatus] = {
    "max_tokens": "truncated",
    "model_context_window_exceeded": "truncated",
    "refusal": "refused",
}

_SUBMITTED_WITHIN = timedelta(minutes=15)
"""Longer than the submission of a batch is waited for."""

_CLOCKS_DIFFER = timedelta(minutes=1)


class VendorClient:
    """The official client; each method is one attempt.

    Bodies are read as they came: the client's own types fail on what servers really send.

    Args:
        base_url: Endpoint, without its version: `https://api.anthropic.com`.
        api_key: Key of this endpoint.
        keys: All known keys, which no reply and no failure shows.
    """

    def __init__(self, *, base_url: str, api_key: str, keys: Collection[str]) -> None:
        self._keys = keys
        # No retries: one retry policy, one ledger row per attempt. No timeout: the caller's holds.
        self._sdk = anthropic.AsyncAnthropic(
            api_key=api_key, base_url=base_url, max_retries=0, timeout=None
        )

    async def ask(self, request: ModelRequest) -> Answer:
        """Return the answer to a request; see `Client.ask`."""
        try:
            with translate_errors(anthropic, keys=self._keys):
                response = await self._sdk.post(
                    "/v1/messages", body=request_body(request), cast_to=httpx2.Response
                )
        except RequestFailed as failure:
            return answer_of(failure)
        request_id = response.headers.get("request-id")
        return read_message(response.text, request_id=request_id, keys=self._keys)

    async def submit_batch(self, requests: Sequence[ModelRequest], *, intent_id: str) -> str:
        """Submit a batch; see `Client.submit_batch`."""
        del intent_id  # batches carry no name of ours
        entries = [{"custom_id": each.key, "params": request_body(each)} for each in requests]
        with translate_errors(anthropic, keys=self._keys):
            response = await self._sdk.post(
                "/v1/messages/batches", body={"requests": entries}, cast_to=httpx2.Response
            )
        match decoded(response.text):
            case {"id": str(batch_id)}:
                return batch_id
        raise unreadable(response.text, what="no batch", keys=self._keys)

    async def find_batch(self, batch: Batch, *, known: Collection[str]) -> str | None:
        """Return the batch of as many requests that was made then; see `Client.find_batch`.

        If it is another after all, its results name none of our requests, and they are sent again.
        """
        latest = batch.intended_at + _SUBMITTED_WITHIN
        after: dict[str, str] = {}
        found: str | None = None
        while True:
            with translate_errors(anthropic, keys=self._keys):
                response = await self._sdk.get(
                    "/v1/messages/batches",
                    options={"params": {"limit": 100, **after}},
                    cast_to=httpx2.Response,
                )
            page = mapping(decoded(response.text))
            listed = page.get("data")
            if not isinstance(listed, list):
                raise unreadable(response.text, what="no list of batches", keys=self._keys)
            for each in map(mapping, listed):  # the latest first
                created_at = _moment(each.get("created_at"))
                if created_at is None or created_at < batch.intended_at - _CLOCKS_DIFFER:
                    return found
                n_requests = sum(
                    token_count(n) or 0 for n in mapping(each.get("request_counts")).values()
                )
                is_it = n_requests == len(batch.call_keys) and created_at <= latest
                if is_it and isinstance(each.get("id"), str) and each["id"] not in known:
                    found = each["id"]
            if not listed or not page.get("has_more"):
                return found
            after = {"after_id": str(page.get("last_id"))}

    async def has_ended(self, batch_id: str) -> bool:
        """Return whether a batch can be collected; see `Client.has_ended`."""
        return (await self._status(batch_id)) == "ended"

    async def collect_batch(self, batch_id: str) -> Mapping[str, Answer]:
        """Return the answers of a batch; see `Client.collect_batch`."""
        with translate_errors(anthropic, keys=self._keys):
            response = await self._sdk.get(
                f"/v1/messages/batches/{batch_id}/results", cast_to=httpx2.Response
            )
        answers: dict[str, Answer] = {}
        for line in response.text.splitlines():
            match decoded(line):
                case {"custom_id": str(key), "result": dict() as result}:
                    answers[key] = self._answer(result)
        return answers

    async def close(self) -> None:
        """Close the connections."""
        await self._sdk.close()

    async def _status(self, batch_id: str) -> str:
        """Return how far a batch has come."""
        with translate_errors(anthropic, keys=self._keys):
            response = await self._sdk.get(
                f"/v1/messages/batches/{batch_id}", cast_to=httpx2.Response
            )
        match decoded(response.text):
            case {"processing_status": str(status)}:
                return status
        raise unreadable(response.text, what="no batch", keys=self._keys)

    def _answer(self, result: Mapping[str, Any]) -> Answer:
        """Return the answer to one request of a batch."""
        match result:
            case {"type": "succeeded", "message": message}:
                return read_message(json.dumps(message), request_id=None, keys=self._keys)
            case {"type": "errored", "error": error}:
                # Batches give no HTTP status; the kind of error decides what it would have been.
                kind = mapping(mapping(error).get("error")).get("type")
                request_id = mapping(error).get("request_id")
                failure = failure_of(
                    http_status=400 if kind == "invalid_request_error" else 500,
                    body=error,
                    headers={},
                    request_id=request_id if isinstance(request_id, str) else None,
                    keys=self._keys,
                )
                return answer_of(failure)
            case _:
                ended = named(result.get("type", "no result"), keys=self._keys)
                return RequestFailed(f"the request ended in its batch: {ended}", remedy="retry")


def _moment(text: object) -> datetime | None:
    """Return the moment that a text is, in UTC; None if it is not one."""
    try:
        moment = datetime.fromisoformat(text if isinstance(text, str) else "")
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


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


def read_message(text: str, *, request_id: str | None, keys: Collection[str]) -> Answer:
    """Return the reply that the body of a good answer holds, whatever its shape.

    Args:
        text: The body, as received.
        request_id: The vendor's name of the request.
        keys: Keys that the reply must not show.

    Returns:
        A reply, of whose parts thinking is left out; a failure if the body is not JSON, or
        describes an error.
    """
    body = decoded(text)
    if not isinstance(body, dict):
        return unreadable(text, what="no message", keys=keys)
    received = storable(without_keys(text, keys))
    if "content" not in body and body.get("error"):
        failure = failure_of(
            http_status=502, body=body, headers={}, request_id=request_id, keys=keys
        )
        failure.may_be_billed, failure.body = True, received
        return answer_of(failure)
    content = text_of(body["content"]) if "content" in body else None
    model = body.get("model")
    return Reply(
        text=received if content is None else storable(without_keys(content, keys)),
        status="unparsable" if content is None else status_of(body.get("stop_reason"), _STATUSES),
        usage=_usage(mapping(body.get("usage"))),
        model_returned=named(model, keys=keys) if isinstance(model, str) else None,
        request_id=None if request_id is None else named(request_id, keys=keys),
        body=received,
    )


def _usage(usage: Mapping[str, Any]) -> Usage | None:
    """Return the tokens as the vendor counted them; None if they cannot be believed."""
    n_input, n_output = (
        token_count(usage.get("input_tokens")),
        token_count(usage.get("output_tokens")),
    )
    if n_input is None or n_output is None:
        return None
    cached = token_count(usage.get("cache_read_input_tokens")) or 0
    written = token_count(usage.get("cache_creation_input_tokens")) or 0
    details = mapping(usage.get("output_tokens_details"))
    return Usage(
        input_tokens=n_input + cached + written,  # the vendor counts the cached part separately
        output_tokens=n_output,
        cached_input_tokens=cached,
        cache_write_tokens=written,
        reasoning_tokens=min(n_output, token_count(details.get("thinking_tokens")) or 0),
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
