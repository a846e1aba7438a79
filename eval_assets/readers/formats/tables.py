"""Files of rows in any of the formats, spreadsheets and Parquet included, to tables."""

import glob
from dataclasses import replace
from pathlib import Path

from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook

from eval_assets.readers._problems import input_error
from eval_assets.readers.formats.delimited import parse_delimited
from eval_assets.readers.formats.files import (
    check_readable,
    decoded_as_guessed,
    named,
    read_bytes,
)
from eval_assets.readers.formats.header import SAMPLE_ROWS, header_of, named_columns
from eval_assets.readers.formats.json_rows import parse_json, parse_json_lines
from eval_assets.readers.formats.table import FileColumn, FileTable, as_text, plain

_SAVE_AGAIN = "Save it again, or export the sheet as CSV"

FORMATS_OF_TEXT = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".json", ".parquet")
SPREADSHEETS = (".xlsx", ".xls", ".ods")
FORMATS = FORMATS_OF_TEXT + SPREADSHEETS
"""Ends of file names that are read; of text also with .gz behind."""


def read_table(path: Path, *, folder: Path, skip_rows: int = 0) -> FileTable:
    """Return all rows of one file.

    Args:
        path: A file whose name ends in one of `FORMATS`.
        folder: Evaluation folder, to which messages name the file.
        skip_rows: Rows of text or of a sheet that stand above the header.

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
            return _read_parquet(path, file)
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


def _read_parquet(path: Path, file: str) -> FileTable:
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
    if alike and tables[0][1].header_of("rater_id", "rater", "annotator") is None:
        return _joined([(name, of) for name, of in tables if len(of)], file=file)
    sheet, table = tables[0] if tables else (filled[0][0], _sheet(filled[0][1], file=file))
    others = ", ".join(name for name, _ in filled if name != sheet)
    notes = (f'only its sheet "{sheet}" is read, not {others}',) if others else ()
    return replace(table, notes=(*notes, *table.notes))


def _sheet(sheet_rows: list[tuple[int, list[object]]], *, file: str) -> FileTable:
    # Formatting alone makes a sheet wider than its cells.
    width = _width(sheet_rows)
    rows = [(line, [as_text(cell) or "" for cell in row[:width]]) for line, row in sheet_rows]
    header = header_of(rows[:SAMPLE_ROWS], file=file)
    body = rows[header.n_rows :]
    columns = [FileColumn.of([row[position] for _, row in body]) for position in range(width)]
    named = named_columns(header, columns, file=file)
    return FileTable(file, named, [line for line, _ in body], notes=header.notes)


def _joined(tables: list[tuple[str, FileTable]], *, file: str) -> FileTable:
    """Return the rows of sheets with the same columns, and each sheet's name as their rater."""
    headers = list(tables[0][1].columns)
    columns = {
        header: FileColumn.of([cell for _, of in tables for cell in of.cells(header)])
        for header in headers
    }
    columns["rater_id"] = FileColumn.of([name for name, of in tables for _ in of.lines])
    lines = [line for _, of in tables for line in of.lines]
    names = ", ".join(name for name, _ in tables)
    return FileTable(file, columns, lines, notes=(f"each sheet read as a rater: {names}",))


def _width(rows: list[tuple[int, list[object]]]) -> int:
    return (
        max(position for _, row in rows for position, cell in enumerate(row) if _is_filled(cell))
        + 1
    )


def _filled_rows(sheet: CalamineSheet, *, after: int) -> list[tuple[int, list[object]]]:
    rows = enumerate(sheet.to_python(skip_empty_area=False), start=1)
    return [(line, list(row)) for line, row in rows if line > after and any(map(_is_filled, row))]


def _is_filled(cell: object) -> bool:
    return cell is not None and cell != ""
