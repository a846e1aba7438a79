"""Braintrust: an exported experiment or log, JSON or CSV; scores are judges by their names.

https://www.braintrust.dev/docs/annotate/export
"""

from collections.abc import Iterable

from eval_assets.readers.importers.imported import Imported, Record, at, first_at

_PREFIX = "scores."


def recognises(record: Record) -> bool:
    """Return whether a record has an input, an output and scores."""
    has_scores = isinstance(record.get("scores"), dict) or any(
        key.startswith(_PREFIX) for key in record
    )
    return has_scores and "input" in record and "output" in record


def read(records: Iterable[Record], into: Imported) -> None:
    """Add each row with its scores; the export does not tell people's from automatic ones."""
    for record in records:
        attributes = record.get("span_attributes") or {}
        if at(attributes, "type") == "score" or record.get("is_root") is False:
            into.notes["rows are spans below a row, not rows"] += 1
            continue
        response_id = into.add_response(
            record.get("id"),
            prompt=record.get("input"),
            response=record.get("output"),
            model=first_at(record.get("metadata") or {}, "model", "model_name"),
        )
        scores = record.get("scores") or {
            key.removeprefix(_PREFIX): value
            for key, value in record.items()
            if key.startswith(_PREFIX)
        }
        for name, value in scores.items():
            if value not in (None, ""):
                into.add_score(response_id, name, "braintrust", value)
