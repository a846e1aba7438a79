"""Columns of large delimited text without quotes, told apart by bytes instead of row by row."""

from array import array
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from eval_assets.readers.formats.table import FileColumn, numbering

Positions = npt.NDArray[np.int64]

_BLOCK_BYTES = 2_000_000
"""Bytes of the rows whose positions are in memory together."""

_WORD = 8
_LONGEST_IN_WORDS = 64
"""Bytes of a cell up to which eight at once are compared as a number."""

_MASKS = np.array([(1 << 8 * n) - 1 for n in range(_WORD + 1)], dtype=np.uint64)
"""Bits of a word that belong to a cell of n bytes."""


def unquoted_columns(
    data: bytes, *, start: int, delimiter: str, n_columns: int
) -> list[FileColumn[str]] | None:
    r"""Return the columns of UTF-8 from a byte on; None if that needs a reader of rows.

    It does if there are quotes, carriage returns or NUL, if a row is blank or has another number of
    cells, or if there is only one column.

    Examples:
        >>> data = b"id,rating\nr1,4\nr2,\nr1,5"
        >>> columns = unquoted_columns(data, start=10, delimiter=",", n_columns=2)
        >>> [(list(column), column.codes.tolist()) for column in columns or ()]
        [(['r1', 'r2', 'r1'], [0, 1, 0]), (['4', '', '5'], [0, 1, 2])]
        >>> unquoted_columns(data, start=10, delimiter=",", n_columns=3)
    """
    # Carriage returns above the rows, too: the caller counts lines by line feeds.
    is_irregular = b"\r" in data or any(data.find(byte, start) >= 0 for byte in (b'"', b"\0"))
    if is_irregular or n_columns == 1 or not delimiter.isascii():
        return None
    numbers = [numbering() for _ in range(n_columns)]
    codes = [array("i") for _ in range(n_columns)]
    for block in _blocks(data, start):
        bounds = _bounds(block, delimiter=delimiter, n_columns=n_columns)
        if bounds is None:
            return None
        starts, ends = bounds
        padded = block + bytes(_LONGEST_IN_WORDS + _WORD)
        text = block.decode("ascii") if block.isascii() else None
        for k, (number, code) in enumerate(zip(numbers, codes, strict=True)):
            cells, cell_codes = _column(padded, text, starts[:, k], ends[:, k])
            if k == 0 and not all(map(str.strip, cells)):
                return None  # the row may be blank
            number_of_cell = np.fromiter(map(number.__getitem__, cells), np.int32, len(cells))
            code.frombytes(number_of_cell[cell_codes].tobytes())
    return [
        FileColumn(list(number), np.frombuffer(code, dtype=np.int32), are_ordered=True)
        for number, code in zip(numbers, codes, strict=True)
    ]


def _blocks(data: bytes, start: int) -> Iterator[bytes]:
    """Yield whole lines; blank ones at the end are no rows."""
    stop = len(data)
    while stop > start and data[stop - 1] == ord("\n"):
        stop -= 1
    while start < stop:
        end = data.find(b"\n", min(start + _BLOCK_BYTES, stop), stop)
        end = stop if end < 0 else end
        yield data[start:end] + b"\n"
        start = end + 1


def _bounds(block: bytes, *, delimiter: str, n_columns: int) -> tuple[Positions, Positions] | None:
    """Return where the cells of each row start and end; None if a row has others."""
    letters = np.frombuffer(block, dtype=np.uint8)
    is_line_end = letters == ord("\n")
    ends = np.flatnonzero(is_line_end | (letters == ord(delimiter)))
    n_rows = np.count_nonzero(is_line_end)
    if len(ends) != n_rows * n_columns or not is_line_end[ends[n_columns - 1 :: n_columns]].all():
        return None
    starts = np.append(0, ends[:-1] + 1)
    return starts.reshape(n_rows, n_columns), ends.reshape(n_rows, n_columns)


def _column(
    data: bytes, text: str | None, starts: Positions, ends: Positions
) -> tuple[list[str], Positions]:
    """Return the distinct cells in order of appearance, and the number of each row's.

    `text` is the data as text if it is ASCII, of which slices take half the time.
    """
    codes = np.arange(len(starts))
    if (ends - starts).max() <= _LONGEST_IN_WORDS:
        codes = _codes(data, starts, ends - starts)
        first = np.flatnonzero(np.diff(np.maximum.accumulate(codes), prepend=-1))
        starts, ends = starts[first], ends[first]
    bounds = zip(starts.tolist(), ends.tolist(), strict=True)
    if text is not None:
        return [text[start:end] for start, end in bounds], codes
    return [str(data[start:end], "utf-8", "surrogatepass") for start, end in bounds], codes


def _codes(data: bytes, starts: Positions, lengths: Positions) -> Positions:
    """Return the number of each cell, in order of appearance."""
    import pandas as pd

    # The word that begins at each byte. No cell holds NUL: a shorter one is never equal.
    words = np.ndarray(len(data) - _WORD + 1, dtype="<u8", buffer=data, strides=(1,))
    codes = np.zeros(len(starts), dtype=np.int64)
    for offset in range(0, max(1, int(lengths.max())), _WORD):
        n_bytes = np.clip(lengths - offset, 0, _WORD)
        word = words[np.minimum(starts + offset, len(words) - 1)] & _MASKS[n_bytes]
        numbers, distinct = pd.factorize(word)
        codes = pd.factorize(codes * len(distinct) + numbers)[0] if offset else numbers
    return codes
