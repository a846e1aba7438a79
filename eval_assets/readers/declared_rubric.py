"""The rubric as evaluation.yaml declares it."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from eval_assets.evaluation import RubricQuestion
from eval_assets.problems import InputError
from eval_assets.readers.declared_scale import declared_scale, note_level
from eval_assets.readers.entry_checks import EntryChecks
from eval_assets.readers.evaluation_entries import QuestionEntry
from eval_assets.readers.guessed_scale import guessed_scales
from eval_assets.scale import Scale


def declared_rubric(
    checks: EntryChecks, raws: Sequence[object], label_files: Sequence[Path], *, folder: Path
) -> tuple[RubricQuestion, ...]:
    """The questions that are declared without fault; faults are noted.

    Args:
        checks: Where faults are noted.
        raws: Entries of the rubric.
        label_files: Labels from which scales are guessed, read only if one is not declared.
        folder: Evaluation folder.
    """
    entries = {
        place: entry
        for place, raw in enumerate(raws)
        if (entry := checks.entry(QuestionEntry, raw, ("rubric", place)))
    }
    checks.note_repeated("rubric", {place: entry.id for place, entry in entries.items()})
    guesses: Mapping[str, Scale] = {}
    if any(entry.scale is None for entry in entries.values()):
        ids = [entry.id for entry in entries.values()]
        try:
            guesses = guessed_scales(label_files, folder=folder, question_ids=ids)
        except InputError as error:
            checks.add(error.problem)
    questions = [
        _question(checks, entry, place, guess=guesses.get(entry.id))
        for place, entry in entries.items()
    ]
    return tuple(question for question in questions if question is not None)


def _question(
    checks: EntryChecks, entry: QuestionEntry, place: int, *, guess: Scale | None
) -> RubricQuestion | None:
    """The question on its declared scale, otherwise on the one that was guessed."""
    at = ("rubric", place)
    scale = guess if entry.scale is None else declared_scale(checks, entry.scale, (*at, "scale"))
    if scale is None:
        if entry.scale is None:
            what = "the question declares no scale, and its labels leave it open"
            checks.note((*at, "scale"), what, "Declare it, as in scale: {min: 1, max: 5}")
        return None
    if entry.level is not None:
        note_level(checks, entry.level, scale, (*at, "level"))
    return RubricQuestion(
        id=entry.id,
        question=entry.question,
        scale=scale,
        level=entry.level or scale.default_level(),
        guidelines=entry.guidelines,
        scale_guessed=entry.scale is None,
    )
