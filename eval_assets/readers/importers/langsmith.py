"""LangSmith: exported runs and feedback; feedback from the app is human, from models a judge's.

https://docs.langchain.com/langsmith/feedback-data-format
"""

from collections.abc import Iterable

from eval_assets.readers.importers.export_content import (
    Export,
    Record,
    at,
    first_at,
    rating_of,
    records_at,
)


def recognises(record: Record) -> bool:
    """Return whether a record is a run or feedback on one."""
    is_feedback = "key" in record and "run_id" in record
    return is_feedback or ("run_type" in record and "inputs" in record)


def read(records: Iterable[Record], export: Export) -> None:
    """Add runs as responses, and their feedback."""
    for record in records:
        if "run_type" not in record:
            _read_feedback(record, export)
            continue
        metadata = at(record, "extra", "metadata")
        response_id = export.add_response(
            record.get("id"),
            prompt=record.get("inputs"),
            response=record.get("outputs"),
            model=first_at(metadata, "ls_model_name", "model") or record.get("name"),
            group_id=record.get("reference_example_id"),
        )
        feedback = records_at(record, "feedback")
        for item in feedback:
            _read_feedback({"run_id": response_id, **item}, export)
        for key, stats in (record.get("feedback_stats") or {}).items() if not feedback else ():
            export.notes["feedback is summed up by run; export the feedback itself as well"] += 1
            export.add_score(response_id, key, "feedback", at(stats, "avg"))


def _read_feedback(feedback: Record, export: Export) -> None:
    run, key = str(feedback.get("run_id")), str(feedback.get("key"))
    score, value = feedback.get("score"), feedback.get("value")
    rating = value if rating_of(value) is not None and score is None else score
    source = feedback.get("feedback_source")
    kind = at(source, "type")
    if kind in ("model", "auto_eval", "autoeval"):
        judge = at(source, "metadata", "model") or f"{key} ({kind})"
        export.add_score(run, key, judge, rating, reply=feedback.get("comment"))
    else:
        rater = first_at(source, "user_name", "user_id", "ls_user_id") or kind
        export.add_rating(run, key, rater, rating, at=feedback.get("created_at"))
