"""Labels of a file without a rubric: its columns imply the items, raters and questions."""

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from shlex import quote

import numpy as np
import numpy.typing as npt

from eval_assets.errors import InputError
from eval_assets.readers._cells import number_in
from eval_assets.readers._guessed_scales import scale_in_order
from eval_assets.readers._problems import input_error, listed_briefly, nearest, quoted
from eval_assets.readers.formats.row_files import SHEET
from eval_assets.readers.formats.table import FileColumn, FileTable, plain
from eval_assets.readers.labels.forms import (
    are_on_sliders,
    computed_columns,
    melted,
    parsed_labels,
    rating_columns,
    slider_columns,
)
from eval_assets.readers.labels.headers import (
    ITEM_NAME,
    PERSON,
    QUESTION,
    QUESTION_NAME,
    QUESTION_OR_PROMPT,
    RATER_NAME,
    RATING,
    ROW_NUMBERS,
    SUMMARIES,
    TEXT_COLUMNS,
    RatingColumn,
    crossed_columns,
    is_metadata,
    item_header,
    never_rates,
    rater_header,
)
from eval_assets.readers.labels.row_units import (
    ONE_QUESTION,
    are_units,
    filled_down,
    items_of,
    sheet_roles,
    with_joined_items,
)
from eval_assets.readers.labels.source_tables import MODELS_IN_VOTES
from eval_assets.readers.labels.validation import (
    FIELDS,
    ParsedLabels,
    labels_in_rows,
    with_note,
)
from eval_assets.readers.references import (
    KEY_COLUMNS,
    MODEL_NAME,
    RESPONSE_ID,
    has_references,
)
from eval_assets.scale import Level, Scale
from eval_assets.wording import listed


@dataclass(frozen=True, kw_only=True)
class RatingsOptions:
    """Choices of the user; all others follow from the file.

    Args:
        scale: Scale of all questions.
        level: Level of measurement of all questions.
        items: Column of the rated items, or columns that name them together.
        raters: Column of the raters, or columns of ratings by a rater each; also raters as headers
            that combine them with questions name them.
        ratings: Column of the ratings, or one for each question.
        question: Column of the questions.
        skip_rows: Rows above the header.
        missing_values: Words that mean no rating.
    """

    scale: Scale | None = None
    level: Level | None = None
    items: tuple[str, ...] = ()
    raters: tuple[str, ...] = ()
    ratings: tuple[str, ...] = ()
    question: str | None = None
    skip_rows: int = 0
    missing_values: tuple[str, ...] = ()


_NO_RESPONSE_COLUMNS = {
    *(*RESPONSE_ID, *KEY_COLUMNS, *QUESTION, *SUMMARIES),
    *(name for names in FIELDS.values() for name in names),
}
"""Columns of labels, or that would change which questions a response is asked."""

_FEWEST_COLUMNS = 2
_MOST_WORDS = 7
_MOST_DISTINCT = 12
"""Values of ratings or raters; items are more."""

_FAR_MORE = 2
"""Columns for each row from which on rows with names may be raters."""

_BRACKETED = re.compile(r"(.*?)\s*\[(.+)\]\s*")


def labels_without_rubric(table: FileTable, options: RatingsOptions) -> ParsedLabels:
    """Return the labels of a table in the likeliest of its `label_layouts`."""
    return label_layouts(table, options)[0]


def label_layouts(table: FileTable, options: RatingsOptions) -> list[ParsedLabels]:
    """Return the labels of a table, its questions named even if there is only one.

    A wide table that does not tell raters from questions in its headers has two layouts, the
    likelier one first. A scale separates columns of ratings from others.

    Raises:
        InputError: If the columns do not determine the rater or the item.
    """
    names = _roles(table, options)
    table = _with_items(_renamed(table, names), options)
    headers = _rating_headers(table, options, rater=SHEET)[0] if SHEET in table.columns else []
    layouts = [
        labels
        for of in sheet_roles(table, headers, raters=options.raters)
        for labels in _layouts(of, options)
    ]
    original = {role: header for header, role in names.items()}
    return [
        replace(
            labels,
            units=labels.units.with_headers(original),
            headers={field: original.get(h, h) for field, h in labels.headers.items()},
            rating_headers=labels.rating_headers.map(lambda header: original.get(header, header)),
            unread=_unread(table, labels),
        )
        for labels in layouts
    ]


def _unread(table: FileTable, labels: ParsedLabels) -> tuple[str, ...]:
    """Return the columns that hold nothing of a label, and that no note names."""
    if table.has("labels", "dimension") or table.has("ratings", "user_id"):
        return ()
    unused = ("rating", "guideline_hash")  # of several columns, and of another rubric
    named_headers: set[str | None] = {
        header for field, header in labels.headers.items() if field not in unused
    }
    named_headers |= {*labels.rating_headers.present(), *labels.named_headers, SHEET}
    named_headers |= {labels.units.response_header, labels.units.question_header, *MODELS_IN_VOTES}
    if labels.units.response_header is None and has_references(table):
        named_headers |= {table.header_of(name) for name in (*KEY_COLUMNS, *MODEL_NAME)}
    return tuple(header for header in table.columns if header not in named_headers)


def _roles(table: FileTable, options: RatingsOptions) -> dict[str, str]:
    """Return the columns that the options name, under the name of their role.

    Raises:
        InputError: If there is no such column.
    """
    columns = {
        "--item": (next(iter(options.items), None), RESPONSE_ID[0]),
        "--question": (options.question, QUESTION[0]),
        "--rater": (_only(options.raters), FIELDS["rater_id"][0]),
        "--rating": (_only(options.ratings), FIELDS["rating"][0]),
    }
    roles = {}
    for name, role in columns.values():
        header = table.header_of(name) if name else None
        if header is not None:
            roles[header] = role
    names = {option: name for option, (name, _) in columns.items()}
    several = {"--item": options.items, "--rating": options.ratings}
    for option, name in [*names.items(), *((o, name) for o, of in several.items() for name in of)]:
        if name and option != "--rater" and table.header_of(name) is None:
            message = f"{option} names {quoted(name)}, and there is no such column"
            raise input_error(table.file, message, nearest(name, table.columns))
    return roles


def _with_items(table: FileTable, options: RatingsOptions) -> FileTable:
    further = filter(None, map(table.header_of, options.items[1:]))
    return with_joined_items(filled_down(table), [*further])


def _only(names: Sequence[str]) -> str | None:
    return names[0] if len(names) == 1 else None


def _layouts(table: FileTable, options: RatingsOptions) -> list[ParsedLabels]:
    if table.has("labels", "dimension"):
        dimensions = [name for name in table.stripped("dimension") if name]
        return [parsed_labels(table, questions=dict.fromkeys(dimensions))]
    if table.has("ratings", "user_id"):
        ratings = [cell for cell in table.cells("ratings") if isinstance(cell, dict)]
        questions = dict.fromkeys(str(key) for cell in ratings for key in cell)
        return [parsed_labels(table, questions=questions or {ONE_QUESTION: None})]
    rater, rating, further = rater_header(table), *_rating_header(table)
    if rater is None or rating is None:
        layouts = _wide(table, options, rater=rater)
        if rater is not None:
            return layouts
        named = [of for of in layouts if set(options.raters) <= set(of.stripped("rater_id"))]
        if not named:
            raters = dict.fromkeys(r for of in layouts for r in of.stripped("rater_id") if r)
            unknown = [name for name in options.raters if name not in raters]
            message = f"--rater names {', '.join(unknown or options.raters)}, who rated nothing"
            remedy = nearest((unknown or options.raters)[0], raters)
            raise input_error(table.file, message, remedy)
        return named
    if further:
        note = f"ratings read from {rating}, not from {', '.join(further)}. --rating names another"
        table = table.with_columns(table.columns, note)
    items = items_of(table, one_a_row=False)
    names = {rater: FIELDS["rater_id"][0], rating: FIELDS["rating"][0]}
    labels = labels_in_rows(_renamed(table, names), items)
    headers = {**labels.headers, "rater_id": rater, "rating": rating}
    rating_headers = FileColumn.repeat(rating, len(table))
    return [
        replace(
            labels, headers=headers, rating_headers=rating_headers, named_headers=tuple(further)
        )
    ]


def _wide(table: FileTable, options: RatingsOptions, *, rater: str | None) -> list[ParsedLabels]:
    headers, are_raters = _rating_headers(table, options, rater=rater)
    columns = [RatingColumn(header, header, None) for header in headers]
    if are_raters:
        return [melted(table, columns, items_of(table, one_a_row=True))]
    counts_rows = rater is None and plain(item_header(table) or "") in ROW_NUMBERS
    name_items = all(map(ITEM_NAME.fullmatch, headers))
    is_survey = counts_rows and name_items
    if len(headers) >= _FEWEST_COLUMNS and (is_survey or not _names_items(table)):
        person = rater or table.header_of(*(ROW_NUMBERS if is_survey else PERSON))
        is_grid = all(map(_BRACKETED.fullmatch, headers))
        turned = _turned(table, person, headers) if is_grid or person or name_items else None
        if turned is not None:
            may_be_questions = person is None and all(map(QUESTION_NAME.fullmatch, headers))
            are_items = name_items and not may_be_questions
            are_items |= len(headers) >= _FAR_MORE * len(table)
            is_certain = is_grid or rater or (are_items and not is_survey)
            items = items_of(table, one_a_row=True)
            return [turned, *([] if is_certain else [melted(table, columns, items)])]
    if len(columns) < (_FEWEST_COLUMNS if rater is None else 1):
        raise _refusal(table, columns)
    if rater is not None:
        columns = [RatingColumn(header, None, header) for header in headers]
        table = _renamed(table, {rater: FIELDS["rater_id"][0]})
    elif crossed := _crossed(table, headers, options):
        items = items_of(table, one_a_row=True)
        return [melted(table, columns, items) for columns in crossed]
    are_questions = all(QUESTION_NAME.fullmatch(h) and not h[-1].isdigit() for h in headers)
    if rater is None and are_questions:
        message = (
            f"the columns {listed_briefly(headers)} look like questions, and none names raters"
        )
        command = f"eval-assets agreement {quote(table.file)} --rater {quote(','.join(headers))}"
        remedy = f"Add a column rater_id, or if they are raters, run: {command}"
        raise input_error(table.file, message, remedy, line=1)
    layouts = [melted(table, columns, items_of(table, one_a_row=rater is None))]
    if rater is not None:
        return [replace(of, headers={**of.headers, "rater_id": rater}) for of in layouts]
    layouts = [_with_doubt(layouts[0], headers)]
    item = item_header(table)
    if item and len(headers) >= _FAR_MORE * len(table):
        names = table.stripped(item).present()
        may_be_people = not any(c.isdigit() for name in names for c in name or "")
        turned = _turned(table, item, headers) if may_be_people else None
        layouts += [turned] if turned else []
    return layouts


def _crossed(
    table: FileTable, headers: Sequence[str], options: RatingsOptions
) -> list[list[RatingColumn]]:
    """Return the columns of raters and questions; words count where others are `anna: tone`."""
    crossed = crossed_columns([header for header in table.columns if ":" in header])
    if not crossed or not any(":" in header for header in headers):
        return crossed_columns(headers)
    # Whether an answer is a number or a word depends on the question, and not on the rater.
    n_mixed = [_n_mixed(table, columns) for columns in crossed]
    crossed = [of for of, n in zip(crossed, n_mixed, strict=True) if n == min(n_mixed)]
    rated = {*headers, *(() if options.scale else _columns_of_words(table, ()))}
    questions = [{c.question for c in columns if c.header in rated} for columns in crossed]
    return [
        [column for column in columns if column.question in names]
        for columns, names in zip(crossed, questions, strict=True)
    ]


def _n_mixed(table: FileTable, columns: Sequence[RatingColumn]) -> int:
    """Return the number of questions with columns of numbers and others."""
    cells = [(column.question, table.stripped(column.header)) for column in columns]
    kinds = {(question, _are_numbers(of)) for question, of in cells if any(of.present())}
    return len(kinds) - len({question for question, _ in kinds})


def _with_doubt(labels: ParsedLabels, headers: Sequence[str]) -> ParsedLabels:
    """Return the labels with a note on headers unlike the names of the other raters."""
    unusual = [header for header in headers if not RATER_NAME.fullmatch(header)]
    if not 0 < len(unusual) <= len(headers) - _FEWEST_COLUMNS:
        return labels
    raters = ",".join(header for header in headers if header not in unusual)
    return with_note(labels, f"if {listed(unusual)} rated nothing, pass --rater {quote(raters)}")


def _rating_headers(
    table: FileTable, options: RatingsOptions, *, rater: str | None
) -> tuple[list[str], bool]:
    """Return the columns of ratings, and whether the options say that each is of a rater."""
    named = [
        header for name in options.ratings or options.raters if (header := table.header_of(name))
    ]
    if len(named) >= _FEWEST_COLUMNS and len(named) == len(options.ratings or options.raters):
        return named, rater is None
    roles = {item_header(table), rater}
    headers = [h for h in rating_columns(table, [options.scale]) if h not in roles]
    if options.scale is not None and len(headers) < _FEWEST_COLUMNS:
        # Their cells are reported as off the scale.
        headers = headers or [h for h in rating_columns(table, [None]) if h not in roles]
    elif len(headers) < _FEWEST_COLUMNS:
        alone = {*table.columns} - roles if rater is not None and not headers else set[str]()
        headers = [h for h in _columns_of_words(table, alone) if h != rater] or headers
    if options.scale is None and (rater is None or not headers):
        sliders = [h for h in slider_columns(table) if h not in roles]
        if set(headers) < set(sliders) and (not headers or are_on_sliders(table, headers)):
            computed = computed_columns(table, sliders)
            headers = [header for header in sliders if header not in computed]
    return headers, False


def _refusal(table: FileTable, columns: Sequence[RatingColumn]) -> InputError:
    """Return the error of a table with unclear raters, with a command to adapt."""
    message = f"the columns {', '.join(table.columns)} do not say who gave which rating"
    if columns:
        message = (
            f"only the column {columns[0].header} holds ratings, and agreement takes two raters"
        )
    message += f" ({'; '.join(table.notes)})" if table.notes else ""
    n_values = {h: len(list(filter(None, table.stripped(h).present()))) for h in table.columns}
    few = [h for h, n in n_values.items() if 1 < n <= _MOST_DISTINCT and 2 * n <= len(table)]
    numbers = [h for h in few if _are_numbers(table.stripped(h))]
    texts = sorted((h for h in few if h not in numbers), key=n_values.__getitem__)
    rating, _ = _rating_header(table)
    if rating is not None and rater_header(table) is None and not texts and len(numbers) < 2:  # noqa: PLR2004 - a rater and a rating
        message = f"no column says who gave the ratings in {rating}"
        remedy = "Add a column rater_id, or if each rater has a file, run eval-assets init on their"
        return input_error(table.file, message, f"{remedy} folder", line=1)
    raters, is_mixed = texts or numbers, bool(texts and numbers)
    roles = {*raters[:1], *(numbers if is_mixed else [])}
    items = sorted(
        (header for header, n in n_values.items() if n > 1 and header not in roles),
        key=lambda h: (
            h != item_header(table),
            is_metadata(plain(h)),
            n_values[h] == len(table),
            -n_values[h],
        ),
    )
    # A rater rates an item once; a rating is given several times.
    item = next(iter(items), None)
    raters.sort(key=lambda h: (h == item, item is None or not are_units(table, item, h)))
    numbers = numbers if is_mixed else raters[1:]
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


def _rating_header(table: FileTable) -> tuple[str | None, list[str]]:
    """Return the column of ratings, of several the first with few values, and the others."""
    headers = [h for name in RATING if (h := table.header_of(name)) is not None]
    few = [h for h in headers if len(table.stripped(h).present()) <= _MOST_DISTINCT]
    rating = next(iter(few or headers), None)
    return rating, [header for header in headers if header != rating]


def item_columns(table: FileTable, options: RatingsOptions) -> dict[str, dict[str, str]]:
    """Return prompt, response, model and further columns of each item with a separate row."""
    table = filled_down(_renamed(table, _roles(table, options)))
    rater = rater_header(table)
    if rater is not None and not _names_items(table):
        return {}
    with_items = _with_items(table, options)
    references = items_of(with_items, one_a_row=rater is None)
    rated = {*_rating_headers(table, options, rater=rater)[0], table.header_of(*RATING)}
    headers = {name: table.header_of(*names) for name, names in TEXT_COLUMNS.items()}
    if headers["prompt_text"] is None and references.question_header not in table.columns:
        headers["prompt_text"] = table.header_of(*QUESTION_OR_PROMPT)
    label_headers = {
        *headers.values(),
        *rated,
        rater,
        references.response_header,
        references.question_header,
    }
    if len(with_items.columns) < len(table.columns):  # prompt and model name the item together
        headers["prompt_id"] = references.response_header
    headers |= {
        h: h
        for h in table.columns
        if h not in label_headers and plain(h) not in _NO_RESPONSE_COLUMNS
    }
    cells = {name: table.stripped(header) for name, header in headers.items() if header}
    items = references.responses.map(str)
    columns: dict[str, dict[str, str]] = {item: {} for item in items.present()}
    for name, column in cells.items():
        first, is_same = _first_of_each(items, column)
        if name in TEXT_COLUMNS or is_same:
            for item, code in zip(items.values, first.tolist(), strict=True):
                if code >= 0:
                    columns[item][name] = str(column.values[code])
    return columns


def _first_of_each(
    items: FileColumn[str], column: FileColumn[str | None]
) -> tuple[npt.NDArray[np.int64], bool]:
    """Return the code of the first cell of each item, -1 without one; and whether all are alike."""
    filled = ~column.is_none()
    item, code = items.codes[filled], column.codes[filled]
    present, row = np.unique(item, return_index=True)
    first = np.full(len(items.values), -1, dtype=np.int64)
    first[present] = code[row]
    differing = np.unique(np.stack([first[item], code], axis=1)[first[item] != code], axis=0)
    values = column.values
    return first, all(values[one] == values[other] for one, other in differing.tolist())


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
        stems = [ONE_QUESTION] * len(headers)
    names = [match[2] if match else header for match, header in zip(grid, headers, strict=True)]
    n_rows, n_columns = len(raters), len(headers)
    cells = [table.columns[header] for header in headers]
    long = {
        RESPONSE_ID[0]: FileColumn.of(names * n_rows),
        QUESTION[0]: FileColumn.of([stem or ONE_QUESTION for stem in stems] * n_rows),
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
    fields = {**labels.headers, "rater_id": rater or "rater_id"}
    return replace(labels, headers=fields, rating_headers=rating_headers)


def _columns_of_words(table: FileTable, alone: Collection[str]) -> list[str]:
    """Return columns that share words, and those of `alone` whose words have a known order."""
    words = {
        header: {cell.casefold() for cell in table.stripped(header).present() if cell is not None}
        for header in table.columns
        if header != item_header(table) and not never_rates(plain(header))
    }
    few = {header: cells for header, cells in words.items() if 0 < len(cells) <= _MOST_WORDS}
    return [
        header
        for header, cells in few.items()
        if (header in alone and scale_in_order(cells) is not None)
        or any(cells & words for name, words in few.items() if name != header)
    ]


def _renamed(table: FileTable, names: dict[str, str]) -> FileTable:
    selected = {
        h: cells for h, cells in table.columns.items() if h in names or h not in names.values()
    }
    return table.with_columns({names.get(h, h): cells for h, cells in selected.items()})
