"""Label Studio: JSON and JSON-MIN exports; predictions are judges.

https://labelstud.io/guide/task_format
"""

from collections.abc import Iterable

from eval_assets.readers.importers.imported import (
    Imported,
    Record,
    at,
    first_at,
    rating_of,
    records_at,
    text_of,
)

_PROMPTS = ("prompt", "question", "query", "instruction", "input", "user", "prompt_text")
_RESPONSES = ("response", "answer", "output", "completion", "response_text", "text", "reply")
_MODELS = ("model", "model_name", "system")
_IDS = ("response_id", "item_id", "trace_id", "scenario_id")
_VALUES = ("rating", "number", "choices", "taxonomy", "pairwise", "ranker")
_MIN_KEYS = {"annotation_id", "annotator", "lead_time"}


def recognises(record: Record) -> bool:
    """Return whether a record is a task with annotations, in the full or the flat form."""
    full = isinstance(record.get("data"), dict) and (
        "annotations" in record or "completions" in record
    )
    return full or record.keys() >= _MIN_KEYS


def read(records: Iterable[Record], into: Imported) -> None:
    """Add the tasks with their annotations and predictions."""
    for task in records:
        if "data" in task:
            _read_task(task, into)
        else:
            _read_flat(task, into)


def _read_task(task: Record, into: Imported) -> None:
    response_id = _add_response(task["data"], task.get("id"), into)
    for annotation in records_at(task, "annotations") or records_at(task, "completions"):
        if annotation.get("was_cancelled"):
            into.notes["annotations were skipped or cancelled"] += 1
            continue
        who = annotation.get("completed_by")
        rater = first_at(who, "email", "username", "id") if isinstance(who, dict) else who
        for name, value in _values(annotation, into):
            when = annotation.get("created_at")
            into.add_rating(response_id, name, rater, value, at=when)
    for prediction in records_at(task, "predictions"):
        judge = prediction.get("model_version") or "prediction"
        for name, value in _values(prediction, into):
            into.add_score(response_id, name, judge, value)


def _values(annotation: Record, into: Imported) -> Iterable[tuple[str, object]]:
    """Yield name and value of each rating in an annotation."""
    for result in records_at(annotation, "result"):
        value = result.get("value")
        key = next((key for key in _VALUES if at(value, key) is not None), None)
        if key is None:
            into.notes[f"results of type {result.get('type')} are not ratings"] += 1
        else:
            yield str(result.get("from_name")), at(value, key)


def _read_flat(task: Record, into: Imported) -> None:
    """Add a task of the flat form, in which names of labels are keys beside those of the data."""
    names = [key for key, value in task.items() if isinstance(value, dict | int | float | str)]
    data = {key: task[key] for key in (*_PROMPTS, *_RESPONSES, *_MODELS, *_IDS) if key in task}
    response_id = _add_response(data or task, task.get("id"), into)
    known = {*data, *_MIN_KEYS, "id", "created_at", "updated_at"}
    for name in names:
        value = task[name]
        if name not in known and rating_of(value) is not None:
            when = task.get("created_at")
            into.add_rating(response_id, name, task.get("annotator"), value, at=when)


def _add_response(data: Record, task_id: object, into: Imported) -> str:
    """Add what a task shows; if it is not named as a prompt or a response, all of it."""
    response = first_at(data, *_RESPONSES)
    return into.add_response(
        first_at(data, *_IDS) or task_id,
        prompt=first_at(data, *_PROMPTS),
        response=text_of(dict(data)) if response is None else response,
        model=first_at(data, *_MODELS),
        group_id=first_at(data, "group_id", "prompt_id"),
    )
