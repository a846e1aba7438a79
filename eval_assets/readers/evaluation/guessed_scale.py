"""Scales guessed from the labels, for questions that declare none."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from eval_assets.readers.cells import read_ratings
from eval_assets.readers.formats.tables import read_table
from eval_assets.readers.labels.forms import given_labels
from eval_assets.scale import BINARY, LIKERT5, Scale


def guessed_scales(
    files: Iterable[Path], *, folder: Path, question_ids: Sequence[str]
) -> dict[str, Scale]:
    """Return the scale of each question whose labels leave no doubt about it.

    Args:
        files: Label files; those that do not exist are ignored.
        folder: Evaluation folder.
        question_ids: All questions of the rubric.

    Returns:
        By question: the binary scale if all ratings are 0 and 1 and both occur, 1 to 5 if all are
        whole numbers in it and one is above 1. Questions with other ratings are
        left out: all ratings of 1 can be the best of two or the worst of five.

    Raises:
        InputError: If a label file cannot be used.
    """
    values: dict[str, set[float]] = defaultdict(set)
    for path in filter(Path.is_file, files):
        given = given_labels(read_table(path, folder=folder), questions=dict.fromkeys(question_ids))
        only = question_ids[0] if len(question_ids) == 1 else ""
        ratings = read_ratings(
            given.text("rating"), has_decimal_commas=given.table.has_decimal_commas
        )
        for question, value, blank in zip(
            given.units.questions, ratings.values.tolist(), ratings.blank, strict=True
        ):
            if not blank:
                values[question or only].add(value)
    guesses = {question: guessed_scale(values[question]) for question in question_ids}
    return {question: scale for question, scale in guesses.items() if scale is not None}


def guessed_scale(values: set[float]) -> Scale | None:
    """Return the scale that ratings must be on, None if it could be another."""
    if values == {0.0, 1.0}:
        return BINARY
    if values and values <= set(LIKERT5.values or ()) and max(values) > 1:
        return LIKERT5
    return None
