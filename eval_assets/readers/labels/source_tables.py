"""Tables written by people and programs, as columns of items, raters and ratings.

Ratings may be stars, 4/5, 4 of 5, or crosses in columns.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from eval_assets.errors import InputProblem
from eval_assets.readers._cells import is_absent, number_in
from eval_assets.readers._guessed_scales import scale_in_order
from eval_assets.readers._problems import quoted
from eval_assets.readers.formats.row_files import loaded
from eval_assets.readers.formats.table import FileColumn, FileTable, as_text, plain
from eval_assets.readers.labels.forms import rating_columns
from eval_assets.readers.labels.headers import (
    RatingColumn,
    crossed_columns,
    item_header,
    rater_header,
)
from eval_assets.readers.labels.json_tables import unnested
from eval_assets.readers.labels.validation import FIELDS
from eval_assets.readers.references import RESPONSE_ID

_ITEM, _RATER = RESPONSE_ID[0], FIELDS["rater_id"][0]
_QUALTRICS = {
    *("start_date", "end_date", "status", "ip_address", "progress", "duration_in_seconds"),
    *("finished", "recorded_date", "recipient_last_name", "recipient_first_name"),
    *("recipient_email", "external_reference", "location_latitude", "location_longitude"),
    *("distribution_channel", "user_language"),
}
_SURVEY_MONKEY = {
    *("collector_id", "start_date", "end_date", "date_created", "date_modified", "ip_address"),
    *("email_address", "first_name", "last_name", "custom_data_1"),
}
_LIME_SURVEY = {
    *("submitdate", "lastpage", "startlanguage", "seed", "startdate", "datestamp", "ipaddr"),
    *("refurl", "token"),
}
_ANSWER = re.compile(r"(?:Input|Answer)[.](.+)", re.IGNORECASE)
MODELS_IN_VOTES = ("model_a", "model_b")


def rows_of_ratings(table: FileTable) -> FileTable:
    """Return the table without objects and lists, and a program's own columns renamed."""
    table = unnested(table)
    for has_form, renamed in _FORMS.values():
        if has_form(table):
            return renamed(table)
    return table


def _mechanical_turk(table: FileTable) -> FileTable:
    names = {"HITId": _ITEM, "WorkerId": _RATER}
    columns = {}
    for header, cells in _answers_unpacked(table).items():
        match = _ANSWER.fullmatch(header)
        if header in names or match:
            columns[match[1] if match else names[header]] = cells
    columns = _chosen_buttons(columns)
    status = table.stripped("AssignmentStatus")
    is_kept = status.array(bool, lambda cell: (cell or "").casefold() != "rejected")
    note = "read as results of Mechanical Turk"
    if not is_kept.all():
        note += f"; {int((~is_kept).sum())} rejected assignments are not read"
    return table.with_columns(columns, note).take(np.flatnonzero(is_kept))


def _answers_unpacked(table: FileTable) -> Mapping[str, FileColumn[Any]]:
    """Return the columns, with a column for each answer in a cell of JSON."""
    header = table.header_of("Answer.taskAnswers")
    if header is None:
        return table.columns
    rows = [records[0] if records else {} for records in map(_json_list, table.columns[header])]
    keys = dict.fromkeys(key for row in rows for key in row)
    answers = {key: [row.get(key) for row in rows] for key in keys}
    columns = {h: cells for h, cells in table.columns.items() if h != header}
    for key, values in answers.items():
        options = [value for value in values if isinstance(value, dict)]
        if not options:
            columns[f"Answer.{key}"] = FileColumn.of(values)
        for option in dict.fromkeys(name for value in options for name in value):
            chosen = [as_text(value.get(option)) if value else None for value in values]
            columns[f"Answer.{key}.{option}"] = FileColumn.of(chosen)
    return columns


def _json_list(cell: object) -> list[dict[str, Any]]:
    with suppress(ValueError):
        records = loaded(str(cell))
        if isinstance(records, list) and all(isinstance(record, dict) for record in records):
            return records
    return []


def _chosen_buttons(columns: Mapping[str, FileColumn[Any]]) -> dict[str, FileColumn[Any]]:
    """Return one column for the buttons NAME.VALUE, one of which is pressed in each row."""
    groups: dict[str, dict[str, FileColumn[Any]]] = {}
    for header, cells in columns.items():
        name, dot, value = header.rpartition(".")
        if dot and {_folded(cell) for cell in cells.present()} <= _YES | _NO:
            groups.setdefault(name, {})[value] = cells
    joined = dict(columns)
    for name, buttons in groups.items():
        rows = [
            [value for value, cell in zip(buttons, row, strict=True) if _folded(cell) in _YES]
            for row in zip(*buttons.values(), strict=True)
        ]
        if len(buttons) > 1 and all(len(values) == 1 for values in rows):
            joined = {h: cells for h, cells in joined.items() if h.rpartition(".")[0] != name}
            joined[name] = FileColumn.of([value for [value] in rows])
    return joined


def _qualtrics(table: FileTable) -> FileTable:
    return _of_respondents(table, "ResponseId", _QUALTRICS, "Qualtrics")


def _lime_survey(table: FileTable) -> FileTable:
    return _of_respondents(table, "id", _LIME_SURVEY, "LimeSurvey")


def _survey_monkey(table: FileTable) -> FileTable:
    return _of_respondents(table, "Respondent ID", _SURVEY_MONKEY, "SurveyMonkey")


def _of_respondents(table: FileTable, rater: str, metadata: set[str], program: str) -> FileTable:
    columns = {
        _RATER if plain(header) == plain(rater) else header: cells
        for header, cells in table.columns.items()
        if plain(header) not in metadata
    }
    return table.with_columns(columns, f"read as responses of {program}, each row a rater")


def _votes(table: FileTable) -> FileTable:
    """Return votes between two models with the question and the models as item."""
    parts = [table.stripped(name) for name in ("question_id", *MODELS_IN_VOTES)]
    items = FileColumn.of([" / ".join(filter(None, cells)) for cells in zip(*parts, strict=True)])
    columns = {h: cells for h, cells in table.columns.items() if plain(h) != "question_id"}
    return table.with_columns({_ITEM: items, **columns}, "each pair of models read as an item")


_FORMS: dict[str, tuple[Callable[[FileTable], bool], Callable[[FileTable], FileTable]]] = {
    "Mechanical Turk": (lambda table: table.has("HITId", "WorkerId"), _mechanical_turk),
    "Qualtrics": (lambda table: table.has("StartDate", "Finished", "ResponseId"), _qualtrics),
    "SurveyMonkey": (lambda table: table.has("respondent_id", "collector_id"), _survey_monkey),
    "LimeSurvey": (lambda table: table.has("id", "submitdate", "lastpage"), _lime_survey),
    "votes": (
        lambda table: (
            table.has("question_id", *MODELS_IN_VOTES) and table.header_of(*RESPONSE_ID) is None
        ),
        _votes,
    ),
}
"""Recognition and reading of each program's tables."""


Tops = Mapping[str, float]
"""Highest value that the ratings in a column can have, where they name it."""

_OUT_OF = re.compile(
    r"([0-9]+(?:[.,][0-9]+)?) ?(?:/|of|out of|von|sur|de) ?([0-9]+)(?: ?(?:points?|stars?))?",
    re.IGNORECASE,
)
_STARS = re.compile("([*\u2605\u2b50]*)(\u00bd?)([\u2606\u2729]*)")
_COUNTED_STARS = re.compile(r"([0-9]+(?:[.,][0-9]+)?) ?(?:stars?|sterne?)", re.IGNORECASE)
_FEWEST_COLUMNS = 2
_TOPS = range(2, 11)
"""Highest values of scales; 3/12 may be a month."""

_MANY_WORDS = 1000
"""Spellings of a few words are fewer."""

_CROSSES = frozenset("x\u00d7\u2713\u2714\u2611\u2612\u25cf\u2022\u25a0")
_NO_CROSS = frozenset({"", "\u2610", "\u25cb", "\u25a1"})
_YES, _NO = frozenset({"true", "yes", "1"}), frozenset({"false", "no", "0"})
"""Ticked boxes as spreadsheets export them: crosses only if every row has one."""


class _Written(NamedTuple):
    """A rating, and the highest possible one; None if the cell does not name it."""

    value: float
    top: float | None


def with_numbers(table: FileTable) -> tuple[FileTable, Tops]:
    """Return the table with such ratings as numbers, and the highest value of their scales."""
    # Beside two columns of plain numbers, 3/5 is a date or a page.
    number_columns = rating_columns(table, [None]) if rater_header(table) is None else []
    columns, examples = dict(table.columns), dict[str, tuple[str, _Written]]()
    item = item_header(table)
    for header in table.columns:
        if header == item:
            continue
        cells = table.stripped(header)
        present = [cell for cell in cells.present() if cell and not is_absent(cell)]
        if len(number_columns) >= _FEWEST_COLUMNS and any(map(_OUT_OF.fullmatch, present)):
            continue
        if example := _example(cells):
            examples[header] = example
            columns[header] = cells.map(_in_numbers)
    tops = {header: written.top for header, (_, written) in examples.items() if written.top}
    return table.with_columns(columns, *_notes(examples)), tops


def _written(cell: str | None) -> _Written | None:
    """Return the rating in a cell, None if it is in none of these forms.

    Examples:
        >>> _written("4/5")
        _Written(value=4.0, top=5.0)
        >>> _written("***")
        _Written(value=3.0, top=None)
    """
    if cell is None or is_absent(cell):
        return None
    text = " ".join(cell.split())
    if match := _OUT_OF.fullmatch(text):
        return _Written(float(match[1].replace(",", ".")), float(match[2]))
    if match := _COUNTED_STARS.fullmatch(text):
        return _Written(float(match[1].replace(",", ".")), None)
    if match := _STARS.fullmatch(text.replace("\ufe0f", "").replace(" ", "")):
        full, half, empty = map(len, match.groups())
        return _Written(full + half / 2, float(full + half + empty) if empty else None)
    return None


def _in_numbers(cell: str | None) -> str | None:
    written = _written(cell)
    return cell if written is None else f"{written.value:g}"


def _example(cells: FileColumn[str | None]) -> tuple[str, _Written] | None:
    """Return a cell of a column of such ratings with its rating; None if it is another column.

    Plain numbers may be among them.
    """
    pairs = [(cell, _written(cell)) for cell in cells.present() if cell is not None]
    written = [(cell, rating) for cell, rating in pairs if rating is not None]
    plain_cells = [cell for cell, rating in pairs if rating is None and not is_absent(cell)]
    tops = {rating.top for _, rating in written if rating.top is not None}
    if not written or len(tops) > 1 or any(math.isnan(number_in(cell)) for cell in plain_cells):
        return None
    top = next(iter(tops), None)
    highest = max(rating.value for _, rating in written)
    if highest < _TOPS[0] if top is None else top not in _TOPS or highest > top:
        return None
    cell, first = written[0]
    return cell, _Written(first.value, top)


def _notes(examples: Mapping[str, tuple[str, _Written]]) -> list[str]:
    by_top: dict[float | None, list[str]] = {}
    for header, (_, written) in examples.items():
        by_top.setdefault(written.top, []).append(header)
    notes = []
    for top, headers in by_top.items():
        cell, written = examples[headers[0]]
        of = "" if top is None else f" of {top:g}"
        notes.append(f"{quoted(cell)} in {', '.join(headers)} read as {written.value:g}{of}")
    return notes


def without_crosses(table: FileTable) -> tuple[FileTable, Tops]:
    """Return the table with ratings in place of the crosses for them, and the scales' tops.

    Columns named by the values of a scale, alone or beside a rater, or with one cross in every
    row, become one column of ratings. In other columns a cross is a yes, and a blank a no.
    """
    table = _ticks_crossed(table)
    words = {header: _words(table, header) for header in table.columns}
    candidates = [header for header in words if words[header] <= _CROSSES | _NO_CROSS]
    crossed = [header for header in candidates if words[header] & _CROSSES]
    if not crossed:
        return table, {}
    rater = rater_header(table)
    for headers in (candidates, crossed):
        is_choice = _are_values(headers) or (rater is not None and _is_one_a_row(table, crossed))
        if is_choice and FIELDS["rating"][0] not in table.columns:
            choices = [RatingColumn(header, None, header) for header in headers]
            return _chosen(table, {FIELDS["rating"][0]: choices})
        for columns in crossed_columns(headers) if rater is None else []:
            by_rater: dict[str, list[RatingColumn]] = {}
            for column in columns:
                by_rater.setdefault(column.rater or "", []).append(column)
            if _are_values(sorted({column.question or "" for column in columns})):
                return _chosen(table, by_rater)
    if len(crossed) < _FEWEST_COLUMNS and rater is None:
        return table, {}
    yes_or_no = {
        header: table.text(header).map(lambda cell: "1" if _is_cross(cell) else "0")
        for header in crossed
    }
    note = f"a cross in {', '.join(crossed)} read as yes, and none as no"
    return table.with_columns({**table.columns, **yes_or_no}, note), {}


def _ticks_crossed(table: FileTable) -> FileTable:
    """Return the table with a cross for each ticked box, if every row has one in such columns."""
    boxes = [header for header in table.columns if _words(table, header) <= {"", *_YES, *_NO}]
    if rater_header(table) is None or not _are_values(boxes):
        return table
    crosses = {
        header: table.text(header).map(lambda cell: "x" if _folded(cell) in _YES else "")
        for header in boxes
    }
    crossed = table.with_columns({**table.columns, **crosses})
    return crossed if _is_one_a_row(crossed, boxes) else table


def _chosen(
    table: FileTable, choices: Mapping[str, Sequence[RatingColumn]]
) -> tuple[FileTable, Tops]:
    """Return the table with one column of ratings for several columns of crosses.

    `choices` holds the old columns by the header of the new one, with their values as questions.
    """
    crossed = {column.header for columns in choices.values() for column in columns}
    columns = {header: cells for header, cells in table.columns.items() if header not in crossed}
    bad_rows = list(table.bad_rows)
    tops: dict[str, float] = {}
    for name, options in choices.items():
        crosses = {str(option.question): table.text(option.header) for option in options}
        ratings = []
        for row, line in enumerate(table.lines):
            values = [value for value, cells in crosses.items() if _is_cross(cells[row])]
            ratings.append(values[0] if len(values) == 1 else "")
            if len(values) > 1:
                message = f"there are crosses for {' and '.join(values)}"
                problem = InputProblem(table.file, line, name, message, "Keep one of them")
                bad_rows.append(problem)
        columns[name] = FileColumn.of(ratings)
        top = max(map(number_in, crosses))
        if not math.isnan(top):
            tops[name] = top
    values = list(dict.fromkeys(option.question or "" for of in choices.values() for option in of))
    note = f"crosses in the columns {', '.join(values)} read as ratings"
    return replace(table.with_columns(columns, note), bad_rows=tuple(bad_rows)), tops


def _are_values(headers: Sequence[str]) -> bool:
    """Return whether headers are the values of one scale: numbers, or words in a known order."""
    if len(headers) < _FEWEST_COLUMNS:
        return False
    are_numbers = not any(math.isnan(number_in(header)) for header in headers)
    return are_numbers or scale_in_order({header.strip() for header in headers}) is not None


def _is_one_a_row(table: FileTable, headers: Sequence[str]) -> bool:
    rows = zip(*(table.text(header) for header in headers), strict=True)
    return len(headers) >= _FEWEST_COLUMNS and all(sum(map(_is_cross, row)) == 1 for row in rows)


def _is_cross(cell: str | None) -> bool:
    return _folded(cell) in _CROSSES


def _words(table: FileTable, header: str) -> set[str]:
    """Return the folded cells of a column; of one with too many for crosses some, unfolded."""
    present = table.text(header).present()
    if len(present) > _MANY_WORDS:
        return {cell or "" for cell in present[:_MANY_WORDS]}
    return set(map(_folded, present))


def _folded(cell: str | None) -> str:
    return (cell or "").strip().casefold()
