"""Prodigy: JSONL as `db-out` writes it, one answer of one annotator a line.

https://prodi.gy/docs/api-interfaces
"""

from collections.abc import Iterable

from eval_assets.readers.importers.imported import Imported, Record, first_at

_PROMPTS = ("prompt", "question", "input", "query")
_RESPONSES = ("response", "text", "html", "output", "answer_text")
_HASHES = ("_input_hash", "_task_hash")


def recognises(record: Record) -> bool:
    """Return whether a record has Prodigy's hashes and answer."""
    return "answer" in record and any(key in record for key in _HASHES)


def read(records: Iterable[Record], into: Imported) -> None:
    """Add the answers: chosen options, or accept and reject of a suggested label."""
    for record in records:
        response_id = into.add_response(
            first_at(record, "response_id", "id", *_HASHES),
            prompt=first_at(record, *_PROMPTS),
            response=first_at(record, *_RESPONSES),
            model=first_at(record.get("meta") or record, "model", "model_name"),
        )
        rater = first_at(record, "_annotator_id", "_session_id")
        answer, chosen = record.get("answer"), record.get("accept")
        if answer == "ignore":
            into.notes["examples were ignored by their annotator"] += 1
        elif chosen:
            into.add_rating(response_id, str(record.get("label") or "choice"), rater, chosen)
        elif "options" in record:
            into.notes["examples have no option chosen"] += 1
        else:
            name = str(record.get("label") or "accept")
            into.add_rating(response_id, name, rater, answer == "accept")
