"""Anthropic's message batches: requests sent in one body, results fetched as JSON lines."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Final

from tests.fake_provider.chance import digest
from tests.fake_provider.exchange import (
    JsonObject,
    ProviderError,
    Reply,
    Request,
    json_bytes,
    json_object,
    json_reply,
)
from tests.fake_provider.vendors.batches import WINDOW, Batch, EntryAnswerer, EntryResult

if TYPE_CHECKING:
    from tests.fake_provider.behaviour import Behaviour

_CUSTOM_ID: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_OUTCOMES: Final = ("succeeded", "errored", "canceled", "expired")


class AnthropicBatches:
    """The message batches of one provider.

    Args:
        answer_entry: Answers one entry of a batch.
    """

    def __init__(self, answer_entry: EntryAnswerer) -> None:
        self._answer_entry = answer_entry
        self._batches: dict[str, Batch] = {}

    def answer(self, request: Request, behaviour: Behaviour) -> Reply:
        """Answer a request to `/v1/messages/batches`.

        Raises:
            ProviderError: `not_found` or `bad_request`.
        """
        host = request.headers.get("host", "")
        match (request.method, *request.path.split("/")[4:]):
            case ("POST",):
                batch = self._created(json_object(request.body), behaviour)
                if behaviour.batch_error:
                    raise ProviderError("server_error")
                return json_reply(_shown(batch, host))
            case ("GET",):
                shown = [_shown(batch, host) for batch in reversed(self._batches.values())]
                ids = [batch["id"] for batch in shown] or [None]
                page = {"has_more": False, "first_id": ids[0], "last_id": ids[-1]}
                return json_reply({"data": shown, **page})
            case ("GET", id_):
                batch = self._batch(id_)
                batch.look()
                return json_reply(_shown(batch, host))
            case ("POST", id_, "cancel"):
                batch = self._batch(id_)
                batch.cancel()
                return json_reply(_shown(batch, host))
            case ("GET", id_, "results"):
                batch = self._batch(id_)
                if batch.ended_at is None:
                    raise ProviderError("not_found", f"Batch {id_} has no available results.")
                lines = b"".join(
                    _lines(batch, result) for result in batch.results[: behaviour.batch_lines]
                )
                return Reply(200, lines, content_type="application/x-jsonl")
        raise ProviderError("not_found")

    def _batch(self, id_: str) -> Batch:
        if id_ not in self._batches:
            raise ProviderError("not_found", f"Batch {id_} not found.")
        return self._batches[id_]

    def _created(self, body: JsonObject, behaviour: Behaviour) -> Batch:
        entries = _entries(body)
        batch = Batch(
            id=f"msgbatch_{digest(len(self._batches), json_bytes(body))[:24]}",
            results=[self._answer_entry(id_, params) for id_, params in entries.items()],
            n_polls_left=behaviour.batch_polls,
            not_before=time.monotonic() + behaviour.batch_seconds,
        )
        self._batches[batch.id] = batch
        return batch


def _entries(body: JsonObject) -> dict[str, JsonObject]:
    """Return the questions of a batch by name."""
    requests = body.get("requests")
    if not isinstance(requests, list) or not requests:
        raise ProviderError("bad_request", "requests: at least one request is required")
    entries: dict[str, JsonObject] = {}
    for number, entry in enumerate(requests):
        match entry:
            case {"custom_id": str(id_), "params": dict(params)} if _CUSTOM_ID.fullmatch(id_):
                if id_ in entries:
                    message = f"requests.{number}.custom_id: Must be unique within the batch"
                    raise ProviderError("bad_request", message)
                entries[id_] = params
            case _:
                message = f"requests.{number}.custom_id: String should match {_CUSTOM_ID.pattern}"
                raise ProviderError("bad_request", message)
    return entries


def _outcome(batch: Batch, result: EntryResult) -> str:
    if batch.phase == "cancelled":
        return "canceled"
    if result.status is None:
        return "expired"
    return "succeeded" if result.succeeded else "errored"


def _shown(batch: Batch, host: str) -> JsonObject:
    ended = batch.ended_at is not None
    outcomes = [_outcome(batch, result) for result in batch.results] if ended else []
    counts = {outcome: outcomes.count(outcome) for outcome in _OUTCOMES}
    created_at, ended_at, cancelled_at = batch.created_at, batch.ended_at, batch.cancelled_at
    results_url = f"http://{host}/v1/messages/batches/{batch.id}/results"
    status = "ended" if ended else "in_progress" if cancelled_at is None else "canceling"
    return {
        "id": batch.id,
        "type": "message_batch",
        "processing_status": status,
        "request_counts": {"processing": len(batch.results) - len(outcomes), **counts},
        "created_at": created_at.isoformat(),
        "expires_at": (created_at + WINDOW).isoformat(),
        "ended_at": None if ended_at is None else ended_at.isoformat(),
        "cancel_initiated_at": None if cancelled_at is None else cancelled_at.isoformat(),
        "archived_at": None,
        "results_url": results_url if ended else None,
    }


def _lines(batch: Batch, result: EntryResult) -> bytes:
    outcome = _outcome(batch, result)
    content = {"succeeded": "message", "errored": "error"}.get(outcome)
    shown = [{"type": outcome} | ({content: body} if content else {}) for body in result.bodies]
    lines = [json_bytes({"custom_id": result.custom_id, "result": item}) for item in shown]
    return b"".join(line + b"\n" for line in lines)
