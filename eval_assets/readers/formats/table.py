"""A file of rows as columns, the common result of all formats before cells are parsed."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import count
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from eval_assets.errors import InputProblem

T = TypeVar("T")
S = TypeVar("S")

BoolArray = npt.NDArray[np.bool_]

_WORD_IN_CAMEL_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_BETWEEN_WORDS = re.compile(r"[\W_]+")
_ROWS_AT_ONCE = 65_536


class FileColumn(Sequence[T]):
    """The cells of a column, with each distinct value once.

    Files of ratings repeat few values: long ones stay small, and each value is parsed once.

    Args:
        values: The values; one may occur several times.
        codes: Position of each row's value among them.

    Examples:
        >>> column = FileColumn.of(["good", None, "good"])
        >>> column.values, column.codes.tolist()
        (['good', None], [0, 1, 0])
        >>> list(column.map(bool))
        [True, False, True]
    """

    def __init__(self, values: Sequence[T], codes: npt.NDArray[np.integer[Any]]) -> None:
        self.values = values
        self.codes = codes

    @classmethod
    def of(cls, cells: Sequence[T]) -> "FileColumn[T]":
        """Return the column of some cells."""
        if isinstance(cells, FileColumn):
            return cells
        code: defaultdict[tuple[type, T], int] = numbering()
        try:
            # The type tells 1 from true, which are equal.
            codes = np.fromiter((code[type(cell), cell] for cell in cells), np.int32, len(cells))
        except TypeError:  # lists and objects in JSON
            return cls(cells, np.arange(len(cells), dtype=np.int32))
        return cls([cell for _, cell in code], codes)

    @classmethod
    def repeat(cls, value: T, n_rows: int) -> "FileColumn[T]":
        """Return a column with the same value in every row."""
        return cls([value], np.broadcast_to(np.int32(0), n_rows))

    @classmethod
    def together(cls, columns: "Sequence[FileColumn[Any]]") -> "FileColumn[tuple[Any, ...]]":
        """Return the rows of several columns as tuples.

        Examples:
            >>> column = FileColumn.of(["a", "b", "a"])
            >>> list(FileColumn.together([column, FileColumn.repeat(1, 3)]))
            [('a', 1), ('b', 1), ('a', 1)]
        """
        combined = np.zeros(len(columns[0]), dtype=np.int64)
        rows = np.arange(min(1, len(combined)))
        for column in columns:
            if len(column.values) > 1:
                combined = combined * len(column.values) + column.codes
                _, rows, combined = np.unique(combined, return_index=True, return_inverse=True)
        cells = [map(column.values.__getitem__, column.codes[rows].tolist()) for column in columns]
        return FileColumn(list(zip(*cells, strict=True)), combined.astype(np.int32))

    def map(self, function: Callable[[T], S]) -> "FileColumn[S]":
        """Return `function` of every cell, called once for each value."""
        return FileColumn(list(map(function, self.values)), self.codes)

    def stripped(self: "FileColumn[str | None]") -> "FileColumn[str | None]":
        """Return cells of text without blanks around them, None if nothing is left."""
        if self._are_text:
            cells = [*map(str.strip, self.values)]  # type: ignore[arg-type] # they are text
            if all(cells):
                return self if cells == self.values else FileColumn(cells, self.codes)
        return self.map(without_blanks)

    def take(self, rows: "npt.NDArray[np.integer[Any]] | BoolArray") -> "FileColumn[T]":
        """Return the cells of some rows, by their positions or a mask."""
        return FileColumn(self.values, self.codes[rows])

    def is_none(self) -> BoolArray:
        """Return whether each cell is None."""
        if None not in self.values:
            return np.zeros(len(self), dtype=bool)
        is_none: BoolArray = self.array(bool, lambda cell: cell is None)
        return is_none

    def as_text(self) -> "FileColumn[str | None]":
        """Return the cells as text, as in a CSV file."""
        return self if self._are_text else self.map(as_text)  # type: ignore[return-value] # it is text

    @cached_property
    def _are_text(self) -> bool:
        return set(map(type, self.values)) <= {str}

    def array(self, dtype: npt.DTypeLike, function: Callable[[T], Any] | None = None) -> Any:  # noqa: ANN401 - an array of that dtype
        """Return an array of the cells, or of `function` of each."""
        cells = self.values if function is None else list(map(function, self.values))
        # NumPy would make lists in cells a dimension.
        if dtype is object:
            return np.fromiter(cells, dtype=object, count=len(cells)).take(self.codes)
        return np.array(cells, dtype=dtype).take(self.codes)

    @cached_property
    def present(self) -> tuple[T, ...]:
        """Distinct values that occur, in order of appearance."""
        first = np.full(len(self.values), -1)
        rows = np.arange(len(self.codes))
        first[self.codes[::-1]] = rows[::-1]  # of several rows of a value, the last one stays
        occurring = np.flatnonzero(first >= 0)
        ordered = occurring[np.argsort(first[occurring])]
        return tuple(dict.fromkeys(map(self.values.__getitem__, ordered.tolist())))

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, row: int) -> T:  # type: ignore[override] # slices are for `take`
        return self.values[int(self.codes[row])]

    def __iter__(self) -> Iterator[T]:
        for start in range(0, len(self), _ROWS_AT_ONCE):
            codes = self.codes[start : start + _ROWS_AT_ONCE]
            yield from map(self.values.__getitem__, codes.tolist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))


@dataclass(frozen=True)
class FileTable:
    """Rows of one file, as columns of equal length.

    A column is found under its header or any other spelling of it: in capitals, with spaces or
    hyphens, in camel case.

    Args:
        file: File, as messages name it.
        columns: Cells by header. Of CSV, TSV and spreadsheets they are text and a blank cell is "";
            elsewhere they are JSON values, None if a row has no such key.
        lines: Where each row starts, counted from 1: its line; of Parquet and JSON, its row.
        bad_rows: Problems of rows that could not be read and are not in `columns`.
        notes: How the file was read, if that had to be guessed.

    Examples:
        >>> table = FileTable.of("labels.csv", {"Rating": ["4", " 5 ", ""]}, lines=[2, 3, 4])
        >>> list(table.stripped("rating"))
        ['4', '5', None]
        >>> list(table.stripped("notes"))
        [None, None, None]
    """

    file: str
    columns: Mapping[str, FileColumn[Any]]
    lines: Sequence[int]
    bad_rows: tuple[InputProblem, ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, file: str, columns: Mapping[str, Sequence[object]], lines: Sequence[int]
    ) -> "FileTable":
        """Return a table of cells in rows."""
        return cls(file, {header: FileColumn.of(cells) for header, cells in columns.items()}, lines)

    def __len__(self) -> int:
        return len(self.lines)

    def take(self, rows: npt.NDArray[np.int64]) -> "FileTable":
        """Return the table with some of its rows."""
        columns = {header: column.take(rows) for header, column in self.columns.items()}
        return replace(self, columns=columns, lines=[self.lines[row] for row in rows.tolist()])

    def with_columns(self, columns: Mapping[str, FileColumn[Any]], *notes: str) -> "FileTable":
        """Return the table with other columns, and notes on them."""
        return replace(self, columns=columns, notes=(*self.notes, *notes))

    def header_of(self, *names: str) -> str | None:
        """Return the header of the first of these columns in the file, in the file's spelling."""
        headers = (self._headers.get(plain(name)) for name in names)
        return next((header for header in headers if header is not None), None)

    def spelling(self, name: str) -> str:
        """Return the header of a column in the file's spelling; the name itself if it has none."""
        return self.header_of(name) or name

    def has(self, *names: str) -> bool:
        """Return whether the file has all of these columns."""
        return all(plain(name) in self._headers for name in names)

    def cells(self, *names: str) -> FileColumn[Any]:
        """Return the cells of the first of these columns that the file has, or else None."""
        header = self.header_of(*names)
        return FileColumn.repeat(None, len(self)) if header is None else self.columns[header]

    def text(self, *names: str) -> FileColumn[str | None]:
        """Return cells as text, unchanged if they are text."""
        return self.cells(*names).as_text()

    def stripped(self, *names: str) -> FileColumn[str | None]:
        """Return cells as text without blanks around it, None if nothing is left."""
        return self.text(*names).stripped()

    @cached_property
    def _headers(self) -> dict[str, str]:
        """Return headers by their plain spelling; of two alike the plain one, or the first."""
        headers: dict[str, str] = {}
        for header in self.columns:
            if header == plain(header):
                headers[header] = header
            headers.setdefault(plain(header), header)
        return headers


_NUMBER_SIGN = re.compile(r"(?<!\w)[nN][\xb0\xba]")


@lru_cache(maxsize=10_000)  # each header is asked for by many rules
def plain(header: str) -> str:
    """Return a header in lower case with underscores between its words.

    Examples:
        >>> [plain(header) for header in ("Response ID", "scenarioId", "rater-id", "\u00dcbung")]
        ['response_id', 'scenario_id', 'rater_id', '\u00fcbung']
    """
    words = _WORD_IN_CAMEL_CASE.sub("_", _NUMBER_SIGN.sub("no", header.strip()))
    return _BETWEEN_WORDS.sub("_", words).strip("_").lower()


def numbering() -> defaultdict[Any, int]:
    """Return a dictionary that gives each new key the next number, from 0."""
    return defaultdict(count().__next__)


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
