"""YAML with the line of each key, and without the keys that YAML would drop silently."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import yaml

from eval_assets.problems import InputError, InputProblem

_FAST = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""LibYAML where it is there: ten times as fast, and every asset of a run reads the file."""

Path = tuple[str | int, ...]
"""Keys and places that lead from the top of a document to a value."""


@dataclass(frozen=True)
class YamlDocument:
    """A YAML file: what it says, and where.

    Args:
        file: File, as messages name it.
        value: What it says, in Python's values.
        lines: Line of each value, counted from 1, by its path with places as text.
        repeated: Keys that are there more than once in one mapping, with the line of the second.
    """

    file: str
    value: object
    lines: dict[tuple[str, ...], int] = field(default_factory=dict)
    repeated: list[tuple[Path, int]] = field(default_factory=list)

    def problem(self, path: Path, what: str, remedy: str) -> InputProblem:
        """A problem at `path`, or at the nearest place above it that is in the file."""
        # A key can be a number; as text it cannot be taken for a place in a list, nor missed.
        keys = tuple(map(str, path))
        known = next(keys[:n] for n in range(len(keys), -1, -1) if keys[:n] in self.lines)
        return InputProblem(self.file, self.lines[known], dotted(path) or None, what, remedy)


def read_yaml(text: str, *, file: str) -> YamlDocument:
    r"""The one document in a YAML text.

    Raises:
        InputError: If the text is not YAML.

    Examples:
        >>> document = read_yaml("name: a\njudges:\n- {id: x}\n", file="evaluation.yaml")
        >>> document.value, document.lines["judges", "0", "id"]
        ({'name': 'a', 'judges': [{'id': 'x'}]}, 3)
    """
    try:
        node, value = _parsed(text)
    # Dates that do not exist are ValueErrors, and brackets a thousand deep RecursionErrors.
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else None
        reason = getattr(error, "problem", None) or str(error).splitlines()[0]
        what = f"the file is not YAML ({reason})"
        remedy = "Check the indentation, and put quotes around text with : # [ ] { }"
        raise InputError(InputProblem(file, line, None, what, remedy)) from error
    document = YamlDocument(file, value, {(): 1})
    for path, key_line in _walk(node, (), seen=set()) if node else ():
        keys = tuple(map(str, path))
        if keys in document.lines:
            document.repeated.append((path, key_line))
        document.lines.setdefault(keys, key_line)
    return document


def _parsed(text: str) -> tuple[yaml.Node | None, object]:
    """The document's nodes, which know their lines, and its value."""
    try:
        return yaml.compose(text, Loader=_FAST), yaml.load(text, Loader=_FAST)  # noqa: S506
    except yaml.YAMLError:
        # The slower loader says better what is wrong.
        return yaml.compose(text, Loader=yaml.SafeLoader), yaml.safe_load(text)


def dotted(path: Sequence[str | int]) -> str:
    """A path as one word.

    Examples:
        >>> dotted(("rubric", 0, "scale", "min"))
        'rubric[0].scale.min'
    """
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in path]
    return "".join(parts).removeprefix(".")


def _walk(node: yaml.Node, path: Path, *, seen: set[int]) -> Iterator[tuple[Path, int]]:
    """Path and line of everything below the node; what an alias repeats is walked once."""
    if id(node) in seen:
        return
    seen.add(id(node))
    children: list[tuple[str | int, yaml.Node, yaml.Node]] = []
    if isinstance(node, yaml.MappingNode):
        children = [(str(key.value), key, value) for key, value in node.value]
    elif isinstance(node, yaml.SequenceNode):
        children = [(place, item, item) for place, item in enumerate(node.value)]
    for name, marked, child in children:
        yield (*path, name), marked.start_mark.line + 1
        yield from _walk(child, (*path, name), seen=seen)
