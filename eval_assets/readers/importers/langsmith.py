"""LangSmith: exported runs and feedback; feedback from the app is human, from models a judge's.

https://docs.langchain.com/langsmith/feedback-data-format
"""

from collections.abc import Iterable

from eval_assets.readers.importers.imported import (
    Imported,
    Record,
    at,
    first_at,
    rating_of,
    records_at,
)

_BY_MODELS = ("model", "auto_eval", "autoeval")


def recognises(record: Record) -> bool:
    """Return whether a record is a run or feedback on one."""
    is_feedback = "key" in record and "run_id" in record
    return is_feedback or ("run_type" in record and "inputs" in record)


def read(records: Iterable[Record], into: Imported) -> None:
    """Add runs as responses, and their feedback."""
    for record in records:
        if "run_type" not in record:
            _read_feedback(record, into)
            continue
        metadata = at(record, "extra", "metadata")
        response_id = into.add_response(
            record.get("id"),
            prompt=record.get("inputs"),
            response=record.get("outputs"),
            model=first_at(metadata, "ls_model_name", "model") or record.get("name"),
            group_id=record.get("reference_example_id"),
        )
        feedback = records_at(record, "feedback")
        for each in feedback:
            _read_feedback({"run_id": response_id, **each}, into)
        for key, stats in (record.get("feedback_stats") or {}).items() if not feedback else ():
            into.notes["feedback is summed up by run; export the feedback itself as well"] += 1
            into.add_score(response_id, key, "feedback", at(stats, "avg"))


def _read_feedback(feedback: Record, into: Imported) -> None:
    run, key = str(feedback.get("run_id")), str(feedback.get("key"))
    score, value = feedback.get("score"), feedback.get("value")
    given = value if rating_of(value) is not None and score is None else score
    source = feedback.get("feedback_source") or {}
    if at(source, "type") in _BY_MODELS:
        judge = at(source, "metadata", "model") or f"{key} ({at(source, 'type')})"
        into.add_score(run, key, judge, given, reply=feedback.get("comment"))
    else:
        who = first_at(source, "user_name", "user_id", "ls_user_id") or at(source, "type")
        into.add_rating(run, key, who, given, at=feedback.get("created_at"))
