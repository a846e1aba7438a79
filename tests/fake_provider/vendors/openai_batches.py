"""OpenAI's files and batches: requests uploaded as a file, results fetched as files."""

from __future__ import annotations

import time
from dataclasses import dataclass
from email.parser import BytesParser
from email.policy import HTTP
from typing import TYPE_CHECKING, Final, cast

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
    from collections.abc import Iterable
    from datetime import datetime
    from email.message import MIMEPart

    from tests.fake_provider.behaviour import Behaviour

_ENDPOINT: Final = "/v1/chat/completions"


@dataclass(frozen=True, slots=True)
class _File:
    id: str
    name: str
    purpose: str
    content: bytes
    created_at: int

    def shown(self) -> JsonObject:
        return {
            "id": self.id,
            "object": "file",
            "bytes": len(self.content),
            "created_at": self.created_at,
            "filename": self.name,
            "purpose": self.purpose,
            "status": "processed",
        }


class OpenAIBatches:
    """The files and batches of one provider.

    Args:
        answer_entry: Answers one entry of a batch.
    """

    def __init__(self, answer_entry: EntryAnswerer) -> None:
        self._answer_entry = answer_entry
        self._files: dict[str, _File] = {}
        self._batches: dict[str, Batch] = {}

    def answer(self, request: Request, behaviour: Behaviour) -> Reply:
        """Answer a request to `/v1/files` or `/v1/batches`.

        Raises:
            ProviderError: `not_found` or `bad_request`.
        """
        _, _, noun, *rest = request.path.split("/")
        if noun == "files":
            return self._about_files(request, rest, behaviour)
        return self._about_batches(request, rest, behaviour)

    def _about_files(self, request: Request, rest: list[str], behaviour: Behaviour) -> Reply:
        match (request.method, *rest):
            case ("POST",):
                return json_reply(self._uploaded(request).shown())
            case ("GET", id_):
                return json_reply(self._file(id_).shown())
            case ("GET", id_, "content"):
                lines = self._file(id_).content.splitlines(keepends=True)
                content = b"".join(lines[: behaviour.batch_lines])
                return Reply(200, content, content_type="application/octet-stream")
        raise ProviderError("not_found", f"Unknown request URL: {request.method} {request.path}.")

    def _about_batches(self, request: Request, rest: list[str], behaviour: Behaviour) -> Reply:
        match (request.method, *rest):
            case ("POST",):
                created = self._created(json_object(request.body), behaviour)
                if behaviour.batch_error:
                    raise ProviderError("server_error")
                return json_reply(created)
            case ("GET",):
                shown = [self._shown(batch) for batch in reversed(self._batches.values())]
                return json_reply({"object": "list", "data": shown, "has_more": False})
            case ("GET", id_):
                batch = self._batch(id_)
                batch.look()
                return json_reply(self._shown(batch))
            case ("POST", id_, "cancel"):
                batch = self._batch(id_)
                batch.cancel()
                return json_reply(self._shown(batch))
        raise ProviderError("not_found", f"Unknown request URL: {request.method} {request.path}.")

    def _uploaded(self, request: Request) -> _File:
        """Keep the file in a multipart form (RFC 7578), which is a MIME message without a head."""
        head = b"content-type: " + request.headers.get("content-type", "").encode() + b"\r\n\r\n"
        form = BytesParser(policy=HTTP).parsebytes(head + request.body)
        parts = {
            part.get_param("name", header="content-disposition"): part
            for part in (form.iter_parts() if form.is_multipart() else ())
        }
        if not {"file", "purpose"} <= parts.keys():
            raise ProviderError("bad_request", "'file' and 'purpose' are required.", param="file")
        purpose, content = (_payload(parts[name]) for name in ("purpose", "file"))
        name = parts["file"].get_filename() or "upload"
        return self._kept(name, purpose.decode().strip(), content)

    def _kept(self, name: str, purpose: str, content: bytes) -> _File:
        id_ = f"file-{digest(len(self._files), content)[:24]}"
        self._files[id_] = _File(id_, name, purpose, content, int(time.time()))
        return self._files[id_]

    def _file(self, id_: str) -> _File:
        if id_ not in self._files:
            raise ProviderError("not_found", f"No such File object: {id_}", param="id")
        return self._files[id_]

    def _batch(self, id_: str) -> Batch:
        if id_ not in self._batches:
            raise ProviderError("not_found", f"No batch found with id '{id_}'.", param="id")
        return self._batches[id_]

    def _created(self, body: JsonObject, behaviour: Behaviour) -> JsonObject:
        if body.get("endpoint") != _ENDPOINT or body.get("completion_window") != "24h":
            raise ProviderError("bad_request", f"endpoint must be {_ENDPOINT}, window 24h.")
        input_file = self._file(str(body.get("input_file_id")))
        errors: list[JsonObject] = []
        results: dict[str, EntryResult] = {}
        for number, (custom_id, entry) in enumerate(_entries(input_file.content), start=1):
            if custom_id is None or custom_id in results:
                errors.append(_line_error(number))
            else:
                results[custom_id] = self._answer_entry(custom_id, entry)
        batch = Batch(
            id=f"batch_{digest(len(self._batches), input_file.id)[:24]}",
            results=() if errors else tuple(results.values()),
            n_polls_left=behaviour.batch_polls,
            not_before=time.monotonic() + behaviour.batch_seconds,
            description={**body, "errors": {"object": "list", "data": errors} if errors else None},
        )
        self._batches[batch.id] = batch
        return self._shown(batch) | {"status": "validating"}

    def _shown(self, batch: Batch) -> JsonObject:
        ended = batch.phase == "ended"
        expired = any(result.status is None for result in batch.results)
        failed = batch.description["errors"] is not None
        status = {
            "working": "failed" if failed else "in_progress",
            "cancelling": "cancelling",
            "cancelled": "cancelled",
            "ended": "failed" if failed else "expired" if expired else "completed",
        }[batch.phase]
        counts = {"total": len(batch.results), "completed": 0, "failed": 0}
        if ended:
            counts["completed"] = sum(result.succeeded for result in batch.results)
            counts["failed"] = counts["total"] - counts["completed"]
        return {
            "id": batch.id,
            "object": "batch",
            "endpoint": _ENDPOINT,
            "errors": batch.description["errors"],
            "input_file_id": batch.description["input_file_id"],
            "completion_window": "24h",
            "status": status,
            "output_file_id": self._results_file(batch, succeeded=True) if ended else None,
            "error_file_id": self._results_file(batch, succeeded=False) if ended else None,
            "created_at": int(batch.created_at.timestamp()),
            "in_progress_at": int(batch.created_at.timestamp()),
            "expires_at": int((batch.created_at + WINDOW).timestamp()),
            "completed_at": _seconds(batch.ended_at) if status == "completed" else None,
            "expired_at": _seconds(batch.ended_at) if status == "expired" else None,
            "failed_at": _seconds(batch.created_at) if status == "failed" else None,
            "cancelling_at": _seconds(batch.cancelled_at),
            "cancelled_at": _seconds(batch.ended_at) if status == "cancelled" else None,
            "request_counts": counts,
            "metadata": batch.description.get("metadata"),
        }

    def _results_file(self, batch: Batch, *, succeeded: bool) -> str | None:
        """Return the id of the file with the good or the bad results; None without any."""
        results = [result for result in batch.results if result.succeeded is succeeded]
        if not results:
            return None
        name = f"{batch.id}_{'output' if succeeded else 'error'}.jsonl"
        for file in self._files.values():
            if file.name == name:
                return file.id
        return self._kept(name, "batch_output", b"".join(_lines(results))).id


def _payload(part: MIMEPart) -> bytes:
    """Return the bytes of a part of a form, which are its content as it was sent."""
    return cast("bytes", part.get_payload(decode=True))


def _entries(content: bytes) -> Iterable[tuple[str | None, JsonObject]]:
    """Return name and question of each line; None for the name if the line cannot be used."""
    for line in content.splitlines():
        match json_object(line):
            case {
                "custom_id": str(id_),
                "method": "POST",
                "url": "/v1/chat/completions",
                "body": dict(body),
            }:
                yield id_, body
            case _:
                yield None, {}


def _line_error(number: int) -> JsonObject:
    return {
        "code": "invalid_request",
        "line": number,
        "message": "Each line needs a custom_id of its own, method POST, the url of the batch "
        "and a body.",
        "param": None,
    }


def _lines(results: Iterable[EntryResult]) -> Iterable[bytes]:
    for result in results:
        for body in result.bodies:
            response, error = None, None
            if result.status is None:
                error = {
                    "code": "batch_expired",
                    "message": "This request could not be executed before the completion window "
                    "expired.",
                }
            else:
                response = {
                    "status_code": result.status,
                    "request_id": result.request_id,
                    "body": body,
                }
            line = {
                "id": f"batch_{result.request_id}",
                "custom_id": result.custom_id,
                "response": response,
                "error": error,
            }
            yield json_bytes(line) + b"\n"


def _seconds(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp())
