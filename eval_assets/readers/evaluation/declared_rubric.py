"""Rubrics in any form of declaration, in evaluation.yaml or a file."""

import json
import re
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from eval_assets.config.types import Text
from eval_assets.errors import InputError, InputProblem, KeyPath
from eval_assets.readers.evaluation.input_files import existing, files_in_folder
from eval_assets.readers.evaluation.validation import Checks, validated
from eval_assets.readers.formats.contents import FORMATS, format_of, read_table
from eval_assets.readers.formats.files import read_text
from eval_assets.readers.formats.table import as_text, plain, without_blanks
from eval_assets.readers.problems import quoted
from eval_assets.scale import BINARY, Scale

_FORMS = (
    "Use binary, likert5, {min: 1, max: 4}, {min: 0, max: 1, step: null}, {values: [0, 0.5, 1]} "
    "or {values: [bad, good]}"
)
_MOST_STEPS = 1_000_000
_COLUMNS = {
    "id": ("question_id", "id"),
    "question": ("question",),
    **{name: (name,) for name in ("scale", "level", "guidelines")},
}
_FILE_OF_GUIDELINES = re.compile(r"[^\n]+\.(md|txt)")
_ANY = Scale(low=0, high=1)
"""Placeholder of a wrong scale, so that the rest of its question is checked too."""

_COMPARISON = Scale.from_words("A is better", "no difference", "B is better")
"""Scale of a comparison that declares none."""

STAND_IN: list[object] = [
    {"id": "none", "question": "none", "scale": {"low": 0, "high": 1}, "level": "interval"}
]
"""Placeholder of a missing or unreadable rubric, so that the other sections are checked too."""


@dataclass(frozen=True)
class ScaleSteps:
    """A scale from `min` to `max`; with `step: null` every number between them."""

    min: float
    max: float
    step: float | None = 1.0

    def scale(self) -> Scale:
        """Return the declared scale."""
        if self.step is None:
            return Scale(low=self.min, high=self.max)
        if self.step > 0 and (self.max - self.min) / self.step > _MOST_STEPS:
            most = f"{_MOST_STEPS:,} steps"
            raise ValueError(f"a scale has at most {most}, otherwise write step: null")
        return Scale.from_steps(low=self.min, high=self.max, step=self.step)


@dataclass(frozen=True)
class ScaleValues:
    """A scale of the values named."""

    values: tuple[float, ...]

    def scale(self) -> Scale:
        """Return the declared scale."""
        if not self.values:
            raise ValueError("a scale needs two values or more, got none")
        return Scale(low=self.values[0], high=self.values[-1], values=self.values)


@dataclass(frozen=True)
class ScaleWords:
    """A scale of words, worst first, which stand for 0, 1, 2, and so on."""

    values: tuple[Text, ...]

    def scale(self) -> Scale:
        """Return the declared scale."""
        return Scale.from_words(*map(str.strip, self.values))


def declared_rubric(checks: Checks, raw: object, *, folder: Path) -> object:
    """Return the rubric in canonical form: a scale by its values, a level for every question.

    `raw` is the rubric as written, or the name of its file.
    """
    files = files_in_folder(folder, "rubric") if raw is None else ()
    file = next((path for path in files if format_of(path) in FORMATS), None)
    if isinstance(raw, str):
        file = existing(checks, raw, ("rubric",), folder=folder)
    if file is not None:
        raw = _rubric_of_file(checks, file, folder=folder) if file.is_file() else None
        if raw is None:
            return STAND_IN
    if not isinstance(raw, list):
        return raw
    return [
        _question(checks, entry, ("rubric", position), folder=folder)
        if isinstance(entry, dict)
        else entry
        for position, entry in enumerate(raw)
    ]


def _question(
    checks: Checks, entry: dict[str, object], at: KeyPath, *, folder: Path
) -> dict[str, object]:
    question = {key: value for key, value in entry.items() if value is not None}
    if "scale" in question:
        scale = _declared_scale(checks, question["scale"], (*at, "scale"))
    elif entry.get("options"):
        scale = BINARY
    elif entry.get("type") == "pairwise":
        scale = _COMPARISON
    else:
        scale, remedy = None, "Declare it, as in scale: {min: 1, max: 5}"
        checks.note((*at, "scale"), "the question declares no scale", remedy)
    if scale is None:
        scale, question["level"] = _ANY, "interval"
    question["scale"] = asdict(scale)
    limits = question.get("applies_to")
    if isinstance(limits, dict):
        question["applies_to"] = {
            column: list(map(as_text, values if isinstance(values, list) else [values]))
            for column, values in limits.items()
        }
    question.setdefault("level", scale.default_level())
    if isinstance(question.get("question"), str):
        question["question"] = str(question["question"]).strip()
    guidelines = question.get("guidelines")
    if isinstance(guidelines, str) and _FILE_OF_GUIDELINES.fullmatch(guidelines):
        path = existing(checks, guidelines, (*at, "guidelines"), folder=folder)
        try:
            text = read_text(path, file=guidelines) if path.is_file() else ""
            question["guidelines"] = text.strip()
        except InputError as error:
            checks.add(error.problem)
            question["guidelines"] = ""
    return question


def _declared_scale(checks: Checks, raw: object, at: KeyPath) -> Scale | None:
    if not isinstance(raw, str | dict):
        checks.note(at, f"{quoted(str(raw))} is not a scale", _FORMS)
        return None
    try:
        if isinstance(raw, str):
            return Scale.parse(raw)
        values = raw.get("values")
        in_words = isinstance(values, list) and any(isinstance(value, str) for value in values)
        form: type[ScaleWords | ScaleValues | ScaleSteps] = ScaleSteps
        if "values" in raw:
            form = ScaleWords if in_words else ScaleValues
        declared = validated(checks, form, raw, at=at)
        return declared.scale() if declared is not None else None
    except ValueError as error:
        checks.note(at, str(error), _FORMS)
        return None


def _rubric_of_file(checks: Checks, path: Path, *, folder: Path) -> list[object] | None:
    """Return the questions of a file as entries of evaluation.yaml, None if it has none."""
    try:
        table = read_table(path, folder=folder)
    except InputError as error:
        checks.add(error.problem)
        return None
    checks.add(*table.bad_rows)
    missing = [_COLUMNS[k][0] for k in ("id", "question") if not table.header_of(*_COLUMNS[k])]
    if missing:
        message = f"there is no column {' and no column '.join(missing)}"
        checks.add(InputProblem(table.file, 1, None, message, "Add it for every row"))
        return None
    rubric_columns = {name for names in _COLUMNS.values() for name in names}
    limiting = [header for header in table.columns if plain(header) not in rubric_columns]
    questions: dict[object, dict[str, object]] = {}
    for row, line in enumerate(table.lines):
        parsed = {key: _parsed(table.cells(*names)[row]) for key, names in _COLUMNS.items()}
        entry = {key: value for key, value in parsed.items() if value is not None}
        cells = {header: _values(table.columns[header][row]) for header in limiting}
        limits = {header: values for header, values in cells.items() if values}
        known_question = questions.get(entry.get("id"))
        if known_question is None:
            checks.locate(("rubric", len(questions)), file=table.file, line=line)
            questions[entry.get("id")] = entry | ({"applies_to": limits} if limits else {})
        elif not _add_values(known_question, entry, limits):
            message = "the question is repeated with another text, scale or limit"
            header, remedy = table.header_of(*_COLUMNS["id"]), "Keep one of the rows"
            checks.add(InputProblem(table.file, line, header, message, remedy))
    if not questions:
        message = "the rubric has no questions"
        checks.add(InputProblem(table.file, 1, None, message, "Add a row for each"))
    return list(questions.values()) or None


def _parsed(cell: object) -> object:
    """Return the stripped text of a cell, or the object in it."""
    content: object = without_blanks(cell) if isinstance(cell, str) else cell
    if isinstance(content, str) and content.startswith("{"):
        with suppress(ValueError):
            content = json.loads(content)
    return content


def _values(cell: object) -> list[str]:
    """Return the values in a cell: one, or a list in JSON."""
    cells = cell if isinstance(cell, list) else [cell]
    return [text for value in cells if (text := without_blanks(as_text(value))) is not None]


def _add_values(
    known: dict[str, object], entry: dict[str, object], applies_to: dict[str, list[str]]
) -> bool:
    """Add the limits of a row to those of its question; return whether they differ in one only."""
    limits = known.get("applies_to")
    rest = {key: value for key, value in known.items() if key != "applies_to"}
    if rest != entry or not isinstance(limits, dict) or limits.keys() != applies_to.keys():
        return False
    differing = [column for column, values in applies_to.items() if limits[column] != values]
    if len(differing) != 1:
        return False
    limits[differing[0]] = list(dict.fromkeys([*limits[differing[0]], *applies_to[differing[0]]]))
    return True
