"""CSV and TSV: rows of text with their lines, read by distinct values.

A row is named by the line on which it starts, quoted newlines included.
"""

import csv
import io
import re
from array import array
from contextlib import suppress
from itertools import accumulate, compress, islice
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from eval_assets.errors import InputError, InputProblem
from eval_assets.readers.formats.header_rows import SAMPLE_ROWS, header_of, named_columns
from eval_assets.readers.formats.table import FileColumn, FileTable, numbering
from eval_assets.readers.problems import input_error

if TYPE_CHECKING:
    import _csv

_ROWS_AT_ONCE = 128  # few enough to stay in the processor's cache: twice as fast as 1,024
_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE = 100_000
_SAMPLE_ROWS = 50
_EXCELS_OWN = re.compile(r"sep=(.)[\r\n]", re.IGNORECASE)
_NEWLINE = re.compile(r"\r\n|\r|\n")
_RULE = re.compile(r"[\s:+]*-{3}[-\s:+]*|\(\d+ rows?\)")
_FIRST_CELL = itemgetter(0)
_TEXT = re.compile(r"'[=+\-@\t\r][^']*")
"""A cell that `init` and sheets write for one that spreadsheets would take for a formula."""

_ADD_CELLS = "Give the row a cell for each column, and put quotes around text with commas"
_QUOTE_CELL = (
    'Put quotes around the whole cell and write a quote inside it twice, as in "a ""b"" c"'
)


def parse_delimited(text: str, *, file: str, skip_rows: int = 0) -> FileTable:
    r"""Return the rows of CSV or TSV text; every cell stays text as it is, "N/A" and "nan" too.

    Cells are separated by commas, semicolons, tabs or bars, whichever splits the rows as the
    header. Rows with another number of cells than the header are set aside in `FileTable.bad_rows`;
    blank rows are not rows. `skip_rows` lines stand above the header.

    Raises:
        InputError: If the header or the quoting is broken, so that rows cannot be told apart.

    Examples:
        >>> table = parse_delimited('id,text\n1,"two\nlines"\n2,N/A\n', file="r.csv")
        >>> list(table.columns["text"]), list(table.lines)
        (['two\nlines', 'N/A'], [2, 4])
    """
    if skip_rows:  # lines keep their numbers
        lines_of_text = text.splitlines(keepends=True)
        if skip_rows >= len(lines_of_text):
            message = f"--skip-rows {skip_rows} leaves none of its {len(lines_of_text)} lines"
            raise input_error(file, message, "Skip fewer")
        text = "\n" * skip_rows + "".join(lines_of_text[skip_rows:])
    delimiter = _delimiter_of(text)
    data = text.encode("utf-8", "surrogatepass")  # a StringIO would hold four bytes for each letter
    reader = _reader(data, delimiter)
    try:
        start = _reader(data, delimiter)
        filled = ((start.line_num, row) for row in start if _counts(row))
        header = header_of(list(islice(filled, SAMPLE_ROWS)), file=file)
        n_left = header.n_rows
        while n_left:
            n_left -= _counts(next(reader))
        width = len(header.names)
        numbers = [numbering() for _ in header.names]
        codes = [array("i") for _ in header.names]
        lines = array("q")
        bad_rows: list[InputProblem] = []
        n_lines_read = reader.line_num
        while rows := list(islice(reader, _ROWS_AT_ONCE)):
            starts = _starts(rows, after=n_lines_read, end=reader.line_num)
            n_lines_read = reader.line_num
            if set(map(len, rows)) != {width} or not all(map(str.strip, map(_FIRST_CELL, rows))):
                # Spreadsheets write blank cells behind the last column.
                rows = [row if any(row[width:]) else row[:width] for row in rows]
                for row, line in zip(rows, starts, strict=True):
                    if len(row) != width and _is_filled(row):
                        cells = "1 cell" if len(row) == 1 else f"{len(row)} cells"
                        message = f"the row has {cells}, the header has {width}"
                        bad_rows.append(InputProblem(file, line, None, message, _ADD_CELLS))
                fitting = [len(row) == width and _is_filled(row) for row in rows]
                rows, starts = list(compress(rows, fitting)), list(compress(starts, fitting))
            lines.extend(starts)
            for code, number, column in zip(codes, numbers, zip(*rows, strict=True), strict=False):
                code.extend(map(number.__getitem__, column))
    except csv.Error as error:
        raise _broken_quoting(data, delimiter, error, file=file) from error
    # Without the quote before what would be a formula.
    texts = [[of[1:] if of[:1] == "'" and _TEXT.fullmatch(of) else of for of in n] for n in numbers]
    columns = [
        FileColumn(number, np.array(code, dtype=np.int32))
        for number, code in zip(texts, codes, strict=True)
    ]
    return FileTable(
        file, named_columns(header, columns, file=file), lines, tuple(bad_rows), header.notes
    )


def _delimiter_of(text: str) -> str:
    """Return the delimiter that splits most of the first rows into as many cells as the widest."""
    named = _EXCELS_OWN.match(text)
    if named is not None:
        return named[1]
    start = _NEWLINE.sub("\n", text[:_SAMPLE])
    best = (0.0, 0, ",")
    for delimiter in _DELIMITERS:
        sample = csv.reader(io.StringIO(start, newline=""), delimiter=delimiter, strict=True)
        rows: list[list[str]] = []
        with suppress(csv.Error):  # of quotes that another delimiter follows
            rows.extend(filter(None, islice(sample, _SAMPLE_ROWS)))
        # A title above the header has fewer cells.
        width = max(map(len, rows[: len(rows) // 2 + 1]), default=0)
        if width > 1:
            fitting = sum(len(row) == width for row in rows) / len(rows)
            best = max(best, (fitting, width, delimiter), key=itemgetter(0, 1))
    return best[2]


def _reader(data: bytes, delimiter: str) -> "_csv.Reader":
    """Return a reader that raises on broken quoting instead of guessing."""
    # Python's limit of 131,072 characters a cell is shorter than an agent's transcript.
    csv.field_size_limit(max(csv.field_size_limit(), len(data)))
    lines = io.TextIOWrapper(io.BytesIO(data), "utf-8", errors="surrogatepass", newline="")
    return csv.reader(lines, delimiter=delimiter, strict=True)


def _counts(row: list[str]) -> bool:
    """Return whether a row has more content than Excel's declaration of the delimiter."""
    return _is_filled(row) and "".join(row).lower() != "sep="


def _is_filled(row: list[str]) -> bool:
    """Return whether a row has cells, and is no rule below a header, as of Markdown."""
    return any(map(str.strip, row)) and not _RULE.fullmatch("".join(row))


def _starts(rows: list[list[str]], *, after: int, end: int) -> list[int]:
    """Return the line on which each row of the lines `after` + 1 to `end` starts."""
    if end - after == len(rows):
        return list(range(after + 1, end + 1))
    n_lines = (1 + len(_NEWLINE.findall(",".join(row))) for row in rows)
    return list(accumulate(n_lines, initial=after + 1))[:-1]


def _broken_quoting(data: bytes, delimiter: str, error: csv.Error, *, file: str) -> InputError:
    reader = _reader(data, delimiter)
    start = 1
    with suppress(csv.Error):
        for _ in reader:
            start = reader.line_num + 1
    message = f"the quotes in this row are broken ({error})"
    if "unexpected end" in str(error):
        message = "a quote is opened in this row and never closed"
    return input_error(file, message, _QUOTE_CELL, line=start)
