"""Conversations and datasets that no tool marks as its own: chat logs, rows of Hugging Face."""

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
    importer,
    records_at,
    text_of,
)
from eval_assets.readers.references import RESPONSE_ID

_KEYS = ("messages", "conversations", "conversation")
_ASSISTANT = ("assistant", "gpt", "ai", "model")


@importer("chat", lambda record: any(records_at(record, key) for key in _KEYS))
def read_chat(records: Iterable[Record], export: Export) -> None:
    """Add a response for each message of the model; its prompt is the message before.

    Chat logs: JSONL with `messages`; each answer of the model is a response, with what came before.
    https://platform.openai.com/docs/guides/fine-tuning
    """
    for position, record in enumerate(records, start=1):
        name = str(first_at(record, "id", "conversation_id", "thread_id") or position)
        prompt, turn = "", 0
        for message in next(filter(None, (records_at(record, key) for key in _KEYS)), []):
            role = str(first_at(message, "role", "from"))
            text = text_of(first_at(message, "content", "value", "text"))
            if role in _ASSISTANT:
                turn += 1
                model = first_at(message, "model") or first_at(record, "model", "model_name")
                export.add_response(
                    f"{name}/{turn}",
                    prompt=prompt,
                    response=text,
                    model=model,
                    convo_id=name,
                    turn_index=turn,
                )
            elif role != "system":
                prompt = text


_RATERS = (
    *("annotator_ids", "annotators", "rater_ids", "raters", "worker_ids", "annotator"),
    "rater_id",
)
_NOT_RATINGS = {
    *(*PROMPT_KEYS, *RESPONSE_KEYS, *MODEL_KEYS, *_RATERS, *RESPONSE_ID),
    *("id", "idx", "index", "row_idx", "seed", "turn", "turn_index", "timestamp"),
    *("split", "source"),
}


def _is_hugging_face(record: Record) -> bool:
    row = record.get("row", record)
    if not isinstance(row, dict) or first_at(row, *RESPONSE_KEYS) is None:
        return False
    return bool(_ratings(row))


@importer("hugging-face", _is_hugging_face)
def read_hugging_face(records: Iterable[Record], export: Export) -> None:
    """Add the rows; a list of numbers is one for each rater, a number that of one rater.

    Rows of a Hugging Face dataset, or of any table: numbers beside a response are its ratings.
    https://huggingface.co/docs/dataset-viewer/rows
    """
    for position, record in enumerate(records):
        row = record.get("row", record)
        response_id = first_at(row, *RESPONSE_ID, "id", "idx") or record.get("row_idx", position)
        response_id = export.add_response(response_id, **chat_fields(row))
        raters = first_at(row, *_RATERS)
        for name in _ratings(row):
            value = row[name]
            if not isinstance(value, list):
                rater = "dataset" if isinstance(raters, list) or raters is None else str(raters)
                export.add_rating(response_id, name, rater, value)
                continue
            is_named = isinstance(raters, list) and len(raters) == len(value)
            numbered = [f"rater_{number}" for number in range(1, len(value) + 1)]
            for rater, rating in zip(raters if is_named else numbered, value, strict=True):
                export.add_rating(response_id, name, rater, rating)


def _ratings(row: Record) -> dict[str, object]:
    return {
        name: value
        for name, value in dict(row).items()
        if plain(name) not in _NOT_RATINGS
        and (cells := value if isinstance(value, list) else [value])
        and all(cell is None or isinstance(cell, bool | int | float) for cell in cells)
        and any(cell is not None for cell in cells)
    }
