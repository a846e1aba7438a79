"""OpenAI's chat completions, which many other servers speak too, and its batches."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import httpx2
import openai

from eval_assets.config.models import Usage
from eval_assets.judges.calling.requests import Answer, ModelRequest, RequestFailed
from eval_assets.judges.clients.failures import (
    answer_of,
    failure_of,
    named,
    translate_errors,
    unreadable,
)
from eval_assets.judges.clients.fields import (
    decoded,
    first,
    mapping,
    status_of,
    text_of,
    token_count,
)
from eval_assets.judges.clients.masking import storable, without_keys
from eval_assets.ledger import Batch, Reply, ReplyStatus

_STATUSES: Mapping[str, ReplyStatus] = {
    "length": "truncated",
    "model_length": "truncated",  # Mistral
    "content_filter": "content_filter",
}
_BATCH_ENDED = ("completed", "expired", "cancelled", "failed")
_OK = 200
_MOST_REASONS = 3

_INTENT = "eval_assets_batch"
"""Name of the batch's metadata under which it is found again."""

_CLOCKS_DIFFER_SECONDS = 3600


class VendorClient:
    """The official client; each method is one attempt.

    Bodies are read as they came: the client's own types fail on what servers really send.

    Args:
        base_url: Endpoint, with its version: `https://api.openai.com/v1`.
        api_key: Key of this endpoint.
        keys: All known keys, which no reply and no failure shows.
    """

    def __init__(self, *, base_url: str, api_key: str, keys: Collection[str]) -> None:
        self._keys = keys
        # No retries: one retry policy, one ledger row per attempt. No timeout: the caller's holds.
        self._sdk = openai.AsyncOpenAI(
            api_key=api_key, base_url=base_url, max_retries=0, timeout=None
        )

    async def ask(self, request: ModelRequest) -> Answer:
        """Return the answer to a request; see `Client.ask`."""
        try:
            with translate_errors(openai, keys=self._keys):
                response = await self._sdk.post(
                    "/chat/completions", body=request_body(request), cast_to=httpx2.Response
                )
        except RequestFailed as failure:
            return answer_of(failure)
        request_id = response.headers.get("x-request-id")
        return read_completion(response.text, request_id=request_id, keys=self._keys)

    async def submit_batch(self, requests: Sequence[ModelRequest], *, intent_id: str) -> str:
        """Submit a batch; see `Client.submit_batch`."""
        lines = [
            json.dumps(
                {
                    "custom_id": request.key,
                    "method": "POST",
                    "url": "/v1/chat/completions",
                    "body": request_body(request),
                }
            )
            for request in requests
        ]
        with translate_errors(openai, keys=self._keys):
            file = await self._sdk.files.create(
                file=("requests.jsonl", "\n".join(lines).encode()), purpose="batch"
            )
            response = await self._sdk.post(
                "/batches",
                body={
                    "input_file_id": file.id,
                    "endpoint": "/v1/chat/completions",
                    "completion_window": "24h",
                    "metadata": {_INTENT: intent_id},
                },
                cast_to=httpx2.Response,
            )
        match decoded(response.text):
            case {"id": str(batch_id)}:
                return batch_id
        raise unreadable(response.text, what="no batch", keys=self._keys)

    async def find_batch(self, batch: Batch, *, known: Collection[str]) -> str | None:
        """Return the batch that was submitted under our name; see `Client.find_batch`."""
        del known
        earliest = batch.intended_at.timestamp() - _CLOCKS_DIFFER_SECONDS
        after: dict[str, str] = {}
        while True:
            with translate_errors(openai, keys=self._keys):
                response = await self._sdk.get(
                    "/batches",
                    options={"params": {"limit": 100, **after}},
                    cast_to=httpx2.Response,
                )
            page = mapping(decoded(response.text))
            listed = page.get("data")
            if not isinstance(listed, list):
                raise unreadable(response.text, what="no list of batches", keys=self._keys)
            for each in map(mapping, listed):
                if mapping(each.get("metadata")).get(_INTENT) == batch.intent_id:
                    return str(each.get("id"))
            last = mapping(listed[-1]) if listed else {}
            created_at = last.get("created_at")
            is_older = isinstance(created_at, int | float) and created_at < earliest
            if is_older or not last or not page.get("has_more"):
                return None
            after = {"after": str(last.get("id"))}

    async def has_ended(self, batch_id: str) -> bool:
        """Return whether a batch can be collected; see `Client.has_ended`."""
        return (await self._batch(batch_id)).get("status") in _BATCH_ENDED

    async def collect_batch(self, batch_id: str) -> Mapping[str, Answer]:
        """Return the answers of a batch; see `Client.collect_batch`."""
        batch = await self._batch(batch_id)
        if batch["status"] == "failed":
            raise RequestFailed(
                named(f"the batch failed: {_batch_errors(batch)}", keys=self._keys), remedy="stop"
            )
        answers: dict[str, Answer] = {}
        for name in ("output_file_id", "error_file_id"):
            if isinstance(file_id := batch.get(name), str):
                with translate_errors(openai, keys=self._keys):
                    response = await self._sdk.get(
                        f"/files/{file_id}/content", cast_to=httpx2.Response
                    )
                answers |= dict(self._answers(response.text))
        return answers

    async def close(self) -> None:
        """Close the connections."""
        await self._sdk.close()

    async def _batch(self, batch_id: str) -> Mapping[str, Any]:
        """Return a batch as the vendor describes it."""
        with translate_errors(openai, keys=self._keys):
            response = await self._sdk.get(f"/batches/{batch_id}", cast_to=httpx2.Response)
        batch = mapping(decoded(response.text))
        if not isinstance(batch.get("status"), str):
            raise unreadable(response.text, what="no batch", keys=self._keys)
        return batch

    def _answers(self, text: str) -> Iterator[tuple[str, Answer]]:
        """Yield the answers of a file of results; lines that name no request are skipped."""
        for line in text.splitlines():
            match decoded(line):
                case {"custom_id": str(key), "response": {"status_code": int(status)} as response}:
                    yield key, self._answer(status, response)
                case {"custom_id": str(key)} as result:
                    message = mapping(result.get("error")).get("message", "no reply in the batch")
                    yield key, RequestFailed(named(message, keys=self._keys), remedy="retry")

    def _answer(self, http_status: int, response: Mapping[str, Any]) -> Answer:
        """Return the answer to one request of a batch."""
        request_id = response.get("request_id")
        request_id = request_id if isinstance(request_id, str) else None
        body = response.get("body")
        if http_status == _OK:
            return read_completion(json.dumps(body), request_id=request_id, keys=self._keys)
        failure = failure_of(
            http_status=http_status, body=body, headers={}, request_id=request_id, keys=self._keys
        )
        return answer_of(failure)


def _batch_errors(batch: Mapping[str, Any]) -> str:
    """Return why a batch was refused as a whole: the first reasons, each with its line."""
    errors = mapping(batch.get("errors")).get("data")
    found = [mapping(each) for each in errors] if isinstance(errors, list) else []
    reasons = [
        (f"line {each['line']}: " if isinstance(each.get("line"), int) else "")
        + str(each.get("message") or each.get("code") or "no reason given")
        for each in found[:_MOST_REASONS]
    ]
    return "; ".join(dict.fromkeys(reasons)) or "no reason given"


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


def read_completion(text: str, *, request_id: str | None, keys: Collection[str]) -> Answer:
    """Return the reply that the body of a good answer holds, whatever its shape.

    Args:
        text: The body, as received.
        request_id: The vendor's name of the request.
        keys: Keys that the reply must not show.

    Returns:
        A reply; a failure if the body is not JSON, or describes an error.
    """
    body = decoded(text)
    if not isinstance(body, dict):
        return unreadable(text, what="no completion", keys=keys)
    choice = mapping(first(body.get("choices")))
    message = mapping(choice.get("message"))
    received = storable(without_keys(text, keys))
    if not choice and body.get("error"):
        failure = _failure_in_disguise(body, request_id=request_id, keys=keys)
        failure.body = received
        return answer_of(failure)
    content = text_of(message["content"]) if "content" in message else None
    status = status_of(choice.get("finish_reason"), _STATUSES)
    if isinstance(refusal := message.get("refusal"), str) and refusal:
        content, status = refusal, "refused"
    model = body.get("model")
    return Reply(
        text=received if content is None else storable(without_keys(content, keys)),
        status="unparsable" if content is None else status,
        usage=_usage(mapping(body.get("usage"))),
        model_returned=named(model, keys=keys) if isinstance(model, str) else None,
        request_id=None if request_id is None else named(request_id, keys=keys),
        body=received,
    )


def _failure_in_disguise(
    body: Mapping[str, Any], *, request_id: str | None, keys: Collection[str]
) -> RequestFailed:
    """Return the failure that a good status comes with if a model breaks off at work."""
    code = mapping(body["error"]).get("code")
    status = code if isinstance(code, int) and 400 <= code < 600 else 502  # noqa: PLR2004
    failure = failure_of(
        http_status=status, body=body, headers={}, request_id=request_id, keys=keys
    )
    failure.may_be_billed = True
    return failure


def _usage(usage: Mapping[str, Any]) -> Usage | None:
    """Return the tokens as the vendor counted them; None if they cannot be believed."""
    n_input, n_output = (
        token_count(usage.get("prompt_tokens", usage.get("input_tokens"))),
        token_count(usage.get("completion_tokens", usage.get("output_tokens"))),
    )
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
    return Usage(
        input_tokens=n_input,
        output_tokens=n_output,
        cached_input_tokens=cached,
        cache_write_tokens=written,
        reasoning_tokens=min(n_output, token_count(output_details.get("reasoning_tokens")) or 0),
    )
