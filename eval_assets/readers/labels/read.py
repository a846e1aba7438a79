"""Label files to one table of human ratings."""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np
import pandas as pd

from eval_assets.config.evaluation import Evaluation
from eval_assets.errors import InputError, InputProblem, raise_all
from eval_assets.frame_columns import LABEL_COLUMNS, REJECTED_COLUMNS
from eval_assets.readers._problems import shown
from eval_assets.readers.formats.table import repeating
from eval_assets.readers.formats.tables import read_table
from eval_assets.readers.labels.forms import given_labels
from eval_assets.readers.labels.parsed_labels import GivenLabels
from eval_assets.readers.labels.validation import (
    UNIT_AND_RATER,
    CheckedLabels,
    RejectedLabel,
    checked_labels,
    labels_frame,
    second_ratings,
)
from eval_assets.readers.references import Units, units_of

_FEWEST_OF_A_REMOVED_QUESTION = 5
"""Labels of an unknown question from which on it is one that was removed, not a typing error."""


@dataclass(frozen=True)
class Labels:
    """The human ratings of an evaluation.

    Args:
        ratings: Columns `LABEL_COLUMNS`, one row a rating or a skipped unit; at most one for each
            unit and rater. `value` is on the question's scale, NaN if `skipped`.
        earlier: Ratings of units that were rated again in a later round, likewise.
        rejected: Columns `REJECTED_COLUMNS`, one row for each row that was left out; empty unless
            the evaluation says `on_error: reject_rows`.
        n_unrated: Rows whose rating is blank, which are neither ratings nor errors.
        notes: What is worth knowing: how files were read if that had to be guessed, and which
            labels were ignored.
    """

    ratings: pd.DataFrame
    earlier: pd.DataFrame
    rejected: pd.DataFrame
    n_unrated: int
    notes: tuple[str, ...]


def read_labels(
    evaluation: Evaluation,
    responses: pd.DataFrame,
    *,
    texts: Callable[[], Sequence[str | None]] | None = None,
    some_unread: bool = False,
) -> Labels:
    """Return all human ratings of the evaluation, checked against their questions' scales.

    Of a unit that was rated in several rounds, the ratings of the latest count. Labels of a
    question that was removed from the rubric are ignored, and counted in a note.

    Args:
        evaluation: Names the label files, and says what a bad row does.
        responses: The responses that can be rated, in `RESPONSE_COLUMNS`.
        texts: Gives the text of each, if a file shows the texts that were rated; None if they are
            in `responses`.
        some_unread: Whether there are others that could not be read: labels of unknown responses
            are then one problem, and not one each.

    Raises:
        ExceptionGroup: Of an InputError for each bad row of all files, unless rows are rejected
            one by one; then only of those files that cannot be used at all.
    """
    checked, unusable, notes = _checked(
        evaluation, units_of(evaluation, responses, texts=texts, some_unread=some_unread)
    )
    return labels_of_files(
        checked,
        unusable=unusable,
        rejects_rows=evaluation.labels.on_error == "reject_rows",
        notes=notes,
    )


def labels_of_files(
    checked: Sequence[CheckedLabels],
    *,
    unusable: Sequence[InputProblem],
    rejects_rows: bool,
    notes: tuple[str, ...],
) -> Labels:
    """Return the labels of several files together.

    Args:
        checked: Labels of each file.
        unusable: What is wrong with files as a whole.
        rejects_rows: Whether bad rows are left out, and not errors.
        notes: What is worth knowing of the files.

    Raises:
        ExceptionGroup: Of an InputError for each bad row, or file.
    """
    ratings = _joined(checked)
    is_second = ratings.duplicated(UNIT_AND_RATER, keep="first")
    second = second_ratings(ratings) if is_second.any() else []
    rejected = [row for file in checked for row in file.rejected] + second
    rejected = _by_place(rejected)
    faults = [row.problem for row in rejected]
    wrong = [*unusable, *_raters_alike(ratings)]
    raise_all(wrong if rejects_rows else [*wrong, *faults], source="the labels")
    kept = ratings[~is_second] if second else ratings
    kept = kept[list(LABEL_COLUMNS)].reset_index(drop=True)
    earlier = kept.head(0)
    if kept["round"].min() < kept["round"].max():
        is_latest = kept["round"] == kept.groupby(UNIT_AND_RATER[:2])["round"].transform("max")
        kept, earlier = (kept[each].reset_index(drop=True) for each in (is_latest, ~is_latest))
    return Labels(
        kept,
        earlier,
        _rejected_frame(rejected),
        n_unrated=sum(file.n_unrated for file in checked),
        notes=notes,
    )


def _checked(
    evaluation: Evaluation, units: Units
) -> tuple[list[CheckedLabels], list[InputProblem], tuple[str, ...]]:
    """Return the labels of each file, what is wrong with files as a whole, and notes on them."""
    given, unusable = _given(evaluation)
    removed = _removed_questions(given, units.question_ids)
    checked = [
        checked_labels(each, evaluation, units, ignored=frozenset(removed)) for each in given
    ]
    notes = [f"{each.table.file}: {note}" for each in given for note in each.table.notes]
    notes += [
        f"{n} labels of {shown(name)} are ignored: the rubric does not ask it"
        for name, n in removed.items()
    ]
    return checked, unusable, tuple(notes)


def _given(evaluation: Evaluation) -> tuple[list[GivenLabels], list[InputProblem]]:
    """Return the labels of each file, and what is wrong with files that cannot be used."""
    given: list[GivenLabels] = []
    unusable: list[InputProblem] = []
    questions = {question.id: question.scale for question in evaluation.rubric}
    for path in evaluation.labels.files:
        try:
            table = read_table(path, folder=evaluation.folder)
            given.append(given_labels(table, questions=questions))
        except InputError as error:
            unusable.append(error.problem)
    return given, unusable


def _removed_questions(given: Sequence[GivenLabels], question_ids: Sequence[str]) -> Counter[str]:
    """Return how many labels there are of each question that was removed from the rubric.

    That is an unknown one with more than a few labels, and no known one with a similar name.
    """
    counts = Counter[str]()
    for each in given:
        questions = repeating(each.units.questions)
        numbers = np.bincount(questions.codes, minlength=len(questions.values)).tolist()
        for name, n in zip(questions.values, numbers, strict=True):
            counts.update({name: n} if name is not None else {})
    return Counter(
        {
            name: n
            for name, n in counts.items()
            if name not in question_ids
            and n >= _FEWEST_OF_A_REMOVED_QUESTION
            and not get_close_matches(name, question_ids, n=1)
        }
    )


def _raters_alike(ratings: pd.DataFrame) -> list[InputProblem]:
    """Return a problem for each rater whose id a reader takes for another's."""
    spellings: defaultdict[str, list[str]] = defaultdict(list)
    for rater in ratings["rater_id"].unique():
        spellings[_as_read(str(rater))].append(rater)
    problems = []
    for alike in filter(lambda each: len(each) > 1, spellings.values()):
        place = ratings[ratings["rater_id"] == alike[1]].iloc[0]
        what = f"{' and '.join(map(shown, alike))} differ only in case or spaces"
        if len({_without_case_or_spaces(rater) for rater in alike}) > 1:
            escaped = [rater.encode("unicode_escape").decode("ascii") for rater in alike]
            what = " and ".join(f'"{each}"' for each in escaped) + " look alike"
        remedy = "Write one of them throughout, or tell them apart"
        problems.append(InputProblem(place["file"], int(place["line"]), "rater_id", what, remedy))
    return problems


def _without_case_or_spaces(rater: str) -> str:
    return "".join(rater.casefold().split())


def _as_read(rater: str) -> str:
    """Return a rater's id without what a reader cannot see: case, spaces, ways to write a letter.

    A spreadsheet on one system writes "é" as one character, on another as two.
    """
    composed = _without_case_or_spaces(unicodedata.normalize("NFKC", rater))
    return "".join(each for each in composed if unicodedata.category(each) != "Cf")


def _joined(checked: Sequence[CheckedLabels]) -> pd.DataFrame:
    """Return the ratings of all files."""
    empty = labels_frame({column: [] for column in (*LABEL_COLUMNS, "rating_header")})
    files = [file.ratings for file in checked if len(file.ratings)]
    return pd.concat(files, ignore_index=True) if len(files) > 1 else next(iter(files), empty)


def _by_place(rejected: list[RejectedLabel]) -> list[RejectedLabel]:
    """Return rows file by file as they were read, from the first line to the last."""
    files = dict.fromkeys(row.problem.file for row in rejected)
    places = {file: place for place, file in enumerate(files)}
    return sorted(rejected, key=lambda row: (places[row.problem.file], row.problem.line or 0))


def _rejected_frame(rejected: list[RejectedLabel]) -> pd.DataFrame:
    rows = [
        (p.file, p.line, p.column, p.what, p.remedy, rater, question)
        for p, rater, question in rejected
    ]
    return pd.DataFrame(rows, columns=list(REJECTED_COLUMNS), dtype=object)
