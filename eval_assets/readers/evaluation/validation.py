"""Parts of a YAML file to nouns: everything that is wrong is noted, with line and remedy."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from eval_assets.errors import DeclarationError, InputProblem, KeyPath, raise_all
from eval_assets.readers._problems import nearest, quoted
from eval_assets.readers.evaluation.yaml_lines import YamlDocument, dotted
from eval_assets.readers.formats.table import as_text

T = TypeVar("T")


class Checks:
    """Problems of one YAML file, gathered part by part.

    Args:
        document: The file, which knows the lines.
    """

    def __init__(self, document: YamlDocument) -> None:
        self._document = document
        self._problems: list[InputProblem] = []
        self._noted: list[KeyPath] = []
        self._elsewhere: dict[KeyPath, tuple[str, int]] = {}
        for path, line in document.repeated:
            problem = document.problem(path, "the key is repeated", "Keep one of the two")
            self._problems.append(replace(problem, line=line))

    def note(self, path: KeyPath, message: str, remedy: str) -> None:
        """Note a problem at `path`, unless one at or below it is noted already."""
        if any(noted[: len(path)] == path for noted in self._noted):
            return
        self._noted.append(path)
        for part, (file, line) in self._elsewhere.items():
            if path[: len(part)] == part:
                column = dotted(path[len(part) :]) or None
                self._problems.append(InputProblem(file, line, column, message, remedy))
                return
        self._problems.append(self._document.problem(path, message, remedy))

    def locate(self, path: KeyPath, *, file: str, line: int) -> None:
        """Report problems at or below `path` in another file, which declares it."""
        self._elsewhere[path] = file, line

    def add(self, problem: InputProblem) -> None:
        """Note a problem of another file."""
        self._problems.append(problem)

    def raise_all(self) -> None:
        """Raise all problems by line, those of other files last; do nothing if there are none."""
        own = self._document.file
        in_order = sorted(self._problems, key=lambda p: (p.file != own, p.line or 0))
        raise_all(in_order, source=own)


def validated(
    checks: Checks,
    noun: type[T],
    raw: Mapping[str, object],
    *,
    at: KeyPath = (),
    instead: Mapping[str, object] | None = None,
) -> T | None:
    """Return the noun that `raw` declares, and note all problems of it.

    Wrong values are taken out, and the rest checked again: a noun checks its keys together only if
    each of them can be read.

    Args:
        checks: Problems are noted here.
        noun: A frozen dataclass: its fields are the keys.
        raw: Values by key.
        at: Path of `raw` in the file.
        instead: Values of required keys with which to go on if they are missing or wrong.

    Returns:
        The noun, without the parts that are wrong; None if a required key is missing or wrong.
    """
    working = _working_copy(raw)
    while True:
        try:
            text = json.dumps([_as_lists(working)], default=str)
            (valid,) = _adapter(noun).validate_json(text)  # type: ignore[arg-type] # it is hashable
        except ValidationError as error:
            faults = list(_faults(error, working, noun))
            for path, message, remedy in faults:
                checks.note((*at, *path), message, remedy)
            if not all(_take_out(working, path, instead or {}) for path, _, _ in faults):
                return None
        else:
            return valid  # type: ignore[no-any-return]


def keys_of(noun: type) -> list[str]:
    """Return the keys that the fields of a noun have in the file."""
    return [alias for alias in _names_by_alias(noun) if not alias.startswith("<")]


def type_at(kind: Any, *path: str | int) -> Any:  # noqa: ANN401 - types are values here
    """Return the type at a path of a noun, or of a tuple or mapping of nouns."""
    for step in path:
        if is_dataclass(kind):
            name = _names_by_alias(kind).get(str(step), "")  # type: ignore[arg-type] # it is a class
            kind = _hints(kind).get(name)  # type: ignore[arg-type] # it is hashable
        else:
            arguments = get_args(kind)
            kind = arguments[0 if get_origin(kind) is tuple else -1] if arguments else None
        if isinstance(kind, UnionType) and NoneType in get_args(kind):
            kind = next(member for member in get_args(kind) if member is not NoneType)
    return kind


def _names_by_alias(noun: type) -> dict[str, str]:
    return {field.metadata.get("alias", field.name): field.name for field in fields(noun)}


@cache
def _hints(noun: type) -> dict[str, Any]:
    return get_type_hints(noun)


@cache
def _adapter(noun: type) -> TypeAdapter[Any]:
    """Return the strict validator of a tuple of one noun; pydantic configures no noun by itself."""
    config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
    return TypeAdapter(tuple[noun], config=config)  # type: ignore[valid-type]


class _List(dict[int, object]):
    """A list from which entries can be taken out while the others keep their positions."""


def _working_copy(value: object) -> Any:  # noqa: ANN401 - as it comes from YAML
    match value:
        case Mapping():
            return {key: _working_copy(item) for key, item in value.items()}
        case list() | tuple():
            return _List((i, _working_copy(item)) for i, item in enumerate(value))
        case _:
            return value


def _as_lists(value: object) -> object:
    match value:
        case _List():
            return [_as_lists(item) for item in value.values()]
        case dict():
            return {key: _as_lists(item) for key, item in value.items()}
        case _:
            return value


def _take_out(working: dict[str, Any], path: KeyPath, instead: Mapping[str, object]) -> bool:
    """Take the value at `path` out, or its entry if it is missing; False if nothing is left."""
    if not path:
        return False
    *above, last = path
    parents: list[Any] = [working]
    for step in above:
        if step not in parents[-1]:
            return True
        parents.append(parents[-1][step])
    if last in parents[-1]:
        del parents[-1][last]
        return True
    if above:
        parents[-2].pop(above[-1], None)
        return True
    if last in instead:
        working[str(last)] = _working_copy(instead[str(last)])
    return last in instead


def _faults(
    error: ValidationError, working: dict[str, Any], noun: type
) -> Iterator[tuple[KeyPath, str, str]]:
    """Yield path, message and remedy of each problem that pydantic or a noun reports."""
    for details in error.errors():
        path = _path_in(working, details["loc"][1:])
        cause = details.get("ctx", {}).get("error")
        if isinstance(cause, DeclarationError):
            for key, message, remedy in cause.faults:
                yield _path_in(working, (*path, *key), n_known=len(path)), message, remedy
        elif details["loc"][-1] in _MEMBERS_OF_UNION and details["type"] in _TYPE_ERRORS:
            message = f"{_written(details['input'])} is not a setting"
            yield path[:-1], message, "Write text, a number, true or false"
        else:
            yield path, *_reported(details, path, noun)


def _path_in(working: object, loc: KeyPath, *, n_known: int = 0) -> KeyPath:
    """Return a location as a path of the file.

    Entries that were taken out count as positions again; the first `n_known` steps count them
    already. The mark that pydantic adds to a key is left off.
    """
    path: list[str | int] = []
    value = working
    for step in loc:
        if isinstance(value, _List) and isinstance(step, int) and len(path) >= n_known:
            step = list(value)[step]  # noqa: PLW2901 - the same step, as the file counts it
        if step != "[key]":
            path.append(step)
            value = value.get(step) if isinstance(value, dict) else None
    return tuple(path)


_MESSAGES = {
    "missing": ("the key is missing", "Add it"),
    "literal_error": ("{value} is not one of the choices", "Use {expected}"),
    "string_type": ("{value} is not text", "Write text, in quotes if YAML sees something else"),
    "float_type": ("{value} is not a number", "Write a number such as 0.75"),
    "finite_number": ("{value} is not a number", "Write a number such as 0.75"),
    "int_type": ("{value} is not a whole number", "Write a whole number such as 1"),
    "bool_type": ("{value} is neither true nor false", "Write true or false"),
    "greater_than_equal": ("{value} is too low", "Use {ge:g} or more"),
    "greater_than": ("{value} is too low", "Use a number above {gt:g}"),
    "less_than_equal": ("{value} is too high", "Use {le:g} or less"),
    "tuple_type": ("{value} is not a list", "Write each entry after a dash"),
    "too_short": ("the list is empty", "Write each entry after a dash"),
    "dataclass_type": ("{value} is not a mapping", "Write keys, each with a value: {keys}"),
    "dict_type": ("{value} is not a mapping", "Write keys, each with a value"),
    "unexpected_keyword_argument": ("there is no such key", "{nearest}"),
}
"""Message and remedy for each of pydantic's error types that our nouns can meet."""

_MEMBERS_OF_UNION = {"str", "int", "float", "bool"}
"""Steps that pydantic adds to the location of a value that no type of `Setting` fits."""

_TYPE_ERRORS = {"string_type", "int_type", "float_type", "bool_type", "finite_number"}


def _reported(details: ErrorDetails, path: KeyPath, noun: type) -> tuple[str, str]:
    kind, value = details["type"], details["input"]
    if kind == "predicate_failed":
        if not str(value).strip():
            return "the text is empty", "Fill it in"
        return f"{_written(value)} has spaces around it", "Remove them"
    if kind == "literal_error" and details["loc"][-1] == "[key]":
        known = map(str, get_args(get_args(type_at(noun, *path[:-1]))[0]))
        return "there is no such key", nearest(str(path[-1]), known)
    if kind not in _MESSAGES:
        return details["msg"], "Write it as the README shows"
    words: dict[str, Any] = {"value": _written(value), "keys": "", "nearest": ""}
    if kind == "dataclass_type":
        words["keys"] = ", ".join(keys_of(type_at(noun, *path)))
    if kind == "unexpected_keyword_argument":
        words["nearest"] = nearest(str(path[-1]), keys_of(type_at(noun, *path[:-1])))
    words |= details.get("ctx", {})
    message, remedy = _MESSAGES[kind]
    return message.format(**words), remedy.format(**words)


def _written(value: object) -> str:
    match value:
        case list() | dict():
            return "this"
        case None:
            return "nothing"
        case str():
            return quoted(value)
        case _:
            return as_text(value) or ""
