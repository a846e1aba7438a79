"""Documents in JSON as tables: where their records are, and how each is read."""

from collections.abc import Mapping, Sequence
from typing import Any

from eval_assets.readers.columns import CodedTable, Origin
from eval_assets.readers.formats.contents import table_of_rows
from eval_assets.readers.lists_in_cells import with_lists_unfolded
from eval_assets.readers.names import Who, is_first_name, who
from eval_assets.readers.nested_records import ALIKE, LINE, Row, similarity, tables_of_rows
from eval_assets.readers.readings.table_reading import form_of
from eval_assets.readers.summary_rows import without_summary_rows
from eval_assets.readers.ticked_columns import with_choices

_FEW = 10
"""Parts of a list up to which they are no rows of a document of columns."""


def tables_of_document(document: object, *, file: str) -> list[CodedTable]:
    """Return the tables of a document in JSON: one for each level of its records."""
    match _records(document):
        case [dict(), *_] as records if all(isinstance(record, dict) for record in records):
            return tables_of_records(
                records,  # type: ignore[arg-type] # they are objects
                range(1, len(records) + 1),
                file=file,
            )
        case dict() as record:
            return tables_of_records([record], None, file=file)
        case [list(), *_] as rows if all(isinstance(row, list) for row in rows):
            table = table_of_rows(list(enumerate(rows, 1)), file=file)  # type: ignore[arg-type] # they are lists
            return [without_summary_rows(CodedTable.of(table))]
        case _:
            return []


def tables_of_records(
    records: Sequence[Mapping[str, Any]], lines: Sequence[int] | None, *, file: str
) -> list[CodedTable]:
    """Return the tables of records, whose rows keep the line of their record.

    Without lines, the records of the first list are counted.
    """
    rows: list[Row] = [{(str(key),): value for key, value in of.items()} for of in records]
    for row, line in zip(rows, lines or (), strict=False):
        row[LINE] = line
    tables = list(tables_of_rows(rows, {}, 0, (), file))
    _name_positions(tables)
    chosen = (with_choices(without_summary_rows(table)) for table in tables if len(table))
    return [of for table in chosen for of in with_lists_unfolded(table)]


def _name_positions(tables: Sequence[CodedTable]) -> None:
    """Give the raters of a matrix the names in a list of the document that is as long as a row."""
    lists = [
        table.columns[-1].values
        for table in tables
        if [of.origin for of in table.columns[-2:]] == [Origin.POSITION, None]
        and len(table.columns[-1].values) == len(table) > 1
        and all(map(_may_name_rater, table.columns[-1].values[:50]))
    ]
    for column in (of for table in tables for of in table.columns if of.origin is Origin.POSITION):
        names = next((of for of in lists if len(of) == len(column.values)), None)
        if names is not None and column.values[0] == "rater 1":
            column.values = names


def _may_name_rater(name: str) -> bool:
    is_rater = who(name) is Who.JUDGE or who(name).is_human or is_first_name(name)
    return is_rater and not name.isdigit()


def _records(document: object) -> object:
    """Return a document without the ways in which pandas writes a frame."""
    match document:
        case {"columns": [*names], "data": [*rows]} if all(isinstance(row, list) for row in rows):
            return [dict(zip(map(str, names), row, strict=False)) for row in rows]
        case {"schema": dict(), "data": [*rows]} if all(isinstance(row, dict) for row in rows):
            return [{k: v for k, v in row.items() if k != "index"} for row in rows]
        case dict() if len(document) > 1:
            columns = [of for of in document.values() if isinstance(of, list) and len(of) > _FEW]
            n_rows = max(map(len, columns), default=0)
            rows = [_row_of(document, row, n_rows) for row in range(n_rows)]
            # Columns of which some stand in objects, as those of each judge beside one of people.
            is_deep = rows and any(isinstance(of, dict) for of in rows[0].values())
            return rows if is_deep and len(rows[0]) > 1 else _turned(document)
        case _:
            return document


def _row_of(columns: Mapping[str, Any], row: int, n_rows: int) -> dict[str, Any]:
    """Return the cells of a row in columns of that many rows, and in objects of such columns."""
    cells: dict[str, Any] = {}
    for name, of in columns.items():
        if isinstance(of, dict):
            cells |= {name: inner} if (inner := _row_of(of, row, n_rows)) else {}
        elif isinstance(of, list) and of and isinstance(of[0], list) and len(of[0]) == n_rows:
            cells[name] = [column[row] for column in of if len(column) == n_rows]  # of each run
        elif isinstance(of, list) and len(of) == n_rows and not isinstance(of[row], dict):
            is_key = isinstance(of[row], list) and all(isinstance(part, str) for part in of[row])
            cells[name] = ", ".join(of[row]) if is_key else of[row]
    return cells


def _turned(document: dict[str, Any]) -> object:
    """Return the rows of an object of columns, or of a matrix of which the longer side are rows."""
    values = list(document.values())
    labels = {of for of in values if isinstance(of, str | int | float)}
    forms = {form_of(str(key)) for key in document}
    are_flat = not any(isinstance(of, dict | list) for of in values)
    if len(forms) == 1 and are_flat and 2 < 2 * len(labels) <= len(values):
        # A label for each of many items.
        return [{"item": key, "label": of} for key, of in document.items()]
    if all(map(_may_name_rater, document)) and all(
        isinstance(of, list) and of and all(isinstance(row, dict) for row in of) for of in values
    ):  # records by their rater
        return [{"rater": name, **row} for name, of in document.items() for row in of]
    if inner := _keys_of_records(values):
        # By their id, in parts such as train and test; or by item and rater, of whom each has few.
        are_apart = len(inner) == sum(map(len, values))
        names = ("item", " key")[:: 1 if len(inner) < len(document) else -1]
        pairs = ((p, key, row) for p, of in document.items() for key, row in of.items())
        names = ("part", "item") if are_apart else names
        return [dict(zip(names, (p, key), strict=True)) | row for p, key, row in pairs]
    if not all(isinstance(value, dict) and value for value in values) or any(
        isinstance(item, dict | list) for value in values for item in value.values()
    ):
        return document
    keys = list(dict.fromkeys(key for value in values for key in value))
    counts = [str(k) for k in range(len(keys))]
    is_full = sum(map(len, values)) > 0.6 * len(keys) * len(values)
    if keys == counts or (len(keys) > len(values) and is_full):
        items = ({} if keys == counts else {"item": key} for key in keys)
        columns = ({name: of.get(key) for name, of in document.items()} for key in keys)
        return [{**item, **cells} for item, cells in zip(items, columns, strict=True)]
    return values if list(document) == [str(k) for k in range(len(document))] else document


def _keys_of_records(values: Sequence[object]) -> set[str]:
    """Return the keys of records of one form in objects that share few keys, if all are records."""
    parts = [value for value in values if isinstance(value, dict)]
    records = [record for part in parts for record in part.values() if isinstance(record, dict)]
    n_keys = sum(map(len, parts))
    if not (len(parts) == len(values) and len(records) == n_keys > 2):
        return set()
    keys, sizes = {key for part in parts for key in part}, [*map(len, parts)]
    are_few = 2 * max(sizes) < len(keys) < n_keys or (len(keys) == n_keys and min(sizes) > 1)
    are_alike = all(similarity({*records[0]}, {*of}) > ALIKE for of in records)
    return keys if are_few and are_alike else set()
