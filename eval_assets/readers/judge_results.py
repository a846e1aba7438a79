"""Human ratings and a judge's results of the same items on one dimension."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from eval_assets.config.rubric import RubricQuestion
from eval_assets.errors import InputError, InputProblem, raise_all
from eval_assets.readers._cells import FloatArray, ratings_in
from eval_assets.readers._problems import RowProblems, input_error, nearest, quoted, repeated
from eval_assets.readers.formats.row_files import read_table
from eval_assets.readers.formats.table import FileTable
from eval_assets.readers.labels.row_units import items_of
from eval_assets.readers.labels.without_rubric import RatingsOptions
from eval_assets.readers.ratings_file import read_ratings_file
from eval_assets.scale import Scale

_SCORE = ("score", "aiescore", "judge_score", "rating", "value", "label", "grade")
_JUDGE = ("judge_model", "judge_id", "judge", "rater_id", "rater")
_ONE_QUESTION = "rating"
_TURN = re.compile(r"^((?:[^|\\]|\\.)*\|(?:[^|\\]|\\.)*\|)(?:[^|\\]|\\.)*(?=\|)")
"""An id made from a key, up to its third part, which is the turn."""


@dataclass(frozen=True, eq=False)
class JudgedItems:
    """Items that humans rated on one dimension, with a judge's scores of them.

    Ratings have the shape (n_items, n_raters), NaN if missing, as in scores. `n_unrated` items
    have a score and no rating.
    """

    question: RubricQuestion
    item_ids: tuple[str, ...]
    ratings: FloatArray
    scores: FloatArray
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
    """Return the items of both files on one dimension; files without dimensions hold only this one.

    Without a scale it is guessed from the ratings; without a judge the file has results of one.

    Raises:
        ExceptionGroup: Of an InputError for each bad row, or for a file that cannot be used.
    """
    humans = read_ratings_file(human_labels, RatingsOptions(scale=scale))
    try:
        question = _question(humans.evaluation.rubric, dimension, human_labels)
        rows = _rows(read_table(judge_results, folder=judge_results.parent), dimension, judge)
    except InputError as error:
        raise ExceptionGroup(f"{dimension} cannot be compared", [error]) from error
    scores = _scores(rows, question.scale)
    ratings = humans.labels.ratings
    ratings = ratings[ratings["question_id"] == question.id]
    items = ratings["response_id"]
    if not set(items) & set(scores) and not rows.has("turn_index"):
        # A result without a turn is about the conversation: so is then the mean of its ratings.
        items = items.map(lambda item: _TURN.sub(r"\1", item))
    matrix = pd.pivot_table(
        ratings.assign(response_id=items),
        index="response_id",
        columns="rater_id",
        values="value",
        aggfunc="mean",
    )
    if not set(matrix.index) & set(scores):
        message = f"no item of {human_labels.name} is in it"
        remedy = "Give both files the same column of ids, such as response_id"
        problem = InputProblem(rows.file, None, None, message, remedy)
        raise_all([problem], source=judge_results.name)
    return JudgedItems(
        question=question,
        item_ids=tuple(matrix.index),
        ratings=matrix.to_numpy(dtype=np.float64),
        scores=np.array([scores.get(item, np.nan) for item in matrix.index], dtype=np.float64),
        n_unrated=len(set(scores) - set(matrix.index)),
        notes=humans.notes("Pass --scale if that is wrong"),
    )


def _question(rubric: Sequence[RubricQuestion], dimension: str, path: Path) -> RubricQuestion:
    questions = {question.id: question for question in rubric}
    if dimension in questions:
        return questions[dimension]
    if list(questions) == [_ONE_QUESTION]:
        return questions[_ONE_QUESTION]
    message = f"no rater rated the dimension {quoted(dimension)}"
    raise input_error(path.name, message, nearest(dimension, questions))


def _rows(table: FileTable, dimension: str, judge: str | None) -> FileTable:
    if table.header_of(*_SCORE) is None:
        message = f"the columns {', '.join(table.columns)} hold no scores"
        raise input_error(table.file, message, "Name the column score", line=1)
    questions = items_of(table, one_a_row=False).questions
    is_selected = questions.array(bool, lambda question: question in (dimension, _ONE_QUESTION))
    if not is_selected.any():
        message = f"no row is about the dimension {quoted(dimension)}"
        remedy = nearest(dimension, sorted(filter(None, questions.present())))
        raise input_error(table.file, message, remedy)
    header = table.header_of(*_JUDGE)
    if header is not None:
        judges = table.stripped(header)
        present = sorted(filter(None, judges.take(is_selected).present()))
        if judge is None and len(present) > 1:
            message = f"the file holds results of several judges: {', '.join(present)}"
            raise input_error(table.file, message, "Name one with --judge", column=header)
        if judge is not None and judge not in present:
            message = f"no row has the judge {quoted(judge)}"
            raise input_error(table.file, message, nearest(judge, present), column=header)
        if judge is not None:
            is_selected &= judges.is_(judge)
    return table.take(np.flatnonzero(is_selected))


def _scores(table: FileTable, scale: Scale) -> dict[str, float]:
    cells = ratings_in(table, *_SCORE)
    values = cells.values_on(scale)
    items = items_of(table, one_a_row=False).responses.map(lambda item: str(item or ""))
    problems = RowProblems(table.file, table.lines)
    is_off = ~cells.blank & ~((values >= scale.low) & (values <= scale.high))
    remedy = f"Use a number {scale.described()}"
    problems.add(is_off, table.header_of(*_SCORE), "is not on the scale", remedy, cells.texts)
    problems.add_described(
        repeated(items)[0],
        None,
        lambda row: (f"a second result of {quoted(items[row])}", "Keep one of the two"),
    )
    raise_all([*table.bad_rows, *problems.in_order()], source=table.file)
    triples = zip(items, values.tolist(), cells.blank, strict=True)
    return {item: value for item, value, is_blank in triples if not is_blank}
