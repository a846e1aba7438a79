"""Spreadsheets for tests: the least that an .xlsx file needs."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

Cell = str | float | None

_TYPES = """\
<?xml version="1.0" encoding="UTF-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Default Extension="xml" ContentType="application/xml"/>
<Override PartName="/xl/workbook.xml"
 ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>
</Types>"""
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def workbook(sheets: Mapping[str, Sequence[Sequence[Cell]]]) -> bytes:
    """Return an .xlsx file with these sheets; None is a cell that is not there."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr("[Content_Types].xml", _TYPES)
        packed.writestr("_rels/.rels", _relations([("officeDocument", "xl/workbook.xml")]))
        parts = [("worksheet", f"worksheets/sheet{n}.xml") for n in range(1, len(sheets) + 1)]
        packed.writestr("xl/_rels/workbook.xml.rels", _relations(parts))
        named = "".join(
            f'<sheet name="{escape(name)}" sheetId="{n}" r:id="rId{n}"/>'
            for n, name in enumerate(sheets, start=1)
        )
        packed.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{_MAIN}" xmlns:r="{_RELATIONS}"><sheets>{named}</sheets></workbook>',
        )
        for n, rows in enumerate(sheets.values(), start=1):
            packed.writestr(f"xl/worksheets/sheet{n}.xml", _sheet(rows))
    return file.getvalue()


def _relations(parts: Sequence[tuple[str, str]]) -> str:
    listed = "".join(
        f'<Relationship Id="rId{n}" Type="{_RELATIONS}/{kind}" Target="{target}"/>'
        for n, (kind, target) in enumerate(parts, start=1)
    )
    name = "http://schemas.openxmlformats.org/package/2006/relationships"
    return f'<Relationships xmlns="{name}">{listed}</Relationships>'


def _sheet(rows: Sequence[Sequence[Cell]]) -> str:
    listed = []
    for line, row in enumerate(rows, start=1):
        cells = "".join(_cell(cell, f"{_column(n)}{line}") for n, cell in enumerate(row))
        listed.append(f'<row r="{line}">{cells}</row>')
    return f'<worksheet xmlns="{_MAIN}"><sheetData>{"".join(listed)}</sheetData></worksheet>'


def _cell(cell: Cell, place: str) -> str:
    match cell:
        case None:
            return ""
        case str():
            text = escape(cell).replace("\r", "&#13;")
            inline = f'<is><t xml:space="preserve">{text}</t></is>'
            return f'<c r="{place}" t="inlineStr">{inline}</c>'
        case _:
            return f'<c r="{place}"><v>{cell!r}</v></c>'


def _column(place: int) -> str:
    """Return the letters of a column: A, B ... Z, AA."""
    letters = ""
    place += 1
    while place:
        place, letter = divmod(place - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return letters
