"""YAML with the line of each key, and without the keys that YAML would drop silently."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import yaml

from eval_assets.errors import InputProblem, KeyPath
from eval_assets.readers._problems import input_error

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
        """Return a problem at `path`, or at the nearest place above it that is in the file."""
        # A key can be a number; as text it is neither taken for a list position nor missed.
        keys = tuple(map(str, path))
        known = next(keys[:n] for n in range(len(keys), -1, -1) if keys[:n] in self.lines)
        return InputProblem(self.file, self.lines[known], dotted(path) or None, message, remedy)


def read_yaml(text: str, *, file: str) -> YamlDocument:
    r"""Return the one document in a YAML text.

    Raises:
        InputError: If the text is not YAML, or is nested too deeply for a file that people write.

    Examples:
        >>> document = read_yaml("name: a\njudges:\n- {id: x}\n", file="evaluation.yaml")
        >>> document.value, document.lines["judges", "0", "id"]
        ({'name': 'a', 'judges': [{'id': 'x'}]}, 3)
    """
    try:
        _check_depth(text)
        node, value = _parsed(text)
        line_of_path = list(_walk(node, ())) if node else []
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else None
        reason = getattr(error, "problem", None) or str(error).splitlines()[0]
        message = f"the file is not YAML ({reason})"
        remedy = "Check the indentation, and put quotes around text with : # [ ] { }"
        raise input_error(file, message, remedy, line=line) from error
    document = YamlDocument(file, _as_json(value), {(): 1})
    for path, key_line in line_of_path:
        keys = tuple(map(str, path))
        if keys in document.lines:
            document.repeated.append((path, key_line))
        document.lines.setdefault(keys, key_line)
    return document


def top_level_text(text: str, key: str) -> str | None:
    r"""Return the text of a key at the top level, also of YAML that is broken further down.

    Examples:
        >>> top_level_text("name: 'a b' # mine\nrubric: [", "name")
        'a b'
    """
    depth, current = 0, None
    with suppress(yaml.YAMLError):
        for event in yaml.parse(text, Loader=_Loader):
            if depth == 1 and not isinstance(event, yaml.CollectionEndEvent):
                value = event.value if isinstance(event, yaml.ScalarEvent) else ""
                if current == key:
                    return str(value) or None
                current = value if current is None else None
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
    return None


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


def _parsed(text: str) -> tuple[yaml.Node | None, object]:
    """Return the document's nodes, which know their lines, and its value."""
    try:
        return yaml.compose(text, Loader=_Loader), yaml.load(text, Loader=_Loader)  # noqa: S506
    except yaml.YAMLError:
        # The slower loader explains errors better.
        yaml.compose(text, Loader=yaml.SafeLoader)
        raise


def _walk(node: yaml.Node, path: KeyPath) -> Iterator[tuple[KeyPath, int]]:
    """Yield path and line of everything below the node.

    Raises:
        YAMLError: If aliases repeat the document in itself, or many times over.
    """
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


def _as_json(value: object) -> object:
    """Return the value with text as keys, and other values than those of JSON as text."""
    match value:
        case dict():
            names = (str(k).lower() if isinstance(k, bool) else str(k) for k in value)
            return dict(zip(names, map(_as_json, value.values()), strict=True))
        case list() | set() | tuple():
            return [_as_json(item) for item in value]
        case bool() | int() | float() | str() | None:
            return value
        case _:
            return str(value)
