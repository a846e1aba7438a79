"""MLflow: traces with assessments, as JSON of traces or as rows of `search_traces`.

https://mlflow.org/docs/latest/genai/assessments/feedback/
"""

from collections.abc import Iterable

from eval_assets.readers.importers.export_content import Export, Record, at, first_at, records_at


def recognises(record: Record) -> bool:
    """Return whether a record is a trace with assessments."""
    return isinstance(at(record, "info", "assessments"), list) or (
        "assessments" in record and ("trace_id" in record or "request" in record)
    )


def read(records: Iterable[Record], export: Export) -> None:
    """Add the traces: feedback by people is a rating, any other a judge's score."""
    for record in records:
        info = record.get("info") or record
        response_id = export.add_response(
            first_at(info, "trace_id", "request_id"),
            prompt=first_at(record, "request") or first_at(info, "request_preview", "request"),
            response=first_at(record, "response") or first_at(info, "response_preview", "response"),
            model=at(info, "tags", "model") or at(info, "trace_metadata", "model"),
        )
        for assessment in records_at(info, "assessments"):
            _read_assessment(assessment, response_id, export)


def _read_assessment(assessment: Record, response_id: str, export: Export) -> None:
    name = str(first_at(assessment, "assessment_name", "name"))
    value, kind = at(assessment, "feedback", "value"), at(assessment, "source", "source_type")
    rater = at(assessment, "source", "source_id") or kind
    if at(assessment, "feedback") is None:
        export.notes["assessments are expectations, not feedback"] += 1
    elif at(assessment, "valid") is False:
        export.notes["assessments were overwritten later"] += 1
    elif kind in ("LLM_JUDGE", "AI_JUDGE", "CODE"):
        export.add_score(response_id, name, rater, value, reply=assessment.get("rationale"))
    else:
        export.add_rating(response_id, name, rater, value, at=at(assessment, "create_time"))
