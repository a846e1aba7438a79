"""Argilla 2: records as `to_json` and `to_list` write them, nested or flat, suggestions as judges.

https://docs.argilla.io/latest/reference/argilla/records/records/
"""

from collections.abc import Iterable

from eval_assets.readers.importers.export_content import (
    Export,
    Record,
    chat_fields,
    first_at,
    text_of,
)

_USERS = ".responses.users"
_SUGGESTION = ".suggestion"


def recognises(record: Record) -> bool:
    """Return whether a record has fields and responses, or their flat columns."""
    is_nested = isinstance(record.get("fields"), dict) and "responses" in record
    return is_nested or any(key.endswith(_USERS) for key in record)


def read(records: Iterable[Record], export: Export) -> None:
    """Add the records with their responses and suggestions."""
    for record in records:
        columns = chat_fields(record.get("fields", record))
        if columns["response"] is None:
            columns["response"] = text_of(dict(record.get("fields", record)))
        columns["model"] = first_at(record.get("metadata") or record, "model", "model_name")
        response_id = record.get("id") or record.get("_server_id")
        response_id = export.add_response(response_id, **columns)
        nested = record if "fields" in record else _nested(record)
        for name, answers in (nested.get("responses") or {}).items():
            for answer in answers:
                if answer.get("status") in ("discarded", "draft"):
                    export.notes["responses were discarded or are drafts"] += 1
                else:
                    export.add_rating(response_id, name, answer.get("user_id"), answer.get("value"))
        for name, suggestion in (nested.get("suggestions") or {}).items():
            if suggestion:
                judge = suggestion.get("agent") or "suggestion"
                export.add_score(response_id, name, judge, suggestion.get("value"))


def _nested(record: Record) -> Record:
    """Return responses and suggestions of a flat record as a nested one has them."""
    responses, suggestions = {}, {}
    for key, cell in record.items():
        if key.endswith(_USERS) and cell:
            name = key.removesuffix(_USERS)
            values = record.get(f"{name}.responses") or []
            statuses = record.get(f"{name}.responses.status") or [None] * len(values)
            responses[name] = [
                {"user_id": user, "value": value, "status": status}
                for user, value, status in zip(cell, values, statuses, strict=False)
            ]
        elif key.endswith(_SUGGESTION) and cell is not None:
            agent = record.get(f"{key}.agent")
            suggestions[key.removesuffix(_SUGGESTION)] = {"value": cell, "agent": agent}
    return {"responses": responses, "suggestions": suggestions}
