"""Tables as survey and annotation programs write them, as columns of items, raters and ratings."""

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from eval_assets.readers.formats.table import FileColumn, FileTable, plain
from eval_assets.readers.labels.parsed_labels import FIELDS
from eval_assets.readers.labels.without_rubric import rater_header
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
_ANSWER = re.compile(r"(?:Input|Answer)[.](.+)", re.IGNORECASE)
_MODELS = ("model_a", "model_b")


def rows_of_ratings(table: FileTable) -> FileTable:
    """Return the table with objects in cells as columns, and a program's own columns renamed."""
    table = _one_annotation_a_row(_without_objects(table))
    for has_form, renamed in _FORMS.values():
        if has_form(table):
            return renamed(table)
    return table


def _without_objects(table: FileTable) -> FileTable:
    """Return the table with a column for each key of the objects in its cells."""
    columns: dict[str, FileColumn[object]] = {}
    for header, cells in table.columns.items():
        values = [value for value in cells.values if value not in (None, "")]
        # Annotations of workshops have a reader of their own, as rows of Hugging Face do.
        is_read = plain(header) == "row" or (plain(header) == "ratings" and table.has("user_id"))
        if values and not is_read and all(isinstance(value, dict) for value in values):
            keys = dict.fromkeys(key for value in values for key in value)
            for key in keys:
                name = key if key not in table.columns else f"{header}.{key}"
                nested = [value.get(key) if value else None for value in cells]
                columns[name] = FileColumn.of(nested)
        elif values and all(isinstance(v, list) and _is_single(v) for v in values):
            columns[header] = FileColumn.of([value[0] if value else None for value in cells])
        else:
            columns[header] = cells
    return replace(table, columns=columns)


def _one_annotation_a_row(table: FileTable) -> FileTable:
    """Return the table with a row for each object in the lists of a column."""
    if table.has("labels", "dimension"):
        return table
    header = next((h for h, cells in table.columns.items() if _holds_objects(cells)), None)
    if header is None:
        return table
    cells = table.columns[header]
    pairs = [(row, item) for row, value in enumerate(cells) for item in value or []]
    rows = np.array([row for row, _ in pairs], dtype=np.int64)
    others = {h: column for h, column in table.columns.items() if h != header}
    parents = replace(table, columns=others).take(rows)
    keys = dict.fromkeys(key for _, item in pairs for key in item if key not in others)
    nested = {key: FileColumn.of([item.get(key) for _, item in pairs]) for key in keys}
    if rater_header(replace(parents, columns=nested)) is None:
        return table
    note = f"each object in {header} read as the ratings of a rater"
    return _without_objects(parents.with_columns({**parents.columns, **nested}, note))


def _holds_objects(cells: FileColumn[object]) -> bool:
    lists = [value for value in cells.values if value]
    return bool(lists) and all(
        isinstance(value, list) and all(isinstance(item, dict) for item in value) for value in lists
    )


def _is_single(values: list[object]) -> bool:
    return len(values) == 1 and not isinstance(values[0], dict | list)


def _mechanical_turk(table: FileTable) -> FileTable:
    names = {"HITId": _ITEM, "WorkerId": _RATER}
    columns = {}
    for header, cells in table.columns.items():
        match = _ANSWER.fullmatch(header)
        if header in names or match:
            columns[match[1] if match else names[header]] = cells
    status = table.stripped("AssignmentStatus")
    kept = status.array(bool, lambda cell: (cell or "").casefold() != "rejected")
    note = "read as results of Mechanical Turk"
    if not kept.all():
        note += f"; {int((~kept).sum())} rejected assignments are not read"
    return table.with_columns(columns, note).take(np.flatnonzero(kept))


def _qualtrics(table: FileTable) -> FileTable:
    return _of_respondents(table, "ResponseId", _QUALTRICS, "Qualtrics")


def _survey_monkey(table: FileTable) -> FileTable:
    return _of_respondents(table, "Respondent ID", _SURVEY_MONKEY, "SurveyMonkey")


def _of_respondents(table: FileTable, rater: str, others: set[str], program: str) -> FileTable:
    columns = {
        _RATER if plain(header) == plain(rater) else header: cells
        for header, cells in table.columns.items()
        if plain(header) not in others
    }
    return table.with_columns(columns, f"read as responses of {program}, each row a rater")


def _votes(table: FileTable) -> FileTable:
    """Return votes between two models with the question and the models as item."""
    parts = [table.stripped(name) for name in ("question_id", *_MODELS)]
    items = FileColumn.of([" / ".join(filter(None, cells)) for cells in zip(*parts, strict=True)])
    columns = {h: cells for h, cells in table.columns.items() if plain(h) != "question_id"}
    return table.with_columns({_ITEM: items, **columns}, "each pair of models read as an item")


_FORMS: dict[str, tuple[Callable[[FileTable], bool], Callable[[FileTable], FileTable]]] = {
    "Mechanical Turk": (lambda table: table.has("HITId", "WorkerId"), _mechanical_turk),
    "Qualtrics": (lambda table: table.has("StartDate", "Finished", "ResponseId"), _qualtrics),
    "SurveyMonkey": (lambda table: table.has("respondent_id", "collector_id"), _survey_monkey),
    "votes": (
        lambda table: table.has("question_id", *_MODELS) and table.header_of(*RESPONSE_ID) is None,
        _votes,
    ),
}
"""Recognition and reading of each program's tables."""
