"""Spreadsheets (.xlsx, .xls, .ods): the rows of their first sheet that holds any."""

from pathlib import Path

from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook

from eval_assets.problems import InputError, InputProblem
from eval_assets.readers.formats.files import check_readable
from eval_assets.readers.formats.table import Table, as_text, checked_headers

_SAVE_AGAIN = "Save it again, or export the sheet as CSV"


def read_spreadsheet(path: Path, *, file: str) -> Table:
    """Return the rows of the first sheet that has any, as text; lines are those of the sheet.

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
        what = f"the spreadsheet cannot be read ({str(error).splitlines()[0]})"
        raise InputError(InputProblem(file, None, None, what, _SAVE_AGAIN)) from error
    filled = [(name, rows) for name, rows in sheets if rows]
    if not filled:
        what = "no sheet has any rows"
        raise InputError(InputProblem(file, None, None, what, "Fill in at least the header"))
    sheet, given = filled[0]
    (header_line, header), *body = given
    # Formatting alone makes a sheet wider than its cells.
    width = max(place for _, row in given for place, cell in enumerate(row) if _is_filled(cell)) + 1
    headers = checked_headers(map(as_text, header[:width]), line=header_line, file=file)
    columns: dict[str, list[object]] = {
        name: [as_text(row[place]) for _, row in body] for place, name in enumerate(headers)
    }
    others = ", ".join(name for name, _ in filled[1:])
    notes = (f'only its first sheet, "{sheet}", is read, not {others}',) if others else ()
    return Table(file, columns, [line for line, _ in body], notes=notes)


def _filled_rows(sheet: CalamineSheet) -> list[tuple[int, list[object]]]:
    """Return the rows that hold anything, each with its line."""
    rows = enumerate(sheet.to_python(skip_empty_area=False), start=1)
    return [(line, list(row)) for line, row in rows if any(map(_is_filled, row))]


def _is_filled(cell: object) -> bool:
    return cell is not None and cell != ""
