"""The forms of label files, recognised by their columns.

Wide tables have a column for each rater, for each question, or for each of both.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from eval_assets.readers._cells import FloatArray, is_absent, parsed_ratings
from eval_assets.readers._problems import input_error, listed_briefly
from eval_assets.readers.formats.row_files import SHEET
from eval_assets.readers.formats.table import FileColumn, FileTable, plain
from eval_assets.readers.labels.headers import (
    SUMMARIES,
    RatingColumn,
    is_flag,
    is_metadata,
    item_header,
    never_rates,
    rater_header,
)
from eval_assets.readers.labels.validation import (
    FIELDS,
    ParsedLabels,
    field_headers,
    labels_in_rows,
)
from eval_assets.readers.references import RESPONSE_ID, References, has_references, references_in
from eval_assets.scale import Scale

_FEWEST_RATERS = 2
_MOST_DISTINCT = 12
"""Different values in a column that is taken for ratings although no scale is known."""

_MOST_ARE_RATINGS = 0.5
_SCREENED = 1000
"""Rows in which a column is first compared with the others."""

_FEWEST_DIFFERENCES = 8
"""Rows in which others differ from which on a column that follows from them is computed."""

_SLIDER_END = 100
_SLIDER_RANGE = 20
"""Range of numbers from which a scale is taken for a slider and not for steps."""
_BETWEEN = " \t_:-./()[]|"


def wide_labels(table: FileTable, questions: Mapping[str, Scale | None]) -> ParsedLabels | None:
    """Return the labels of a wide table, None if it is not one.

    `questions` are those of the rubric, each with its scale; None if that is not known yet.

    Raises:
        InputError: If there are columns of ratings without a rater or a question.
    """
    if not has_references(table):
        return None
    columns = _by_question(table, list(questions)) or _by_rater(table, questions)
    return melted(table, columns, references_in(table, list(questions))) if columns else None


def rating_columns(table: FileTable, scales: Sequence[Scale | None]) -> list[str]:
    """Return the headers of columns that hold ratings and nothing else.

    Without a known scale these are columns of few different numbers, or of yes and no. Columns that
    describe items count only if there are no others, and columns computed from others never do.
    """
    numbered = _first_of_numbered(table)
    headers = [
        header
        for header in table.columns
        if not (never_rates(plain(header)) and header not in numbered)
        and _holds_ratings(table, header, scales)
    ]
    in_rows = rater_header(table) is not None
    candidates = [h for h in headers if not is_metadata(plain(h))]
    candidates = candidates if in_rows else [h for h in candidates if not is_flag(plain(h))]
    if len(candidates) >= (1 if in_rows else _FEWEST_RATERS):
        headers = candidates
    computed = set() if in_rows else computed_columns(table, headers)
    return [header for header in headers if header not in computed]


def _first_of_numbered(table: FileTable) -> list[str]:
    """Return columns named rating beside rating.1, as pandas numbers columns of one name."""
    headers = {plain(header): header for header in table.columns}
    return [
        headers[name]
        for name in FIELDS["rating"]
        if name in headers and any(re.fullmatch(f"{name}_?[0-9]+", other) for other in headers)
    ]


def computed_columns(table: FileTable, headers: Sequence[str]) -> set[str]:
    """Return columns that are the maximum, minimum, mean or the like of the others in every row.

    With two values a rater may well agree with the higher one in every row.
    """
    if len(headers) <= _FEWEST_RATERS:
        return set()
    values = np.array([_numbers(table, header) for header in headers])
    if len(np.unique(values[~np.isnan(values)])) <= _FEWEST_RATERS:
        return set()
    return {
        header
        for position, header in enumerate(headers)
        if all(_is_computed(part, position) for part in (values[:, :_SCREENED], values))
    }


def _is_computed(values: FloatArray, position: int) -> bool:
    peers = np.delete(values, position, axis=0)
    rows = ~np.isnan(values[position]) & (np.sum(~np.isnan(peers), axis=0) >= _FEWEST_RATERS)
    column, peers = values[position, rows], peers[:, rows]
    if not rows.any():
        return False
    low, high = np.nanmin(peers, axis=0), np.nanmax(peers, axis=0)
    mean, median = np.nanmean(peers, axis=0), np.nanmedian(peers, axis=0)
    figures = (low, high, high - low, low == high, low < high, median, mean, np.round(mean))
    differ = np.sum(low < high) >= _FEWEST_DIFFERENCES
    return bool(differ) and any(np.allclose(column, figure) for figure in figures)


def _numbers(table: FileTable, header: str) -> FloatArray:
    cells = table.stripped(header)
    return parsed_ratings(cells, has_decimal_commas=table.has_decimal_commas).values


def slider_columns(table: FileTable) -> list[str]:
    """Return two or more columns of numbers from 0 to 100 with similar ranges."""
    ranges: dict[str, tuple[float, float]] = {}
    for header in table.columns:
        name = plain(header)
        if not (never_rates(name) or is_metadata(name)) and (limits := _limits(table, header)):
            ranges[header] = limits
    ranges = {h: (low, high) for h, (low, high) in ranges.items() if 0 <= low < high <= _SLIDER_END}
    widest = max((high - low for low, high in ranges.values()), default=0.0)
    alike = [h for h, (low, high) in ranges.items() if high - low >= _MOST_ARE_RATINGS * widest]
    return alike if len(alike) >= _FEWEST_RATERS else []


def are_on_sliders(table: FileTable, headers: Sequence[str]) -> bool:
    """Return whether columns hold more different numbers together than a scale of steps has."""
    numbers = np.concatenate([_numbers(table, header) for header in headers])
    distinct = np.unique(numbers[~np.isnan(numbers)])
    is_wide = len(distinct) > 0 and np.ptp(distinct) >= _SLIDER_RANGE
    return bool(is_wide or len(distinct) > _MOST_DISTINCT)


def _limits(table: FileTable, header: str) -> tuple[float, float] | None:
    """Return the lowest and highest number of a column; None unless most cells are numbers."""
    cells = table.stripped(header)
    n_cells = int(cells.array(bool, lambda cell: cell is not None and not is_absent(cell)).sum())
    numbers = _numbers(table, header)
    numbers = numbers[~np.isnan(numbers)]
    if not len(numbers) or len(numbers) < _MOST_ARE_RATINGS * n_cells:
        return None
    return float(numbers.min()), float(numbers.max())


def _holds_ratings(table: FileTable, header: str, scales: Sequence[Scale | None]) -> bool:
    """Return whether most cells of a column are ratings: a few may be typing errors."""
    column = table.stripped(header)
    column = column.take(column.array(bool, lambda cell: cell is not None and not is_absent(cell)))
    if not len(column):
        return False
    cells = parsed_ratings(column, has_decimal_commas=table.has_decimal_commas)
    known_scales = [scale for scale in scales if scale is not None]
    if len(known_scales) < len(scales):
        numbers = cells.values[~np.isnan(cells.values)]
        is_mostly_numbers = len(numbers) > _MOST_ARE_RATINGS * len(column)
        return is_mostly_numbers and len(set(numbers)) <= _MOST_DISTINCT
    on_any = np.any([scale.contains(cells.values_on(scale)) for scale in known_scales], axis=0)
    return bool(on_any.mean() >= _MOST_ARE_RATINGS)


def _by_question(table: FileTable, question_ids: Sequence[str]) -> list[RatingColumn]:
    columns = [
        column for header in table.columns if (column := _named_question(header, question_ids))
    ]
    without_rater = [column.header for column in columns if column.rater is None]
    if without_rater and table.header_of(*FIELDS["rater_id"]) is None:
        message = f"no column says who gave the ratings in {', '.join(without_rater)}"
        remedy = "Add a column rater_id, or name the columns by rater and question, as in anna: "
        raise input_error(table.file, message, remedy + without_rater[0], line=1)
    return columns


def _by_rater(table: FileTable, questions: Mapping[str, Scale | None]) -> list[RatingColumn]:
    """Return the columns of two or more raters, who all answer the question of the row."""
    if table.header_of(*FIELDS["rater_id"]) is not None:
        return []
    headers = rating_columns(table, list(questions.values()))
    if len(headers) < _FEWEST_RATERS:
        return []
    if len(questions) > 1 and not table.has("question_id") and not table.has("indicator_id"):
        message = f"columns {', '.join(headers)} hold ratings, but not of which question"
        remedy = f"Name them by rater and question, as in {headers[0]}: {next(iter(questions))}"
        raise input_error(table.file, message, remedy, line=1)
    return [RatingColumn(header, header, None) for header in headers]


def _named_question(header: str, question_ids: Sequence[str]) -> RatingColumn | None:
    """Return the column if its header is a question, or begins or ends with one."""
    for question in sorted(question_ids, key=len, reverse=True):
        words, name, spelling = plain(header), plain(question), question.casefold()
        end = header.rstrip(_BETWEEN)
        if words == name:
            return RatingColumn(header, None, question)
        if words.endswith(f"_{name}") and end.casefold().endswith(spelling):
            return RatingColumn(header, end[: -len(question)].strip(_BETWEEN), question)
        if words.startswith(f"{name}_") and header.casefold().startswith(spelling):
            return RatingColumn(header, header[len(question) :].strip(_BETWEEN), question)
    return None


def melted(table: FileTable, columns: Sequence[RatingColumn], units: References) -> ParsedLabels:
    """Return the labels of a wide table, one row for each row and column of ratings."""
    rows, n_columns = range(len(table)), len(columns)
    row_of_label = np.repeat(np.arange(len(table)), n_columns)
    raters = table.stripped(*FIELDS["rater_id"])
    ratings = [table.text(column.header) for column in columns]
    fields = {  # such as the time, which applies to all ratings of a row
        field: table.stripped(*names).take(row_of_label)
        for field, names in FIELDS.items()
        if table.header_of(*names) is not None
    } | {
        "rater_id": FileColumn.of(
            [column.rater or raters[row] for row in rows for column in columns]
        ),
        "rating": FileColumn.of([rating[row] for row in rows for rating in ratings]),
    }
    columns_by_reason = _left_out(table, columns)
    notes = (
        f"not read as ratings, {r}".format(", ".join(of))
        for r, of in columns_by_reason.items()
        if of
    )
    long = replace(
        table,
        columns=fields,
        lines=[line for line in table.lines for _ in columns],
        notes=(*table.notes, _note(columns, units), *notes),
    )
    questions = [column.question or units.questions[row] for row in rows for column in columns]
    return ParsedLabels(
        long,
        replace(units.take(row_of_label), questions=FileColumn.of(questions)),
        field_headers(table) | ({"rater_id": ""} if all(c.rater for c in columns) else {}),
        FileColumn([c.header for c in columns], np.tile(np.arange(n_columns), len(table))),
        named_headers=tuple(header for headers in columns_by_reason.values() for header in headers),
    )


def _note(columns: Sequence[RatingColumn], units: References) -> str:
    noun = "column" if len(columns) == 1 else "columns"
    headers = f"{noun} {listed_briefly([column.header for column in columns])}"
    if all(column.question and column.rater for column in columns):
        raters = listed_briefly(list(dict.fromkeys(str(column.rater) for column in columns)))
        return f"{headers} read as rater and question, with the raters {raters}"
    if any(column.question for column in columns):
        return f"{headers} read as {'a question' if len(columns) == 1 else 'questions'}"
    questions = sorted(filter(None, set(units.questions)))
    return f"{headers} read as raters{' of ' * bool(questions)}{', '.join(questions)}"


def _left_out(table: FileTable, columns: Sequence[RatingColumn]) -> dict[str, list[str]]:
    """Return columns that look like ratings and are none, by the reason."""
    rated = {column.header for column in columns}
    unrated = [h for h in table.columns if h not in rated and h != item_header(table)]
    names = [header for header in unrated if plain(header) in SUMMARIES]
    numbers = [h for h in unrated if h not in names and _holds_ratings(table, h, [None])]
    names += [h for h in numbers if is_metadata(plain(h)) or is_flag(plain(h))]
    further = [header for header in numbers if header not in names]
    unclear = [h for h in unrated if h not in numbers and _may_be_ratings(table, h, rated)]
    return {
        "by their names: {}": names,
        "as they follow from the others: {}": sorted(
            computed_columns(table, [*rated, *further]) - rated if further else ()
        ),
        "as they hold many different numbers: {}. Name all raters, as in --rater A,B, if they "
        "are": unclear,
    }


def _may_be_ratings(table: FileTable, header: str, rated: Iterable[str]) -> bool:
    """Return whether a column holds numbers within the range of the ratings."""
    limits = [limits for other in rated if (limits := _limits(table, other))]
    within = None if never_rates(plain(header)) else _limits(table, header)
    if not limits or within is None or is_metadata(plain(header)):
        return False
    return min(low for low, _ in limits) <= within[0] < within[1] <= max(high for _, high in limits)


_FORMS = (
    "Give the columns of one of them: long (response_id, rater_id, question_id, rating), "
    "sheet (indicator_id, convo_id, turn_index, seed, model, rater_id, score), "
    "wide (response_id and a column for each rater or question), "
    "workshop (trace_id, user_id, ratings), session export (dimension, labelerId, labels)"
)


def parsed_labels(table: FileTable, *, questions: Mapping[str, Scale | None]) -> ParsedLabels:
    """Return the labels of a file in any form.

    `questions` are those of the rubric, each with its scale; None if that is not known yet.

    Raises:
        InputError: If the columns are those of none of the forms.
    """
    question_ids = list(questions)
    if SHEET in table.columns:
        names = set(table.columns[SHEET])
        is_question = names <= set(question_ids)
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
    wide = wide_labels(table, questions)
    if wide is not None:
        return wide
    message = f"the columns {', '.join(table.columns)} are not those of any form of labels"
    raise input_error(table.file, message, _FORMS, line=1)
