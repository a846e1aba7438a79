"""Files of labels and scores in any form as rows: one a rating, with all that stands beside it.

The forms of evaluation folders are certain by the names of their columns; every other file is read
as `check` reads it.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eval_assets.errors import InputError, InputProblem, gathered
from eval_assets.readers.columns import CodedColumn
from eval_assets.readers.formats.contents import FileContent
from eval_assets.readers.formats.table import FileColumn, FileTable, plain
from eval_assets.readers.names import is_rating_word
from eval_assets.readers.problems import input_error, listed_briefly
from eval_assets.readers.rating_frames import items_of_rows
from eval_assets.readers.rating_tables import ReadOptions
from eval_assets.readers.readings import best_readings
from eval_assets.readers.readings.table_reading import RatedColumn, Reading
from eval_assets.readers.references import KEY_COLUMNS, MODEL_NAME, RESPONSE_ID, PositionArray, keys
from eval_assets.readers.sources import joined_tables, tables_of, with_words
from eval_assets.scale import Scale

FIELDS: Mapping[str, tuple[str, ...]] = {
    "rater_id": ("rater_id", "rater", "annotator_id", "annotator", "labeler_id", "user_id"),
    "rating": ("rating", "score"),
    "labelled_at": ("labelled_at", "labeled_at", "created_at"),
    "notes": ("notes", "comment"),
    **{of: (of,) for of in ("confidence", "skipped", "skip_reason", "round", "guideline_hash")},
    "details": ("details",),
}
"""Fields of a label except its unit, with the columns under which they are accepted."""

_NAMES_OF_FIELDS = {name for names in FIELDS.values() for name in names}

_KNOWN = 0.5
"""Share of the values of a column that are ids of responses, from which on it names the item."""

_OF_RESPONSES = {*RESPONSE_ID, *KEY_COLUMNS, *MODEL_NAME}


@dataclass(frozen=True)
class RatedRows:
    """Ratings of one file, a row for each: also blank ones, and units that were skipped.

    Args:
        table: The rows, not yet checked against rubric and responses.
        responses: Response of each row, by id or by key; None if it names none.
        questions: Question of each row; None if it names none.
        headers: Column or key of each field in the file's spelling; None of the response if several
            columns name it, and of the rater if the headers of ratings do.
        rating_headers: Column or key of each row's rating.
    """

    table: FileTable
    responses: FileColumn[Any]
    questions: FileColumn[str | None]
    headers: Mapping[str, str | None]
    rating_headers: FileColumn[str]

    def stripped(self, field: str) -> FileColumn[str | None]:
        """Return the cells of one of `FIELDS`, without blanks around them."""
        return self.table.stripped(*FIELDS[field])

    def take(self, rows: PositionArray) -> "RatedRows":
        """Return some rows."""
        return replace(
            self,
            table=self.table.take(rows),
            responses=self.responses.take(rows),
            questions=self.questions.take(rows),
            rating_headers=self.rating_headers.take(rows),
        )

    def with_note(self, note: str) -> "RatedRows":
        """Return the rows with a further note on how they were read."""
        return replace(self, table=self.table.with_columns(self.table.columns, note))


def rows_of_table(table: FileTable, question_ids: Sequence[str]) -> RatedRows:
    """Return the rows of a table that names their units in columns of ids or of keys."""
    response, questions = table.header_of(*RESPONSE_ID), table.stripped("question_id")
    if table.has("indicator_id"):
        indicators = table.stripped("indicator_id").map(
            lambda indicator: indicator if indicator in question_ids else None
        )
        pairs = zip(questions, indicators, strict=True)
        questions = FileColumn.of([question or indicator for question, indicator in pairs])
    headers = {field: table.header_of(*names) or field for field, names in FIELDS.items()}
    return RatedRows(
        table,
        keys(table) if response is None else table.stripped(response),
        questions,
        {**headers, "response_id": response, "question_id": table.spelling("question_id")},
        FileColumn.repeat(headers["rating"], len(table)),
    )


# Files in any other form, which their values explain.


def readings_in_file(
    content: FileContent,
    questions: Mapping[str, Scale],
    *,
    forms: tuple[str, str],
    response_ids: Collection[str],
    judges: Sequence[str] = (),
) -> list[Reading]:
    """Return the readings of the tables in a file that hold ratings.

    The item is the column of the ids of responses, by its name or its values. `forms` are the noun
    and the remedy of the error for a file without ratings.

    Raises:
        ExceptionGroup: Of an InputError for each place that leaves open who rated what.
    """
    scale = next(iter(questions.values())) if len(questions) == 1 else None
    tables = joined_tables(tables_of(content))
    tables = [with_words(table, ReadOptions(scale=scale)) for table in tables]
    columns = [column for table in tables for column in table.columns]
    names = [column.name for column in columns]
    in_file = {*names, *(value for column in columns for value in column.values)}
    options = ReadOptions(
        scale=scale,
        item=tuple([name for name in names if plain(name) in RESPONSE_ID][:1]),
        judge=tuple(judge for judge in judges if judge in in_file),
    )
    problems: list[InputProblem] = []
    with gathered(problems):
        readings, refused = best_readings(tables, options)
        of_readings = [
            {name for rated in of.rated for name in items_of_rows(of, rated)[1]} for of in readings
        ]
        if not any(_share(items, response_ids) >= _KNOWN for items in of_readings):
            # The ids of responses say which column names the item.
            ids = max(columns, key=lambda of: _share(of.values, response_ids), default=None)
            if ids is not None and _share(ids.values, response_ids) >= _KNOWN:
                with_item, _ = best_readings(tables, replace(options, item=(ids.name,)))
                readings = with_item or readings
        readings = [of for of in readings if of.items or of.rated[0].item is not None]
        if readings:
            return [_with_questions(reading, questions, options) for reading in readings]
        listed = ", ".join(dict.fromkeys(names))
        message = f"the columns {listed} are not those of any form of {forms[0]}"
        reasons = [of.refusal[0] for of in refused if of.refusal is not None]
        message += "".join(f": {reason}" for reason in reasons[:1])
        raise input_error(content.file, message, forms[1], line=1)
    # A run has no options that the remedies of `check` could name.
    remedy = "Correct it, or empty the cell"
    problems = [replace(of, remedy=remedy) if of.remedy != forms[1] else of for of in problems]
    raise ExceptionGroup(f"{content.file} cannot be used", list(map(InputError, problems)))


def _with_questions(reading: Reading, questions: Collection[str], options: ReadOptions) -> Reading:
    """Return the reading with all columns that are named after questions as ratings."""
    named = {plain(question) for question in questions}
    columns = [of.name for of in reading.table.columns if plain(of.name) in named]
    rated = {of.column.name for of in reading.rated}
    if reading.rater is None or not reading.items or rated.issuperset(columns):
        return reading
    roles = replace(
        options,
        item=tuple(column.name for column in reading.items),
        rater=(reading.rater.name,),
        rating=tuple(columns),
    )
    with_ratings, _ = best_readings([reading.table], roles)
    return next(iter(with_ratings), reading)


def _share(names: Collection[str], response_ids: Collection[str]) -> float:
    return sum(map(response_ids.__contains__, names)) / max(1, len(names))


def rows_of_reading(
    reading: Reading, rated: Sequence[RatedColumn], question_ids: Sequence[str]
) -> RatedRows:
    """Return the ratings in columns of a reading, with the other cells of their rows.

    Raises:
        InputError: If nothing says of which question they are.
    """

    def repeat(value: str | None) -> FileColumn[str | None]:
        return FileColumn.repeat(value, len(reading.table))

    columns = {column.name: column for column in reading.table.columns}
    not_read = [
        f"{name} not read: {reason.text}"
        for name, reason in reading.not_read.items()
        if name in columns and columns[name].can_rate and plain(name) not in _NAMES_OF_FIELDS
    ]
    choices = [choice for choice, _ in reading.forks]
    table = FileTable(
        reading.table.file,
        {name: _cells(column) for name, column in columns.items()},
        reading.table.lines,
        reading.table.bad_rows,
        (*reading.table.notes, *reading.notes, *choices, *not_read),
    )
    rows = rows_of_table(table, question_ids)
    is_key = {plain(column.name) for column in reading.items} <= _OF_RESPONSES
    responses: list[FileColumn[Any]] = []
    questions: list[FileColumn[str | None]] = []
    for of in rated:
        codes, item_names = items_of_rows(reading, of)
        is_of_key = is_key and of.item is None
        responses.append(rows.responses if is_of_key else FileColumn([*item_names, None], codes))
        if reading.question is not None:
            questions.append(_cells(reading.question))
        else:
            questions.append(rows.questions if of.question is None else repeat(of.question))
    names = {name for of in questions for name in of.present}
    spelled = {plain(question): question for question in question_ids}
    question_of: dict[str | None, str | None] = {
        name: spelled.get(plain(name or ""), None if is_rating_word(name or "") else name)
        for name in names
    }
    if reading.question is None and len(names) == len(question_ids) == 1:
        question_of = dict.fromkeys(names, question_ids[0])
    if not any(question_of.values()) and len(question_ids) > 1 and not table.has("indicator_id"):
        headers = [of.column.name for of in rated]
        message = f"{columns_text(headers)} hold ratings, but not of which question"
        example = f"as in {headers[0]}: {question_ids[0]}"
        remedy = f"Add a column question_id, or name the columns by rater and question, {example}"
        raise input_error(table.file, message, remedy, line=1)
    row_of_cell = np.repeat(np.arange(len(table)), len(rated))
    fields = {  # such as the time, which applies to all ratings of a row
        field: table.stripped(*names).take(row_of_cell)
        for field, names in FIELDS.items()
        if table.header_of(*names) is not None
    }
    rater = None if reading.rater is None else _cells(reading.rater)
    fields["rater_id"] = _alternating(
        [repeat(of.rater or None) if of.rater or rater is None else rater for of in rated]
    )
    fields["rating"] = _alternating([_cells(of.column) for of in rated])
    if table.has("raw_output"):
        fields["raw_output"] = table.text("raw_output").take(row_of_cell)
    run = None if reading.run is None else _cells(reading.run)
    if run is not None or any(of.run for of in rated):
        runs = [repeat(of.run) if of.run else run or repeat(None) for of in rated]
        fields["run"] = _alternating(runs)
    field_headers = {**rows.headers, "rater_id": reading.rater.name if reading.rater else None}
    if not is_key:
        field_headers["response_id"] = reading.items[0].name if len(reading.items) == 1 else None
    if reading.question is not None:
        field_headers["question_id"] = reading.question.name
    return RatedRows(
        replace(table, columns=fields, lines=[table.lines[row] for row in row_of_cell.tolist()]),
        _alternating(responses),
        _alternating([of.map(question_of.get) for of in questions]),
        field_headers,
        FileColumn([of.column.name for of in rated], np.tile(np.arange(len(rated)), len(table))),
    )


def _alternating(columns: Sequence[FileColumn[Any]]) -> FileColumn[Any]:
    """Return the cells of columns row by row."""
    values: list[Any] = []
    codes = []
    for column in columns:
        codes.append(column.codes % max(1, len(column.values)) + len(values))
        values += column.values
    return FileColumn(values, np.stack(codes, axis=1).ravel())


def _cells(column: CodedColumn) -> FileColumn[str | None]:
    return FileColumn([*column.values, None], column.codes % (len(column.values) + 1))


def columns_text(headers: Sequence[str]) -> str:
    """Return columns as notes and messages name them."""
    return f"{'column' if len(headers) == 1 else 'columns'} {listed_briefly(headers)}"
