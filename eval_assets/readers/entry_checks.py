"""Entries of a YAML file held against their models: everything that is wrong, in our words."""

from collections.abc import Mapping
from typing import TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from eval_assets.problems import InputProblem
from eval_assets.readers.evaluation_entries import Entry
from eval_assets.readers.table import as_text
from eval_assets.readers.wording import nearest, shown
from eval_assets.readers.yaml_lines import Path, YamlDocument

E = TypeVar("E", bound=Entry)


class EntryChecks:
    """Problems of one document, gathered entry by entry.

    Args:
        document: The document, which knows the lines.
    """

    def __init__(self, document: YamlDocument) -> None:
        self._document = document
        self._problems: list[InputProblem] = []
        for path, line in document.repeated:
            problem = document.problem(path, "the key is there twice", "Keep one of the two")
            self._problems.append(
                InputProblem(problem.file, line, problem.column, problem.what, problem.remedy)
            )

    def note(self, path: Path, what: str, remedy: str) -> None:
        """Note what is wrong at `path`."""
        self._problems.append(self._document.problem(path, what, remedy))

    def add(self, problem: InputProblem) -> None:
        """Note a problem of another file."""
        self._problems.append(problem)

    def entry(self, model: type[E], raw: object, path: Path) -> E | None:
        """The entry, or None where something is wrong with it, which is noted."""
        try:
            return model.model_validate(raw)
        except ValidationError as error:
            self._note_all(error, model, path)
            return None

    def document(self, model: type[E], raw: object, *, instead: Mapping[str, object]) -> E | None:
        """The whole document; parts that are wrong are noted and left at what is given `instead`.

        So the other parts can be checked as well. None where the document is no mapping.
        """
        try:
            return model.model_validate(raw)
        except ValidationError as error:
            self._note_all(error, model, ())
            if not isinstance(raw, dict):
                return None
            wrong = {details["loc"][0] for details in error.errors()}
            usable = {
                key: raw[key] for key in raw if key in model.model_fields and key not in wrong
            }
            return model.model_construct(**{**instead, **usable})

    def note_repeated(self, section: str, ids: Mapping[int, str]) -> None:
        """Note each id that an entry of the section before has; `ids` are by place."""
        known: set[str] = set()
        for place, name in ids.items():
            if name in known:
                what = f'the id "{name}" is there twice'
                self.note((section, place, "id"), what, "Give each its own id")
            known.add(name)

    def in_order(self) -> list[InputProblem]:
        """All problems by line, those of other files last."""
        own = self._document.file
        return sorted(self._problems, key=lambda problem: (problem.file != own, problem.line or 0))

    def _note_all(self, error: ValidationError, model: type[Entry], path: Path) -> None:
        for details in error.errors():
            # pydantic marks what is wrong with a key itself by a last step of this name.
            inner = (step for step in details["loc"] if step != "[key]")
            self.note((*path, *inner), *_told(details, model))


_TOLD = {
    "missing": ("the key is missing", "Add it"),
    "literal_error": ("{found} is not one of the choices", "Use {expected}"),
    "string_type": ("{found} is not text", "Write text, in quotes where YAML sees something else"),
    "string_too_short": ("the text is empty", "Fill it in"),
    "float_type": ("{found} is not a number", "Write a number such as 0.75"),
    "finite_number": ("{found} is not a number", "Write a number such as 0.75"),
    "int_type": ("{found} is not a whole number", "Write a whole number such as 1"),
    "bool_type": ("{found} is neither true nor false", "Write true or false"),
    "greater_than_equal": ("{found} is too low", "Use {ge:g} or more"),
    "greater_than": ("{found} is too low", "Use a number above {gt:g}"),
    "less_than_equal": ("{found} is too high", "Use {le:g} or less"),
    "list_type": ("{found} is not a list", "Write each entry after a dash"),
    "too_short": ("the list is empty", "Write each entry after a dash"),
    "model_type": ("{found} is not a mapping", "Write some of the keys {keys}, each with a value"),
    "dict_type": ("{found} is not a mapping", "Write keys, each with a value"),
}
"""Finding and remedy for each of pydantic's error types that our entries can meet."""


def _told(details: ErrorDetails, model: type[Entry]) -> tuple[str, str]:
    """What pydantic found, and what to do about it."""
    if details["type"] == "extra_forbidden":
        return "there is no such key", nearest(str(details["loc"][-1]), model.model_fields)
    if details["type"] not in _TOLD:
        return details["msg"], "Write it as the README shows"
    what, remedy = _TOLD[details["type"]]
    words = {"found": _written(details["input"]), "keys": ", ".join(model.model_fields)}
    words |= details.get("ctx", {})
    return what.format(**words), remedy.format(**words)


def _written(value: object) -> str:
    """A YAML value as a message names it."""
    match value:
        case list() | dict():
            return "this"
        case None:
            return "nothing"
        case str():
            return shown(value)
        case _:
            return as_text(value) or ""
