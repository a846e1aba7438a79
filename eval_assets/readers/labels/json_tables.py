"""Ratings that JSON nests in objects and lists, as tables of rows and columns."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from eval_assets.readers._problems import input_error, listed_briefly
from eval_assets.readers.formats.row_files import joined_tables
from eval_assets.readers.formats.table import FileColumn, FileTable, plain
from eval_assets.readers.labels.headers import (
    ITEM,
    QUESTION,
    RATERS_IN_LIST,
    RATING,
    item_header,
    rater_header,
)
from eval_assets.readers.labels.validation import FIELDS
from eval_assets.readers.references import RESPONSE_ID

_ITEM, _RATER = RESPONSE_ID[0], FIELDS["rater_id"][0]
_SCALARS = (str, int, float, bool, type(None))
_RATINGS = (int, float, bool, type(None))

Objects = Mapping[str, Mapping[str, Any]]


def unnested(table: FileTable) -> FileTable:
    """Return the table with its objects and lists as rows and columns."""
    if all(set(map(type, cells.values)) <= {str} for cells in table.columns.values()):
        return table
    if len(table) == 1:
        table = _document(table, {header: cells[0] for header, cells in table.columns.items()})
    return _lists_of_ratings(_one_annotation_a_row(_without_objects(table)))


def _document(table: FileTable, document: Mapping[str, Any]) -> FileTable:
    """Return the rows of a file that is one object: of columns, of rows, or of raters' ratings."""
    match document:
        case {"columns": [*names], "data": [*rows]}:  # as pandas splits a frame
            return _rows(table, [dict(zip(map(str, names), row, strict=False)) for row in rows])
        case {"schema": dict(), "data": [*rows]} if _is_list_of(rows, (dict,)):
            return _rows(table, [{k: v for k, v in row.items() if k != "index"} for row in rows])
    if len(document) > 1:
        return _values_as_rows(table, document)
    [rows] = document.values()
    return _rows(table, rows) if _is_list_of(rows, (dict,)) else table


def _values_as_rows(table: FileTable, document: Mapping[str, Any]) -> FileTable:
    """Return the rows of an object whose values are alike: lists of rows, columns, or objects."""
    values = list(document.values())
    if all(values):
        if all(_is_list_of(value, (dict,)) for value in values):
            return joined_tables([(name, _rows(table, rows)) for name, rows in document.items()])
        if all(_is_list_of(value, _SCALARS) for value in values) and len({*map(len, values)}) == 1:
            cells = zip(*values, strict=True)
            return _rows(table, [dict(zip(document, row, strict=True)) for row in cells])
        if _is_list_of(values, (dict,)):
            return _rows(table, list(_keyed_rows(document, table.file)))
    return table


def _keyed_rows(document: Objects, file: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of an object of objects, of which keys are items, raters or both."""
    fields = [value for of in document.values() for value in of.values()]
    keys = {key for of in document.values() for key in of}
    if len(keys) > 1 and _is_list_of(fields, (dict,)):
        yield from _three_levels(document, file)
    elif _is_list_of(fields, _SCALARS):
        yield from _two_levels(document)
    else:
        yield from ({_ITEM: key, **of} for key, of in document.items())


def _two_levels(document: Objects) -> Iterator[dict[str, Any]]:
    """Yield a row for each outer key, or each inner one if these are more and all are numbers.

    A frame that pandas writes has counts of its rows as keys, which are then no column.
    """
    inner = list(dict.fromkeys(key for fields in document.values() for key in fields))
    are_numbers = all(_is_list_of([*fields.values()], _RATINGS) for fields in document.values())
    if _are_counts(inner) or (are_numbers and len(inner) > len(document)):
        document = {key: {k: of.get(key) for k, of in document.items()} for key in inner}
    counts_rows = _are_counts(list(document))
    for key, fields in document.items():
        has_item = counts_rows or any(plain(name) in ITEM for name in fields)
        yield dict(fields) if has_item else {_ITEM: key, **fields}


def _three_levels(document: Objects, file: str) -> Iterator[dict[str, Any]]:
    """Yield a row for each item and rater, who are fewer; innermost are questions."""
    inner = list(dict.fromkeys(key for fields in document.values() for key in fields))
    if len(inner) == len(document):
        message = "its outer keys may be items or raters"
        raise input_error(file, message, "Write a list of objects with item, rater and ratings")
    names = (_ITEM, _RATER) if len(document) > len(inner) else (_RATER, _ITEM)
    for outer, objects in document.items():
        for key, fields in objects.items():
            yield dict(zip(names, (outer, key), strict=True)) | fields


def _rows(table: FileTable, rows: Sequence[Mapping[str, Any]]) -> FileTable:
    headers = dict.fromkeys(key for row in rows for key in row)
    columns = {header: FileColumn.of([row.get(header) for row in rows]) for header in headers}
    return replace(table, columns=columns, lines=list(range(1, len(rows) + 1)))


def _without_objects(table: FileTable) -> FileTable:
    columns: dict[str, FileColumn[Any]] = {}
    keys = {header: _keys(table, header) for header in table.columns}
    counts = Counter([*table.columns, *(key for of in keys.values() for key in of)])
    for header, cells in table.columns.items():
        values = [value for value in cells.values if value not in (None, "")]
        if keys[header]:
            for key in keys[header]:
                name = key if counts[key] == 1 else f"{header}.{key}"
                nested = [value.get(key) if value else None for value in cells]
                columns[name] = FileColumn.of(nested)
        elif values and all(isinstance(v, list) and _is_single(v) for v in values):
            columns[header] = FileColumn.of([value[0] if value else None for value in cells])
        else:
            columns[header] = cells
    flat = replace(table, columns=columns)
    return _without_objects(flat) if any(_keys(flat, header) for header in columns) else flat


def _keys(table: FileTable, header: str) -> list[str]:
    """Return the keys of a column that holds objects; none of another one.

    Annotations of workshops have a separate reader, as rows of Hugging Face do.
    """
    values = [value for value in table.columns[header].values if value not in (None, "")]
    is_read = plain(header) == "row" or (plain(header) == "ratings" and table.has("user_id"))
    if is_read or not _is_list_of(values, (dict,)):
        return []
    return list(dict.fromkeys(str(key) for value in values for key in value))


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
    parent_columns = {h: column for h, column in table.columns.items() if h != header}
    parents = replace(table, columns=parent_columns).take(rows)
    keys = dict.fromkeys(key for _, item in pairs for key in item if key not in parent_columns)
    nested = {key: FileColumn.of([item.get(key) for _, item in pairs]) for key in keys}
    if rater_header(replace(parents, columns=nested)) is None:
        return table
    note = f"each object in {header} read as the ratings of a rater"
    return _without_objects(parents.with_columns({**parents.columns, **nested}, note))


def _lists_of_ratings(table: FileTable) -> FileTable:
    """Return the table with a row for each rating in the lists of its columns.

    Raters are listed in another column, or else numbered.
    """
    lists = {
        header: cells
        for header, cells in table.columns.items()
        if any(cells.values) and _is_list_of([v for v in cells.values if v], (list,))
    }
    rated = [h for h, cells in lists.items() if all(_is_list_of(v, _RATINGS) for v in cells if v)]
    if not rated or rater_header(table) is not None:
        return table
    names = lists.get(table.header_of(*RATERS_IN_LIST) or "")
    pairs = [
        (row, header, index)
        for row in range(len(table))
        for header in rated
        for index in range(len(lists[header][row] or ()))
    ]
    rows = np.array([row for row, _, _ in pairs], dtype=np.int64)
    parent_columns = {h: cells for h, cells in table.columns.items() if h not in lists}
    if item_header(table) is None:
        parent_columns[_ITEM] = FileColumn.of([f"row {line}" for line in table.lines])
    parents = replace(table, columns=parent_columns).take(rows)
    raters = [
        names[row][index] if names and index < len(names[row] or ()) else f"rater_{index + 1}"
        for row, _, index in pairs
    ]
    long = {
        _RATER: FileColumn.of(raters),
        QUESTION[0]: FileColumn.of([header for _, header, _ in pairs]),
        RATING[0]: FileColumn.of([lists[header][row][index] for row, header, index in pairs]),
    }
    note = f"each number in the lists {listed_briefly(rated)} read as the rating of a rater"
    return parents.with_columns({**parents.columns, **long}, note)


def _holds_objects(cells: FileColumn[Any]) -> bool:
    lists = [value for value in cells.values if value]
    return bool(lists) and all(_is_list_of(value, (dict,)) for value in lists)


def _is_list_of(values: object, types: tuple[type, ...]) -> bool:
    return isinstance(values, list) and all(isinstance(value, types) for value in values)


def _is_single(values: list[Any]) -> bool:
    return len(values) == 1 and not isinstance(values[0], dict | list)


def _are_counts(keys: Sequence[str]) -> bool:
    return list(keys) == [str(k) for k in range(len(keys))]
