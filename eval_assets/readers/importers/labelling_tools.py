"""Exports of tools in which people label: Label Studio, Argilla, Prodigy and Potato."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime

from eval_assets.readers.formats.table import as_text
from eval_assets.readers.importers.export_content import (
    MODEL_KEYS,
    Export,
    Record,
    at,
    chat_fields,
    importer,
    object_at,
    records_at,
    text_of,
)
from eval_assets.readers.references import PROMPT_TEXT, RESPONSE_ID, RESPONSE_TEXT
from eval_assets.readers.values import number_in

_VALUES = ("rating", "number", "choices", "taxonomy", "selected", "pairwise", "ranker")
_FLAT_KEYS = {"annotation_id", "annotator", "lead_time"}
_MOST_CHOICES, _LONGEST_CHOICE = 12, 40
"""Words of a choice; others are comments."""


@importer(
    "label-studio",
    lambda record: (
        (
            isinstance(record.get("data"), dict)
            and bool(record.keys() & {"annotations", "completions"})
        )
        or record.keys() >= _FLAT_KEYS
    ),
)
def read_label_studio(records: Iterable[Record], export: Export) -> None:
    """Add the tasks with their annotations and predictions.

    Label Studio: JSON and JSON-MIN exports; predictions are judges.
    https://labelstud.io/guide/task_format
    """
    tasks = list(records)
    for task in tasks:
        if "data" in task:
            _read_task(task, export)
    _read_flat([task for task in tasks if "data" not in task], export)


def _read_task(task: Record, export: Export) -> None:
    response_id = _add_response(task["data"], task.get("id"), export)
    for annotation in records_at(task, "annotations") or records_at(task, "completions"):
        if annotation.get("was_cancelled"):
            export.notes["annotations were skipped or cancelled"] += 1
            continue
        user = annotation.get("completed_by")
        rater = at(user, "email", "username", "id") if isinstance(user, dict) else user
        for name, value in _values(annotation, export):
            created_at = annotation.get("created_at")
            export.add_rating(response_id, name, rater, value, at=created_at)
    predictions = records_at(task, "predictions")
    n_predictions = task.get("total_predictions")
    if isinstance(n_predictions, int) and n_predictions > len(predictions):
        n_missing = n_predictions - len(predictions)
        export.notes["predictions are counted, but not in the export"] += n_missing
    for prediction in predictions:
        judge = prediction.get("model_version") or "prediction"
        if prediction.get("score") is not None:
            export.notes["predictions have a confidence"] += 1
        for name, value in _values(prediction, export):
            export.add_score(response_id, name, judge, value)


def _values(annotation: Record, export: Export) -> Iterator[tuple[str, object]]:
    for result in records_at(annotation, "result"):
        value = at(result.get("value"), *_VALUES)
        if value is None:
            export.notes[f"results of type {result.get('type')} are not ratings"] += 1
        else:
            yield str(result.get("from_name")), value


def _read_flat(tasks: Sequence[Record], export: Export) -> None:
    """Add tasks of the flat form, in which names of labels are keys beside those of the data."""
    labels = _flat_labels(tasks)
    for task in tasks:
        data_keys = (*PROMPT_TEXT, *RESPONSE_TEXT, *MODEL_KEYS, *RESPONSE_ID)
        data = {key: task[key] for key in data_keys if key in task and key not in labels}
        response_id = _add_response(data or task, task.get("id"), export)
        for name in labels:
            value = task.get(name)
            if value is not None and value != "":
                single = value[0] if isinstance(value, list) and len(value) == 1 else value
                rating = at(single, *_VALUES) if isinstance(single, dict) else value
                rater, time = task.get("annotator"), task.get("created_at")
                export.add_rating(response_id, name, rater, rating, at=time)


def _flat_labels(tasks: Sequence[Record]) -> list[str]:
    """Return the keys of labels, which the flat form does not separate from those of the data."""
    # Copies, so that looking at a field does not count as reading it.
    rows = [dict(task) for task in tasks]
    keys = list(dict.fromkeys(key for row in rows for key in row))
    position = {key: start for start, key in enumerate(keys)}
    start, end = (position.get(key, 0) for key in ("id", "annotator"))
    is_ordered = start + 1 < end < position.get("annotation_id", 0)
    known_keys = {*_FLAT_KEYS, "id", "created_at", "updated_at", "history", "agreement"}
    known_keys |= {*RESPONSE_ID, *PROMPT_TEXT, *RESPONSE_TEXT, *MODEL_KEYS}
    candidates = (
        keys[start + 1 : end] if is_ordered else [key for key in keys if key not in known_keys]
    )
    return [key for key in candidates if _holds_labels(rows, key, may_be_constant=is_ordered)]


def _holds_labels(rows: Sequence[Record], key: str, *, may_be_constant: bool) -> bool:
    cells = [(row.get("id"), row.get(key)) for row in rows if row.get(key) not in (None, "", [])]
    texts = {cell for _, cell in cells if isinstance(cell, str)}
    if not any(math.isnan(number_in(text)) for text in texts):
        return bool(cells)
    is_choice = 1 < len(texts) <= _MOST_CHOICES and max(map(len, texts)) <= _LONGEST_CHOICE
    pairs = {(str(task), str(cell)) for task, cell in cells}
    return is_choice and (may_be_constant or len(pairs) > len({task for task, _ in pairs}))


def _add_response(data: Record, task_id: object, export: Export) -> str:
    """Add the response of a task: all of its data if no field is named as a response."""
    columns = chat_fields(data)
    if columns["response"] is None:
        columns["response"] = text_of(data)
    group = at(data, "group_id", "prompt_id")
    return export.add_response(at(data, *RESPONSE_ID) or task_id, **columns, group_id=group)


_USERS = ".responses.users"
_SUGGESTION = ".suggestion"


@importer(
    "argilla",
    lambda record: (
        (isinstance(record.get("fields"), dict) and "responses" in record)
        or any(key.endswith(_USERS) for key in record)
    ),
)
def read_argilla(records: Iterable[Record], export: Export) -> None:
    """Add the records with their responses and suggestions.

    Argilla 2: records as `to_json` and `to_list` write them, nested or flat, suggestions as judges.
    https://docs.argilla.io/latest/reference/argilla/records/records/
    """
    for record in records:
        fields = object_at(record, "fields") or record
        columns = chat_fields(fields)
        if columns["response"] is None:
            columns["response"] = text_of(dict(fields))
        columns["model"] = at(record.get("metadata") or record, "model", "model_name")
        response_id = export.add_response(record.get("id") or record.get("_server_id"), **columns)
        nested = record if "fields" in record else _nested(record)
        if isinstance(nested.get("responses"), list):
            export.losses["responses in a list, as Argilla 1 has them, are not read"] += 1
            continue
        responses, suggestions = (object_at(nested, of) for of in ("responses", "suggestions"))
        for name in responses:
            for answer in records_at(responses, name):
                if answer.get("status") in ("discarded", "draft"):
                    export.notes["responses were discarded or are drafts"] += 1
                else:
                    export.add_rating(response_id, name, answer.get("user_id"), answer.get("value"))
        for name in suggestions:
            if suggestion := object_at(suggestions, name):
                judge = suggestion.get("agent") or "suggestion"
                export.add_score(response_id, name, judge, suggestion.get("value"))


def _nested(record: Record) -> Record:
    responses, suggestions = {}, {}
    for key, cell in dict(record).items():
        if key.endswith(_USERS) and isinstance(cell, list):
            record.get(key)
            name = key.removesuffix(_USERS)
            values, statuses = (
                of if isinstance(of := record.get(f"{name}.{field}"), list) else []
                for field in ("responses", "responses.status")
            )
            statuses = statuses or [None] * len(values)
            responses[name] = [
                {"user_id": user, "value": value, "status": status}
                for user, value, status in zip(cell, values, statuses, strict=False)
            ]
        elif key.endswith(_SUGGESTION) and record.get(key) is not None:
            agent = record.get(f"{key}.agent")
            suggestions[key.removesuffix(_SUGGESTION)] = {"value": cell, "agent": agent}
    return {"responses": responses, "suggestions": suggestions}


_PROMPTS = ("prompt", "question", "input", "query")
_RESPONSES = ("response", "text", "html", "output", "answer_text")
_HASHES = ("_input_hash", "_task_hash")


@importer("prodigy", lambda record: "answer" in record and any(key in record for key in _HASHES))
def read_prodigy(records: Iterable[Record], export: Export) -> None:
    """Add the answers: chosen options, or accept and reject of a suggested label.

    Prodigy: JSONL as `db-out` writes it, one answer of one annotator a line.
    https://prodi.gy/docs/api-interfaces
    """
    for record in records:
        response_id = export.add_response(
            at(record, "response_id", "id", *_HASHES),
            prompt=at(record, *_PROMPTS),
            response=at(record, *_RESPONSES),
            model=at(record.get("meta") or record, "model", "model_name"),
        )
        rater, time = at(record, "_annotator_id", "_session_id"), None
        with suppress(ValueError, OverflowError, OSError):  # in Unix seconds
            seconds = number_in(as_text(record.get("_timestamp")))
            time = datetime.fromtimestamp(seconds, UTC).isoformat()
        answer, options, label = record.get("answer"), record.get("accept"), record.get("label")
        if answer == "ignore":
            export.notes["examples were ignored by their annotator"] += 1
        elif options:
            export.add_rating(response_id, str(label or "choice"), rater, options, at=time)
        elif "options" in record:
            export.notes["examples have no option chosen"] += 1
        else:
            is_accepted = answer == "accept"
            export.add_rating(response_id, str(label or "accept"), rater, is_accepted, at=time)


_TEXTS = ("displayed_text", "text", "response", "output")
_OTHER_COLUMNS = {"instance_id", "id", "user_id", "prompt", *_TEXTS}
_OTHER_SCHEMES = {"annotator_origin", "spans", "links"}
_SCALE_POINT = re.compile(r"scale_([0-9]+)")


@importer(
    "potato",
    lambda record: (
        record.keys() >= {"instance_id", "user_id"}
        and (isinstance(record.get("labels"), dict) or any("." in key for key in record))
    ),
)
def read_potato(records: Iterable[Record], export: Export) -> None:
    """Add the label that each annotator gave in each scheme.

    Potato: annotations exported as JSONL, CSV or TSV, one annotator's labels of one item a row.
    https://potato-annotation.readthedocs.io/
    """
    for record in records:
        response_id = export.add_response(
            at(record, "instance_id", "id"),
            prompt=at(record, "prompt"),
            response=at(record, *_TEXTS),
        )
        for scheme, labels in _labels(record).items():
            ratings = [
                _rating(label, value)
                for label, value in labels.items()
                if value not in (None, "", False, "false", "False")
            ]
            if len(ratings) == 1:
                export.add_rating(response_id, scheme, record.get("user_id"), ratings[0])
            elif ratings and ratings == [label for label in labels if label in ratings]:
                export.add_rating(response_id, scheme, record.get("user_id"), ratings)
            elif ratings:
                export.notes[f"annotations of {scheme} hold several labels"] += 1


def _labels(record: Record) -> dict[str, dict[str, object]]:
    """Return labels by scheme, which tables write as columns named scheme.label."""
    if isinstance(record.get("labels"), dict):
        return {k: v if isinstance(v, dict) else {"": v} for k, v in record["labels"].items()}
    labels: dict[str, dict[str, object]] = {}
    for column, value in record.items():
        scheme, _, label = column.partition(".")
        is_other = column in _OTHER_COLUMNS or scheme in _OTHER_SCHEMES
        if not is_other and not label.startswith("_"):
            labels.setdefault(scheme, {})[label] = value
    return labels


def _rating(label: str, value: object) -> object:
    """Return a point of a scale as its number, another value as it is, a chosen label as itself."""
    point = _SCALE_POINT.fullmatch(label)
    if point is not None:
        return point[1]
    is_mark = value is True or str(value).lower() in ("true", "on", label.lower())
    return label if label and is_mark else value
