"""Argilla 2: records as `to_json` and `to_list` write them, nested or flat, suggestions as judges.

https://docs.argilla.io/latest/reference/argilla/records/records/
"""

from collections.abc import Iterable

from eval_assets.readers.importers.imported import Imported, Record, first_at, text_of

_PROMPTS = ("prompt", "question", "instruction", "input", "query")
_RESPONSES = ("response", "answer", "output", "completion", "generation", "text")
_DISCARDED = ("discarded", "draft")


def recognises(record: Record) -> bool:
    """Return whether a record has fields and responses, or their flat columns."""
    return (isinstance(record.get("fields"), dict) and "responses" in record) or any(
        key.endswith(".responses.users") for key in record
    )


def read(records: Iterable[Record], into: Imported) -> None:
    """Add the records with their responses and suggestions."""
    for record in records:
        if "fields" in record:
            _read_nested(record, into)
        else:
            _read_flat(record, into)


def _read_nested(record: Record, into: Imported) -> None:
    response_id = _add_response(record["fields"], record, into)
    for name, answers in (record.get("responses") or {}).items():
        for answer in answers:
            _add_rating(into, response_id, name, answer)
    for name, suggestion in (record.get("suggestions") or {}).items():
        if suggestion:
            judge = suggestion.get("agent") or "suggestion"
            into.add_score(response_id, name, judge, suggestion.get("value"))


def _read_flat(record: Record, into: Imported) -> None:
    response_id = _add_response(record, record, into)
    for key, users in record.items():
        name = key.removesuffix(".responses.users")
        if name == key or not users:
            continue
        values = record.get(f"{name}.responses") or []
        statuses = record.get(f"{name}.responses.status") or [None] * len(values)
        for user, value, status in zip(users, values, statuses, strict=False):
            _add_rating(
                into, response_id, name, {"user_id": user, "value": value, "status": status}
            )
    for key, value in record.items():
        name = key.removesuffix(".suggestion")
        if name != key and value is not None:
            judge = record.get(f"{key}.agent") or "suggestion"
            into.add_score(response_id, name, judge, value)


def _add_rating(into: Imported, response_id: str, name: str, answer: Record) -> None:
    if answer.get("status") in _DISCARDED:
        into.notes["responses were discarded or are drafts"] += 1
    else:
        into.add_rating(response_id, name, answer.get("user_id"), answer.get("value"))


def _add_response(fields: Record, record: Record, into: Imported) -> str:
    response = first_at(fields, *_RESPONSES)
    return into.add_response(
        record.get("id") or record.get("_server_id"),
        prompt=first_at(fields, *_PROMPTS),
        response=text_of(dict(fields)) if response is None else response,
        model=first_at(record.get("metadata") or record, "model", "model_name"),
    )
