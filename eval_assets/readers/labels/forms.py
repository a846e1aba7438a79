"""The forms of label files, recognised by their columns.

Rows of ratings, columns of raters or questions, workshop annotations, and exports of sessions.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from eval_assets.errors import InputError
from eval_assets.readers.columns import CodedTable
from eval_assets.readers.formats.contents import SHEET, read_table
from eval_assets.readers.formats.table import FileColumn, FileTable, plain
from eval_assets.readers.labels.validation import (
    FIELDS,
    ParsedLabels,
    field_headers,
    labels_in_rows,
)
from eval_assets.readers.problems import input_error, listed_briefly
from eval_assets.readers.rating_tables import ReadOptions
from eval_assets.readers.readings import readings_of
from eval_assets.readers.references import RESPONSE_ID, References, has_references, references_in
from eval_assets.readers.sources import with_words
from eval_assets.readers.values import guessed_scale
from eval_assets.scale import Scale

_BETWEEN = " \t_:-./()[]|"
_FORMS = (
    "Give the columns of one of them: long (response_id, rater_id, question_id, rating), "
    "sheet (indicator_id, convo_id, turn_index, seed, model, rater_id, score), "
    "wide (response_id and a column for each rater or question), "
    "workshop (trace_id, user_id, ratings), session export (dimension, labelerId, labels)"
)


class _LabelColumn(NamedTuple):
    """A column of ratings, and the rater and question that its header names."""

    header: str
    rater: str | None
    question: str | None


def parsed_labels(table: FileTable, *, questions: Mapping[str, Scale | None]) -> ParsedLabels:
    """Return the labels of a file in any form.

    `questions` are those of the rubric, each with its scale; None if that is not known yet.

    Raises:
        InputError: If the columns are those of none of the forms.
    """
    question_ids = list(questions)
    if SHEET in table.columns:
        is_question = set(table.columns[SHEET]) <= set(question_ids)
        role = "question_id" if is_question else FIELDS["rater_id"][0]
        columns = {h: cells for h, cells in table.columns.items() if h != SHEET}
        table = table.with_columns({role: table.columns[SHEET], **columns})
    if table.has("labels", "dimension"):
        from eval_assets.readers.labels.nested import session_labels  # it loads pydantic

        return session_labels(table, question_ids)
    has_ratings = table.has("ratings") or (table.has("rating") and not table.has("question_id"))
    if table.header_of(*RESPONSE_ID) and table.has("user_id") and has_ratings:
        from eval_assets.readers.labels.nested import workshop_labels

        return workshop_labels(table, question_ids)
    has_fields = table.header_of(*FIELDS["rater_id"]) and table.header_of(*FIELDS["rating"])
    if not table.columns or (has_references(table) and has_fields):
        return labels_in_rows(table, question_ids)
    columns_of_ratings = _columns_of_ratings(table, questions) if has_references(table) else []
    if not columns_of_ratings:
        message = f"the columns {', '.join(table.columns)} are not those of any form of labels"
        raise input_error(table.file, message, _FORMS, line=1)
    return _melted(table, columns_of_ratings, references_in(table, question_ids))


def guessed_scales(
    files: Iterable[Path], *, folder: Path, question_ids: Sequence[str]
) -> dict[str, Scale]:
    """Return the scale of each question whose labels determine it; files may be missing.

    Questions with other ratings are left out: 1 to 4 can be a separate scale, and as part of 1 to 5
    its raters would seem to agree more.

    Raises:
        InputError: If a label file cannot be used.
    """
    values: dict[str, set[float]] = {question: set() for question in question_ids}
    for path in filter(Path.is_file, files):
        table = read_table(path, folder=folder)
        labels = parsed_labels(table, questions=dict.fromkeys(question_ids))
        only = question_ids[0] if len(question_ids) == 1 else ""
        cells, questions = labels.ratings(), labels.units.questions
        for question in questions.present():
            rows = questions.is_(question) & ~cells.blank
            values.setdefault(question or only, set()).update(cells.values[rows].tolist())
    guesses = {question: guessed_scale(values[question]) for question in question_ids}
    return {question: scale for question, scale in guesses.items() if scale is not None}


def _columns_of_ratings(
    table: FileTable, questions: Mapping[str, Scale | None]
) -> list[_LabelColumn]:
    """Return the columns of ratings: those named after questions, or else those of raters.

    Raises:
        InputError: If they name neither a rater nor a question.
    """
    named = [
        column for header in table.columns if (column := _named_question(header, list(questions)))
    ]
    nameless = [column.header for column in named if column.rater is None]
    rater = table.header_of(*FIELDS["rater_id"])
    if nameless and rater is None:
        message = f"no column says who gave the ratings in {', '.join(nameless)}"
        remedy = "Add a column rater_id, or name the columns by rater and question, as in anna: "
        raise input_error(table.file, message, remedy + nameless[0], line=1)
    if named or rater is not None:
        return named
    scales = [scale for scale in questions.values() if scale is not None]
    only = scales[0] if len(scales) == len(questions) == 1 else None
    options = ReadOptions(scale=only)
    try:
        readings = readings_of(with_words(CodedTable.of(table), options), options)
    except ExceptionGroup as group:
        raise next(error for error in group.exceptions if isinstance(error, InputError)) from group
    rated = readings[0].rated if readings and readings[0].refusal is None else []
    headers = [of.column.name for of in rated if of.rater and of.item is None]
    if headers and len(questions) > 1 and not table.header_of("question_id", "indicator_id"):
        message = f"columns {', '.join(headers)} hold ratings, but not of which question"
        remedy = f"Name them by rater and question, as in {headers[0]}: {next(iter(questions))}"
        raise input_error(table.file, message, remedy, line=1)
    return [_LabelColumn(header, header, None) for header in headers] if len(headers) > 1 else []


def _named_question(header: str, question_ids: Sequence[str]) -> _LabelColumn | None:
    """Return the column if its header is a question, or begins or ends with one."""
    for question in sorted(question_ids, key=len, reverse=True):
        words, name, spelling = plain(header), plain(question), question.casefold()
        end = header.rstrip(_BETWEEN)
        if words == name:
            return _LabelColumn(header, None, question)
        if words.endswith(f"_{name}") and end.casefold().endswith(spelling):
            return _LabelColumn(header, end[: -len(question)].strip(_BETWEEN), question)
        if words.startswith(f"{name}_") and header.casefold().startswith(spelling):
            return _LabelColumn(header, header[len(question) :].strip(_BETWEEN), question)
    return None


def _melted(table: FileTable, columns: Sequence[_LabelColumn], units: References) -> ParsedLabels:
    """Return the labels of a wide table, one row for each row and column of ratings."""
    n_columns = len(columns)
    row_of_label = np.repeat(np.arange(len(table)), n_columns)
    raters = table.stripped(*FIELDS["rater_id"])
    ratings = [table.text(column.header) for column in columns]
    rows = range(len(table))
    fields = {  # such as the time, which applies to all ratings of a row
        field: table.stripped(*names).take(row_of_label)
        for field, names in FIELDS.items()
        if table.header_of(*names) is not None
    } | {
        "rater_id": FileColumn.of([of.rater or raters[row] for row in rows for of in columns]),
        "rating": FileColumn.of([rating[row] for row in rows for rating in ratings]),
    }
    lines = [line for line in table.lines for _ in columns]
    notes = (*table.notes, _note(columns, units))
    questions = [column.question or units.questions[row] for row in rows for column in columns]
    headers = field_headers(table) | ({"rater_id": ""} if all(c.rater for c in columns) else {})
    return ParsedLabels(
        replace(table, columns=fields, lines=lines, notes=notes),
        replace(units.take(row_of_label), questions=FileColumn.of(questions)),
        headers,
        FileColumn([c.header for c in columns], np.tile(np.arange(n_columns), len(table))),
    )


def _note(columns: Sequence[_LabelColumn], units: References) -> str:
    noun = "column" if len(columns) == 1 else "columns"
    headers = f"{noun} {listed_briefly([column.header for column in columns])}"
    if all(column.question and column.rater for column in columns):
        raters = listed_briefly(list(dict.fromkeys(str(column.rater) for column in columns)))
        return f"{headers} read as rater and question, with the raters {raters}"
    if any(column.question for column in columns):
        return f"{headers} read as {'a question' if len(columns) == 1 else 'questions'}"
    questions = sorted(filter(None, set(units.questions)))
    return f"{headers} read as raters{' of ' * bool(questions)}{', '.join(questions)}"
