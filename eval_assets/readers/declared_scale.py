"""Scales as evaluation.yaml declares them."""

from eval_assets.readers.entry_checks import EntryChecks
from eval_assets.readers.evaluation_entries import StepsEntry, ValuesEntry
from eval_assets.readers.wording import shown
from eval_assets.readers.yaml_lines import Path
from eval_assets.scale import BINARY, LIKERT5, Level, Scale

_FORMS = (
    "Use binary, likert5, {min: 1, max: 4}, {min: 0, max: 1, step: null} or {values: [0, 0.5, 1]}"
)
_MOST_STEPS = 1_000_000


def declared_scale(checks: EntryChecks, raw: object, path: Path) -> Scale | None:
    """The scale, or None where something is wrong with it, which is noted."""
    if raw == "binary":
        return BINARY
    if raw == "likert5":
        return LIKERT5
    if not isinstance(raw, dict):
        checks.note(path, f"{shown(str(raw))} is no scale", _FORMS)
        return None
    try:
        if "values" in raw:
            return _of_values(checks.entry(ValuesEntry, raw, path))
        return _of_steps(checks.entry(StepsEntry, raw, path))
    except ValueError as error:
        checks.note(path, str(error), _FORMS)
        return None


def note_level(checks: EntryChecks, level: Level, scale: Scale, path: Path) -> None:
    """Note a level of measurement that the scale cannot have."""
    if level == "nominal" and scale.values is None:
        what = "a continuous scale has no categories, which the nominal level counts"
        checks.note(path, what, "Use interval, or declare the values")
    if level == "ratio" and scale.low < 0:
        what = f"a scale from {scale.low:g} has no zero at its end, which the ratio level needs"
        checks.note(path, what, "Use interval")


def _of_values(entry: ValuesEntry | None) -> Scale | None:
    if entry is None:
        return None
    if not entry.values:
        raise ValueError("a scale needs two values or more, got none")
    return Scale(low=entry.values[0], high=entry.values[-1], values=tuple(entry.values))


def _of_steps(entry: StepsEntry | None) -> Scale | None:
    if entry is None:
        return None
    if entry.step is None:
        return Scale(low=entry.min, high=entry.max)
    if entry.step > 0 and (entry.max - entry.min) / entry.step > _MOST_STEPS:
        raise ValueError(f"a scale has at most {_MOST_STEPS:,} steps, otherwise write step: null")
    return Scale.from_steps(low=entry.min, high=entry.max, step=entry.step)
