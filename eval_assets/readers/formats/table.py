"""A file of rows, as columns: what every format becomes before its rows mean anything."""

import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress, count
from typing import Any, TypeVar, cast, overload

import numpy as np
import numpy.typing as npt

from eval_assets.errors import InputProblem

S = TypeVar("S", bound=Hashable)
T = TypeVar("T")

_WORD_IN_CAMEL_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_BETWEEN_WORDS = re.compile(r"[\W_]+")


class Repeated(Sequence[T]):
    """A column of few different values: each of them once, and for every row which one it has.

    Args:
        values: The values; one may occur several times.
        codes: Place of each row's value among them.

    Examples:
        >>> list(Repeated(["good", None], np.array([0, 0, 1])))
        ['good', 'good', None]
    """

    _ROWS_AT_ONCE = 65_536

    def __init__(self, values: Sequence[T], codes: npt.NDArray[np.integer[Any]]) -> None:
        self.values = values
        self.codes = codes

    def __len__(self) -> int:
        return len(self.codes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    @overload
    def __getitem__(self, row: int) -> T: ...
    @overload
    def __getitem__(self, row: slice) -> "Repeated[T]": ...
    def __getitem__(self, row: int | slice) -> "T | Repeated[T]":
        if isinstance(row, slice):
            return Repeated(self.values, self.codes[row])
        return self.values[int(self.codes[row])]

    def __iter__(self) -> Iterator[T]:
        for start in range(0, len(self), self._ROWS_AT_ONCE):
            codes = self.codes[start : start + self._ROWS_AT_ONCE]
            yield from map(self.values.__getitem__, codes.tolist())

    def __array__(
        self, dtype: npt.DTypeLike | None = None, *, copy: bool | None = None
    ) -> npt.NDArray[Any]:
        values: npt.NDArray[Any] = np.empty(len(self.values), dtype=dtype or object)
        values[:] = self.values
        return values.take(self.codes)


@dataclass(frozen=True)
class Table:
    """Rows of one file, as columns of equal length.

    A column is found under its header or any other spelling of it: in capitals, with spaces or
    hyphens, in camel case.

    Args:
        file: File, as messages name it.
        columns: Cells by header. Of CSV, TSV and spreadsheets they are text and a blank cell is "";
            elsewhere they are JSON values, None if a row has no such key.
        lines: Where each row starts, counted from 1: its line; of Parquet and JSON, its row.
        bad_rows: What is wrong with rows that could not be read and are not in `columns`.
        notes: How the file was read, if that had to be guessed.
        has_decimal_commas: Whether 4,5 is a number, as where cells are separated by semicolons.

    Examples:
        >>> table = Table("labels.csv", {"Rating": ["4", " 5 ", ""]}, lines=[2, 3, 4])
        >>> list(table.stripped("rating"))
        ['4', '5', None]
        >>> list(table.stripped("notes"))
        [None, None, None]
    """

    file: str
    columns: Mapping[str, Sequence[object]]
    lines: Sequence[int]
    bad_rows: tuple[InputProblem, ...] = ()
    notes: tuple[str, ...] = ()
    has_decimal_commas: bool = False

    def __len__(self) -> int:
        return len(self.lines)

    def only(self, kept: npt.NDArray[np.bool_]) -> "Table":
        """Return the table with the rows that are kept."""
        columns = {
            header: Repeated(cells.values, cells.codes[kept])
            if isinstance(cells, Repeated)
            else list(compress(cells, kept))
            for header, cells in self.columns.items()
        }
        return replace(self, columns=columns, lines=array("q", compress(self.lines, kept)))

    def header_of(self, *names: str) -> str | None:
        """Return the header of the first of these columns that the file has, as it spells it."""
        found = (self._headers.get(plain(name)) for name in names)
        return next((header for header in found if header is not None), None)

    def has(self, *names: str) -> bool:
        """Return whether the file has all of these columns."""
        return all(plain(name) in self._headers for name in names)

    def cells(self, *names: str) -> Sequence[object]:
        """Return the cells of the first of these columns that the file has, or else None."""
        header = self.header_of(*names)
        return [None] * len(self) if header is None else self.columns[header]

    def text(self, *names: str) -> Sequence[str | None]:
        """Return cells as text, unchanged if they are text."""
        if self.header_of(*names) is None:
            return Repeated([None], np.broadcast_to(np.int32(0), len(self)))
        cells = self.cells(*names)
        distinct = cells.values if isinstance(cells, Repeated) else cells
        if set(map(type, distinct)) <= {str}:
            return cast("Sequence[str | None]", cells)
        return [cell if isinstance(cell, str) else as_text(cell) for cell in cells]

    def stripped(self, *names: str) -> Repeated[str | None]:
        """Return cells as text without blanks around it, None if nothing is left."""
        return per_distinct(self.text(*names), without_blanks)

    @cached_property
    def _headers(self) -> dict[str, str]:
        """Return headers by their plain spelling; of two alike the plain one, or the first."""
        headers: dict[str, str] = {}
        for header in self.columns:
            if header == plain(header):
                headers[header] = header
            headers.setdefault(plain(header), header)
        return headers


def plain(header: str) -> str:
    """Return a header in small letters with underscores between its words.

    Examples:
        >>> [plain(header) for header in ("Response ID", "scenarioId", "rater-id", "\u00dcbung")]
        ['response_id', 'scenario_id', 'rater_id', '\u00fcbung']
    """
    words = _WORD_IN_CAMEL_CASE.sub("_", header.strip())
    return _BETWEEN_WORDS.sub("_", words).strip("_").lower()


def per_distinct(cells: Sequence[S], read: Callable[[S], T]) -> Repeated[T]:
    """Return `read` of every cell, called once for each distinct one: columns repeat themselves."""
    repeated = repeating(cells)
    return Repeated(list(map(read, repeated.values)), repeated.codes)


def repeating(cells: Sequence[S]) -> Repeated[S]:
    """Return cells with each distinct one once."""
    if isinstance(cells, Repeated):
        return cells
    code: defaultdict[S, int] = numbering()
    codes = np.fromiter(map(code.__getitem__, cells), np.int32, len(cells))
    return Repeated(list(code), codes)


def numbering() -> defaultdict[S, int]:
    """Return a dictionary that gives each new key the next number, from 0."""
    return defaultdict(count().__next__)


def is_none(cells: Sequence[object]) -> npt.NDArray[np.bool_]:
    """Return which cells are None."""
    if isinstance(cells, Repeated):
        return is_none(cells.values).take(cells.codes)
    return np.array([cell is None for cell in cells], dtype=bool)


def without_blanks(cell: str | None) -> str | None:
    """Return the cell without blanks around it; None if nothing is left."""
    return (cell.strip() or None) if cell is not None else None


def as_text(cell: object) -> str | None:
    """Return a JSON or database value as a CSV file would have it; None stays None."""
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
