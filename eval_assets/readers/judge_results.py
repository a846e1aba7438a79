"""Human ratings and a judge's results of the same items on one dimension."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from eval_assets.config.rubric import RubricQuestion
from eval_assets.errors import InputError, InputProblem
from eval_assets.readers.formats.table import plain
from eval_assets.readers.names import is_rating_word
from eval_assets.readers.problems import nearest, quoted
from eval_assets.readers.rating_tables import RatingTables, ReadOptions
from eval_assets.readers.ratings import read_ratings
from eval_assets.readers.values import FloatArray
from eval_assets.scale import Scale


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
    Scores of several runs are averaged.

    Raises:
        ExceptionGroup: Of an InputError for each bad row, or for a file that cannot be used.
    """
    options = ReadOptions(scale=scale, judge=(str(judge_results),))
    tables = read_ratings([human_labels, judge_results], options)
    question = _question(tables, dimension)
    ratings = tables.ratings[tables.ratings["question"] == question.id]
    scored = [str(name) for name in tables.scores["question"].unique()]
    is_named = len(scored) != 1 or not is_rating_word(scored[0])
    scores = tables.scores
    scores = scores[scores["question"] == question.id] if is_named else scores
    judges = sorted(map(str, scores["judge"].unique()))
    file = judge_results.name
    if judge is None and len(judges) > 1:
        message = f"the file holds results of several judges: {', '.join(judges)}"
        raise _refused(file, message, "Name one with --judge")
    if judge is not None and judge not in judges:
        raise _refused(file, f"no row has the judge {quoted(judge)}", nearest(judge, judges))
    scores = scores[scores["judge"] == judge] if judge is not None else scores
    for name in set(map(str, scores["judge"].unique())) & set(tables.judge_scales):
        scores_on = f"its scores are on another scale ({tables.judge_scales[name].described()})"
        message = f"{scores_on} than the ratings ({question.scale.described()})"
        raise _refused(file, message, "Bring them to one scale, or name that of both with --scale")
    matrix = pd.pivot_table(
        ratings, index="item", columns="rater", values="value", aggfunc="mean", observed=True
    )
    of_item = scores.groupby("item", observed=True)["value"].mean()
    if not set(matrix.index) & set(of_item.index):
        matrix = _by_conversation(matrix, tables.columns["item"])
    if not set(matrix.index) & set(of_item.index):
        message = f"no item of {human_labels.name} is in it"
        raise _refused(file, message, "Give both files the same column of ids, such as response_id")
    return JudgedItems(
        question=question,
        item_ids=tuple(map(str, matrix.index)),
        ratings=matrix.to_numpy(dtype=np.float64),
        scores=of_item.reindex(matrix.index).to_numpy(dtype=np.float64),
        n_unrated=len(set(of_item.index) - set(matrix.index)),
        notes=tables.notes,
    )


def _by_conversation(matrix: pd.DataFrame, columns: tuple[str, ...]) -> pd.DataFrame:
    """Return the mean ratings of conversations, if items are their turns: convo / turn / model."""
    turn = next((k for k, name in enumerate(columns) if plain(name) == "turn_index"), None)
    parts = [str(item).split(" / ") for item in matrix.index]
    if turn is None or any(len(of) <= turn for of in parts):
        return matrix
    names = [" / ".join([*of[:turn], *of[turn + 1 :]]) for of in parts]
    return matrix.groupby(names).mean()


def _question(tables: RatingTables, dimension: str) -> RubricQuestion:
    questions = {question.id: question for question in tables.questions}
    if dimension in questions:
        return questions[dimension]
    if len(questions) == 1:
        return tables.questions[0]
    message = f"no rater rated the dimension {quoted(dimension)}"
    raise _refused(tables.files[0], message, nearest(dimension, questions))


def _refused(file: str, message: str, remedy: str) -> ExceptionGroup[InputError]:
    error = InputError(InputProblem(file, None, None, message, remedy))
    return ExceptionGroup("the results cannot be compared", [error])
