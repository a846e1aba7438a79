"""Labels of one file: forms that are certain by their names, and any other by its values."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from eval_assets.errors import InputError
from eval_assets.readers.formats.contents import (
    SHEET,
    FileContent,
    content_of_evaluation,
    table_of,
)
from eval_assets.readers.formats.table import FileColumn, FileTable, plain
from eval_assets.readers.names import Role, may_be
from eval_assets.readers.problems import input_error, listed_briefly
from eval_assets.readers.rated_rows import (
    FIELDS,
    RatedCells,
    RatedRows,
    columns_text,
    melted,
    readings_in_file,
    rows_of_ratings,
    rows_of_reading,
)
from eval_assets.readers.readings.table_reading import Reading
from eval_assets.readers.references import RESPONSE_ID, has_references, references_in
from eval_assets.readers.values import guessed_scale
from eval_assets.scale import Scale

_BETWEEN = " \t_:-./()[]|"
_LABELS = (
    "labels",
    (
        "Give the columns of one of them: long (response_id, rater_id, question_id, rating), "
        "sheet (indicator_id, convo_id, turn_index, seed, model, rater_id, score), "
        "wide (response_id and a column for each rater or question), "
        "workshop (trace_id, user_id, ratings), session export (dimension, labelerId, labels)"
    ),
)


def rows_of_labels(
    content: FileContent,
    *,
    questions: Mapping[str, Scale | None],
    response_ids: Collection[str] = frozenset(),
) -> list[RatedRows]:
    """Return the labels of a file, of each of its tables.

    `questions` are those of the rubric, each with its scale; None if that is not known yet.
    `response_ids` are those of the evaluation, as far as they are known.

    Raises:
        ExceptionGroup: Of an InputError for each place that leaves open who rated what.
    """
    question_ids = list(questions)
    certain = next(filter(None, _certain_labels(content, question_ids)), None)
    if certain is not None:
        return [certain]
    readings = readings_in_file(content, questions, forms=_LABELS, response_ids=response_ids)
    return [_rows_of_people(reading, question_ids) for reading in readings]


def _certain_labels(
    content: FileContent, question_ids: Sequence[str]
) -> Iterator[RatedRows | None]:
    """Yield the labels of a file whose columns have the names of a form."""
    try:
        table = table_of(content)
    except InputError:  # records on several levels
        return
    if SHEET in table.columns:
        is_question = set(table.columns[SHEET]) <= set(question_ids)
        role = "question_id" if is_question else FIELDS["rater_id"][0]
        columns = {h: cells for h, cells in table.columns.items() if h != SHEET}
        table = table.with_columns({role: table.columns[SHEET], **columns})
    if table.has("labels", "dimension"):
        from eval_assets.readers.labels.nested import session_labels  # it loads pydantic

        yield session_labels(table, question_ids)
    has_ratings = table.has("ratings") or (table.has("rating") and not table.has("question_id"))
    if table.header_of(*RESPONSE_ID) and table.has("user_id") and has_ratings:
        from eval_assets.readers.labels.nested import workshop_labels

        yield workshop_labels(table, question_ids)
    rater = table.header_of(*FIELDS["rater_id"])
    if not table.columns or (
        has_references(table) and rater and table.header_of(*FIELDS["rating"])
    ):
        yield rows_of_ratings(table, references_in(table, question_ids))
    if has_references(table):
        yield _rows_of_questions(table, question_ids)


def _rows_of_people(reading: Reading, question_ids: Sequence[str]) -> RatedRows:
    rated = [of for of in reading.rated if not of.is_judge] or reading.rated
    unnamed = [of.column.name for of in rated if not of.rater and reading.rater is None]
    if unnamed:
        raise _unnamed(reading.table.file, unnamed)
    rows = rows_of_reading(reading, rated, question_ids)
    columns = columns_text([of.column.name for of in rated])
    if reading.rater is None:
        questions = sorted(filter(None, set(rows.units.questions.present())))
        of_questions = f" of {', '.join(questions)}" if len(question_ids) > 1 else ""
        return rows.with_note(f"{columns} read as raters{of_questions}")
    items = " and ".join(column.name for column in reading.items) or "each row"
    text = f"{columns} read as ratings of {items} by {reading.rater.name}"
    return rows.with_note(text)


def _unnamed(file: str, headers: Sequence[str]) -> InputError:
    message = f"no column says who gave the ratings in {listed_briefly(headers)}"
    remedy = "Add a column rater_id, or name the columns by rater and question, as in anna: "
    return input_error(file, message, remedy + headers[0], line=1)


def guessed_scales(
    files: Iterable[Path], *, folder: Path, question_ids: Sequence[str]
) -> dict[str, Scale]:
    """Return the scale of each question whose labels determine it; files may be missing.

    Questions with other ratings are left out: 1 to 4 can be a separate scale, and as part of 1 to 5
    its raters would seem to agree more.

    Raises:
        ExceptionGroup: Of an InputError for each label file that cannot be used.
    """
    values: dict[str, set[float]] = {question: set() for question in question_ids}
    for path in filter(Path.is_file, files):
        content = content_of_evaluation(path, folder=folder)
        only = question_ids[0] if len(question_ids) == 1 else ""
        for labels in rows_of_labels(content, questions=dict.fromkeys(question_ids)):
            cells, questions = labels.ratings(), labels.units.questions
            for question in questions.present():
                rows = questions.is_(question) & ~cells.blank
                values.setdefault(question or only, set()).update(cells.values[rows].tolist())
    guesses = {question: guessed_scale(values[question]) for question in question_ids}
    return {question: scale for question, scale in guesses.items() if scale is not None}


# Columns that are named after questions.


def _rows_of_questions(table: FileTable, question_ids: Sequence[str]) -> RatedRows | None:
    """Return the labels in columns whose headers name a question; None if there are none."""
    named = [part for header in table.columns if (part := _named_question(header, question_ids))]
    nameless = [header for header, rater, _ in named if not rater]
    rater_header = table.header_of(*FIELDS["rater_id"])
    if not named:
        return None
    if nameless and rater_header is None:
        if any(may_be(header, Role.RATER) for header in table.columns):
            return None  # of raters under another name
        raise _unnamed(table.file, nameless)
    units, raters = references_in(table, question_ids), table.stripped(*FIELDS["rater_id"])
    cells = [
        RatedCells(
            header,
            units.responses,
            FileColumn.repeat(question, len(table)),
            FileColumn.repeat(rater, len(table)) if rater else raters,
            table.text(header),
        )
        for header, rater, question in named
    ]
    rows = melted(table, cells, units, rater_header=rater_header or "" if nameless else "")
    columns = columns_text([header for header, _, _ in named])
    if nameless:
        return rows.with_note(f"{columns} read as {'questions' if named[1:] else 'a question'}")
    names = listed_briefly(list(dict.fromkeys(rater for _, rater, _ in named)))
    return rows.with_note(f"{columns} read as rater and question, with the raters {names}")


def _named_question(header: str, question_ids: Sequence[str]) -> tuple[str, str, str] | None:
    """Return a header with its rater, "" without one, and the question that it begins or ends."""
    for question in sorted(question_ids, key=len, reverse=True):
        words, name, spelling = plain(header), plain(question), question.casefold()
        end = header.rstrip(_BETWEEN)
        if words == name:
            return header, "", question
        if words.endswith(f"_{name}") and end.casefold().endswith(spelling):
            return header, end[: -len(question)].strip(_BETWEEN), question
        if words.startswith(f"{name}_") and header.casefold().startswith(spelling):
            return header, header[len(question) :].strip(_BETWEEN), question
    return None
