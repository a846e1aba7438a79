"""Spreadsheets (.xlsx, .xls, .ods): the rows of their first sheet that holds a table."""

from pathlib import Path

from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook

from eval_assets.readers._problems import input_error
from eval_assets.readers.formats.files import check_readable
from eval_assets.readers.formats.header import SAMPLE_ROWS, header_of, named_columns
from eval_assets.readers.formats.table import Column, Table, as_text

_SAVE_AGAIN = "Save it again, or export the sheet as CSV"


def read_spreadsheet(path: Path, *, file: str) -> Table:
    """Return the rows of the first sheet with a table, as text; lines are those of the sheet.

    A sheet of a single column, such as instructions, is passed over if a later one has more.

    Raises:
        InputError: If the file is not a spreadsheet, is locked, or has no header.
    """
    check_readable(path, file=file)
    try:
        with CalamineWorkbook.from_path(str(path)) as workbook:
            sheets = [
                (name, _filled_rows(workbook.get_sheet_by_name(name)))
                for name in workbook.sheet_names
            ]
    except CalamineError as error:
        message = f"the spreadsheet cannot be read ({str(error).splitlines()[0]})"
        raise input_error(file, message, _SAVE_AGAIN) from error
    filled = [(name, rows) for name, rows in sheets if rows]
    if not filled:
        raise input_error(file, "no sheet has any rows", "Fill in at least the header")
    sheet, sheet_rows = next((pair for pair in filled if _width(pair[1]) > 1), filled[0])
    # Formatting alone makes a sheet wider than its cells.
    width = _width(sheet_rows)
    rows = [(line, [as_text(cell) or "" for cell in row[:width]]) for line, row in sheet_rows]
    header = header_of(rows[:SAMPLE_ROWS], file=file)
    body = rows[header.n_rows :]
    columns = [Column.of([row[position] for _, row in body]) for position in range(width)]
    others = ", ".join(name for name, _ in filled if name != sheet)
    notes = (f'only its sheet "{sheet}" is read, not {others}',) if others else ()
    return Table(
        file,
        named_columns(header, columns, file=file),
        [line for line, _ in body],
        notes=(*notes, *header.notes),
    )


def _width(rows: list[tuple[int, list[object]]]) -> int:
    """Return how many columns hold anything, counted from the first."""
    return (
        max(position for _, row in rows for position, cell in enumerate(row) if _is_filled(cell))
        + 1
    )


def _filled_rows(sheet: CalamineSheet) -> list[tuple[int, list[object]]]:
    """Return the rows that hold anything, each with its line."""
    rows = enumerate(sheet.to_python(skip_empty_area=False), start=1)
    return [(line, list(row)) for line, row in rows if any(map(_is_filled, row))]


def _is_filled(cell: object) -> bool:
    return cell is not None and cell != ""
