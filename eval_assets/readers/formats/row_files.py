"""Files of rows in any of the formats, to tables: text, JSON, spreadsheets and Parquet."""

import glob
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook

from eval_assets.errors import InputProblem, SheetLine
from eval_assets.readers._problems import input_error
from eval_assets.readers.formats.delimited import (
    SAMPLE_ROWS,
    header_of,
    named_columns,
    parse_delimited,
)
from eval_assets.readers.formats.files import (
    check_readable,
    decoded_as_guessed,
    named,
    read_bytes,
)
from eval_assets.readers.formats.table import FileColumn, FileTable, as_text, plain

_SAVE_AGAIN = "Save it again, or export the sheet as CSV"

SHEET = "(sheet name)"
"""Column with the sheet of each row, if several sheets are one table."""

FORMATS_OF_TEXT = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".json", ".parquet")
SPREADSHEETS = (".xlsx", ".xls", ".ods")
FORMATS = FORMATS_OF_TEXT + SPREADSHEETS
"""Ends of file names that are read; of text also with .gz behind."""


def read_table(path: Path, *, folder: Path, skip_rows: int = 0) -> FileTable:
    """Return all rows of one file, whose name ends in one of `FORMATS`.

    Messages name it relative to `folder`. `skip_rows` rows of text or of a sheet stand above the
    header.

    Raises:
        InputError: If the file as a whole cannot be used.
    """
    file = named(path, folder=folder)
    match format_of(path):
        case ".csv" | ".tsv" | ".txt" as suffix:
            text, notes = _text(path, file)
            if skip_rows:  # lines keep their numbers
                text = "\n" * skip_rows + "".join(text.splitlines(keepends=True)[skip_rows:])
            delimiter = "," if suffix == ".csv" else "\t"
            table = parse_delimited(text, file=file, delimiter=delimiter)
            return replace(table, notes=(*notes, *table.notes))
        case ".jsonl" | ".ndjson":
            text, notes = _text(path, file)
            return replace(parse_json_lines(text, file=file), notes=notes)
        case ".json":
            text, notes = _text(path, file)
            return replace(parse_json(text, file=file), notes=notes)
        case ".parquet":
            return parquet_table(path, file)
        case ".xlsx" | ".xls" | ".ods":
            return _read_spreadsheet(path, file, skip_rows=skip_rows)
        case suffix:
            if path.is_dir():
                raise input_error(file, "this is a folder", "Name a file in it")
            message = f'"{suffix}" is not a known format'
            remedy = f"Use one of {', '.join(FORMATS)}, or move the file elsewhere"
            raise input_error(file, message if suffix else "the file name has no ending", remedy)


def format_of(path: Path) -> str:
    """Return the format of a file: the end of its name, without .gz."""
    packed = path.suffix.lower() == ".gz"
    return (Path(path.stem) if packed else path).suffix.lower()


def _text(path: Path, file: str) -> tuple[str, tuple[str, ...]]:
    return decoded_as_guessed(read_bytes(path, file=file), file=file)


def parquet_table(path: Path, file: str) -> FileTable:
    """Return the rows of a Parquet file.

    Raises:
        InputError: If the file is not Parquet.
    """
    import duckdb

    check_readable(path, file=file)
    try:
        with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as connection:
            relation = connection.read_parquet(glob.escape(str(path)))
            headers, rows = relation.columns, relation.fetchall()
    except duckdb.Error as error:
        message = f"the file is not Parquet ({str(error).splitlines()[0]})"
        raise input_error(file, message, "Write the file again") from error
    columns = [list(cells) for cells in zip(*rows, strict=True)] or [[] for _ in headers]
    lines = list(range(1, len(rows) + 1))
    return FileTable.of(file, dict(zip(headers, columns, strict=True)), lines)


def _read_spreadsheet(path: Path, file: str, *, skip_rows: int) -> FileTable:
    """Return the rows of the first sheet with a table, as text; lines are those of the sheet.

    A sheet of a single column, such as instructions, is passed over if a later one has more.
    """
    check_readable(path, file=file)
    try:
        with CalamineWorkbook.from_path(str(path)) as workbook:
            sheets = [
                (name, _filled_rows(workbook.get_sheet_by_name(name), after=skip_rows))
                for name in workbook.sheet_names
            ]
    except CalamineError as error:
        message = f"the spreadsheet cannot be read ({str(error).splitlines()[0]})"
        raise input_error(file, message, _SAVE_AGAIN) from error
    filled = [(name, rows) for name, rows in sheets if rows]
    if not filled:
        raise input_error(file, "no sheet has any rows", "Fill in at least the header")
    tables = [(name, _sheet(rows, file=file)) for name, rows in filled if _width(rows) > 1]
    alike = len(tables) > 1 and len({tuple(map(plain, of.columns)) for _, of in tables}) == 1
    if alike:
        in_sheets = [
            (name, replace(of, lines=[SheetLine(line, name) for line in of.lines]))
            for name, of in tables
            if len(of)
        ]
        return joined_tables(in_sheets)
    sheet, table = tables[0] if tables else (filled[0][0], _sheet(filled[0][1], file=file))
    sheet_names = ", ".join(name for name, _ in filled if name != sheet)
    notes = (f'only its sheet "{sheet}" is read, not {sheet_names}',) if sheet_names else ()
    return replace(table, notes=(*notes, *table.notes))


def sheets_of(data: bytes, *, file: str) -> list[tuple[str, list[tuple[int, list[str]]]]]:
    """Return the name of each sheet of a workbook, with its rows that have content as text.

    Raises:
        InputError: If it cannot be read.
    """
    try:
        with CalamineWorkbook.from_filelike(BytesIO(data)) as workbook:
            sheets = [
                (name, _filled_rows(workbook.get_sheet_by_name(name), after=0))
                for name in workbook.sheet_names
            ]
    except CalamineError as error:
        message = f"the spreadsheet cannot be read ({str(error).splitlines()[0]})"
        raise input_error(file, message, _SAVE_AGAIN) from error
    texts = []
    for name, rows in sheets:
        if not rows:
            continue
        width, first = _width(rows), min(_first_filled(row) for _, row in rows)
        cells = [(line, [as_text(cell) or "" for cell in row[first:width]]) for line, row in rows]
        texts.append((name, cells))
    return texts


def _sheet(sheet_rows: list[tuple[int, list[object]]], *, file: str) -> FileTable:
    # Formatting alone makes a sheet wider than its cells.
    width, first_column = _width(sheet_rows), min(_first_filled(row) for _, row in sheet_rows)
    rows = [
        (line, [as_text(cell) or "" for cell in row[first_column:width]])
        for line, row in sheet_rows
    ]
    header = header_of(rows[:SAMPLE_ROWS], file=file)
    body = rows[header.n_rows :]
    columns = [
        FileColumn.of([row[position] for _, row in body])
        for position in range(width - first_column)
    ]
    named = named_columns(header, columns, file=file)
    return FileTable(file, named, [line for line, _ in body], notes=header.notes)


def joined_tables(tables: Sequence[tuple[str, FileTable]]) -> FileTable:
    """Return the rows of tables with the same columns, and each table's name in `SHEET`."""
    headers = list(tables[0][1].columns)
    columns = {
        header: FileColumn.of([cell for _, of in tables for cell in of.cells(header)])
        for header in headers
    }
    columns[SHEET] = FileColumn.of([name for name, of in tables for _ in of.lines])
    lines = [line for _, of in tables for line in of.lines]
    notes = dict.fromkeys(note for _, of in tables for note in of.notes)
    return FileTable(tables[0][1].file, columns, lines, notes=tuple(notes))


def _width(rows: list[tuple[int, list[object]]]) -> int:
    return (
        max(position for _, row in rows for position, cell in enumerate(row) if _is_filled(cell))
        + 1
    )


def _first_filled(row: list[object]) -> int:
    filled = (position for position, cell in enumerate(row) if _is_filled(cell))
    return next(filled, len(row))


def _filled_rows(sheet: CalamineSheet, *, after: int) -> list[tuple[int, list[object]]]:
    rows = enumerate(sheet.to_python(skip_empty_area=False), start=1)
    return [(line, list(row)) for line, row in rows if line > after and any(map(_is_filled, row))]


def _is_filled(cell: object) -> bool:
    return cell is not None and cell != ""


_REMEDY = "Write a list of objects, one a row"
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def parse_json_lines(text: str, *, file: str) -> FileTable:
    r"""Return one row for each line with a JSON object; other lines are set aside in `bad_rows`.

    Examples:
        >>> table = parse_json_lines('{"a": 1}\n\n{"b": null}\n{', file="x.jsonl")
        >>> table.columns, table.lines
        ({'a': [1, None], 'b': [None, None]}, [1, 3])
        >>> print(table.bad_rows[0])  # doctest: +ELLIPSIS
        x.jsonl:4: the line is not JSON (Expecting property name ...). Write one JSON object a line.
    """
    rows: dict[int, dict[str, object]] = {}
    messages: dict[int, str] = {}
    # JSON allows U+2028 and its like inside text, at which `splitlines` would break the line.
    for line, row_text in enumerate(text.split("\n"), start=1):
        if not row_text.strip():
            continue
        try:
            row = loaded(row_text)
        except ValueError as error:
            messages[line] = f"the line is not JSON ({error})"
            continue
        if isinstance(row, dict):
            rows[line] = row
        else:
            messages[line] = f"the line is {_kind(row)}, not an object"
    bad_rows = [
        InputProblem(file, line, None, message, "Write one JSON object a line")
        for line, message in messages.items()
    ]
    return replace(_table(file, list(rows.values()), list(rows)), bad_rows=tuple(bad_rows))


def parse_json(text: str, *, file: str) -> FileTable:
    """Return the objects in a JSON list, or a single object as one row; lines are list positions.

    Raises:
        InputError: If the text is not JSON, or holds anything but objects.

    Examples:
        >>> parse_json('[{"a": 1}, {"a": 2}]', file="x.json").columns
        {'a': [1, 2]}
    """
    try:
        document = loaded(text)
    except json.JSONDecodeError as error:
        message, remedy = f"the file is not JSON ({error.msg})", "Fix it, or export it again"
        raise input_error(file, message, remedy, line=error.lineno) from error
    except ValueError as error:
        raise input_error(file, f"the file is not usable JSON ({error})", _REMEDY) from error
    rows = document if isinstance(document, list) else [document]
    lists = [(line, row) for line, row in enumerate(rows, start=1) if isinstance(row, list) and row]
    if len(lists) == len(rows) > 1:
        return _sheet(lists, file=file)
    for position, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            line = position if rows is document else None
            raise input_error(file, f"this is {_kind(row)}, not an object", _REMEDY, line=line)
    return _table(file, rows, list(range(1, len(rows) + 1)))


def loaded(text: str) -> object:
    """Return the JSON value; RecursionError becomes ValueError, as nothing we read is that deep."""
    try:
        value: object = json.loads(text, object_pairs_hook=_object)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if _ESCAPED_SURROGATE.search(text):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            half = ascii(error.object[error.start])[1:-1]
            raise ValueError(f"{half} is half a character") from error
    return value


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return a JSON object; Python would silently keep the last of two equal keys."""
    row = dict(pairs)
    if len(row) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f'key "{next(key for key in keys if keys.count(key) > 1)}" is repeated')
    return row


def _table(file: str, rows: list[Any], lines: list[int]) -> FileTable:
    headers = dict.fromkeys(key for row in rows for key in row)
    return FileTable.of(
        file, {header: [row.get(header) for row in rows] for header in headers}, lines
    )


def _kind(value: object) -> str:
    match value:
        case list():
            return "a list"
        case str():
            return "text"
        case bool() | None:
            return "true, false or null"
        case _:
            return "a number"
