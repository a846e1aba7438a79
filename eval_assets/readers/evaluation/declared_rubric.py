"""Scales and levels of a rubric, in any of the forms in which people declare them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from eval_assets.config.types import Text
from eval_assets.errors import InputError, KeyPath
from eval_assets.readers._guessed_scales import guessed_scales
from eval_assets.readers._problems import quoted
from eval_assets.readers.evaluation.input_files import existing, files_in_folder
from eval_assets.readers.evaluation.rubric_file import rubric_of_file
from eval_assets.readers.evaluation.validation import Checks, validated
from eval_assets.readers.formats.files import read_text
from eval_assets.readers.formats.table import as_text
from eval_assets.readers.formats.tables import FORMATS, format_of
from eval_assets.scale import Scale

_FORMS = (
    "Use binary, likert5, {min: 1, max: 4}, {min: 0, max: 1, step: null}, {values: [0, 0.5, 1]} "
    "or {values: [bad, good]}"
)
_MOST_STEPS = 1_000_000
STAND_IN: list[object] = [
    {"id": "none", "question": "none", "scale": {"min": 0, "max": 1}, "level": "interval"}
]
"""Stands in for a rubric that cannot be read, so that the other sections are checked too."""

_FILE_OF_GUIDELINES = re.compile(r"[^\n]+\.(md|txt)")
_ANY = Scale(low=0, high=1)
"""Stands in for a scale that is wrong, so that the rest of its question is checked too."""


@dataclass(frozen=True)
class ScaleSteps:
    """A scale from `min` to `max`; with `step: null` every number between them."""

    min: float
    max: float
    step: float | None = 1.0


@dataclass(frozen=True)
class ScaleValues:
    """A scale of the values named."""

    values: tuple[float, ...]


@dataclass(frozen=True)
class ScaleWords:
    """A scale of words, worst first, which stand for 0, 1, 2, and so on."""

    values: tuple[Text, ...]


def declared_rubric(
    checks: Checks, raw: object, label_files: Sequence[Path], *, folder: Path
) -> object:
    """Return the rubric as the noun has it: a scale by its values, a level for every question.

    Args:
        checks: Problems are noted here.
        raw: The rubric as the file has it, or the name of a file that holds it.
        label_files: Labels from which scales are guessed, read only if one is not declared.
        folder: Evaluation folder.
    """
    file = _rubric_file(checks, raw, folder=folder)
    if file is not None:
        found = rubric_of_file(checks, file, folder=folder) if file.is_file() else None
        raw = found or STAND_IN
    if not isinstance(raw, list):
        return raw
    entries = [entry for entry in raw if isinstance(entry, dict)]
    ids = [str(entry["id"]).strip() for entry in entries if "id" in entry]
    guesses: Mapping[str, Scale] = {}
    if any(entry.get("scale") is None for entry in entries):
        try:
            guesses = guessed_scales(label_files, folder=folder, question_ids=ids)
        except InputError as error:
            checks.add(error.problem)
    return [
        _question(checks, entry, ("rubric", place), guesses, folder=folder)
        if isinstance(entry, dict)
        else entry
        for place, entry in enumerate(raw)
    ]


def _rubric_file(checks: Checks, raw: object, *, folder: Path) -> Path | None:
    """Return the file that holds the rubric, as named or as found; None if there is none."""
    if isinstance(raw, str):
        return existing(checks, raw, ("rubric",), folder=folder)
    found = files_in_folder(folder, "rubric") if raw is None else ()
    return next((path for path in found if format_of(path) in FORMATS), None)


def _question(
    checks: Checks,
    entry: dict[str, object],
    at: KeyPath,
    guesses: Mapping[str, Scale],
    *,
    folder: Path,
) -> dict[str, object]:
    """Return the question on its declared scale, or else on the guessed one."""
    question = {key: value for key, value in entry.items() if value is not None}
    if "scale" in question:
        scale = _declared_scale(checks, question["scale"], (*at, "scale"))
    else:
        scale = guesses.get(str(question.get("id")))
        question["<scale_guessed>"] = True
        if scale is None:
            what = "the question declares no scale, and its labels leave it open"
            checks.note((*at, "scale"), what, "Declare it, as in scale: {min: 1, max: 5}")
    if scale is None:
        scale, question["level"] = _ANY, "interval"
    question["scale"] = asdict(scale)
    limits = question.get("applies_to")
    if isinstance(limits, dict):
        question["applies_to"] = {
            column: [as_text(each) for each in (given if isinstance(given, list) else [given])]
            for column, given in limits.items()
        }
    question.setdefault("level", scale.default_level())
    if isinstance(question.get("question"), str):
        question["question"] = str(question["question"]).strip()
    guidelines = question.get("guidelines")
    if isinstance(guidelines, str) and _FILE_OF_GUIDELINES.fullmatch(guidelines):
        question["guidelines"] = _text_of(checks, guidelines, (*at, "guidelines"), folder=folder)
    return question


def _text_of(checks: Checks, name: str, at: KeyPath, *, folder: Path) -> str:
    """Return what a file of guidelines says; note one that cannot be read."""
    path = existing(checks, name, at, folder=folder)
    if not path.is_file():
        return ""
    try:
        return read_text(path, file=name).strip()
    except InputError as error:
        checks.add(error.problem)
        return ""


def _declared_scale(checks: Checks, raw: object, at: KeyPath) -> Scale | None:
    """Return the scale; note what is wrong with it and return None if it cannot be used."""
    if not isinstance(raw, str | dict):
        checks.note(at, f"{quoted(str(raw))} is not a scale", _FORMS)
        return None
    try:
        if isinstance(raw, str):
            return Scale.parse(raw)
        values = raw.get("values")
        if isinstance(values, list) and any(isinstance(value, str) for value in values):
            return _of_words(validated(checks, ScaleWords, raw, at=at))
        if "values" in raw:
            return _of_values(validated(checks, ScaleValues, raw, at=at))
        return _of_steps(validated(checks, ScaleSteps, raw, at=at))
    except ValueError as error:
        checks.note(at, str(error), _FORMS)
        return None


def _of_values(declared: ScaleValues | None) -> Scale | None:
    if declared is None:
        return None
    if not declared.values:
        raise ValueError("a scale needs two values or more, got none")
    return Scale(low=declared.values[0], high=declared.values[-1], values=declared.values)


def _of_words(declared: ScaleWords | None) -> Scale | None:
    return None if declared is None else Scale.from_words(*map(str.strip, declared.values))


def _of_steps(declared: ScaleSteps | None) -> Scale | None:
    if declared is None:
        return None
    low, high, step = declared.min, declared.max, declared.step
    if step is None:
        return Scale(low=low, high=high)
    if step > 0 and (high - low) / step > _MOST_STEPS:
        raise ValueError(f"a scale has at most {_MOST_STEPS:,} steps, otherwise write step: null")
    return Scale.from_steps(low=low, high=high, step=step)
