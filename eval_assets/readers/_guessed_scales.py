"""Scales guessed from ratings, for questions that declare none."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from eval_assets.problems import InputError, InputProblem
from eval_assets.readers._cells import BoolArray, Ratings, read_ratings
from eval_assets.readers._problems import shown
from eval_assets.readers.formats.tables import read_table
from eval_assets.readers.labels.forms import given_labels
from eval_assets.scale import BINARY, LIKERT5, Level, Scale

_WORD_PAIRS = ("no yes", "false true", "fail pass", "bad good", "incorrect correct", "wrong right")
_FEW = 2
"""If fewer than one in so many ratings are words, the scale is one of numbers."""

_SHOWN_WORDS = 6
_NUMBERED_WORD = re.compile(r"\s*([0-9]+)\s*[-:.)=(]\s*\D.*")


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


def likely_scale(ratings: Ratings, here: BoolArray, *, file: str, level: Level | None) -> Scale:
    """Return the likeliest scale of a question's ratings.

    Raises:
        InputError: If they are words whose order is not known.
    """
    values = set(ratings.values[here & ~np.isnan(ratings.values)].tolist())
    words = {
        (text or "").strip()
        for text, is_here, blank, value in zip(
            ratings.texts, here, ratings.blank, ratings.values, strict=True
        )
        if is_here and not blank and np.isnan(value)
    }
    n_words = int((here & ~ratings.blank & np.isnan(ratings.values)).sum())
    # Some words among numbers are typing errors, which are reported one by one.
    if n_words * _FEW > int((here & ~ratings.blank).sum()):
        return _scale_of_words(words, file=file, level=level)
    return _scale_of_numbers(values)


def _scale_of_numbers(values: set[float]) -> Scale:
    sure = guessed_scale(values)
    if sure is not None:
        return sure
    low, high = min(values, default=0.0), max(values, default=1.0)
    if low >= 0 and high <= 1:
        return BINARY if values <= {0.0, 1.0} else Scale(low=0, high=1)
    if low == high:
        low = min(low, 1.0) if low > 1 else low - 1
    if all(value.is_integer() for value in values):
        return Scale.from_steps(low=low, high=high)
    return Scale(low=float(np.floor(low)), high=float(np.ceil(high)))


def _scale_of_words(words: set[str], *, file: str, level: Level | None) -> Scale:
    folded = {word.casefold() for word in words}
    for pair in _WORD_PAIRS:
        if folded <= set(pair.split()):
            return Scale.from_words(*pair.split())
    numbered = {word: _NUMBERED_WORD.fullmatch(word) for word in words}
    if all(numbered.values()):
        in_order = sorted((float(match[1]), word) for word, match in numbered.items() if match)
        values, names = zip(*in_order, strict=True)
        if len(set(values)) == len(values) > 1:
            return Scale(low=values[0], high=values[-1], values=values, words=names)
    if level == "nominal" and len(folded) > 1:
        return Scale.from_words(*sorted({word.casefold() for word in words}))
    named = ", ".join(shown(word) for word in sorted(words)[:_SHOWN_WORDS])
    what = f"the ratings are words ({named}), whose order is not known"
    remedy = "Pass --scale with the words, worst first, as in --scale bad,fair,good"
    raise InputError(InputProblem(file, None, None, what, f"{remedy}; or --level nominal"))
