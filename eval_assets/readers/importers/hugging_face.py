"""Rows of a Hugging Face dataset, or of any table: numbers beside a response are its ratings.

https://huggingface.co/docs/dataset-viewer/rows
"""

from collections.abc import Iterable

from eval_assets.readers.formats.table import plain
from eval_assets.readers.importers.export_content import (
    MODEL_KEYS,
    PROMPT_KEYS,
    RESPONSE_KEYS,
    Export,
    Record,
    chat_fields,
    first_at,
)
from eval_assets.readers.references import RESPONSE_ID

_RATERS = (
    *("annotator_ids", "annotators", "rater_ids", "raters", "worker_ids", "annotator"),
    "rater_id",
)
_NOT_RATINGS = {
    *(*PROMPT_KEYS, *RESPONSE_KEYS, *MODEL_KEYS, *_RATERS, *RESPONSE_ID),
    *("id", "idx", "index", "row_idx", "seed", "turn", "turn_index", "timestamp"),
    *("split", "source"),
}


def recognises(record: Record) -> bool:
    """Return whether a record is a row with a response and a possible rating."""
    row = record.get("row", record)
    if not isinstance(row, dict) or first_at(row, *RESPONSE_KEYS) is None:
        return False
    return bool(_ratings(row))


def read(records: Iterable[Record], export: Export) -> None:
    """Add the rows; a list of numbers is one for each rater, a number that of one rater."""
    for position, record in enumerate(records):
        row = record.get("row", record)
        response_id = first_at(row, *RESPONSE_ID, "id", "idx") or record.get("row_idx", position)
        response_id = export.add_response(response_id, **chat_fields(row))
        raters = first_at(row, *_RATERS)
        for name, value in _ratings(row).items():
            if not isinstance(value, list):
                rater = "dataset" if isinstance(raters, list) or raters is None else str(raters)
                export.add_rating(response_id, name, rater, value)
                continue
            is_named = isinstance(raters, list) and len(raters) == len(value)
            numbered = [f"rater_{number}" for number in range(1, len(value) + 1)]
            for rater, rating in zip(raters if is_named else numbered, value, strict=True):
                export.add_rating(response_id, name, rater, rating)


def _ratings(row: Record) -> dict[str, object]:
    """Return the columns that hold a number, or a list of them."""
    return {
        name: value
        for name, value in row.items()
        if plain(name) not in _NOT_RATINGS
        and (numbers := value if isinstance(value, list) else [value])
        and all(isinstance(number, bool | int | float) for number in numbers)
    }
