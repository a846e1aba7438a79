"""Chat logs: JSONL with `messages`; each answer of the model is a response, with what came before.

https://platform.openai.com/docs/guides/fine-tuning
"""

from collections.abc import Iterable

from eval_assets.readers.importers.export_content import (
    Export,
    Record,
    first_at,
    records_at,
    text_of,
)

_KEYS = ("messages", "conversations", "conversation")
_ASSISTANT = ("assistant", "gpt", "ai", "model")


def recognises(record: Record) -> bool:
    """Return whether a record is a conversation."""
    return any(records_at(record, key) for key in _KEYS)


def read(records: Iterable[Record], export: Export) -> None:
    """Add a response for each message of the model; its prompt is the message before."""
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
