"""Langfuse: exported traces and scores, from the API, the interface or blob storage.

https://langfuse.com/docs/api-and-data-platform/features/export-from-ui
"""

from collections.abc import Iterable

from eval_assets.readers.importers.export_content import Export, Record, at, first_at, records_at

_HUMAN = "ANNOTATION"
_TRACE_KEYS = ("html_path", "session_id", "project_id")


def recognises(record: Record) -> bool:
    """Return whether a record is a score, or a trace with its scores."""
    has_scores = at(record, "scores") is not None
    return _is_score(record) or (has_scores and first_at(record, *_TRACE_KEYS) is not None)


def read(records: Iterable[Record], export: Export) -> None:
    """Add traces and observations as responses, annotations as ratings, others as scores."""
    for record in records:
        if _is_score(record):
            _read_score(record, export)
            continue
        export.add_response(
            first_at(record, "id", "trace_id"),
            prompt=at(record, "input"),
            response=at(record, "output"),
            model=first_at(record, "model", "model_id", "name"),
            convo_id=at(record, "session_id"),
        )
        for score in records_at(record, "scores"):
            _read_score({"trace_id": at(record, "id"), **score}, export)


def _is_score(record: Record) -> bool:
    is_source = at(record, "source") in (_HUMAN, "API", "EVAL")
    return is_source and at(record, "name") is not None


def _read_score(score: Record, export: Export) -> None:
    response_id = str(first_at(score, "observation_id", "trace_id") or at(score, "trace", "id"))
    name, source = str(at(score, "name")), at(score, "source")
    is_word = at(score, "data_type") == "CATEGORICAL"
    value = first_at(score, *(("string_value", "value") if is_word else ("value", "string_value")))
    if source == _HUMAN:
        rater = first_at(score, "author_user_id", "author_user_name", "author")
        export.add_rating(response_id, name, rater, value, at=at(score, "timestamp"))
    else:
        judge = at(score, "metadata", "model") or f"{name} ({str(source).lower()})"
        export.add_score(response_id, name, judge, value, reply=at(score, "comment"))
