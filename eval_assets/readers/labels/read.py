"""Label files to one table of human ratings."""

from dataclasses import dataclass

import pandas as pd

from eval_assets.columns import LABEL_COLUMNS
from eval_assets.evaluation import Evaluation
from eval_assets.problems import InputError, InputProblem, raise_all
from eval_assets.readers.formats.tables import read_table
from eval_assets.readers.labels.forms import given_labels
from eval_assets.readers.labels.validation import (
    UNIT_AND_RATER,
    CheckedLabels,
    checked_labels,
    labels_frame,
    second_ratings,
)
from eval_assets.readers.references import units_of


@dataclass(frozen=True)
class Labels:
    """The human ratings of an evaluation.

    Args:
        ratings: Columns `LABEL_COLUMNS`, one row a rating or a skipped unit; at most one for each
            unit and rater. `value` is on the question's scale, NaN if `skipped`.
        rejected: What is wrong with the rows that were left out; empty unless the evaluation says
            `on_error: reject_rows`.
        n_unrated: Rows whose rating is blank, which are neither ratings nor errors.
        notes: How files were read, if that had to be guessed.
    """

    ratings: pd.DataFrame
    rejected: tuple[InputProblem, ...]
    n_unrated: int
    notes: tuple[str, ...]


def read_labels(evaluation: Evaluation, responses: pd.DataFrame) -> Labels:
    """Return all human ratings of the evaluation, checked against their questions' scales.

    Args:
        evaluation: Names the label files, and says what a bad row does.
        responses: The responses that can be rated, in `RESPONSE_COLUMNS`.

    Raises:
        ExceptionGroup: Of an InputError for each bad row of all files, unless rows are rejected
            one by one; then only of those files that cannot be used at all.
    """
    units = units_of(evaluation, responses)
    checked: list[CheckedLabels] = []
    unusable: list[InputProblem] = []
    notes: list[str] = []
    for path in evaluation.labels.files:
        try:
            table = read_table(path, folder=evaluation.folder)
            given = given_labels(table, questions={q.id: q.scale for q in evaluation.rubric})
        except InputError as error:
            unusable.append(error.problem)
        else:
            checked.append(checked_labels(given, evaluation, units))
            notes += [f"{given.table.file}: {note}" for note in given.table.notes]
    ratings = _joined(checked)
    second = ratings.duplicated(UNIT_AND_RATER, keep="first")
    problems = [problem for file in checked for problem in file.problems]
    problems = _by_place([*problems, *second_ratings(ratings)])
    fatal = unusable if evaluation.labels.on_error == "reject_rows" else [*unusable, *problems]
    raise_all(fatal, source="the labels")
    return Labels(
        ratings.loc[~second, list(LABEL_COLUMNS)].reset_index(drop=True),
        rejected=tuple(problems),
        n_unrated=sum(file.n_unrated for file in checked),
        notes=tuple(notes),
    )


def _joined(checked: list[CheckedLabels]) -> pd.DataFrame:
    """Return the ratings of all files."""
    empty = labels_frame({column: [] for column in (*LABEL_COLUMNS, "rating_header")})
    files = [file.ratings for file in checked if len(file.ratings)]
    return pd.concat(files, ignore_index=True) if files else empty


def _by_place(problems: list[InputProblem]) -> list[InputProblem]:
    """Return problems file by file as they were read, from the first line to the last."""
    files = {file: place for place, file in enumerate(dict.fromkeys(p.file for p in problems))}
    return sorted(problems, key=lambda problem: (files[problem.file], problem.line or 0))
