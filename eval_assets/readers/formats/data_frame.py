"""A pandas data frame as the table that a file of the same rows would be."""

from collections.abc import Hashable

import pandas as pd

from eval_assets.readers.formats.table import FileTable, as_text


def frame_table(frame: pd.DataFrame) -> FileTable:
    """Return the cells of a frame; an index that is more than a count of the rows is a column.

    Examples:
        >>> frame = pd.DataFrame({"Anna": [4, None]}, index=pd.Index(["r1", "r2"], name="item"))
        >>> {header: list(cells) for header, cells in frame_table(frame).columns.items()}
        {'item': ['r1', 'r2'], 'Anna': ['4', '']}
    """
    counts_rows = isinstance(frame.index, pd.RangeIndex) and frame.index.name is None
    if not counts_rows:
        unnamed = [name or "item" for name in frame.index.names]
        frame = frame.reset_index(names=unnamed)
    cells = {
        _header(label): [_cell(cell) for cell in frame.iloc[:, k].tolist()]
        for k, label in enumerate(frame.columns)
    }
    return FileTable.of("data frame", cells, list(range(1, len(frame) + 1)))


def _header(label: Hashable) -> str:
    """Return a label as the header of a file; those of several levels as a survey joins them."""
    if isinstance(label, tuple):
        return "_".join(str(part) for part in label if str(part))
    return str(label)


def _cell(cell: object) -> object:
    """Return a cell as CSV has it; lists and objects stay, which only JSON has."""
    if isinstance(cell, str | list | dict):
        return cell
    is_missing = cell is None or cell is pd.NA or cell is pd.NaT or cell != cell  # noqa: PLR0124 - NaN
    return "" if is_missing else as_text(cell)
