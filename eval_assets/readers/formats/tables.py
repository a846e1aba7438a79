"""Files of rows in any of the formats, recognised by the end of their names."""

import glob
from dataclasses import replace
from pathlib import Path

import duckdb

from eval_assets.readers._problems import input_error
from eval_assets.readers.formats.delimited import parse_delimited
from eval_assets.readers.formats.files import (
    check_readable,
    decoded_as_guessed,
    named,
    read_bytes,
)
from eval_assets.readers.formats.json_rows import parse_json, parse_json_lines
from eval_assets.readers.formats.spreadsheet import read_spreadsheet
from eval_assets.readers.formats.table import Table

FORMATS_OF_TEXT = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".json", ".parquet")
SPREADSHEETS = (".xlsx", ".xls", ".ods")
FORMATS = FORMATS_OF_TEXT + SPREADSHEETS
"""Ends of file names that are read; of text also with .gz behind."""


def read_table(path: Path, *, folder: Path) -> Table:
    """Return all rows of one file.

    Args:
        path: A file whose name ends in one of `FORMATS`.
        folder: Evaluation folder, to which messages name the file.

    Raises:
        InputError: If the file as a whole cannot be used.
    """
    file = named(path, folder=folder)
    match format_of(path):
        case ".csv" | ".tsv" | ".txt" as suffix:
            text, notes = _text(path, file)
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
            return read_spreadsheet(path, file=file)
        case suffix:
            if path.is_dir():
                raise input_error(file, "this is a folder", "Name a file in it")
            message = f'"{suffix}" is not a known format'
            remedy = f"Use one of {', '.join(FORMATS)}, or move the file elsewhere"
            raise input_error(file, message if suffix else "the file name has no ending", remedy)


def format_of(path: Path) -> str:
    """Return the end of a file's name that says its format, without .gz."""
    packed = path.suffix.lower() == ".gz"
    return (Path(path.stem) if packed else path).suffix.lower()


def _text(path: Path, file: str) -> tuple[str, tuple[str, ...]]:
    return decoded_as_guessed(read_bytes(path, file=file), file=file)


def _read_parquet(path: Path, file: str) -> Table:
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
    return Table.of(file, dict(zip(headers, columns, strict=True)), lines)
