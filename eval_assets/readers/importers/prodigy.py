"""Prodigy: JSONL as `db-out` writes it, one answer of one annotator a line.

https://prodi.gy/docs/api-interfaces
"""

from collections.abc import Iterable

from eval_assets.readers.importers.export_content import Export, Record, first_at

_PROMPTS = ("prompt", "question", "input", "query")
_RESPONSES = ("response", "text", "html", "output", "answer_text")
_HASHES = ("_input_hash", "_task_hash")


def recognises(record: Record) -> bool:
    """Return whether a record has Prodigy's hashes and answer."""
    return "answer" in record and any(key in record for key in _HASHES)


def read(records: Iterable[Record], export: Export) -> None:
    """Add the answers: chosen options, or accept and reject of a suggested label."""
    for record in records:
        response_id = export.add_response(
            first_at(record, "response_id", "id", *_HASHES),
            prompt=first_at(record, *_PROMPTS),
            response=first_at(record, *_RESPONSES),
            model=first_at(record.get("meta") or record, "model", "model_name"),
        )
        rater = first_at(record, "_annotator_id", "_session_id")
        answer, options, label = record.get("answer"), record.get("accept"), record.get("label")
        if answer == "ignore":
            export.notes["examples were ignored by their annotator"] += 1
        elif options:
            export.add_rating(response_id, str(label or "choice"), rater, options)
        elif "options" in record:
            export.notes["examples have no option chosen"] += 1
        else:
            export.add_rating(response_id, str(label or "accept"), rater, answer == "accept")
