from contextlib import suppress
from pathlib import Path

import pytest

from eval_assets.errors import InputError
from eval_assets.readers.formats.contents import read_table
from eval_assets.readers.formats.table import FileTable
from tests.unit.readers.formats.xlsx import Cell, workbook


def read(folder: Path, content: bytes) -> FileTable:
    (folder / "labels.xlsx").write_bytes(content)
    return read_table(folder / "labels.xlsx", folder=folder)


def test_cells_are_the_text_that_a_csv_file_would_have(tmp_path: Path) -> None:
    rows: list[list[Cell]] = [
        ["id", "rating", "notes"],
        ["a1", 4.0, None],
        ["007", 0.5, "two\nlines"],
        [7, 1, " x"],
    ]

    table = read(tmp_path, workbook({"Sheet1": rows}))

    assert table.columns == {
        "id": ["a1", "007", "7"],
        "rating": ["4", "0.5", "1"],
        "notes": ["", "two\nlines", " x"],
    }
    assert (table.lines, table.notes) == ([2, 3, 4], ())


def test_rows_keep_the_lines_of_the_sheet(tmp_path: Path) -> None:
    """Empty rows and columns around the table, as people leave them, are not part of it."""
    rows: list[list[Cell]] = [[], ["id", "rating", None, None], [], ["a1", 4, "", None], ["a2", 5]]

    table = read(tmp_path, workbook({"Sheet1": rows}))

    assert table.columns == {"id": ["a1", "a2"], "rating": ["4", "5"]}
    assert table.lines == [4, 5]


def test_the_first_sheet_with_rows_is_read_and_the_others_are_named(tmp_path: Path) -> None:
    sheets: dict[str, list[list[Cell]]] = {
        "Notes": [],
        "Ratings": [["id"], ["a1"]],
        "Old": [["name"], ["b1"]],
        "Chart": [],
    }

    table = read(tmp_path, workbook(sheets))

    assert table.columns == {"id": ["a1"]}
    assert table.notes == ('only its sheet "Ratings" is read, not Old',)


def test_a_sheet_of_instructions_is_passed_over(tmp_path: Path) -> None:
    sheets: dict[str, list[list[Cell]]] = {
        "Read me": [["Rate from 1 to 5."], ["Thank you."]],
        "Ratings": [["id", "rating"], ["a1", 4]],
    }

    table = read(tmp_path, workbook(sheets))

    assert table.columns == {"id": ["a1"], "rating": ["4"]}


def test_merged_cells_of_a_header_name_the_columns_below_them(tmp_path: Path) -> None:
    rows: list[list[Cell]] = [
        [None, "anna", None, "ben"],
        ["id", "tone", "form", "tone", "form"],
        ["a1", 1, 2, 3, 4],
    ]

    table = read(tmp_path, workbook({"Sheet1": rows}))

    assert list(table.columns)[1:] == ["anna: tone", "anna: form", "ben: tone", "ben: form"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (workbook({"Sheet1": []}), "labels.xlsx: no sheet has any rows. "),
        (workbook({"S": [[], ["id", "id"]]}), "labels.xlsx:2:id: two columns have this name. "),
        (b"PK\x03\x04 cut off", "labels.xlsx: the spreadsheet cannot be read ("),
        (b"response_id,rating\n", "labels.xlsx: the spreadsheet cannot be read ("),
    ],
    ids=["empty", "repeated", "cut off", "text"],
)
def test_a_broken_spreadsheet_is_refused(tmp_path: Path, content: bytes, problem: str) -> None:
    with pytest.raises(InputError) as raised:
        read(tmp_path, content)

    assert str(raised.value).startswith(problem)


def test_a_workbook_with_any_broken_byte_is_read_or_refused(tmp_path: Path) -> None:
    rows: list[list[Cell]] = [["id", "anna"]]
    rows += [[f"a{k}", k % 5] for k in range(20)]
    whole = workbook({"Sheet1": rows})

    for place in range(0, len(whole), 7):
        broken = bytearray(whole)
        broken[place] ^= 0xB6
        with suppress(InputError):
            read(tmp_path, bytes(broken))
