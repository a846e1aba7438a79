"""Content of files: tables of cells, or records of JSON. The content decides the format."""

import glob
import json
import re
import sys
import zipfile
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce
from io import BytesIO
from pathlib import Path
from typing import Any

import python_calamine

from eval_assets.errors import InputError, InputProblem, SheetLine
from eval_assets.readers.formats.delimited import parse_delimited
from eval_assets.readers.formats.files import decoded_as_guessed, named, read_bytes
from eval_assets.readers.formats.header_rows import SAMPLE_ROWS, header_of, named_columns
from eval_assets.readers.formats.table import FileColumn, FileTable, as_text, plain
from eval_assets.readers.problems import input_error

SHEET = "(sheet name)"
"""Column with the sheet of each row, if several sheets are one table."""

_OF_JSON = (".jsonl", ".ndjson", ".json")
_WORKBOOKS = (".xlsx", ".xls", ".ods")
FORMATS = (".csv", ".tsv", ".txt", *_OF_JSON, ".parquet", *_WORKBOOKS)
"""Ends of file names that are read; of text also with .gz behind."""

_SAVE_AGAIN = "Save it again, or export the sheet as CSV"
_ONE_OBJECT = "Write one JSON object a line"
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_LOG_PARTS = (b"header.json", b"_journal/start.json")
_CELL = re.compile(rb'<c [^>]*?r="([A-Z]{1,3})(\d{1,7})"')
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError)
"""Errors of what is no whole zip file; an unknown method of packing is a RuntimeError."""

_MOST_GRID_CELLS = 60_000_000
"""Cells of a sheet that calamine can hold; for more it ends the process."""


@dataclass(frozen=True)
class FileContent:
    """Content of a file, before it is known what it means.

    Args:
        file: File, as messages name it.
        document: Records or an object of JSON; None if the file holds tables.
        lines: Line of each record, if it has its own.
        tables: Tables of cells, with the name of each sheet.
        bad_rows: Lines that could not be read.
        notes: How the file was read, as far as that was guessed.
    """

    file: str
    document: Any = None
    lines: Sequence[int] | None = None
    tables: tuple[tuple[str, FileTable], ...] = ()
    bad_rows: tuple[InputProblem, ...] = ()
    notes: tuple[str, ...] = ()


def format_of(path: Path) -> str:
    """Return the format of a file by its name: the end without .gz."""
    packed = path.suffix.lower() == ".gz"
    return (Path(path.stem) if packed else path).suffix.lower()


def read_table(path: Path, *, folder: Path) -> FileTable:
    """Return the rows of a file of an evaluation as one table; messages name it within `folder`.

    Raises:
        InputError: If the file as a whole cannot be used.
    """
    return table_of(content_of_evaluation(path, folder=folder))


def content_of_evaluation(path: Path, *, folder: Path) -> FileContent:
    """Return the content of a file of an evaluation; messages name it within `folder`.

    Raises:
        InputError: If the file as a whole cannot be used.
    """
    file = named(path, folder=folder)
    if format_of(path) not in FORMATS and not path.is_dir():
        message = f'"{format_of(path)}" is not a known format'
        remedy = f"Use one of {', '.join(FORMATS)}, or move the file elsewhere"
        raise input_error(file, message if path.suffix else "the file name has no ending", remedy)
    return content_of(path, file=file)


def table_of(content: FileContent) -> FileTable:
    """Return the rows of a file as one table.

    Of JSON a row is an object, whose values stay what they are. Sheets with the same columns are
    one table with the column `SHEET`; of others the first that has more than one column is read.

    Raises:
        InputError: If it holds anything but rows.
    """
    table = _one_table(content) if content.document is None else table_of_json(content)
    return replace(table, notes=(*content.notes, *table.notes))


def content_of(
    path: Path, *, file: str, sheet: str | None = None, skip_rows: int = 0
) -> FileContent:
    """Return the content of a file; `skip_rows` rows stand above the header.

    Raises:
        InputError: If the file as a whole cannot be used.
    """
    data = read_bytes(path, file=file)
    if data.startswith(b"PAR1"):
        return FileContent(file, tables=(("", _parquet_table(path, file)),))
    if data.startswith(b"PK") and any(part in data for part in _LOG_PARTS):
        return FileContent(file, _zipped_log(data, file=file))
    if data.startswith((b"PK", b"\xd0\xcf\x11\xe0")) or format_of(path) in _WORKBOOKS:
        tables = _sheets(data, file=file, sheet=sheet, skip_rows=skip_rows)
        return FileContent(file, tables=tuple(tables))
    text, notes = decoded_as_guessed(data, file=file)
    content = None
    is_json = text.lstrip()[:1] in ("{", "[")
    if (is_json and not skip_rows) or format_of(path) in _OF_JSON:
        content = content_of_json(text, file=file, is_certain=format_of(path) in _OF_JSON)
    if content is None:
        text = _between_tabs(text)
        table = parse_delimited(text, file=file, skip_rows=skip_rows)
        content = FileContent(file, tables=(("", table),))
    return replace(content, notes=notes)


def _between_tabs(text: str) -> str:
    """Return words between blanks with tabs between them, if all rows have as many."""
    start = text[:100_000]
    words = [line.split() for line in start.splitlines()[:200] if line.strip()]
    is_table = len(words) > 2 and len(words[0]) > 2 and len({len(row) for row in words[:-1]}) == 1  # noqa: PLR2004 - fewer are a text
    if not is_table or any(mark in start for mark in ",;\t|"):
        return text
    return "\n".join("\t".join(line.split()) for line in text.splitlines())


# JSON.


def content_of_json(text: str, *, file: str, is_certain: bool) -> FileContent | None:
    """Return the content of JSON or of JSON lines; None if the text is neither.

    Raises:
        InputError: If it is certain to be JSON, and not usable.
    """
    problem: ValueError | None = None
    try:
        return FileContent(file, loaded(text))
    except ValueError as error:
        problem = error
    records, lines, bad_rows = [], [], []
    # JSON allows U+2028 and its like inside text, at which `splitlines` would break the line.
    for line, row in enumerate(text.split("\n"), start=1):
        if not row.strip():
            continue
        try:
            record = loaded(row)
            if not isinstance(record, dict):
                raise ValueError(f"{_KINDS.get(type(record), 'a number')}, not an object")  # noqa: TRY004, TRY301 - of JSON
        except ValueError as error:
            message = f"the line is not JSON ({error})"
            bad_rows.append(InputProblem(file, line, None, message, _ONE_OBJECT))
        else:
            records.append(record)
            lines.append(line)
    if records:
        return FileContent(file, records, lines, bad_rows=tuple(bad_rows))
    with suppress(ValueError):  # objects below each other, as jq prints them
        return FileContent(file, [loaded(of) for of in re.split(r"\n(?=\{)", text)])
    if not is_certain:
        return None
    at = problem.lineno if isinstance(problem, json.JSONDecodeError) else None
    reason = problem.msg if isinstance(problem, json.JSONDecodeError) else str(problem)
    message = f"the file is not usable JSON ({reason})"
    raise input_error(file, message, "Fix it, or export it again", line=at) from problem


def table_of_json(content: FileContent) -> FileTable:
    """Return the objects in a JSON list as rows, or a single object as one row.

    Raises:
        InputError: If it holds anything but objects.
    """
    document = content.document
    rows = document if isinstance(document, list) else [document]
    if len(rows) > 1 and all(isinstance(row, list) and row for row in rows):
        return table_of_rows([(n, [*row]) for n, row in enumerate(rows, 1)], file=content.file)
    for position, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            line = position if rows is document else None
            message = f"this is {_KINDS.get(type(row), 'a number')}, not an object"
            remedy = "Write a list of objects, one a row"
            raise input_error(content.file, message, remedy, line=line)
    names = dict.fromkeys(key for row in rows for key in row)
    columns = {name: [row.get(name) for row in rows] for name in names}
    table = FileTable.of(content.file, columns, content.lines or range(1, len(rows) + 1))
    return replace(table, bad_rows=content.bad_rows)


def loaded(text: str) -> Any:  # noqa: ANN401 - JSON as it comes
    r"""Return the JSON value, with a replacement for each half of a character, as in UTF-8.

    Raises:
        ValueError: If it is no JSON, or nested too deeply.

    Examples:
        >>> loaded(r'{"note": ["ok \ud83d", 1]}') == {"note": ["ok \ufffd", 1]}
        True
    """
    try:
        value = json.loads(text, object_pairs_hook=_object, strict=False)
        if _ESCAPED_SURROGATE.search(text):
            data = json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass")
            value = json.loads(data.decode("utf-16", "replace"))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return value


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return a JSON object; Python would silently keep the last of two equal keys."""
    row = dict(pairs)
    if len(row) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f'key "{next(key for key in keys if keys.count(key) > 1)}" is repeated')
    return row


_KINDS = {list: "a list", str: "text", **dict.fromkeys((bool, type(None)), "true, false or null")}
"""Values of JSON that are neither objects nor numbers."""


# Parquet, workbooks and zipped logs.


def _parquet_table(path: Path, file: str) -> FileTable:
    try:
        import duckdb  # of the extra `run`: a third of what everything else takes
    except ModuleNotFoundError as error:
        remedy = "Install duckdb, or save the table as CSV"
        raise input_error(file, "reading Parquet takes DuckDB", remedy) from error
    try:
        with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as connection:
            relation = connection.read_parquet(glob.escape(str(path)))
            headers, rows = relation.columns, relation.fetchall()
    except duckdb.Error as error:
        message = f"the file is not Parquet ({str(error).splitlines()[0]})"
        raise input_error(file, message, "Write the file again") from error
    columns = [list(cells) for cells in zip(*rows, strict=True)] or [[] for _ in headers]
    return FileTable.of(file, dict(zip(headers, columns, strict=True)), range(1, len(rows) + 1))


def _sheets(
    data: bytes, *, file: str, sheet: str | None, skip_rows: int
) -> list[tuple[str, FileTable]]:
    """Return the tables of a workbook by the names of their sheets."""
    try:
        if data.startswith(b"PK"):
            _refuse_far_cells(data, file=file)
        with python_calamine.CalamineWorkbook.from_filelike(BytesIO(data)) as workbook:
            grids = {
                name: workbook.get_sheet_by_name(name).to_python(skip_empty_area=False)
                for name in workbook.sheet_names
            }
    except InputError:
        raise
    except (python_calamine.CalamineError, *_DAMAGED) as error:
        reason = str(error).partition("\n")[0] or "its end is missing"
        message = f"the spreadsheet cannot be read ({reason})"
        remedy = "Unpack it, and name its files" if file.endswith(".zip") else _SAVE_AGAIN
        raise input_error(file, message, remedy) from error
    if sheet is not None and sheet not in grids:
        raise input_error(file, f'there is no sheet "{sheet}"', f"Use one of {', '.join(grids)}")
    tables = []
    for name, grid in grids.items():
        rows = [(line, [as_text(cell) or "" for cell in row]) for line, row in enumerate(grid, 1)]
        rows = [(line, row) for line, row in rows if line > skip_rows and any(row)]
        if sheet in (None, name) and rows:
            tables.append((name, table_of_rows(rows, file=file)))
    if not tables:
        raise input_error(file, "no sheet has any rows", "Fill in at least the header")
    if len(tables) == 1:
        return tables
    return [
        (name, replace(table, lines=[SheetLine(line, name) for line in table.lines]))
        for name, table in tables
    ]


def table_of_rows(rows: Sequence[tuple[int, Sequence[object]]], *, file: str) -> FileTable:
    """Return the table of rows of cells with their lines; the columns may begin anywhere.

    Raises:
        InputError: If no row names the columns.
    """
    texts = [(line, [as_text(cell) or "" for cell in row]) for line, row in rows]
    filled = [[k for k, cell in enumerate(row) if cell] for _, row in texts]
    first = min((of[0] for of in filled if of), default=0)
    end = max((of[-1] for of in filled if of), default=0) + 1
    texts = [(line, [*row[first:end], *[""] * (end - len(row))]) for line, row in texts]
    header = header_of(texts[:SAMPLE_ROWS], file=file)
    body = texts[header.n_rows :]
    cells = [FileColumn.of([row[k] for _, row in body]) for k in range(len(header.names))]
    columns = named_columns(header, cells, file=file)
    return FileTable(file, columns, [line for line, _ in body], notes=header.notes)


def _one_table(content: FileContent) -> FileTable:
    """Return the one table that sheets with the same columns are, or else the first of several."""
    tables = [(name, of) for name, of in content.tables if len(of.columns) > 1]
    tables = tables or list(content.tables)
    if len(tables) > 1 and len({tuple(map(plain, of.columns)) for _, of in tables}) == 1:
        tables = [(name, of) for name, of in tables if len(of)] or tables[:1]
        columns = {
            header: FileColumn.of([cell for _, of in tables for cell in of.cells(header)])
            for header in tables[0][1].columns
        }
        columns[SHEET] = FileColumn.of([name for name, of in tables for _ in of.lines])
        lines = [line for _, of in tables for line in of.lines]
        return FileTable(content.file, columns, lines, notes=tables[0][1].notes)
    sheet, table = tables[0]
    further = ", ".join(name for name, _ in content.tables if name != sheet)
    lines = [*map(int, table.lines)]
    notes = (f'only its sheet "{sheet}" is read, not {further}',) if further else ()
    return replace(table, lines=lines, notes=(*notes, *table.notes))


def _refuse_far_cells(data: bytes, *, file: str) -> None:
    """Raise an error if a cell far outside makes a sheet too large for calamine to hold."""
    with zipfile.ZipFile(BytesIO(data)) as packed:
        names = packed.namelist()
        sheets = [of for of in names if re.fullmatch(r"xl/worksheets/[^/]*\.xml", of)]
        cells = [_CELL.findall(packed.read(name)) for name in sheets]
    for places in cells:
        n_rows = max((int(row) for _, row in places), default=0)
        numbers = (reduce(lambda n, a: 26 * n + a - 64, letters, 0) for letters, _ in places)
        n_columns = max(numbers, default=0)
        if n_rows * n_columns > _MOST_GRID_CELLS > 40 * len(places):
            message = "a cell lies far outside the table, and the sheet is too large"
            raise input_error(file, message, "Delete that cell, or export the sheet as CSV")


def _zipped_log(data: bytes, *, file: str) -> dict[str, Any]:
    """Return a zipped log of inspect_ai as the one object that its JSON form is."""
    if sys.version_info < (3, 14):
        from backports.zstd import zipfile as packing
    else:
        packing = zipfile
    try:
        with packing.ZipFile(BytesIO(data)) as packed:
            names = sorted(packed.namelist())
            head = "header.json" if "header.json" in names else "_journal/start.json"
            log = loaded(packed.read(head).decode())
            members = [name for name in names if name.startswith("samples/")]
            samples = [loaded(packed.read(name).decode()) for name in members]
    except (packing.BadZipFile, KeyError, ValueError) as error:
        message, remedy = f"the log cannot be read ({error})", "Copy it again, or export it as JSON"
        raise input_error(file, message, remedy) from error
    return {**(log if isinstance(log, dict) else {}), "samples": samples}
