"""Two files that share items: ratings by people, and a judge's results on one dimension."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from eval_assets.config.rubric import RubricQuestion
from eval_assets.errors import InputError, InputProblem, raise_all
from eval_assets.readers._cells import read_ratings, values_on
from eval_assets.readers._problems import Findings, nearest, shown
from eval_assets.readers.formats.table import Table
from eval_assets.readers.formats.tables import read_table
from eval_assets.readers.labels.without_rubric import items_of
from eval_assets.readers.ratings_file import read_ratings_file
from eval_assets.scale import Scale

Floats = npt.NDArray[np.float64]

_SCORE = ("score", "aiescore", "judge_score", "rating", "value", "label", "grade")
_JUDGE = ("judge_model", "judge_id", "judge", "rater_id", "rater")
_ONE_QUESTION = "rating"
_TURN = re.compile(r"^((?:[^|\\]|\\.)*\|(?:[^|\\]|\\.)*\|)(?:[^|\\]|\\.)*(?=\|)")
"""An id made from a key, up to its third part, which is the turn."""


@dataclass(frozen=True, eq=False)
class JudgedItems:
    """Items that people rated on one dimension, with a judge's scores of them.

    Args:
        question: The dimension and its scale.
        item_ids: Items that people rated.
        ratings: Ratings of shape (n_items, n_raters), NaN if missing.
        scores: The judge's scores, NaN if missing.
        n_unrated: Items that the judge scored and nobody rated.
        notes: How the files were read, as far as that was guessed.
    """

    question: RubricQuestion
    item_ids: tuple[str, ...]
    ratings: Floats
    scores: Floats
    n_unrated: int
    notes: tuple[str, ...]


def read_judged_items(
    human_labels: Path,
    judge_results: Path,
    *,
    dimension: str,
    scale: Scale | None,
    judge: str | None,
) -> JudgedItems:
    """Return the items of both files.

    Args:
        human_labels: Ratings by people, in any form of labels.
        judge_results: Rows with an item and a score.
        dimension: What is compared; files without dimensions hold only this one.
        scale: Its scale; None to guess it from the ratings.
        judge: Which judge's results are meant; None if there is one.

    Raises:
        ExceptionGroup: Of an InputError for each bad row, or for a file that cannot be used.
    """
    evaluation, labels = read_ratings_file(human_labels, scale=scale, level=None)
    try:
        question = _dimension(evaluation.rubric, dimension, human_labels)
        rows = _rows(read_table(judge_results, folder=judge_results.parent), dimension, judge)
    except InputError as error:
        raise ExceptionGroup(f"{dimension} cannot be compared", [error]) from error
    scored = _scores(rows, question.scale)
    ratings = labels.ratings[labels.ratings["question_id"] == question.id]
    items = ratings["response_id"].to_numpy(dtype=object)
    if not set(items) & set(scored) and not rows.has("turn_index"):
        # A result without a turn is about the conversation: so is then the mean of its ratings.
        items = np.array([_TURN.sub(r"\1", item) for item in items], dtype=object)
    matrix = pd.pivot_table(
        ratings.assign(response_id=items),
        index="response_id",
        columns="rater_id",
        values="value",
        aggfunc="mean",
    )
    if not set(matrix.index) & set(scored):
        what = f"no item of {human_labels.name} is in it"
        remedy = "Give both files the same column of ids, such as response_id"
        problem = InputProblem(rows.file, None, None, what, remedy)
        raise_all([problem], source=judge_results.name)
    return JudgedItems(
        question=question,
        item_ids=tuple(matrix.index),
        ratings=matrix.to_numpy(dtype=np.float64),
        scores=np.array([scored.get(item, np.nan) for item in matrix.index], dtype=np.float64),
        n_unrated=len(set(scored) - set(matrix.index)),
        notes=labels.notes,
    )


def _dimension(rubric: Sequence[RubricQuestion], dimension: str, path: Path) -> RubricQuestion:
    """Return the question that is meant."""
    named = {question.id: question for question in rubric}
    if dimension in named:
        return named[dimension]
    if list(named) == [_ONE_QUESTION]:
        return named[_ONE_QUESTION]
    what = f"nobody rated the dimension {shown(dimension)}"
    raise InputError(InputProblem(path.name, None, None, what, nearest(dimension, named)))


def _rows(table: Table, dimension: str, judge: str | None) -> Table:
    """Return the rows of the dimension and the judge that are meant."""
    if table.header_of(*_SCORE) is None:
        what = f"the columns {', '.join(table.columns)} hold no scores"
        raise InputError(InputProblem(table.file, 1, None, what, "Name the column score"))
    asked = items_of(table, one_a_row=False).questions
    kept = [question in (dimension, _ONE_QUESTION) for question in asked]
    if not any(kept):
        present = sorted({question for question in asked if question})
        what = f"no row is about the dimension {shown(dimension)}"
        raise InputError(InputProblem(table.file, None, None, what, nearest(dimension, present)))
    header = table.header_of(*_JUDGE)
    if header is not None:
        names = table.stripped(header)
        present = sorted(
            {name for name, is_kept in zip(names, kept, strict=True) if is_kept and name}
        )
        if judge is None and len(present) > 1:
            what = f"the file holds results of several judges: {', '.join(present)}"
            raise InputError(InputProblem(table.file, None, header, what, "Name one with --judge"))
        if judge is not None and judge not in present:
            what = f"no row has the judge {shown(judge)}"
            problem = InputProblem(table.file, None, header, what, nearest(judge, present))
            raise InputError(problem)
        kept = [
            is_kept and (judge is None or name == judge)
            for name, is_kept in zip(names, kept, strict=True)
        ]
    rows = np.flatnonzero(kept).tolist()
    columns = {name: [cells[row] for row in rows] for name, cells in table.columns.items()}
    return replace(table, columns=columns, lines=[table.lines[row] for row in rows])


def _scores(table: Table, scale: Scale) -> dict[str, float]:
    """Return the score of each item; blank ones are left out."""
    header = table.header_of(*_SCORE) or ""
    given = read_ratings(table.text(header), has_decimal_commas=table.has_decimal_commas)
    values = values_on(given, scale)
    items = [str(item or "") for item in items_of(table, one_a_row=False).responses]
    findings = Findings(table.file, table.lines)
    is_off = ~given.blank & ~((values >= scale.low) & (values <= scale.high))
    findings.add(
        is_off,
        header,
        lambda row: (
            f"{shown(given.texts[row])} is not on the scale",
            f"Use a number {scale.described()}",
        ),
    )
    findings.add(
        pd.Series(items).duplicated(keep="first").to_numpy(),
        None,
        lambda row: (f"a second result of {shown(items[row])}", "Keep one of the two"),
    )
    raise_all([*table.bad_rows, *findings.in_order()], source=table.file)
    return {
        item: float(value)
        for item, value, is_blank in zip(items, values, given.blank, strict=True)
        if not is_blank
    }
