"""Content of another tool's export as responses, ratings and scores; helpers to parse records."""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, get_args

from eval_assets.readers.formats.table import as_text, plain
from eval_assets.scale import Level, Scale

Record = Mapping[str, Any]

UNKNOWN_MODEL = "unknown"
PROMPT_KEYS = ("prompt", "prompt_text", "question", "query", "instruction", "input", "user")
RESPONSE_KEYS = (
    *("response", "response_text", "answer", "output", "completion", "generation"),
    *("text", "reply"),
)
MODEL_KEYS = ("model", "model_name", "generator", "system")
_TEXT_KEYS = ("content", "text", "output", "answer", "response", "completion", "result")


@dataclass
class Question:
    """A rated question; its text is its name, and its scale None, if the export holds neither."""

    text: str
    scale: Scale | None = None
    level: str | None = None


@dataclass
class Export:
    """Responses with their ratings and scores, collected record by record.

    Args:
        responses: Columns of each response, by its id.
        ratings: Rating and time of each response, question and human rater.
        scores: Score and reply of each response, question and judge.
        questions: Questions by name.
        notes: Count of each kind of record that was skipped or ambiguous.
    """

    responses: dict[str, dict[str, str]] = field(default_factory=dict)
    ratings: dict[tuple[str, str, str], tuple[str, str]] = field(default_factory=dict)
    scores: dict[tuple[str, str, str], tuple[str, str]] = field(default_factory=dict)
    questions: dict[str, Question] = field(default_factory=dict)
    notes: Counter[str] = field(default_factory=Counter)

    def add_response(
        self,
        response_id: object,
        *,
        prompt: object = None,
        response: object = None,
        model: object = None,
        **further: object,
    ) -> str:
        """Add a response unless its id is known; return its id."""
        name = as_text(response_id) or ""
        columns = {
            "prompt_text": text_of(prompt),
            "response_text": text_of(response),
            "model_name": text_of(model) or UNKNOWN_MODEL,
            **{key: text_of(value) for key, value in further.items() if value is not None},
        }
        first = self.responses.setdefault(name, columns)
        if first["response_text"] != columns["response_text"]:
            self.notes["responses share an id; their rating is that of the first"] += 1
        return name

    def add_rating(
        self, response_id: str, question: str, rater: object, value: object, *, at: object = None
    ) -> None:
        """Add a human rating; of two by one rater the last one counts."""
        rating, name, rater_id = rating_of(value), question.strip(), text_of(rater).strip()
        if rating is None:
            self.notes[f"ratings of {name} are neither a number nor one choice"] += 1
        elif not rater_id:
            self.notes[f"ratings of {name} do not say who gave them"] += 1
        else:
            self.questions.setdefault(name, Question(name))
            if (response_id, name, rater_id) in self.ratings:
                self.notes["second ratings by one rater; the last one counts"] += 1
            self.ratings[response_id, name, rater_id] = rating, text_of(at)

    def add_score(
        self, response_id: str, question: str, judge: object, value: object, *, reply: object = None
    ) -> None:
        """Add a judge's score; one without a value is kept if there is a reply."""
        score, name = rating_of(value), question.strip()
        if score is None and value is not None:
            self.notes[f"scores of {name} are neither a number nor one choice"] += 1
            return
        self.questions.setdefault(name, Question(name))
        key = response_id, name, text_of(judge).strip() or "judge"
        if key in self.scores:
            self.notes["second scores by one judge; the last one counts"] += 1
        self.scores[key] = score or "", text_of(reply)

    def add_missing_responses(self) -> None:
        """Add a response without text for each rated one that the export does not hold."""
        for response_id, _, _ in (*self.ratings, *self.scores):
            if response_id not in self.responses:
                self.notes["responses are rated, but the export does not hold their texts"] += 1
                self.add_response(response_id)


Reader = Callable[[Iterable[Record], Export], None]


class Importer(NamedTuple):
    """Reads the export of one tool.

    Args:
        recognises: Returns whether a record may be of this tool.
        read: Adds the content of the records.
    """

    recognises: Callable[[Record], bool]
    read: Reader


IMPORTERS: dict[str, Importer] = {}
"""Importers of the imported modules, by tool."""


def importer(tool: str, recognises: Callable[[Record], bool]) -> Callable[[Reader], Reader]:
    """Return a decorator that registers a function as the importer of a tool."""

    def register(read: Reader) -> Reader:
        IMPORTERS[tool] = Importer(recognises, read)
        return read

    return register


def question_of(name: str, text: object, *, scale: object, level: object) -> Question:
    """Return a question as our own exports describe it; without a scale if they do not.

    Examples:
        >>> question_of("q", None, scale='{"low": 0, "high": 1}', level=None).scale
        Scale(low=0, high=1, values=None, words=None)
    """
    try:
        ends = json.loads(str(scale))
        values, words = (tuple(ends[key]) if ends.get(key) else None for key in ("values", "words"))
        declared = Scale(low=ends["low"], high=ends["high"], values=values, words=words)
    except (ValueError, TypeError, KeyError):
        return Question(text_of(text) or name)
    known_level = str(level) if level in get_args(Level) else None
    return Question(text_of(text) or name, declared, known_level)


def rating_of(value: object) -> str | None:
    """Return a rating as a cell of labels.csv, None if it is not a single value.

    Examples:
        >>> [rating_of(value) for value in (4.0, True, "Good", ["Good"], ["a", "b"], None)]
        ['4', 'true', 'Good', 'Good', None, None]
    """
    match value:
        case float() if not math.isfinite(value):
            return None
        case bool() | int() | float():
            return as_text(value)
        case str():
            return value.strip() or None
        case [single]:
            return rating_of(single)
        case _:
            return None


def text_of(value: object) -> str:
    """Return any value as text: that of messages, or else JSON.

    Examples:
        >>> text_of([{"role": "user", "content": "Hi"}]), text_of({"answer": 4}), text_of({"a": 4})
        ('Hi', '4', '{"a": 4}')
    """
    match value:
        case dict():
            texts = (value[k] for k in _TEXT_KEYS if isinstance(value.get(k), str | int | list))
            text = next(texts, None)
            return json.dumps(value, ensure_ascii=False) if text is None else text_of(text)
        case list() if all(isinstance(item, str | dict) for item in value):
            return "\n\n".join(filter(None, map(text_of, value)))
        case list():
            return json.dumps(value, ensure_ascii=False)
        case _:  # without what a CSV file or DuckDB cannot hold
            return (as_text(value) or "").replace("\0", "").encode(errors="replace").decode()


def at(record: object, *path: str) -> Any:  # noqa: ANN401 - JSON as it comes
    """Return the value at a path of keys, in any spelling; None if there is none.

    Examples:
        >>> at({"traceId": 1, "source": {"source_type": "HUMAN"}}, "source", "source_type")
        'HUMAN'
        >>> at({"traceId": 1}, "trace_id"), at({"a": [1]}, "a", "b")
        (1, None)
    """
    value = record
    for step in path:
        if not isinstance(value, Mapping):
            return None
        spellings = (key for key in value if plain(str(key)) == plain(step))
        value = value[step] if step in value else value.get(next(spellings, step))
    return value


def first_at(record: object, *keys: str) -> Any:  # noqa: ANN401 - JSON as it comes
    """Return the first of these keys that has a value."""
    return next((value for key in keys if (value := at(record, key)) is not None), None)


def records_at(record: object, *path: str) -> Sequence[Record]:
    """Return the objects in a list at a path; none if there is no list."""
    items = at(record, *path)
    return [item for item in items if isinstance(item, Mapping)] if isinstance(items, list) else []


def chat_fields(fields: Record) -> dict[str, Any]:
    """Return prompt, response and model under the keys that tools for labelling use."""
    return {
        "prompt": first_at(fields, *PROMPT_KEYS),
        "response": first_at(fields, *RESPONSE_KEYS),
        "model": first_at(fields, *MODEL_KEYS),
    }
