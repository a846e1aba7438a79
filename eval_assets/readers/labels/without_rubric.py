"""Labels of a file without a rubric: its columns imply the items, raters and questions."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from shlex import quote

import numpy as np

from eval_assets.errors import InputError
from eval_assets.readers._cells import number_in
from eval_assets.readers._problems import input_error, listed_briefly, nearest, quoted
from eval_assets.readers.formats.table import FileColumn, FileTable, plain
from eval_assets.readers.labels.forms import (
    SUMMARIES,
    RatingColumn,
    melted,
    parsed_labels,
    rating_columns,
    slider_columns,
)
from eval_assets.readers.labels.validation import FIELDS, ParsedLabels, labels_in_rows
from eval_assets.readers.references import (
    KEY_COLUMNS,
    MODEL_NAME,
    RESPONSE_ID,
    References,
    has_references,
    id_of,
    keys,
)
from eval_assets.scale import Level, Scale


@dataclass(frozen=True, kw_only=True)
class RatingsOptions:
    """Choices of the user; whatever is left out follows from the file.

    Args:
        scale: Scale of all questions.
        level: Level of measurement of all questions.
        item: Column of the rated items.
        raters: Column of the raters, or columns of ratings by a rater each; also raters as headers
            that combine them with questions name them.
        ratings: Column of the ratings, or one for each question.
        question: Column of the questions.
        skip_rows: Rows above the header.
        missing_values: Words that mean no rating.
    """

    scale: Scale | None = None
    level: Level | None = None
    item: str | None = None
    raters: tuple[str, ...] = ()
    ratings: tuple[str, ...] = ()
    question: str | None = None
    skip_rows: int = 0
    missing_values: tuple[str, ...] = ()


_ITEM = (
    *RESPONSE_ID,
    *("unit_id", "unit", "item", "sample_id", "example_id", "document_id", "doc_id", "text_id"),
    *("task_id", "example", "sample", "document", "id", "prompt_id", "conversation_id", "index"),
    *("antwort_id", "text_nr", "item_nr", "nummer", "nr", "beispiel", "dokument", "essay"),
)
"""Columns of the rated items, the likeliest first."""

_ITEM_TEXT = ("response_text", "response", "text", "prompt_text", "prompt", "antwort")
"""Columns of the items if there is no id, nor a key of several columns."""

_RATER = (
    *FIELDS["rater_id"],
    *("reviewer", "coder", "evaluator", "user", "worker", "labeler", "labeller", "participant"),
    *("reviewer_id", "coder_id", "evaluator_id", "worker_id", "labeller_id", "participant_id"),
    *("rater_name", "annotator_name", "user_name", "username", "your_name", "rated_by"),
    *("email_address", "email", "e_mail", "respondent", "judge", "person"),
    *("bewerter", "bewerterin", "bewertende", "gutachter", "gutachterin", "kodierer"),
)
_RATING = (
    *(*FIELDS["rating"], "label", "value", "grade", "answer", "stars", "winner", "preference"),
    *("preferred", "vote", "feedback", "bewertung", "einsch\u00e4tzung", "urteil", "punkte"),
)
_QUESTION = (
    *("question_id", "criterion", "dimension", "metric", "aspect", "indicator_id", "question"),
    *("frage", "kriterium"),
)
_PERSON = ("name", "full_name", "your_full_name", "initials", "who")
"""Columns that name whoever filled in the row, or what the row is about."""

_ROW_NUMBERS = ("id", "index", "nr", "nummer")
"""Columns that number the rows, whatever a row is."""

_ONE_QUESTION = "rating"
_TEXT_COLUMNS = {
    "prompt_text": ("prompt_text", "prompt", "query", "instruction", "input", "input_prompt"),
    "response_text": (
        *("response_text", "response", "answer_text", "output", "completion", "text", "reply"),
        "input_response",
    ),
    "model_name": (*MODEL_NAME, "generator", "system"),
}
_NO_RESPONSE_COLUMNS = {
    *(*RESPONSE_ID, *KEY_COLUMNS, *_QUESTION, *SUMMARIES),
    *(name for names in FIELDS.values() for name in names),
}
"""Columns of labels, or that would change which questions a response is asked."""

_MOST_QUESTIONS = 40
_FEWEST_COLUMNS = 2
_MOST_WORDS = 7
_MOST_DISTINCT = 12
"""Values of ratings or raters; items are more."""

_RATER_NAME = re.compile(
    r"(r|rater|annotator|reviewer|coder|user|judge|expert|a|p)[ _-]?[0-9]+|\S+@\S+", re.IGNORECASE
)
_QUESTION_NAME = re.compile(
    r"(q|question|criterion|frage)[ _-]?[0-9]+|.*\?|.*(ness|ity|cy|[ae]nce|tion|ung|keit)"
    r"|tone|style|truth|grammar|overall|quality|safe|form|content|clear|correct|useful|helpful",
    re.IGNORECASE,
)
"""Words for what is asked, which are hardly ever names of people."""

_ITEM_NAME = re.compile(
    r"(item|response|answer|text|document|doc|example|sample|case|prompt|output|essay|story|antwort"
    r"|q|question|frage)[ _#-]?[0-9]+([._][0-9]+)?",
    re.IGNORECASE,
)
_BRACKETED = re.compile(r"(.*?)\s*\[(.+)\]\s*")


def labels_without_rubric(table: FileTable, options: RatingsOptions) -> ParsedLabels:
    """Return the labels of a table in the likeliest of its `label_layouts`."""
    return label_layouts(table, options)[0]


def label_layouts(table: FileTable, options: RatingsOptions) -> list[ParsedLabels]:
    """Return the labels of a table, its questions named even if there is only one.

    A wide table that does not say which of its headers are raters has two layouts, the likelier
    one first. A scale tells columns of ratings from others.

    Raises:
        InputError: If the columns leave the rater or the item open.
    """
    names = _roles(table, options)
    layouts = _layouts(_renamed(table, names), options)
    original = {role: header for header, role in names.items()}
    return [
        replace(
            labels,
            headers={field: original.get(h, h) for field, h in labels.headers.items()},
            rating_headers=labels.rating_headers.map(lambda header: original.get(header, header)),
        )
        for labels in layouts
    ]


def _roles(table: FileTable, options: RatingsOptions) -> dict[str, str]:
    """Return the columns that the options name, with the names under which they are found.

    Raises:
        InputError: If there is no such column.
    """
    columns = {
        "--item": (options.item, RESPONSE_ID[0]),
        "--question": (options.question, _QUESTION[0]),
        "--rater": (_only(options.raters), FIELDS["rater_id"][0]),
        "--rating": (_only(options.ratings), FIELDS["rating"][0]),
    }
    roles = {}
    for name, role in columns.values():
        header = table.header_of(name) if name else None
        if header is not None:
            roles[header] = role
    names = {option: name for option, (name, _) in columns.items()}
    for option, name in [*names.items(), *(("--rating", name) for name in options.ratings)]:
        if name and option != "--rater" and table.header_of(name) is None:
            message = f"{option} names {quoted(name)}, and there is no such column"
            raise input_error(table.file, message, nearest(name, table.columns))
    return roles


def _only(names: Sequence[str]) -> str | None:
    return names[0] if len(names) == 1 else None


def _layouts(table: FileTable, options: RatingsOptions) -> list[ParsedLabels]:
    if table.has("labels", "dimension"):
        dimensions = [name for name in table.stripped("dimension") if name]
        return [parsed_labels(table, questions=dict.fromkeys(dimensions))]
    if table.has("ratings", "user_id"):
        ratings = [cell for cell in table.cells("ratings") if isinstance(cell, dict)]
        questions = dict.fromkeys(str(key) for cell in ratings for key in cell)
        return [parsed_labels(table, questions=questions or {_ONE_QUESTION: None})]
    rater, rating = rater_header(table), table.header_of(*_RATING)
    if rater is None or rating is None:
        layouts = _wide(table, options, rater=rater)
        if rater is not None:
            return layouts
        named = [of for of in layouts if set(options.raters) <= set(of.stripped("rater_id"))]
        if not named:
            raters = dict.fromkeys(r for of in layouts for r in of.stripped("rater_id") if r)
            message = f"--rater names {', '.join(options.raters)}, who rated nothing"
            raise input_error(table.file, message, nearest(options.raters[0], raters))
        return named
    items = items_of(table, one_a_row=False)
    names = {rater: FIELDS["rater_id"][0], rating: FIELDS["rating"][0]}
    labels = labels_in_rows(_renamed(table, names), items)
    headers = {**labels.headers, "rater_id": rater, "rating": rating}
    rating_headers = FileColumn.repeat(rating, len(table))
    return [replace(labels, headers=headers, rating_headers=rating_headers)]


def _wide(table: FileTable, options: RatingsOptions, *, rater: str | None) -> list[ParsedLabels]:
    headers, are_raters = _rating_headers(table, options, rater=rater)
    columns = [RatingColumn(header, header, None) for header in headers]
    if are_raters:
        return [melted(table, columns, items_of(table, one_a_row=True))]
    counts_rows = rater is None and plain(item_header(table) or "") in _ROW_NUMBERS
    name_items = all(map(_ITEM_NAME.fullmatch, headers))
    is_survey = counts_rows and name_items
    if len(headers) >= _FEWEST_COLUMNS and (is_survey or not _names_items(table)):
        person = rater or table.header_of(*(_ROW_NUMBERS if is_survey else _PERSON))
        is_grid = all(map(_BRACKETED.fullmatch, headers))
        turned = _turned(table, person, headers) if is_grid or person else None
        if turned is not None:
            is_certain = is_grid or rater or (name_items and not is_survey)
            items = items_of(table, one_a_row=True)
            return [turned, *([] if is_certain else [melted(table, columns, items)])]
    if rater is not None:
        columns = [RatingColumn(header, None, header) for header in headers]
        table = _renamed(table, {rater: FIELDS["rater_id"][0]})
    elif crossed := crossed_columns(headers):
        items = items_of(table, one_a_row=True)
        return [melted(table, columns, items) for columns in crossed]
    if len(columns) < (_FEWEST_COLUMNS if rater is None else 1):
        raise _refusal(table, columns)
    return [melted(table, columns, items_of(table, one_a_row=rater is None))]


def _rating_headers(
    table: FileTable, options: RatingsOptions, *, rater: str | None
) -> tuple[list[str], bool]:
    """Return the columns of ratings, and whether the options say that each is of a rater."""
    named = [
        header for name in options.ratings or options.raters if (header := table.header_of(name))
    ]
    if len(named) >= _FEWEST_COLUMNS and len(named) == len(options.ratings or options.raters):
        return named, rater is None
    others = {item_header(table), rater}
    headers = [h for h in rating_columns(table, [options.scale]) if h not in others]
    if options.scale is None and len(headers) < _FEWEST_COLUMNS:
        headers = [h for h in _columns_of_words(table) if h != rater] or headers
        headers = headers or [h for h in slider_columns(table) if h not in others]
    return headers, False


def _refusal(table: FileTable, columns: Sequence[RatingColumn]) -> InputError:
    """Return the error of a table that leaves the raters open, with a command to adapt."""
    message = f"the columns {', '.join(table.columns)} do not say who gave which rating"
    if columns:
        message = (
            f"only the column {columns[0].header} holds ratings, and agreement takes two raters"
        )
    n_values = {h: len(list(filter(None, table.stripped(h).present()))) for h in table.columns}
    few = [h for h, n in n_values.items() if 1 < n <= _MOST_DISTINCT and 2 * n <= len(table)]
    numbers = [h for h in few if _are_numbers(table.stripped(h))]
    texts = sorted((h for h in few if h not in numbers), key=n_values.__getitem__)
    raters, numbers = (texts or numbers), (numbers or texts)
    items = [h for h in n_values if h not in (*numbers, *raters[:1]) and n_values[h] > 1]
    best = [of[0] if of else "COLUMN" for of in (items, raters, numbers)]
    parts = zip(("--item", "--rater", "--rating"), best, strict=True)
    command = " ".join(f"{option} {quote(header)}" for option, header in parts)
    candidates = "; ".join(
        f"{role}: {listed_briefly(of) or 'none'}"
        for role, of in (("items", items), ("raters", raters), ("ratings", numbers))
    )
    remedy = (
        f"Name them, as in: eval-assets agreement {quote(table.file)} {command} (candidates for "
        f"{candidates}); or --rater with a column of ratings for each rater, with commas between"
    )
    return input_error(table.file, message, remedy, line=1)


def _are_numbers(cells: FileColumn[str | None]) -> bool:
    return not any(math.isnan(number_in(cell)) for cell in cells.present() if cell)


def item_columns(table: FileTable, options: RatingsOptions) -> dict[str, dict[str, str]]:
    """Return prompt, response, model and further columns of each item that has a row of its own."""
    table = _renamed(table, _roles(table, options))
    rater = rater_header(table)
    if rater is not None and not _names_items(table):
        return {}
    references = items_of(table, one_a_row=rater is None)
    rated = {*_rating_headers(table, options, rater=rater)[0], table.header_of(*_RATING)}
    headers = {name: table.header_of(*names) for name, names in _TEXT_COLUMNS.items()}
    used = {
        *headers.values(),
        *rated,
        rater,
        references.response_header,
        references.question_header,
    }
    headers |= {
        h: h for h in table.columns if h not in used and plain(h) not in _NO_RESPONSE_COLUMNS
    }
    cells = {name: table.stripped(header) for name, header in headers.items() if header}
    columns: dict[str, dict[str, str]] = {}
    varying: set[str] = set()
    for row, item in enumerate(references.responses):
        fields = columns.setdefault(str(item), {})
        for name, column in cells.items():
            if (cell := column[row]) is not None and fields.setdefault(name, cell) != cell:
                varying.add(name)
    kept = [name for name in cells if name in _TEXT_COLUMNS or name not in varying]
    return {item: {name: of[name] for name in kept if name in of} for item, of in columns.items()}


def _names_items(table: FileTable) -> bool:
    return item_header(table) is not None or has_references(table)


def _turned(table: FileTable, rater: str | None, headers: Sequence[str]) -> ParsedLabels | None:
    """Return the labels of a table with a row for each rater and a column for each item.

    A header such as "Tone [Response 1]" names a question before the item, if there are several.

    Returns:
        None if the headers have no such form, and two rows name one rater, or one names none.
    """
    raters = list(table.stripped(rater)) if rater else [f"row {line}" for line in table.lines]
    grid = [_BRACKETED.fullmatch(header) for header in headers]
    if not all(grid) and (None in raters or not 1 < len(raters) == len(set(raters))):
        return None
    stems = [match[1] if match else "" for match in grid]
    if len(set(stems)) == 1:
        stems = [_ONE_QUESTION] * len(headers)
    names = [match[2] if match else header for match, header in zip(grid, headers, strict=True)]
    n_rows, n_columns = len(raters), len(headers)
    cells = [table.columns[header] for header in headers]
    long = {
        RESPONSE_ID[0]: FileColumn.of(names * n_rows),
        _QUESTION[0]: FileColumn.of([stem or _ONE_QUESTION for stem in stems] * n_rows),
        FIELDS["rater_id"][0]: FileColumn.of([name for name in raters for _ in headers]),
        FIELDS["rating"][0]: FileColumn.of(
            [column[row] for row in range(n_rows) for column in cells]
        ),
    }
    lines = [line for line in table.lines for _ in headers]
    note = f"each row read as a rater, the columns {listed_briefly(headers)} as what they rated"
    turned = replace(table.with_columns(long, note), lines=lines)
    labels = labels_in_rows(turned, items_of(turned, one_a_row=False))
    rating_headers = FileColumn([*headers], np.tile(np.arange(n_columns), n_rows))
    return replace(labels, rating_headers=rating_headers)


def items_of(table: FileTable, *, one_a_row: bool) -> References:
    """Return the item and question of each row; without a column of items, each row is one."""
    header = item_header(table)
    text = table.header_of(*_ITEM_TEXT)
    texts = table.stripped(text) if text else None
    if texts is not None and len(set(texts)) < len(texts):
        if one_a_row and header == text:
            header = None  # two responses may have one text
        elif not one_a_row and header and len(set(table.columns[header])) == len(table):
            header = text  # the ids are those of ratings
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


def crossed_columns(headers: Sequence[str]) -> list[list[RatingColumn]]:
    """Return columns of raters and questions if headers combine each of one with each other.

    Unless the names say which part of a header is the rater, there are two ways to
    read them: first the part that changes from column to column, then the other.
    """
    pairs = _crossed_parts(headers)
    if not pairs:
        return []
    names = [list(dict.fromkeys(pair[part] for pair in pairs)) for part in (0, 1)]
    parts = _rater_parts(*names) or ([1, 0] if pairs[0][0] == pairs[1][0] else [0, 1])
    return [
        [
            RatingColumn(header, pair[part], pair[1 - part])
            for header, pair in zip(headers, pairs, strict=True)
        ]
        for part in parts
    ]


def _crossed_parts(headers: Sequence[str]) -> list[tuple[str, str]]:
    for separator in (":", " - ", "__", "_", ".", "/", "-", " "):
        for split in (str.split, str.rsplit):
            parts = [list(map(str.strip, split(header, separator, 1))) for header in headers]
            if any(len(part) != 2 for part in parts):  # noqa: PLR2004 - of rater and question
                continue
            pairs = [(first, second) for first, second in parts]
            n_first, n_second = (len({pair[part] for pair in pairs}) for part in (0, 1))
            if min(n_first, n_second) > 1 and len(set(pairs)) == n_first * n_second:
                return pairs
    return []


def _rater_parts(first: Sequence[str], second: Sequence[str]) -> list[int]:
    """Return the part of the headers that must be the rater; none if their names leave it open."""
    are_raters = [all(map(_RATER_NAME.fullmatch, names)) for names in (first, second)]
    if are_raters[0] != are_raters[1]:
        return [are_raters.index(True)]
    n_questions = [sum(map(bool, map(_QUESTION_NAME.fullmatch, n))) for n in (first, second)]
    if min(n_questions) == 0 and any(
        2 * n >= len(names) for n, names in zip(n_questions, (first, second), strict=True)
    ):
        return [n_questions.index(0)]
    return []


def _renamed(table: FileTable, names: dict[str, str]) -> FileTable:
    kept = {h: cells for h, cells in table.columns.items() if h in names or h not in names.values()}
    return table.with_columns({names.get(h, h): cells for h, cells in kept.items()})
