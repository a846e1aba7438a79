"""A file of ratings by itself, without a rubric: what it rates, by whom and on which scale."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from eval_assets.evaluation import Evaluation
from eval_assets.problems import InputError, InputProblem
from eval_assets.readers._cells import read_ratings
from eval_assets.readers._guessed_scales import likely_scale
from eval_assets.readers.formats.table import Table
from eval_assets.readers.formats.tables import read_table
from eval_assets.readers.labels.forms import given_labels
from eval_assets.readers.labels.given import FIELDS, GivenLabels, labels_in_rows
from eval_assets.readers.labels.read import Labels, labels_of_files
from eval_assets.readers.labels.validation import checked_labels
from eval_assets.readers.labels.wide import RatingColumn, melted, rating_columns
from eval_assets.readers.references import (
    RESPONSE_ID,
    References,
    Units,
    has_references,
    id_of,
    keys,
)
from eval_assets.rubric import RubricQuestion
from eval_assets.scale import Level, Scale

_ITEM = (
    *RESPONSE_ID,
    *("unit_id", "unit", "item", "sample_id", "example_id", "document_id", "doc_id", "text_id"),
    *("task_id", "example", "sample", "document", "id", "prompt_id", "conversation_id", "index"),
)
"""Columns that say what is rated, the likeliest first."""

_ITEM_TEXT = ("response_text", "response", "text", "prompt_text", "prompt")
"""Columns that say it if there is no id, nor a key of several columns."""

_RATER = (*FIELDS["rater_id"], "reviewer", "coder", "evaluator", "user", "worker_id", "worker")
_RATING = (*FIELDS["rating"], "label", "value", "grade", "answer", "stars")
_QUESTION = (
    "question_id",
    "criterion",
    "dimension",
    "metric",
    "aspect",
    "indicator_id",
    "question",
)
_ONE_QUESTION = "rating"
_MOST_QUESTIONS = 40
_FEWEST_COLUMNS = 2
_MOST_WORDS = 7

_RATER_NAME = re.compile(
    r"(r|rater|annotator|reviewer|coder|user|judge|expert|a|p)[ _-]?[0-9]+", re.IGNORECASE
)


def read_ratings_file(
    path: Path, *, scale: Scale | None, level: Level | None
) -> tuple[Evaluation, Labels]:
    """Return the labels of a file in any form, long or wide, and the evaluation that they imply.

    Args:
        path: The file.
        scale: Scale of all questions; None to guess each from its ratings.
        level: Level of measurement of all questions; None for the scale's own.

    Returns:
        An evaluation whose rubric has a question for each that is rated, and the labels, whose
        notes say how the file was read as far as that was guessed.

    Raises:
        ExceptionGroup: Of an InputError for each bad row, or for the file if it leaves open who
            rated what, or on which scale.
    """
    try:
        table = read_table(path, folder=path.parent)
        given = labels_without_rubric(table, scale)
        rubric, notes = _rubric(given, scale=scale, level=level)
    except InputError as error:
        raise ExceptionGroup(f"{path.name} cannot be used", [error]) from error
    evaluation = Evaluation(path.stem, path.parent, rubric)
    checked = checked_labels(given, evaluation, _units(given, rubric), ignored=frozenset())
    labels = labels_of_files(
        [checked], unusable=[], rejects_rows=False, notes=(*given.table.notes, *notes)
    )
    return evaluation, labels


def labels_without_rubric(table: Table, scale: Scale | None) -> GivenLabels:
    """Return the labels of a table, its questions named even if there is only one.

    Args:
        table: The file.
        scale: Scale of its ratings, by which columns of them are told from others, if known.

    Raises:
        InputError: If the columns leave open who rated what.
    """
    if table.has("labels", "dimension"):
        dimensions = [name for name in table.stripped("dimension") if name]
        return given_labels(table, questions=dict.fromkeys(dimensions))
    if table.has("ratings", "user_id"):
        ratings = [cell for cell in table.cells("ratings") if isinstance(cell, dict)]
        questions = dict.fromkeys(str(key) for cell in ratings for key in cell)
        return given_labels(table, questions=questions or {_ONE_QUESTION: None})
    rater, rating = table.header_of(*_RATER), table.header_of(*_RATING)
    if rater is not None and rating is not None:
        return _long(table, rater=rater, rating=rating)
    item = _item_header(table)
    headers = [header for header in rating_columns(table, [scale]) if header != item]
    if scale is None and len(headers) < _FEWEST_COLUMNS:
        headers = _columns_of_words(table)
    columns = _columns_by_question(headers) or [RatingColumn(h, h, None) for h in headers]
    if rater is not None:
        columns = [RatingColumn(header, None, header) for header in headers if header != rater]
        table = _renamed(table, {rater: FIELDS["rater_id"][0]})
    if len(columns) < (_FEWEST_COLUMNS if rater is None else 1):
        what = f"the columns {', '.join(table.columns)} do not say who gave which rating"
        remedy = (
            "Give the columns response_id, rater_id and rating, or a column for each rater; if "
            "the ratings are words, or any numbers, pass --scale"
        )
        raise InputError(InputProblem(table.file, 1, None, what, remedy))
    return melted(table, columns, items_of(table, one_a_row=rater is None))


def _long(table: Table, *, rater: str, rating: str) -> GivenLabels:
    """Return the labels of a table with one row a rating."""
    items = items_of(table, one_a_row=False)
    named = {rater: FIELDS["rater_id"][0], rating: FIELDS["rating"][0]}
    given = labels_in_rows(_renamed(table, named), [])
    return replace(
        given, units=items, headers={**given.headers, "rater_id": rater, "rating": rating}
    )


def items_of(table: Table, *, one_a_row: bool) -> References:
    """Return what each row rates; without a column that says so, each row is one by itself."""
    header = _item_header(table)
    items: list[str | None]
    if header is not None:
        items = table.stripped(header)
    elif has_references(table):
        items = [id_of(key) for key in keys(table)]
    elif one_a_row:
        items = [f"row {line}" for line in table.lines]
    else:
        what = "no column says what is rated"
        remedy = "Name the column of the items response_id"
        raise InputError(InputProblem(table.file, 1, None, what, remedy))
    question = table.header_of(*_QUESTION)
    questions = table.stripped(question) if question and question != header else []
    if not any(questions) or len(set(questions)) > _MOST_QUESTIONS:
        questions = [_ONE_QUESTION] * len(table)
    return References(items, questions, header, question or "question_id")


def _item_header(table: Table) -> str | None:
    """Return the column that says what is rated; None if several do, as a key, or none does."""
    header = table.header_of(*_ITEM)
    if header is not None or has_references(table):
        return header
    return table.header_of(*_ITEM_TEXT)


def _columns_of_words(table: Table) -> list[str]:
    """Return the headers of two or more columns that share a few words."""
    words = {
        header: {cell.casefold() for cell in table.stripped(header) if cell is not None}
        for header in table.columns
        if header != _item_header(table)
    }
    few = {header: each for header, each in words.items() if 0 < len(each) <= _MOST_WORDS}
    return [
        header
        for header, each in few.items()
        if any(each & other for name, other in few.items() if name != header)
    ]


def _columns_by_question(headers: Sequence[str]) -> list[RatingColumn]:
    """Return columns of raters and questions if headers combine each of one with each other."""
    for separator in (":", " - ", "__", "_", ".", "/", "-", " "):
        for split in (str.split, str.rsplit):
            pairs = [tuple(map(str.strip, split(header, separator, 1))) for header in headers]
            if any(len(pair) != 2 for pair in pairs):  # noqa: PLR2004 - of rater and question
                continue
            first, second = ({pair[place] for pair in pairs} for place in (0, 1))
            if min(len(first), len(second)) > 1 and len(set(pairs)) == len(first) * len(second):
                is_second = all(map(_RATER_NAME.fullmatch, second))
                rater = 1 if is_second and not all(map(_RATER_NAME.fullmatch, first)) else 0
                return [
                    RatingColumn(header, pair[rater], pair[1 - rater])
                    for header, pair in zip(headers, pairs, strict=True)
                ]
    return []


def _renamed(table: Table, names: Mapping[str, str]) -> Table:
    return replace(
        table, columns={names.get(header, header): cells for header, cells in table.columns.items()}
    )


def _units(given: GivenLabels, rubric: Sequence[RubricQuestion]) -> Units:
    """Return every item with every question."""
    items = list(dict.fromkeys(str(item) for item in given.units.responses if item is not None))
    return Units(
        response_ids=items,
        question_ids=[question.id for question in rubric],
        asked=np.ones((len(items), len(rubric)), dtype=bool),
        table=pd.DataFrame(),
    )


def _rubric(
    given: GivenLabels, *, scale: Scale | None, level: Level | None
) -> tuple[tuple[RubricQuestion, ...], list[str]]:
    """Return the questions that are rated, and a note if their scales are guessed."""
    ratings = read_ratings(given.text("rating"), has_decimal_commas=given.table.has_decimal_commas)
    names = np.array([name or "" for name in given.units.questions], dtype=object)
    rubric = []
    for name in dict.fromkeys(filter(None, names.tolist())):
        on = scale
        if on is None:
            on = likely_scale(ratings, names == name, file=given.table.file, level=level)
        rubric.append(
            RubricQuestion(name, name, on, level or on.default_level(), scale_guessed=scale is None)
        )
    if not rubric:
        what, remedy = "there are no ratings", "Add some, one a row or a column for each rater"
        raise InputError(InputProblem(given.table.file, 1, None, what, remedy))
    guessed: dict[str, list[str]] = {}
    for question in rubric:
        if question.scale_guessed:
            guessed.setdefault(question.scale.described(), []).append(question.id)
    scales = "; ".join(f"{values} ({', '.join(ids)})" for values, ids in guessed.items())
    note = f"scale guessed from the ratings: {scales}. Pass --scale if that is wrong"
    return tuple(rubric), [note] if guessed else []
