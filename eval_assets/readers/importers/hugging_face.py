"""Rows of a Hugging Face dataset, or of any table: numbers beside a response are its ratings.

https://huggingface.co/docs/dataset-viewer/rows
"""

from collections.abc import Iterable

from eval_assets.readers.formats.table import plain
from eval_assets.readers.importers.imported import Imported, Record, first_at
from eval_assets.readers.references import RESPONSE_ID

_PROMPTS = ("prompt", "prompt_text", "question", "instruction", "query", "input", "user")
_RESPONSES = ("response", "response_text", "answer", "output", "completion", "generation", "text")
_MODELS = ("model", "model_name", "generator", "system")
_RATERS = (
    "annotator_ids",
    "annotators",
    "rater_ids",
    "raters",
    "worker_ids",
    "annotator",
    "rater_id",
)
_NOT_RATINGS = {
    *(*_PROMPTS, *_RESPONSES, *_MODELS, *_RATERS, *RESPONSE_ID),
    *(
        "id",
        "idx",
        "index",
        "row_idx",
        "seed",
        "turn",
        "turn_index",
        "timestamp",
        "split",
        "source",
    ),
}


def recognises(record: Record) -> bool:
    """Return whether a record is a row with a response and something that may be a rating."""
    row = record.get("row", record)
    return isinstance(row, dict) and first_at(row, *_RESPONSES) is not None and bool(_ratings(row))


def read(records: Iterable[Record], into: Imported) -> None:
    """Add the rows; a list of numbers is one for each rater, a number that of one rater."""
    for place, record in enumerate(records):
        row = record.get("row", record)
        response_id = into.add_response(
            first_at(row, *RESPONSE_ID, "id", "idx") or record.get("row_idx", place),
            prompt=first_at(row, *_PROMPTS),
            response=first_at(row, *_RESPONSES),
            model=first_at(row, *_MODELS),
        )
        raters = first_at(row, *_RATERS)
        for name, value in _ratings(row).items():
            values = value if isinstance(value, list) else [value]
            named = raters if isinstance(raters, list) and len(raters) == len(values) else None
            alone = "dataset" if isinstance(raters, list) or raters is None else str(raters)
            for number, rating in enumerate(values, start=1):
                numbered = f"rater_{number}" if isinstance(value, list) else alone
                who = named[number - 1] if named else numbered
                into.add_rating(response_id, name, who, rating)


def _ratings(row: Record) -> dict[str, object]:
    """Return the columns that hold a number, or a list of them."""
    return {
        name: value
        for name, value in row.items()
        if plain(name) not in _NOT_RATINGS and (_is_number(value) or _are_numbers(value))
    }


def _is_number(value: object) -> bool:
    return isinstance(value, bool | int | float)


def _are_numbers(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_number, value))
