"""Chat logs: JSONL with `messages`; each answer of the model is a response, with what came before.

https://platform.openai.com/docs/guides/fine-tuning
"""

from collections.abc import Iterable

from eval_assets.readers.importers.imported import Imported, Record, first_at, records_at, text_of

_KEYS = ("messages", "conversations", "conversation")
_ROLES = {"human": "user", "gpt": "assistant", "ai": "assistant", "model": "assistant"}


def recognises(record: Record) -> bool:
    """Return whether a record is a conversation."""
    return any(records_at(record, key) for key in _KEYS)


def read(records: Iterable[Record], into: Imported) -> None:
    """Add a response for each message of the model; its prompt is the message before."""
    for place, record in enumerate(records, start=1):
        name = str(first_at(record, "id", "conversation_id", "thread_id") or place)
        messages = next((found for key in _KEYS if (found := records_at(record, key))), [])
        before, turn = "", 0
        for message in messages:
            role = str(first_at(message, "role", "from"))
            text = text_of(first_at(message, "content", "value", "text"))
            if _ROLES.get(role, role) == "assistant":
                turn += 1
                into.add_response(
                    f"{name}/{turn}",
                    prompt=before,
                    response=text,
                    model=first_at(message, "model") or first_at(record, "model", "model_name"),
                    convo_id=name,
                    turn_index=turn,
                )
            elif role != "system":
                before = text
