"""How files say which response they mean: by its id, or by what was asked, of whom, and how."""

import re
from collections.abc import Iterator

from eval_assets.readers.table import Table, per_distinct, without_blanks
from eval_assets.readers.wording import shown

RESPONSE_ID = ("response_id", "item_id", "trace_id", "scenario_id", "scenarioId")
"""Headers under which the id of a response is accepted."""

MODEL_NAME = ("model_name", "model")
"""Headers under which the model that answered is accepted."""

Key = tuple[str | None, str | None, str | None, str | None, str | None]
"""Indicator, conversation, turn, model and seed of a response, None where not given."""

Reference = str | Key
"""What a row calls a response: its id, or its key."""

KEY_NOUNS = ("indicator_id", "convo_id", "turn_index", "model_name", "seed")

_WHOLE_NUMBER = re.compile(r"([+-]?[0-9]+)(?:\.0*)?")


def keys(table: Table) -> Iterator[Key]:
    """The key of each row."""
    return zip(
        table.stripped("indicator_id"),
        table.stripped("convo_id"),
        per_distinct(table.text("turn_index"), canonical_number),
        table.stripped(table.first_of(*MODEL_NAME)),
        per_distinct(table.text("seed"), canonical_number),
        strict=True,
    )


def canonical_number(cell: str | None) -> str | None:
    """A whole number in its one spelling; spreadsheets turn seed 1 into 1.0 and 01 into 1.

    Examples:
        >>> [canonical_number(seed) for seed in ("1", "1.0", " 01 ", "a1", "1.5", "")]
        ['1', '1', '1', 'a1', '1.5', None]
    """
    text = without_blanks(cell)
    number = _WHOLE_NUMBER.fullmatch(text) if text is not None else None
    return str(int(number[1])) if number else text


def id_of(key: Key) -> str:
    r"""The response id made from a key: its parts joined by `|`, which is escaped within them.

    Examples:
        >>> id_of(("L4_HAI", "c1", "2", "gemini", None))
        'L4_HAI|c1|2|gemini|'
    """
    return "|".join((part or "").replace("\\", r"\\").replace("|", r"\|") for part in key)


def shown_key(key: Key) -> str:
    """The parts of a key that are given, as a message names them."""
    return ", ".join(
        f"{noun} {shown(part)}"
        for noun, part in zip(KEY_NOUNS, key, strict=True)
        if part is not None
    )
