"""Langfuse: exported traces and scores, from the API, the interface or blob storage.

https://langfuse.com/docs/api-and-data-platform/features/export-from-ui
"""

from collections.abc import Iterable

from eval_assets.readers.importers.imported import Imported, Record, at, first_at, records_at

_BY_PEOPLE = "ANNOTATION"
_SOURCES = ("ANNOTATION", "API", "EVAL")


def recognises(record: Record) -> bool:
    """Return whether a record is a score, or a trace with its scores."""
    is_score = at(record, "source") in _SOURCES and at(record, "name") is not None
    is_trace = at(record, "scores") is not None and any(
        at(record, key) is not None for key in ("html_path", "session_id", "project_id")
    )
    return is_score or is_trace


def read(records: Iterable[Record], into: Imported) -> None:
    """Add traces and observations as responses, annotations as ratings, others as scores."""
    for record in records:
        if at(record, "source") in _SOURCES and at(record, "name") is not None:
            _read_score(record, into)
            continue
        into.add_response(
            first_at(record, "id", "trace_id"),
            prompt=at(record, "input"),
            response=at(record, "output"),
            model=first_at(record, "model", "model_id", "name"),
            convo_id=at(record, "session_id"),
        )
        for score in records_at(record, "scores"):
            _read_score({"trace_id": at(record, "id"), **score}, into)


def _read_score(score: Record, into: Imported) -> None:
    response_id = str(first_at(score, "observation_id", "trace_id") or at(score, "trace", "id"))
    name = str(at(score, "name"))
    is_word = at(score, "data_type") == "CATEGORICAL"
    value = first_at(score, *(("string_value", "value") if is_word else ("value", "string_value")))
    if at(score, "source") == _BY_PEOPLE:
        who = first_at(score, "author_user_id", "author_user_name", "author")
        into.add_rating(response_id, name, who, value, at=at(score, "timestamp"))
    else:
        judge = at(score, "metadata", "model") or f"{name} ({str(at(score, 'source')).lower()})"
        into.add_score(response_id, name, judge, value, reply=at(score, "comment"))
