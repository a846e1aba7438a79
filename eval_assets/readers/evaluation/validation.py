"""YAML with the line of each key, and its parts as validated dataclasses."""

import json
import re
from collections import UserDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache, lru_cache
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import yaml
from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from eval_assets.errors import DeclarationError, InputProblem, KeyPath, raise_all
from eval_assets.readers.formats.table import as_text
from eval_assets.readers.problems import input_error, nearest, quoted

try:  # LibYAML is ten times as fast.
    from yaml import CSafeLoader as FastLoader
except ImportError:  # pragma: no cover - depends on how PyYAML was built
    from yaml import SafeLoader as FastLoader  # type: ignore[assignment]

_DEEPEST = 50
_MOST_VALUES = 200_000


class _Loader(FastLoader):
    """Plain values only: as in YAML 1.2 a date is text, and so are `yes` and `no`."""


_LOOSER = {"tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:bool"}
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in _LOOSER]
    for first, resolvers in FastLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile("^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)


@dataclass(frozen=True)
class YamlDocument:
    """A YAML file: its content, and the line of each part.

    Args:
        file: File, as messages name it.
        value: Its content as JSON has it: mappings with text as keys, lists, text, numbers.
        lines: Line of each value, counted from 1, by its path with positions as text.
        repeated: Keys that are repeated in one mapping, with the line of the second.
    """

    file: str
    value: object
    lines: dict[tuple[str, ...], int] = field(default_factory=dict)
    repeated: list[tuple[KeyPath, int]] = field(default_factory=list)

    def problem(self, path: KeyPath, message: str, remedy: str) -> InputProblem:
        """Return a problem at `path`, or at the nearest parent that is in the file."""
        # A key can be a number; as text it is neither taken for a list position nor missed.
        keys = tuple(map(str, path))
        known_keys = next(keys[:n] for n in range(len(keys), -1, -1) if keys[:n] in self.lines)
        line = self.lines[known_keys]
        return InputProblem(self.file, line, dotted(path) or None, message, remedy)


@lru_cache
def read_yaml(text: str, *, file: str) -> YamlDocument:
    r"""Return the one document in a YAML text, which is parsed once.

    Raises:
        InputError: If the text is not YAML, or is nested too deeply for a file that people write.

    Examples:
        >>> document = read_yaml("name: a\njudges:\n- {id: x}\n", file="evaluation.yaml")
        >>> document.value, document.lines["judges", "0", "id"]
        ({'name': 'a', 'judges': [{'id': 'x'}]}, 3)
    """
    try:
        _check_depth(text)
        try:
            node, value = yaml.compose(text, Loader=_Loader), yaml.load(text, Loader=_Loader)  # noqa: S506
        except yaml.YAMLError:
            yaml.compose(text, Loader=yaml.SafeLoader)  # which explains errors better
            raise
        line_of_path = list(_walk(node, ())) if node else []
        value = json.loads(json.dumps(value, default=_listed))  # with text as keys
    except (yaml.YAMLError, ValueError, TypeError) as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else None
        reason = getattr(error, "problem", None) or str(error).splitlines()[0]
        message = f"the file is not YAML ({reason})"
        remedy = "Check the indentation, and put quotes around text with : # [ ] { }"
        raise input_error(file, message, remedy, line=line) from error
    document = YamlDocument(file, value, {(): 1})
    for path, key_line in line_of_path:
        keys = tuple(map(str, path))
        if keys in document.lines:
            document.repeated.append((path, key_line))
        document.lines.setdefault(keys, key_line)
    return document


def dotted(path: Sequence[str | int]) -> str:
    """Return a path as one word.

    Examples:
        >>> dotted(("rubric", 0, "scale", "min"))
        'rubric[0].scale.min'
    """
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in path]
    return "".join(parts).removeprefix(".")


def _check_depth(text: str) -> None:
    """Raise ValueError if the text is nested so deeply that loading it exhausts the stack."""
    depth = 0
    with suppress(yaml.YAMLError):  # which loading the text explains
        for event in yaml.parse(text, Loader=_Loader):
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            if depth > _DEEPEST:
                raise ValueError(f"it is nested more than {_DEEPEST} deep")


def _walk(node: yaml.Node, path: KeyPath) -> Iterator[tuple[KeyPath, int]]:
    """Yield path and line of everything below the node."""
    waiting: list[tuple[yaml.Node, KeyPath, frozenset[int]]] = [(node, path, frozenset())]
    n_values = 0
    while waiting:
        current, at, parents = waiting.pop()
        n_values += 1
        if id(current) in parents or n_values > _MOST_VALUES:
            problem = "an alias repeats what it is part of, or far too much"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=current.start_mark)
        children: list[tuple[str | int, yaml.Node, yaml.Node]] = []
        if isinstance(current, yaml.MappingNode):
            children = [(str(key.value), key, value) for key, value in current.value]
        elif isinstance(current, yaml.SequenceNode):
            children = [(i, item, item) for i, item in enumerate(current.value)]
        inside = parents | {id(current)}
        for name, marked, child in children:
            yield (*at, name), marked.start_mark.line + 1
            waiting.append((child, (*at, name), inside))


T = TypeVar("T")


class Checks:
    """Problems of one YAML file, gathered part by part."""

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

    def add(self, *problems: InputProblem) -> None:
        """Note problems of another file."""
        self._problems += problems

    def raise_all(self) -> None:
        """Raise all problems by line, those of other files last; do nothing if there are none."""
        main_file = self._document.file
        in_order = sorted(self._problems, key=lambda p: (p.file != main_file, p.line or 0))
        raise_all(in_order, source=main_file)


def validated(
    checks: Checks,
    noun: type[T],
    raw: Mapping[str, object],
    *,
    at: KeyPath = (),
    instead: Mapping[str, object] | None = None,
) -> T | None:
    """Return the dataclass that `raw` declares, without wrong parts, which are noted.

    Wrong values are taken out, and the rest checked again: a noun checks its keys together only if
    each of them can be read. Required keys that are missing or wrong are taken from `instead`; the
    result is None if it has none. `at` is the path of `raw` in the file.
    """
    working = _working_copy(raw)
    while True:
        try:
            text = json.dumps([working], default=_listed)
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


@cache
def _names_by_alias(noun: type) -> dict[str, str]:
    return {field.metadata.get("alias", field.name): field.name for field in fields(noun)}


_hints = cache(get_type_hints)


@cache
def _adapter(noun: type) -> TypeAdapter[Any]:
    """Return the strict validator of a tuple of one noun; pydantic configures no noun by itself."""
    config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
    return TypeAdapter(tuple[noun], config=config)  # type: ignore[valid-type]


class _List(UserDict[int, object]):
    """A list from which entries can be taken out while the others keep their positions."""


def _working_copy(value: object) -> Any:  # noqa: ANN401 - as it comes from YAML
    match value:
        case Mapping():
            return {key: _working_copy(item) for key, item in value.items()}
        case list() | tuple():
            return _List((i, _working_copy(item)) for i, item in enumerate(value))
        case _:
            return value


def _listed(value: object) -> object:
    """Return what JSON has for a set, a list of which entries are left, or any other value."""
    if isinstance(value, set):
        return [*value]
    return [*value.values()] if isinstance(value, _List) else str(value)


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
    """Return a location as a path of the file."""
    path: list[str | int] = []
    value = working
    for step in loc:
        if isinstance(value, _List) and isinstance(step, int) and len(path) >= n_known:
            step = list(value)[step]  # noqa: PLW2901 - the same step, as the file counts it
        if step != "[key]":
            path.append(step)
            value = value.get(step) if isinstance(value, Mapping) else None
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
    "less_than": ("{value} is too high", "Use a number below {lt:g}"),
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
        known_values = map(str, get_args(get_args(type_at(noun, *path[:-1]))[0]))
        return "there is no such key", nearest(str(path[-1]), known_values)
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
