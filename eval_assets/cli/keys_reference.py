"""The page docs/keys.md, made from the nouns: `python -m eval_assets.cli.keys_reference`."""

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from annotated_types import Ge, Gt, Le, Lt

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.models import Capabilities
from eval_assets.scale import Scale

PAGE = Path("docs/keys.md")

INTRODUCTION = """
# Keys of evaluation.yaml

Every key, with what it takes and what holds if it is left out. [evaluation.md](evaluation.md)
explains the file. A run reports an unknown key, or a value that a key does not take, with its line.

Made by `python -m eval_assets.cli.keys_reference` from the code.
"""
_BOUNDS = {Ge: "from {ge:g}", Gt: "above {gt:g}", Le: "to {le:g}", Lt: "below {lt:g}"}
_WORDS: dict[object, str] = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
    Path: "file",
    Scale: "`binary`, `likert5`, `{min: 1, max: 5}`, `{min: 0, max: 1, step: null}`, "
    "`{values: [0, 0.5, 1]}` or `{values: [bad, good]}`",
}
_OTHERWISE = {
    "responses": "`responses.csv` or `responses/*`",
    "labels.files": "`labels.csv` or `labels/*`",
    "prompts": "`prompts.tsv` or `prompts/*`",
    "gates": "all three",
    "gates.min": "`0.75`, `0.667`, `0.667`",
    "rubric.scale": "guessed from the labels",
    "rubric.level": "`nominal` if binary, `ordinal` if the steps are whole, else `interval`",
}
"""Defaults that the readers decide, not the noun."""


def keys_reference() -> str:
    """Return every key that evaluation.yaml may have, as Markdown."""
    parts = [INTRODUCTION.strip()]
    for path, noun in _sections(Evaluation, ""):
        summary = (inspect.getdoc(noun) or "").splitlines()[0]
        parts.append(f"## {f'`{path}`' if path else 'The file'}\n\n{summary}")
        parts.append("\n".join(_table(noun, path)))
    return "\n\n".join(parts) + "\n"


def _sections(noun: type, path: str) -> Iterator[tuple[str, type]]:
    """Yield a noun and the nouns below it, each with its place in the file."""
    yield path, noun
    for key, _, kind in _keys(noun):
        below, mark = (Capabilities, ".<name>") if key == "capabilities" else _noun_of(kind)
        if below is not None:
            yield from _sections(below, f"{path}.{key}{mark}".removeprefix("."))


def _keys(noun: type) -> Iterator[tuple[str, Field[Any], Any]]:
    """Yield the keys of a noun, its own first, with field and type; not what the readers set."""
    hints = get_type_hints(noun, include_extras=True)
    for each in sorted(fields(noun), key=lambda each: each.name not in noun.__annotations__):
        key = each.metadata.get("alias", each.name)
        if not key.startswith("<"):
            yield key, each, hints[each.name]


def _noun_of(kind: Any) -> tuple[type | None, str]:  # noqa: ANN401 - types are values here
    """Return the noun that a type holds, and how its place is marked: [] in a list."""
    for member in _members(kind):
        bare = _bare(member)
        if is_dataclass(bare) and bare is not Scale:
            return bare if isinstance(bare, type) else None, ""
        inner = get_args(bare)
        if get_origin(bare) is tuple and is_dataclass(inner[0]) and isinstance(inner[0], type):
            return inner[0], "[]"
        if get_origin(bare) is Mapping and isinstance(inner[1], type) and is_dataclass(inner[1]):
            return inner[1], ".<name>"
    return None, ""


def _table(noun: type, path: str) -> Iterator[str]:
    meanings = _meanings(noun)
    yield "| key | takes | without it | means |"
    yield "| --- | --- | --- | --- |"
    for key, each, kind in _keys(noun):
        place = f"{path}.{key}".replace("[]", "").replace(".<name>", "").removeprefix(".")
        row = (f"`{key}`", _takes(kind), _OTHERWISE.get(place) or _default(each))
        yield "| " + " | ".join([*row, meanings.get(each.name, "")]) + " |"


def _takes(kind: Any) -> str:  # noqa: ANN401 - types are values here
    """Return what a key of this type takes, in words."""
    words = [_in_words(member) for member in _members(kind) if member is not NoneType]
    return " or ".join(dict.fromkeys(words))


def _in_words(kind: Any) -> str:  # noqa: ANN401 - types are values here
    bare, inner = _bare(kind), get_args(_bare(kind))
    if bare in _WORDS:
        noun = _WORDS[bare]
        bounds = [
            words.format(**vars(limit) if hasattr(limit, "__dict__") else _slots(limit))
            for limit in getattr(kind, "__metadata__", ())
            if (words := _BOUNDS.get(type(limit)))
        ]
        return " ".join([noun, *bounds])
    if get_origin(bare) is Literal:
        return ", ".join(f"`{choice}`" for choice in inner)
    if get_origin(bare) is tuple:
        if _bare(inner[0]) is Path:
            return "a file, a pattern or a list of them"
        return (
            "a list of keys as below" if is_dataclass(inner[0]) else f"a list: {_takes(inner[0])}"
        )
    if get_origin(bare) is Mapping:
        names = ", ".join(f"`{name}`" for name in get_args(inner[0])) or "names"
        return f"{names}, each with {'keys as below' if _noun_of(kind)[0] else 'a value'}"
    if is_dataclass(bare):
        return "keys as below"
    raise AssertionError(f"the reference has no words for {kind}")


def _slots(limit: object) -> dict[str, object]:
    return {each.name: getattr(limit, each.name) for each in fields(limit)}  # type: ignore[arg-type]


def _default(each: Field[Any]) -> str:
    """Return what holds without the key."""
    if each.default_factory is not MISSING:
        value = each.default_factory()
    elif each.default is not MISSING:
        value = each.default
    else:
        return "required"
    if is_dataclass(value):
        return "as below"
    if isinstance(value, bool):
        value = str(value).lower()
    values = value if isinstance(value, tuple) else () if value in (None, "", {}) else (value,)
    return ", ".join(f"`{item}`" for item in values) or "none"


def _meanings(noun: type) -> dict[str, str]:
    """Return what the docstrings of a noun and of those that it extends say of each field."""
    found: dict[str, str] = {}
    for each in reversed(noun.__mro__):
        text = inspect.getdoc(each) or ""
        arguments = re.search(r"^Args:\n((?:    .*\n|\n)*)", f"{text}\n", re.MULTILINE)
        for name, words in re.findall(
            r"^    (\w+): (.*\n(?:        .*\n)*)", arguments[1] if arguments else "", re.MULTILINE
        ):
            found[name] = " ".join(words.split()).rstrip(".").replace("None", "none")
    return found


def _members(kind: Any) -> tuple[Any, ...]:  # noqa: ANN401 - types are values here
    return get_args(kind) if get_origin(kind) in {UnionType, Union} else (kind,)


def _bare(kind: Any) -> Any:  # noqa: ANN401 - types are values here
    """Return a type without what limits its values."""
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(keys_reference(), encoding="utf-8")
