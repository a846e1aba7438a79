"""Made-up answers: a JSON value for any schema, a score for a prompt, a text for a question.

The score of a response follows from a hash of its text, the same for every model, moved a little
by a hash of model and prompt. So two judges agree well but not perfectly, and the same question
always gets the same answer.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final, TypeVar

from tests.fake_provider.chance import fraction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.fake_provider.exchange import JsonObject

RATIONALE: Final = "Made up by the fake provider: the score is a hash of the text, not a judgement."

_DEVIATION: Final = 0.1
"""Most that a model moves a response's position, as a share of the scale: two models then differ
by .067 of the scale on average, an interval alpha of about .9 on five levels and on two."""

_T = TypeVar("_T")

_N_LEVELS: Final = 100
_TOP: Final = 1 - 2**-53
_RANGE: Final = re.compile(
    r"(?P<low>-?\d+(?:\.\d+)?)\s*(?:to|and|through|-|\N{EN DASH}|\.\.+)\s*(?P<high>-?\d+(?:\.\d+)?)"
)
_ASKED_FOR: Final = re.compile(
    r"(?:score|scale|rating|rate)\D{0,40}" + _RANGE.pattern, re.IGNORECASE
)
_LISTED: Final = re.compile(
    r"score\D{0,20}one of (?P<low>-?\d+)(?:, -?\d+)*, (?P<high>-?\d+)", re.IGNORECASE
)
_BOUNDS: Final = {
    name: re.compile(name + r"\W{1,4}(-?\d+(?:\.\d+)?)") for name in ("minimum", "maximum")
}
_WORDS: Final = (
    *("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "islet"),
    *("jetty", "knoll", "larch", "maple", "north", "ochre", "petal", "quartz", "ridge"),
    *("slate", "tidal", "upland", "valley", "willow", "yarrow", "zenith"),
)


def position(subject: str, *, model: str, prompt: str) -> float:
    """Return where on any scale a model places a response.

    Args:
        subject: The response's text, which decides nearly all of it.
        model: The judging model.
        prompt: The whole prompt.

    Returns:
        In [0, 1): 0 is the lowest score, nearly 1 the highest.
    """
    taste = 2 * fraction("taste", model, prompt) - 1
    return min(max(fraction("quality", subject) + _DEVIATION * taste, 0.0), _TOP)


def value_for(schema: JsonObject, *, at: float) -> object:
    """Return a JSON value that fits a schema.

    Understood are type, properties, items, enum, const, anyOf, minimum, maximum, and local $ref;
    numbers without bounds take them from the description ("from 0 to 4"), else from [0, 1].

    Args:
        schema: A JSON schema.
        at: Where on every scale of the schema to answer, in [0, 1).

    Returns:
        Objects with all their properties in the schema's order, numbers at `at`, made-up texts.

    Examples:
        >>> value_for({"type": "integer", "minimum": 0, "maximum": 4}, at=0.5)
        2
    """
    return _value(schema, at, root=schema)


def _value(schema: JsonObject, at: float, *, root: JsonObject) -> object:
    match schema:
        case {"$ref": str(reference)}:
            return _value(_referred(reference, root), at, root=root)
        case {"anyOf": [*options]} if all("const" in option for option in options):
            return _pick([option["const"] for option in options], at)
        case {"anyOf": [first, *_]}:
            return _value(first, at, root=root)
        case {"type": "object"}:
            properties = schema.get("properties", {})
            return {name: _value(part, at, root=root) for name, part in properties.items()}
        case {"type": "array"}:
            return [_value(schema.get("items", {}), at, root=root)]
        case _:
            return _pick(_choices(schema), at)


def _choices(schema: JsonObject) -> Sequence[object]:
    """Return the values that a schema without parts allows, lowest first; a text, the rationale."""
    match schema:
        case {"const": constant}:
            return [constant]
        case {"enum": [*values]}:
            return values
        case {"type": "integer" | "number" as kind}:
            return levels(*_bounds(schema), whole=kind == "integer")
        case {"type": "boolean"}:
            return [False, True]
        case {"type": "null"}:
            return [None]
        case _:
            return [RATIONALE]


def _referred(reference: str, root: JsonObject) -> JsonObject:
    """Return the schema that a local reference such as `#/$defs/Score` points to."""
    schema = root
    for name in reference.removeprefix("#/").split("/"):
        schema = schema[name]
    return schema


def levels(low: float, high: float, *, whole: bool) -> Sequence[float]:
    """Return the values between two bounds that are ever answered, lowest first.

    Args:
        low: The lowest value.
        high: The highest value.
        whole: Whether only whole numbers are allowed; otherwise the range is cut into 100 steps.
    """
    if whole:
        return range(int(low), max(int(low), int(high)) + 1)
    return [round(low + (high - low) * step / _N_LEVELS, 9) for step in range(_N_LEVELS + 1)]


def plain_answer(prompt: str, *, subject: str, model: str, as_json: bool) -> str:
    """Return an answer to a request without a schema.

    Args:
        prompt: The whole conversation. If it asks for a score and gives its range in figures
            ("score from 0 to 4", "Relevance score (0.0-1.0):", "the score is one of 0, 1, 2"), the
            answer is that score.
        subject: The response that is judged.
        model: The answering model.
        as_json: Whether a JSON object was demanded; it is given, too, if the prompt speaks of
            JSON. Otherwise a score is a bare number.

    Returns:
        A score, or a short text that says of itself that it is made up.
    """
    requested = _ASKED_FOR.search(prompt) or _LISTED.search(prompt)
    if requested is None or not float(requested["low"]) < float(requested["high"]):
        text = made_up_text(prompt, model=model)
        return json.dumps({"text": text}) if as_json else text
    low, high = requested["low"], requested["high"]
    values = levels(float(low), float(high), whole="." not in low + high)
    score = _pick(values, position(subject, model=model, prompt=prompt))
    if as_json or "json" in prompt.lower():
        return json.dumps({"rationale": RATIONALE, "score": score})
    return str(score)


def made_up_text(prompt: str, *, model: str) -> str:
    """Return a short text that says it is made up, another for every prompt and model."""
    words = (
        _WORDS[int(fraction("word", number, prompt, model) * len(_WORDS))] for number in range(12)
    )
    return f"This text was made up by a fake provider in place of {model}: {' '.join(words)}."


def prose_verdict(schema: JsonObject | None, *, at: float) -> str:
    """Return a verdict in a sentence instead of JSON, which leaves the score open."""
    low, score = _scores(schema, 0.0), _scores(schema, at)
    return f"Hard to say: I would give it {score} if one is generous, else {low}."


def verdict_out_of_range(schema: JsonObject | None) -> str:
    """Return a verdict in JSON whose score lies above the highest one allowed."""
    return json.dumps({"rationale": RATIONALE, "score": _scores(schema, _TOP) + 1})


def _scores(schema: JsonObject | None, at: float) -> float:
    """Return the score at a position of the schema's property `score`; on [0, 1] without one."""
    score = (schema or {}).get("properties", {}).get("score", {"type": "number"})
    value = _value(score, at, root=schema or {})
    return value if isinstance(value, int | float) else float(at)


def _pick(values: Sequence[_T], at: float) -> _T:
    return values[int(at * len(values))]


def _bounds(schema: JsonObject) -> tuple[float, float]:
    description = str(schema.get("description", ""))
    spelled = _RANGE.search(description)
    low, high = (float(spelled["low"]), float(spelled["high"])) if spelled else (0.0, 1.0)
    named = {name: bound.search(description) for name, bound in _BOUNDS.items()}
    if named["minimum"] and named["maximum"]:
        low, high = float(named["minimum"][1]), float(named["maximum"][1])
    return schema.get("minimum", low), schema.get("maximum", high)
