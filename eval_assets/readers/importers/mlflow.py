"""MLflow: traces with assessments, as JSON of traces or as rows of `search_traces`.

https://mlflow.org/docs/latest/genai/assessments/feedback/
"""

from collections.abc import Iterable

from eval_assets.readers.importers.imported import Imported, Record, at, first_at, records_at

_JUDGES = ("LLM_JUDGE", "AI_JUDGE", "CODE")


def recognises(record: Record) -> bool:
    """Return whether a record is a trace with assessments."""
    return isinstance(at(record, "info", "assessments"), list) or (
        "assessments" in record and ("trace_id" in record or "request" in record)
    )


def read(records: Iterable[Record], into: Imported) -> None:
    """Add the traces: feedback by people is a rating, any other a judge's score."""
    for record in records:
        info = record.get("info") or record
        response_id = into.add_response(
            first_at(info, "trace_id", "request_id"),
            prompt=first_at(record, "request") or first_at(info, "request_preview", "request"),
            response=first_at(record, "response") or first_at(info, "response_preview", "response"),
            model=at(info, "tags", "model") or at(info, "trace_metadata", "model"),
        )
        for assessment in records_at(info, "assessments"):
            _read_assessment(assessment, response_id, into)


def _read_assessment(assessment: Record, response_id: str, into: Imported) -> None:
    name = str(first_at(assessment, "assessment_name", "name"))
    if at(assessment, "feedback") is None:
        into.notes["assessments are expectations, not feedback"] += 1
        return
    if at(assessment, "valid") is False:
        into.notes["assessments were overwritten later"] += 1
        return
    value, kind = at(assessment, "feedback", "value"), at(assessment, "source", "source_type")
    who = at(assessment, "source", "source_id") or kind
    if kind in _JUDGES:
        reply = assessment.get("rationale")
        into.add_score(response_id, name, who, value, reply=reply)
    else:
        into.add_rating(response_id, name, who, value, at=first_at(assessment, "create_time"))
