"""Potato: annotations exported as JSONL, CSV or TSV, one annotator's labels of one item a row.

https://potato-annotation.readthedocs.io/
"""

import re
from collections.abc import Iterable

from eval_assets.readers.importers.imported import Imported, Record, first_at

_TEXTS = ("displayed_text", "text", "response", "output")
_ID = ("instance_id", "id")
_SCALE_POINT = re.compile(r"scale_([0-9]+)")
_OTHERS = {"annotator_origin", "spans", "links"}


def recognises(record: Record) -> bool:
    """Return whether a record has Potato's columns."""
    return "instance_id" in record and "user_id" in record


def read(records: Iterable[Record], into: Imported) -> None:
    """Add the label that each annotator gave in each scheme."""
    for record in records:
        response_id = into.add_response(
            first_at(record, *_ID),
            prompt=first_at(record, "prompt"),
            response=first_at(record, *_TEXTS),
        )
        for scheme, labels in _labels(record).items():
            chosen = {name: value for name, value in labels.items() if _is_set(value)}
            if len(chosen) == 1:
                rating = _rating(*next(iter(chosen.items())))
                into.add_rating(response_id, scheme, record.get("user_id"), rating)
            elif chosen:
                into.notes[f"annotations of {scheme} hold several labels"] += 1


def _labels(record: Record) -> dict[str, dict[str, object]]:
    """Return labels by scheme, which tables write as columns named scheme.label."""
    if isinstance(record.get("labels"), dict):
        return {k: v if isinstance(v, dict) else {"": v} for k, v in record["labels"].items()}
    found: dict[str, dict[str, object]] = {}
    for column, value in record.items():
        scheme, _, label = column.partition(".")
        is_other = column in (*_ID, *_TEXTS, "user_id", "prompt") or scheme in _OTHERS
        if not is_other and not label.startswith("_"):
            found.setdefault(scheme, {})[label] = value
    return found


def _is_set(value: object) -> bool:
    return value not in (None, "", False, "false", "False")


def _rating(label: str, value: object) -> object:
    """Return a point of a scale as its number, another value as it is, a chosen label as itself."""
    point = _SCALE_POINT.fullmatch(label)
    if point is not None:
        return point[1]
    is_mark = value is True or str(value).lower() in ("true", "on", label.lower())
    return label if label and is_mark else value
