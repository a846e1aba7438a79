"""Tables as columns: which rows are kept."""

import numpy as np

from eval_assets.readers.formats.table import FileColumn, FileTable, as_text


def test_rows_are_kept_with_their_lines_whatever_holds_their_cells() -> None:
    model = FileColumn(["m", "n"], np.array([0, 1, 0]))
    table = FileTable.of("scores.csv", {"model": model, "score": [1, 2, None]}, lines=[2, 3, 5])

    selection = table.take(np.array([0, 2]))

    assert {name: list(cells) for name, cells in selection.columns.items()} == {
        "model": ["m", "m"],
        "score": [1, None],
    }
    assert list(selection.lines) == [2, 5]
    assert isinstance(selection.columns["model"], FileColumn)


def test_column_tells_equal_values_of_different_types_apart() -> None:
    assert list(map(as_text, FileColumn.of([1, True, 1.0, "1", None]))) == [
        "1",
        "true",
        "1",
        "1",
        None,
    ]


def test_column_holds_lists_and_objects() -> None:
    column = FileColumn.of([["a"], {"b": 1}, ["a"]])

    assert [column[0], column[1], *column.take(np.array([2]))] == [["a"], {"b": 1}, ["a"]]
