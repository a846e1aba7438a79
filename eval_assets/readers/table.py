"""A file of rows, as columns: what every format becomes before its rows mean anything."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from eval_assets.problems import InputProblem

T = TypeVar("T")


@dataclass(frozen=True)
class Table:
    """Rows of one file, as columns of equal length.

    Args:
        file: File, as messages name it.
        columns: Cells by header. Of CSV and TSV they are text and a blank cell is ""; elsewhere
            they are JSON values, None where a row has no such key.
        lines: Where each row starts, counted from 1: its line; of Parquet and JSON, its row.
        bad_rows: What was wrong with rows that could not be read and are not in `columns`.

    Examples:
        >>> table = Table("labels.csv", {"rating": ["4", " 5 ", ""]}, lines=[2, 3, 4])
        >>> table.stripped("rating")
        ['4', '5', None]
        >>> table.stripped("notes")
        [None, None, None]
    """

    file: str
    columns: Mapping[str, list[object]]
    lines: list[int]
    bad_rows: tuple[InputProblem, ...] = ()

    def __len__(self) -> int:
        return len(self.lines)

    def first_of(self, *headers: str) -> str | None:
        """The first of `headers` that the file has."""
        return next((header for header in headers if header in self.columns), None)

    def text(self, header: str | None) -> list[str | None]:
        """Cells as text, unchanged where they are text; all None where there is no such column."""
        if header is None or header not in self.columns:
            return [None] * len(self)
        return [cell if isinstance(cell, str) else as_text(cell) for cell in self.columns[header]]

    def stripped(self, header: str | None) -> list[str | None]:
        """Cells as text without blanks around it, None where nothing is left."""
        if header is None or header not in self.columns:
            return [None] * len(self)
        return per_distinct(self.text(header), without_blanks)


def per_distinct(cells: Sequence[str | None], read: Callable[[str | None], T]) -> list[T]:
    """`read` of every cell, called once for each distinct one: columns repeat themselves."""
    known = {cell: read(cell) for cell in set(cells)}
    return list(map(known.__getitem__, cells))


def without_blanks(cell: str | None) -> str | None:
    """The cell without blanks around it; None where nothing is left."""
    return (cell.strip() or None) if cell is not None else None


def as_text(cell: object) -> str | None:
    """A JSON value or a database value as it would stand in a CSV file; None stays None."""
    match cell:
        case None | str():
            return cell
        case bool():
            return "true" if cell else "false"
        case float() if cell.is_integer():
            return str(int(cell))
        case _:
            isoformat = getattr(cell, "isoformat", None)
            return str(isoformat() if callable(isoformat) else cell)
