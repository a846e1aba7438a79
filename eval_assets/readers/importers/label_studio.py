"""Label Studio: JSON and JSON-MIN exports; predictions are judges.

https://labelstud.io/guide/task_format
"""

from collections.abc import Iterable, Iterator

from eval_assets.readers.importers.export_content import (
    MODEL_KEYS,
    PROMPT_KEYS,
    RESPONSE_KEYS,
    Export,
    Record,
    chat_fields,
    first_at,
    rating_of,
    records_at,
    text_of,
)
from eval_assets.readers.references import RESPONSE_ID

_VALUES = ("rating", "number", "choices", "taxonomy", "pairwise", "ranker")
_FLAT_KEYS = {"annotation_id", "annotator", "lead_time"}


def recognises(record: Record) -> bool:
    """Return whether a record is a task with annotations, in the full or the flat form."""
    is_annotated = "annotations" in record or "completions" in record
    return (isinstance(record.get("data"), dict) and is_annotated) or record.keys() >= _FLAT_KEYS


def read(records: Iterable[Record], export: Export) -> None:
    """Add the tasks with their annotations and predictions."""
    for task in records:
        if "data" in task:
            _read_task(task, export)
        else:
            _read_flat(task, export)


def _read_task(task: Record, export: Export) -> None:
    response_id = _add_response(task["data"], task.get("id"), export)
    for annotation in records_at(task, "annotations") or records_at(task, "completions"):
        if annotation.get("was_cancelled"):
            export.notes["annotations were skipped or cancelled"] += 1
            continue
        user = annotation.get("completed_by")
        rater = first_at(user, "email", "username", "id") if isinstance(user, dict) else user
        for name, value in _values(annotation, export):
            created_at = annotation.get("created_at")
            export.add_rating(response_id, name, rater, value, at=created_at)
    for prediction in records_at(task, "predictions"):
        judge = prediction.get("model_version") or "prediction"
        for name, value in _values(prediction, export):
            export.add_score(response_id, name, judge, value)


def _values(annotation: Record, export: Export) -> Iterator[tuple[str, object]]:
    """Yield name and value of each rating in an annotation."""
    for result in records_at(annotation, "result"):
        value = first_at(result.get("value"), *_VALUES)
        if value is None:
            export.notes[f"results of type {result.get('type')} are not ratings"] += 1
        else:
            yield str(result.get("from_name")), value


def _read_flat(task: Record, export: Export) -> None:
    """Add a task of the flat form, in which names of labels are keys beside those of the data."""
    data_keys = (*PROMPT_KEYS, *RESPONSE_KEYS, *MODEL_KEYS, *RESPONSE_ID)
    data = {key: task[key] for key in data_keys if key in task}
    response_id = _add_response(data or task, task.get("id"), export)
    others = {*data, *_FLAT_KEYS, "id", "created_at", "updated_at"}
    for name, value in task.items():
        is_value = name not in others and isinstance(value, dict | int | float | str)
        if is_value and rating_of(value) is not None:
            created_at = task.get("created_at")
            export.add_rating(response_id, name, task.get("annotator"), value, at=created_at)


def _add_response(data: Record, task_id: object, export: Export) -> str:
    """Add the response of a task; all of its data if none of it is named as a response."""
    columns = chat_fields(data)
    if columns["response"] is None:
        columns["response"] = text_of(dict(data))
    group = first_at(data, "group_id", "prompt_id")
    return export.add_response(first_at(data, *RESPONSE_ID) or task_id, **columns, group_id=group)
