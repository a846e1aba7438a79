"""Potato: annotations exported as JSONL, CSV or TSV, one annotator's labels of one item a row.

https://potato-annotation.readthedocs.io/
"""

import re
from collections.abc import Iterable

from eval_assets.readers.importers.export_content import Export, Record, first_at

_TEXTS = ("displayed_text", "text", "response", "output")
_OTHER_COLUMNS = {"instance_id", "id", "user_id", "prompt", *_TEXTS}
_OTHER_SCHEMES = {"annotator_origin", "spans", "links"}
_SCALE_POINT = re.compile(r"scale_([0-9]+)")


def recognises(record: Record) -> bool:
    """Return whether a record has Potato's columns."""
    return "instance_id" in record and "user_id" in record


def read(records: Iterable[Record], export: Export) -> None:
    """Add the label that each annotator gave in each scheme."""
    for record in records:
        response_id = export.add_response(
            first_at(record, "instance_id", "id"),
            prompt=first_at(record, "prompt"),
            response=first_at(record, *_TEXTS),
        )
        for scheme, labels in _labels(record).items():
            ratings = [
                _rating(label, value)
                for label, value in labels.items()
                if value not in (None, "", False, "false", "False")
            ]
            if len(ratings) == 1:
                export.add_rating(response_id, scheme, record.get("user_id"), ratings[0])
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
