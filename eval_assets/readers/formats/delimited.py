"""CSV and TSV: rows of text with their lines, and the header of any table.

A header may stand below a title, in two rows, or beside columns without a name. A row is named by
the line on which it starts, quoted newlines included.
"""

import csv
import io
import re
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import accumulate, compress, count, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from eval_assets.errors import InputError, InputProblem
from eval_assets.readers._problems import input_error
from eval_assets.readers.formats import header_rows
from eval_assets.readers.formats.table import FileColumn, FileTable, numbering, plain
from eval_assets.readers.formats.unquoted_rows import unquoted_columns

if TYPE_CHECKING:
    import _csv


_LARGE_BYTES = 1_000_000
"""Size from which a search for text without quotes pays, which requires pandas."""

_ROWS_AT_ONCE = 128  # few enough to stay in the processor's cache: twice as fast as 1,024
_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE = 100_000
_SAMPLE_ROWS = 50
_EXCELS_OWN = re.compile(r"sep=(.)[\r\n]", re.IGNORECASE)
_NEWLINE = re.compile(r"\r\n|\r|\n")
_FIRST_CELL = itemgetter(0)
_ADD_CELLS = "Give the row a cell for each column, and put quotes around text with commas"
_QUOTE_CELL = (
    'Put quotes around the whole cell and write a quote inside it twice, as in "a ""b"" c"'
)


def parse_delimited(
    text: str, *, file: str, delimiter: str, skip_rows: int = 0, is_strict: bool = True
) -> FileTable:
    r"""Return the rows of CSV or TSV text; every cell stays text as it is, "N/A" and "nan" too.

    Cells are separated by commas, semicolons, tabs or bars, whichever splits the rows as the
    header. Rows with another number of cells than the header are set aside in `FileTable.bad_rows`;
    blank rows are not rows.

    Raises:
        InputError: If the header or the quoting is broken, so that rows cannot be told apart.

    Examples:
        >>> table = parse_delimited('id,text\n1,"two\nlines"\n2,N/A\n', file="r.csv", delimiter=",")
        >>> list(table.columns["text"]), list(table.lines)
        (['two\nlines', 'N/A'], [2, 4])
    """
    delimiter = _delimiter_of(text, default=delimiter)
    data = text.encode("utf-8", "surrogatepass")  # a StringIO would hold four bytes for each letter
    reader = _reader(data, delimiter)
    try:
        start = _reader(data, delimiter)
        filled = ((start.line_num, row) for row in start if _counts(row))
        if is_strict:
            header = header_of(list(islice(filled, SAMPLE_ROWS)), file=file)
        else:
            sample = islice(filled, skip_rows, skip_rows + header_rows.SAMPLE_ROWS)
            header = DelimitedHeader(*header_rows.header_of(list(sample), file=file))
        n_left = header.n_rows + skip_rows
        while n_left:
            n_left -= _counts(next(reader))
        width = len(header.names)
        if len(data) >= _LARGE_BYTES:
            n_above = reader.line_num
            first = sum(map(len, islice(io.BytesIO(data), n_above)))
            large = unquoted_columns(data, start=first, delimiter=delimiter, n_columns=width)
            if large is not None:
                numbers_of_lines = range(n_above + 1, n_above + 1 + len(large[0]))
                return _table(
                    header,
                    large,
                    numbers_of_lines,
                    delimiter=delimiter,
                    file=file,
                    is_strict=is_strict,
                )
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
                bad_rows += _ragged(rows, starts, n_names=width, file=file)
                fitting = [len(row) == width and _is_filled(row) for row in rows]
                rows, starts = list(compress(rows, fitting)), list(compress(starts, fitting))
            lines.extend(starts)
            for code, number, cells in zip(codes, numbers, zip(*rows, strict=True), strict=False):
                code.extend(map(number.__getitem__, cells))
    except csv.Error as error:
        raise _broken_quoting(data, delimiter, error, file=file) from error
    columns = [
        FileColumn(list(number), np.array(code, dtype=np.int32), are_ordered=True)
        for number, code in zip(numbers, codes, strict=True)
    ]
    table = _table(header, columns, lines, delimiter=delimiter, file=file, is_strict=is_strict)
    return replace(table, bad_rows=tuple(bad_rows))


def _table(  # noqa: PLR0913 - what a table is read from
    header: "DelimitedHeader",
    columns: Sequence[FileColumn[str]],
    lines: Sequence[int],
    *,
    delimiter: str,
    file: str,
    is_strict: bool,
) -> FileTable:
    columns_by_name = (
        named_columns(header, columns, file=file)
        if is_strict
        else header_rows.named_columns(
            header_rows.Header(*header), columns, file=file, is_strict=False
        )
    )
    is_decimal = delimiter != ","
    return FileTable(
        file, columns_by_name, lines, notes=header.notes, has_decimal_commas=is_decimal
    )


def _delimiter_of(text: str, *, default: str) -> str:
    """Return the delimiter that splits most of the first rows into the header's number of cells."""
    named = _EXCELS_OWN.match(text)
    if named is not None:
        return named[1]
    start = _NEWLINE.sub("\n", text[:_SAMPLE])
    best = (0.0, 0, default)
    for delimiter in dict.fromkeys((default, *_DELIMITERS)):
        sample = csv.reader(io.StringIO(start, newline=""), delimiter=delimiter)
        with suppress(csv.Error):
            header, *rows = [row for row in islice(sample, _SAMPLE_ROWS) if row] or [[]]
            if len(header) > 1:
                fitting = sum(len(row) == len(header) for row in rows) / max(len(rows), 1)
                best = max(best, (fitting, len(header), delimiter), key=itemgetter(0, 1))
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
    return any(map(str.strip, row))


def _starts(rows: list[list[str]], *, after: int, end: int) -> list[int]:
    """Return the line on which each row of the lines `after` + 1 to `end` starts."""
    if end - after == len(rows):
        return list(range(after + 1, end + 1))
    n_lines = (1 + len(_NEWLINE.findall(",".join(row))) for row in rows)
    return list(accumulate(n_lines, initial=after + 1))[:-1]


def _ragged(
    rows: list[list[str]], starts: list[int], *, n_names: int, file: str
) -> Iterator[InputProblem]:
    for row, line in zip(rows, starts, strict=True):
        if len(row) != n_names and _is_filled(row):
            cells = "1 cell" if len(row) == 1 else f"{len(row)} cells"
            message = f"the row has {cells}, the header has {n_names}"
            yield InputProblem(file, line, None, message, _ADD_CELLS)


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


Row = tuple[int, Sequence[str]]
"""Line of a row, and its cells."""

SAMPLE_ROWS = 12
"""Number of rows at the start of a table that may be its header."""

_IMPORT_ID = '"ImportId"'
_RESPONDENT = "respondent_id"
_OPEN = ("", "Response", "Open-Ended Response")
"""Second row of a question of SurveyMonkey that has one column."""

_DIGITS = re.compile("[0-9]+")
_FEWEST_REPEATED = 3
"""Number of columns of one name from which they are the items of a form."""

_FEWEST = 2
"""Numbers of groups of columns and of names in each, from which two rows are one header."""


class DelimitedHeader(NamedTuple):
    """The names of a table's columns, "" if one has none.

    Args:
        names: The names, without blanks around them.
        line: Line of the row that they stand in; None in a data frame.
        n_rows: Rows up to the first one of data.
        notes: How the header was read, if that had to be guessed.
    """

    names: list[str]
    line: int | None
    n_rows: int
    notes: tuple[str, ...]


def header_of(start: Sequence[Row], *, file: str) -> DelimitedHeader:
    """Return the header of a table.

    Rows with a single cell above it are a title. If its cells span several columns of the next row,
    as merged cells do, both rows name the columns.

    `start` holds the first rows of the table, without blank ones.

    Raises:
        InputError: If no row names anything.

    Examples:
        >>> start = [(1, ["", "anna", "", "ben", ""]), (2, ["id", "tone", "form", "tone", "form"])]
        >>> header_of(start, file="x.csv").names
        ['id', 'anna: tone', 'anna: form', 'ben: tone', 'ben: form']
    """
    n_titles = _n_titles([cells for _, cells in start])
    rest = start[n_titles:]
    if not rest or not any(cell.strip() for cell in rest[0][1]):
        line = start[0][0] if start else 1
        raise input_error(file, "there is no header", "Name the columns in line 1", line=line)
    line, cells = rest[0]
    notes = []
    if n_titles:
        notes.append(f"the header is in line {line}; what stands above it is not read")
    names = [cell.strip() for cell in cells]
    below = [cell.strip() for cell in rest[1][1]] if len(rest) > 1 else []
    if len(rest) > 2 and any(_IMPORT_ID in cell for cell in rest[2][1]):  # noqa: PLR2004 - the third
        notes.append(f"lines {line} to {rest[2][0]} read as the header of Qualtrics")
        return DelimitedHeader(names, line, n_titles + 3, tuple(notes))
    if len(rest) > 2 and _is_pivoted(names, below, rest[2][1]):  # noqa: PLR2004 - the third
        notes.append(f"lines {line} to {rest[2][0]} read as the header of pandas")
        pairs = zip(names[1:], below[1:], strict=True)
        joined = [rest[2][1][0].strip(), *(f"{group}: {name}" for group, name in pairs)]
        return DelimitedHeader(joined, rest[2][0], n_titles + 3, tuple(notes))
    if below and plain(names[0]) == _RESPONDENT and not below[0]:
        notes.append(f"lines {line} and {rest[1][0]} read as the header of SurveyMonkey")
        pairs = zip(_filled_in(names), below, strict=False)
        joined = [f"{group} [{name}]" if name not in _OPEN else group for group, name in pairs]
        return DelimitedHeader(joined, rest[1][0], n_titles + 2, tuple(notes))
    if _is_data(names, below):
        notes.append(f"line {line} read as ratings: no row names the columns")
        first = [] if _is_number(names[0]) else ["item"]
        numbers = range(1, len(names) - len(first) + 1)
        return DelimitedHeader(
            [*first, *(f"rater {k}" for k in numbers)], line, n_titles, tuple(notes)
        )
    if _spans(names, below):
        notes.append(f"lines {line} and {rest[1][0]} read as one header")
        pairs = zip(_filled_in(names), below, strict=True)
        joined = [f"{group}: {name}" if group and name else group or name for group, name in pairs]
        return DelimitedHeader(joined, rest[1][0], n_titles + 2, tuple(notes))
    names, notes_on_names = numbered_names(names)
    return DelimitedHeader(names, line, n_titles + 1, (*notes, *notes_on_names))


def _is_pivoted(names: Sequence[str], below: Sequence[str], third: Sequence[str]) -> bool:
    """Return whether pandas wrote columns of two levels, and the name of the index below them."""
    is_index = bool(third[0].strip()) and not any(cell.strip() for cell in third[1:])
    is_full = all(names[1:]) and all(below[1:]) and len(names) == len(below)
    return is_index and is_full and len(set(names[1:])) < len(names[1:])


def numbered_names(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return names of columns with a number behind those of three or more, and notes on them.

    Examples:
        >>> numbered_names(["id", "score", "score", "score"])[0]
        ['id', 'score [1]', 'score [2]', 'score [3]']
    """
    numbered, notes = list(names), []
    for name, n in Counter(names).items():
        if name and n >= _FEWEST_REPEATED:
            number = count(1)
            numbered = [f"{name} [{next(number)}]" if of == name else of for of in numbered]
            notes.append(f'columns named "{name}" are numbered')
    return numbered, notes


def named_columns(
    header: DelimitedHeader, columns: Sequence[FileColumn[Any]], *, file: str
) -> dict[str, FileColumn[Any]]:
    """Return columns by name, without those that have neither name nor content.

    A first column without a name that only counts the rows, as written by pandas, is dropped too;
    one of distinct texts is named item.

    Raises:
        InputError: If another column has no name, or two have the same one.
    """
    named: dict[str, FileColumn[Any]] = {}
    for position, (name, cells) in enumerate(zip(header.names, columns, strict=True)):
        if name in named:
            message, remedy = "two columns have this name", "Rename or remove one of them"
            raise input_error(file, message, remedy, line=header.line, column=name)
        if name:
            named[name] = cells
            continue
        # Without rows, a column is empty if no name comes after it.
        is_empty = not any(cells) if len(cells) else not any(header.names[position:])
        is_count = len(cells) and cells == [str(row) for row in range(len(cells))]
        if position == 0 and not is_count and "item" not in header.names and _names_rows(cells):
            named["item"] = cells
        elif not is_empty and not (position == 0 and is_count):
            message = f"column {position + 1} has no name"
            raise input_error(file, message, "Name the column or remove it", line=header.line)
    return named


def _names_rows(cells: FileColumn[Any]) -> bool:
    texts = list(cells)
    return len(set(texts)) == len(texts) and not any(not text or _is_number(text) for text in texts)


def _n_titles(rows: Sequence[Sequence[str]]) -> int:
    """Return the number of rows with a single cell before the first with more, or else 0.

    Those of text have no blank cells behind; then all rows below must have as many cells.
    """
    for n_above, row in enumerate(rows):
        if any(cell.strip() for cell in row[1:]):
            is_padded = all(len(title) == len(row) for title in rows[:n_above])
            below = [len(other) for other in rows[n_above:]]
            is_regular = len(below) > _FEWEST and len(set(below)) == 1
            return n_above if is_padded or is_regular else 0
    return 0


def _spans(names: Sequence[str], below: Sequence[str]) -> bool:
    """Return whether a row groups the names in the next one: each occurs in every group."""
    if len(below) != len(names) or any(map(_is_number, below)):
        return False
    if not all(name or sub for name, sub in zip(names, below, strict=True)):
        return False
    groups = _filled_in(names)
    grouped = [(group, name) for group, name in zip(groups, below, strict=True) if group and name]
    n_groups = len({group for group, _ in grouped})
    n_names = len({name for _, name in grouped})
    return min(n_groups, n_names) >= _FEWEST and n_groups * n_names == len(set(grouped))


def _is_data(names: Sequence[str], below: Sequence[str]) -> bool:
    """Return whether a row is one of ratings like the next: numbers that do not count columns."""
    if len(names) < _FEWEST or len(names) != len(below):
        return False
    first = 0 if _is_number(names[0]) else 1
    numbers = list(names[first:])
    is_like_next = first == 0 or _DIGITS.sub("", names[0]) == _DIGITS.sub("", below[0]) != names[0]
    counts = [[str(k) for k in range(start, start + len(numbers))] for start in (0, 1)]
    are_numbers = all(map(_is_number, (*numbers, *below[first:])))
    return is_like_next and are_numbers and numbers not in counts


def _filled_in(names: Sequence[str]) -> Iterator[str]:
    """Yield each name, repeated for the blanks after it, as merged cells are written."""
    last = ""
    for name in names:
        last = name or last
        yield last


def _is_number(cell: str) -> bool:
    return cell.replace(".", "", 1).replace(",", "", 1).isdigit()
