"""Braintrust: an exported experiment or log, JSON or CSV; scores are judges by their names.

https://www.braintrust.dev/docs/annotate/export
"""

from collections.abc import Iterable

from eval_assets.readers.importers.export_content import Export, Record, at, first_at

_PREFIX = "scores."


def recognises(record: Record) -> bool:
    """Return whether a record has an input, an output and scores."""
    is_nested = isinstance(record.get("scores"), dict)
    has_scores = is_nested or any(key.startswith(_PREFIX) for key in record)
    return has_scores and "input" in record and "output" in record


def read(records: Iterable[Record], export: Export) -> None:
    """Add each row with its scores; the export does not tell people's from automatic ones."""
    for record in records:
        if at(record, "span_attributes", "type") == "score" or record.get("is_root") is False:
            export.notes["rows are spans below a row, not rows"] += 1
            continue
        response_id = export.add_response(
            record.get("id"),
            prompt=record.get("input"),
            response=record.get("output"),
            model=first_at(record.get("metadata"), "model", "model_name"),
        )
        flat = {k.removeprefix(_PREFIX): v for k, v in record.items() if k.startswith(_PREFIX)}
        for name, value in (record.get("scores") or flat).items():
            if value not in (None, ""):
                export.add_score(response_id, name, "braintrust", value)
