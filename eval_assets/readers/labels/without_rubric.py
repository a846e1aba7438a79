"""Labels of a file without a rubric: its columns imply the items, raters and questions."""

import re
from collections.abc import Sequence
from dataclasses import replace

from eval_assets.readers._problems import input_error
from eval_assets.readers.formats.table import FileColumn, FileTable
from eval_assets.readers.labels.forms import parsed_labels
from eval_assets.readers.labels.parsed_labels import FIELDS, ParsedLabels, labels_in_rows
from eval_assets.readers.labels.wide import RatingColumn, melted, rating_columns
from eval_assets.readers.references import (
    RESPONSE_ID,
    References,
    has_references,
    id_of,
    keys,
)
from eval_assets.scale import Scale

_ITEM = (
    *RESPONSE_ID,
    *("unit_id", "unit", "item", "sample_id", "example_id", "document_id", "doc_id", "text_id"),
    *("task_id", "example", "sample", "document", "id", "prompt_id", "conversation_id", "index"),
)
"""Columns of the rated items, the likeliest first."""

_ITEM_TEXT = ("response_text", "response", "text", "prompt_text", "prompt")
"""Columns of the items if there is no id, nor a key of several columns."""

_RATER = (
    *FIELDS["rater_id"],
    *("reviewer", "coder", "evaluator", "user", "worker", "labeler", "labeller", "participant"),
    *("reviewer_id", "coder_id", "evaluator_id", "worker_id", "labeller_id", "participant_id"),
    *("rater_name", "annotator_name", "user_name", "username", "your_name", "rated_by"),
    *("email_address", "email", "e_mail", "respondent"),
)
_RATING = (*FIELDS["rating"], "label", "value", "grade", "answer", "stars")
_QUESTION = (
    *("question_id", "criterion", "dimension", "metric", "aspect", "indicator_id", "question"),
)
_ONE_QUESTION = "rating"
_MOST_QUESTIONS = 40
_FEWEST_COLUMNS = 2
_MOST_WORDS = 7

_RATER_NAME = re.compile(
    r"(r|rater|annotator|reviewer|coder|user|judge|expert|a|p)[ _-]?[0-9]+", re.IGNORECASE
)


def labels_without_rubric(table: FileTable, scale: Scale | None) -> ParsedLabels:
    """Return the labels of a table, its questions named even if there is only one.

    The scale, if it is known, tells columns of ratings from others.

    Raises:
        InputError: If the columns leave the rater or the item open.
    """
    if table.has("labels", "dimension"):
        dimensions = [name for name in table.stripped("dimension") if name]
        return parsed_labels(table, questions=dict.fromkeys(dimensions))
    if table.has("ratings", "user_id"):
        ratings = [cell for cell in table.cells("ratings") if isinstance(cell, dict)]
        questions = dict.fromkeys(str(key) for cell in ratings for key in cell)
        return parsed_labels(table, questions=questions or {_ONE_QUESTION: None})
    rater, rating = rater_header(table), table.header_of(*_RATING)
    if rater is None or rating is None:
        return _wide(table, scale, rater=rater)
    items = items_of(table, one_a_row=False)
    names = {rater: FIELDS["rater_id"][0], rating: FIELDS["rating"][0]}
    labels = labels_in_rows(_renamed(table, names), items)
    headers = {**labels.headers, "rater_id": rater, "rating": rating}
    return replace(labels, headers=headers, rating_headers=FileColumn.repeat(rating, len(table)))


def _wide(table: FileTable, scale: Scale | None, *, rater: str | None) -> ParsedLabels:
    item = item_header(table)
    headers = [h for h in rating_columns(table, [scale]) if h not in (item, rater)]
    if scale is None and len(headers) < _FEWEST_COLUMNS:
        headers = [h for h in _columns_of_words(table) if h != rater] or headers
    if rater is not None and len(headers) >= _FEWEST_COLUMNS and _is_turned(table, rater):
        return _wide(_turned(table, rater, headers), scale, rater=None)
    columns = columns_by_question(headers) or [RatingColumn(h, h, None) for h in headers]
    if rater is not None:
        columns = [RatingColumn(header, None, header) for header in headers]
        table = _renamed(table, {rater: FIELDS["rater_id"][0]})
    if len(columns) < (_FEWEST_COLUMNS if rater is None else 1):
        remedy = "Give the columns response_id, rater_id and rating, or a column for each rater"
        message = f"the columns {', '.join(table.columns)} do not say who gave which rating"
        if columns:
            only = f"only the column {columns[0].header} holds ratings"
            raise input_error(table.file, f"{only}, and agreement takes two raters", remedy, line=1)
        remedy += "; if the ratings are words, or any numbers, pass --scale"
        raise input_error(table.file, message, remedy, line=1)
    return melted(table, columns, items_of(table, one_a_row=rater is None))


def _is_turned(table: FileTable, rater: str) -> bool:
    """Return whether each row is a rater and no column names the items: the headers must."""
    raters = list(table.stripped(rater))
    if item_header(table) is not None or has_references(table) or None in raters:
        return False
    return len(raters) > 1 and len(set(raters)) == len(raters)


def _turned(table: FileTable, rater: str, headers: Sequence[str]) -> FileTable:
    """Return a table with a row for each of the columns, and a column for each rater."""
    rows = zip(*(table.columns[header] for header in headers), strict=True)
    columns = {RESPONSE_ID[0]: FileColumn.of(headers)} | {
        name or "": FileColumn.of(list(cells))
        for name, cells in zip(table.stripped(rater), rows, strict=True)
    }
    note = f"each row read as a rater, the columns {', '.join(headers)} as what they rated"
    return replace(table.with_columns(columns, note), lines=[1] * len(headers))


def items_of(table: FileTable, *, one_a_row: bool) -> References:
    """Return the item and question of each row; without a column of items, each row is one."""
    header = item_header(table)
    if header is not None:
        items = table.stripped(header)
    elif has_references(table):
        items = keys(table).map(id_of)
    elif one_a_row:
        items = FileColumn.of([f"row {line}" for line in table.lines])
    else:
        message, remedy = "no column says what is rated", "Name the column of the items response_id"
        raise input_error(table.file, message, remedy, line=1)
    question = table.header_of(*_QUESTION)
    questions: FileColumn[str | None] = FileColumn.repeat(_ONE_QUESTION, len(table))
    if question and question != header:
        named = table.stripped(question)
        if any(named.present()) and len(named.present()) <= _MOST_QUESTIONS:
            questions = named
    return References(items, questions, header, question or "question_id")


def rater_header(table: FileTable) -> str | None:
    """Return the column of the raters; None if there is none."""
    return table.header_of(*_RATER)


def item_header(table: FileTable) -> str | None:
    """Return the column of the rated items; None if several columns name them, or none does."""
    header = table.header_of(*_ITEM)
    if header is not None or has_references(table):
        return header
    return table.header_of(*_ITEM_TEXT)


def _columns_of_words(table: FileTable) -> list[str]:
    words = {
        header: {cell.casefold() for cell in table.stripped(header).present() if cell is not None}
        for header in table.columns
        if header != item_header(table)
    }
    few = {header: cells for header, cells in words.items() if 0 < len(cells) <= _MOST_WORDS}
    return [
        header
        for header, cells in few.items()
        if any(cells & others for name, others in few.items() if name != header)
    ]


def columns_by_question(headers: Sequence[str]) -> list[RatingColumn]:
    """Return columns of raters and questions if headers combine each of one with each other."""
    for separator in (":", " - ", "__", "_", ".", "/", "-", " "):
        for split in (str.split, str.rsplit):
            pairs = [tuple(map(str.strip, split(header, separator, 1))) for header in headers]
            if any(len(pair) != 2 for pair in pairs):  # noqa: PLR2004 - of rater and question
                continue
            first, second = ({pair[part] for pair in pairs} for part in (0, 1))
            if min(len(first), len(second)) > 1 and len(set(pairs)) == len(first) * len(second):
                is_second = all(map(_RATER_NAME.fullmatch, second))
                rater = 1 if is_second and not all(map(_RATER_NAME.fullmatch, first)) else 0
                return [
                    RatingColumn(header, pair[rater], pair[1 - rater])
                    for header, pair in zip(headers, pairs, strict=True)
                ]
    return []


def _renamed(table: FileTable, names: dict[str, str]) -> FileTable:
    return table.with_columns({names.get(h, h): cells for h, cells in table.columns.items()})
