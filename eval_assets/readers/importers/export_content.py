"""Content of another tool's export as responses, ratings and scores; helpers to parse records."""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from eval_assets.config.rubric import RubricQuestion
from eval_assets.readers.formats.table import as_text, plain
from eval_assets.readers.names import Who, who
from eval_assets.readers.references import PROMPT_TEXT, RESPONSE_TEXT
from eval_assets.scale import BINARY

Record = Mapping[str, Any]


class ReadRecord(dict[str, Any]):
    """A JSON object that knows which of its fields were read, those of nested objects included.

    Examples:
        >>> record = ReadRecord({"id": 1, "user": {"name": "Anna", "age": 30}, "tags": []})
        >>> record["id"], record["user"].get("name")
        (1, 'Anna')
        >>> list(record.unread())
        ['user.age']
    """

    def __init__(self, fields: Mapping[str, Any]) -> None:
        super().__init__({key: _as_read(value) for key, value in fields.items()})
        self._read: set[str] = set()

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401 - JSON as it comes
        """Return the value of a field, which counts as read."""
        self._read.add(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:  # noqa: ANN401 - JSON as it comes
        """Return the value of a field, which counts as read."""
        self._read.add(key)
        return super().get(key, default)

    def items(self) -> Any:  # noqa: ANN401 - the view of a dictionary
        """Return the fields, which all count as read."""
        self._read.update(self)
        return super().items()

    def read_all(self) -> None:
        """Count every field as read, those of nested objects included."""
        for value in dict.values(self):
            for nested in _records_in(value):
                nested.read_all()
        self._read.update(self)

    def unread(self) -> Iterator[str]:
        """Yield the paths of fields that are not empty and were not read."""
        for key, value in super().items():
            if value in (None, "", [], {}):
                continue
            if key not in self._read:
                yield key
                continue
            brackets = "[]" if isinstance(value, list) else ""
            for nested in _records_in(value):
                yield from (f"{key}{brackets}.{path}" for path in nested.unread())


def _as_read(value: object) -> object:
    match value:
        case dict():
            return ReadRecord(value)
        case list():
            return [_as_read(item) for item in value]
        case _:
            return value


def _records_in(value: object) -> Iterator[ReadRecord]:
    if isinstance(value, ReadRecord):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _records_in(item)


UNKNOWN_MODEL = "unknown"
MODEL_KEYS = ("model", "model_name", "generator", "system")
_TEXT_KEYS = ("content", "text", "output", "answer", "response", "completion", "result")


_MOST_OPTIONS = 50
"""Options of a multi-select question; more are tags that everyone makes up."""


@dataclass
class Export:
    """Responses with their ratings and scores, collected record by record.

    Args:
        tool: Tool that wrote the records.
        responses: Columns of each response, by its id.
        ratings: Rating and time of each response, question and human rater.
        scores: Score and reply of each response, question and judge.
        remarks: Raters' remarks on their ratings, by the same keys.
        questions: Texts of questions, by name.
        declared: Questions whose scales the export declares.
        multi_select: Questions of which a rater or judge selected several options.
        notes: Count of each kind of record that was skipped or ambiguous.
        losses: Count of ratings and scores that cannot be stored, by reason.
        n_records: Records read.
        unused_fields: Count of each field that was not read.
    """

    tool: str
    responses: dict[str, dict[str, str]] = field(default_factory=dict)
    ratings: dict[tuple[str, str, str], tuple[str, str]] = field(default_factory=dict)
    scores: dict[tuple[str, str, str], tuple[str, str]] = field(default_factory=dict)
    remarks: dict[tuple[str, str, str], str] = field(default_factory=dict)
    questions: dict[str, str] = field(default_factory=dict)
    declared: dict[str, RubricQuestion] = field(default_factory=dict)
    multi_select: set[str] = field(default_factory=set)
    notes: Counter[str] = field(default_factory=Counter)
    losses: Counter[str] = field(default_factory=Counter)
    n_records: int = 0
    unused_fields: Counter[str] = field(default_factory=Counter)

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
        name = as_text(response_id) or f"unnamed {len(self.responses) + 1}"
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

    def add_rating(  # noqa: PLR0913 - the fields of a rating
        self,
        response_id: str,
        question: str,
        rater: object,
        value: object,
        *,
        at: object = None,
        remark: object = None,
    ) -> None:
        """Add a human rating; of two by one rater the last one counts. None is no rating."""
        if value is None:
            self.notes["ratings are blank"] += 1
            return
        name, rater_id = question.strip(), text_of(rater).strip()
        rating = self._rating_or_selection(name, value)
        if rating is None:
            self.losses[f"ratings of {name} are neither a number nor one choice"] += 1
        elif not rater_id:
            self.losses[f"ratings of {name} do not say who gave them"] += 1
        else:
            self.questions.setdefault(name, name)
            if (response_id, name, rater_id) in self.ratings:
                self.notes["second ratings by one rater; the last one counts"] += 1
            self.ratings[response_id, name, rater_id] = rating, text_of(at)
            if remark:
                self.remarks[response_id, name, rater_id] = text_of(remark)

    def add_score(
        self, response_id: str, question: str, judge: object, value: object, *, reply: object = None
    ) -> None:
        """Add a judge's score; one without a value is kept if there is a reply."""
        name = question.strip()
        score = self._rating_or_selection(name, value)
        if score is None and value is not None:
            self.losses[f"scores of {name} are neither a number nor one choice"] += 1
            return
        self.questions.setdefault(name, name)
        key = response_id, name, text_of(judge).strip() or "judge"
        if key in self.scores:
            self.notes["second scores by one judge; the last one counts"] += 1
        self.scores[key] = score or "", text_of(reply)

    def add_value(
        self, response_id: str, name: str, judge: object, value: object, *, reply: object = None
    ) -> None:
        """Add a value that only its name says who gave: a person's as a rating, or a score."""
        if who(name) is Who.HUMAN:
            self.add_rating(response_id, name, name, value, remark=reply)
        else:
            self.add_score(response_id, name, judge, value, reply=reply)

    def _rating_or_selection(self, name: str, value: object) -> str | None:
        rating = rating_of(value)
        are_options = isinstance(value, list) and value and all(map(rating_of, value))
        if rating is None and are_options and {*map(type, value)} == {str}:  # type: ignore[call-overload] # a list
            self.multi_select.add(name)
            options = dict.fromkeys(option.strip() for option in value)  # type: ignore[attr-defined] # a list
            return json.dumps([*options], ensure_ascii=False)
        return rating

    def split_selections(self) -> None:
        """Make each option of a multi-select question a binary question, as `QUESTION/OPTION`."""
        for name in sorted(self.multi_select):
            entries = [*self.ratings.items(), *self.scores.items()]
            selections = [_options(value) for (_, q, _), (value, _) in entries if q == name]
            options = sorted({option for selection in selections for option in selection})
            if len(options) > _MOST_OPTIONS:
                self.losses[f"ratings of {name} name too many options"] += len(selections)
                options = []
            rated: dict[tuple[str, str, str], Any]
            for rated in (self.ratings, self.scores, self.remarks):
                for key in [key for key in rated if key[1] == name]:
                    value = rated.pop(key)
                    for option in options:
                        part: Any = value  # remarks stay whole
                        if not isinstance(value, str) and value[0]:
                            part = str(int(option in _options(value[0]))), value[1]
                        rated[key[0], f"{name}/{option}", key[2]] = part
            self.questions.pop(name, None)
            for option in options:
                text = f"{name} Does this option apply: {option}?"
                self.declare(RubricQuestion(f"{name}/{option}", text, BINARY, "nominal"))

    def declare(self, question: RubricQuestion) -> None:
        """Add a question with its scale."""
        self.questions[question.id] = question.question
        self.declared[question.id] = question


Reader = Callable[[Iterable[Record], Export], None]


class Importer(NamedTuple):
    """Recognises records of one tool, and adds their content."""

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


def _options(value: str) -> tuple[str, ...]:
    """Return the options that a stored selection names; a single one is stored as it is."""
    with suppress(ValueError):
        if isinstance(options := json.loads(value), list):
            return tuple(options)
    return (value,) if value else ()


def text_of(value: object) -> str:
    """Return any value as text: that of messages, the only text, or else JSON.

    Examples:
        >>> text_of([{"role": "user", "content": "Hi"}]), text_of({"answer": 4}), text_of({"a": 4})
        ('Hi', '4', '{"a": 4}')
        >>> text_of({"customer": "Hi"})
        'Hi'
    """
    if isinstance(value, ReadRecord):
        value.read_all()
    match value:
        case dict():
            texts = (value[k] for k in _TEXT_KEYS if isinstance(value.get(k), str | int | list))
            text, values = next(texts, None), [*value.values()]
            if text is None and len(values) == 1 and isinstance(values[0], str):
                return text_of(values[0])
            return json.dumps(value, ensure_ascii=False) if text is None else text_of(text)
        case list() if all(isinstance(item, str | dict) for item in value):
            return "\n\n".join(filter(None, map(text_of, value)))
        case list():
            return json.dumps(value, ensure_ascii=False)
        case _:  # without characters that a CSV file or DuckDB cannot hold
            return (as_text(value) or "").replace("\0", "").encode(errors="replace").decode()


def at(record: object, *paths: str) -> Any:  # noqa: ANN401 - JSON as it comes
    """Return the value at the first of some paths that has one, which a blank cell is not.

    A path is a key in any spelling, or keys of nested objects with dots between them.

    Examples:
        >>> at({"traceId": 1, "source": {"source_type": "HUMAN"}}, "source.source_type")
        'HUMAN'
        >>> at({"traceId": 1}, "id", "trace_id"), at({"a": [1]}, "a.b"), at({"a.b": 2}, "a.b")
        (1, None, 2)
    """
    return next((value for path in paths if (value := _at(record, path)) not in (None, "")), None)


def _at(record: object, path: str) -> Any:  # noqa: ANN401 - JSON as it comes
    if not isinstance(record, Mapping):
        return None
    spelling = plain(path)
    spellings = (key for key in record if plain(str(key)) == spelling)
    key = path if path in record else next(spellings, None)
    if key is not None:
        return record[key]
    first, _, rest = path.partition(".")
    return _at(_at(record, first), rest) if rest else None


def from_json(value: object) -> object:
    """Return the object, list or text that a text holds as JSON; any other value as it is.

    Examples:
        >>> from_json('{"a": 4}'), from_json('"a"'), from_json("{a}"), from_json("4"), from_json(4)
        ({'a': 4}, 'a', '{a}', '4', 4)
    """
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "[", '"'):
        with suppress(ValueError):
            return json.loads(value)
    return value


def records_at(record: object, path: str) -> Sequence[Record]:
    """Return the objects in a list at a path; none if there is no list."""
    items = at(record, path)
    return [item for item in items if isinstance(item, Mapping)] if isinstance(items, list) else []


def object_at(record: Record, key: str) -> Record:
    """Return the object in a field; an empty one, and the field as unread, if it holds none.

    Examples:
        >>> object_at({"scores": {"tone": 4}}, "scores"), object_at({"scores": 4}, "scores")
        ({'tone': 4}, {})
    """
    # A look at the field does not count as reading it.
    value = dict.get(cast("dict[str, Any]", record), key)
    return record[key] if isinstance(value, Mapping) else {}


def chat_fields(fields: Record) -> dict[str, Any]:
    """Return prompt, response and model under the keys that tools for labelling use."""
    return {
        "prompt": at(fields, *PROMPT_TEXT, "user"),
        "response": at(fields, *RESPONSE_TEXT),
        "model": at(fields, *MODEL_KEYS),
    }
