"""CSV and TSV: rows of text, each with the line on which it starts, quoted newlines included."""

import csv
import io
from collections.abc import Iterator

from eval_assets.readers.table import Table
from eval_assets.readers.wording import shown
from eval_assets.records import InputError, InputProblem

_ROWS_AT_ONCE = 16_384


def parse_delimited(text: str, *, file: str, delimiter: str) -> Table:
    r"""Rows of CSV or TSV text; every cell stays the text that it is, "N/A" and "nan" too.

    Rows with another number of cells than the header are set aside in `Table.bad_rows`; blank
    lines are no rows.

    Raises:
        InputError: If the header or the quoting is broken, so that no row can be told for sure.

    Examples:
        >>> table = parse_delimited('id,text\n1,"two\nlines"\n2,N/A\n', file="r.csv", delimiter=",")
        >>> table.columns["text"], table.lines
        (['two\nlines', 'N/A'], [2, 4])
    """
    records = _records(text, file=file, delimiter=delimiter)
    names = _checked_header(next(records, (1, [])), file=file)
    columns = _Columns(len(names))
    lines: list[int] = []
    bad_rows: list[InputProblem] = []
    for line, row in records:
        if len(row) == len(names):
            columns.add(row)
            lines.append(line)
        else:
            bad_rows.append(_ragged(file, line, len(row), len(names)))
    return Table(file, dict(zip(names, columns.done(), strict=True)), lines, tuple(bad_rows))


def _records(text: str, *, file: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Each row that is not blank, with the line on which it starts."""
    # Python's limit of 131,072 characters a cell is shorter than an agent's transcript.
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    start = 1
    try:
        for row in reader:
            if row:
                yield start, row
            start = reader.line_num + 1
    except csv.Error as error:
        raise InputError(_broken_quoting(file, start, error)) from error


class _Columns:
    """Columns under construction; equal cells share one string, which keeps long files small."""

    def __init__(self, n_columns: int) -> None:
        self._cells: list[list[object]] = [[] for _ in range(n_columns)]
        self._known: list[dict[str, str]] = [{} for _ in range(n_columns)]
        self._waiting: list[list[str]] = []

    def add(self, row: list[str]) -> None:
        self._waiting.append(row)
        if len(self._waiting) == _ROWS_AT_ONCE:
            self._turn()

    def done(self) -> list[list[object]]:
        self._turn()
        return self._cells

    def _turn(self) -> None:
        for cells, known, new in zip(
            self._cells, self._known, zip(*self._waiting, strict=True), strict=False
        ):
            cells.extend(map(known.setdefault, new, new))
        self._waiting.clear()


def _checked_header(record: tuple[int, list[str]], *, file: str) -> list[str]:
    """Names of the columns, without blanks around them."""
    line, header = record
    names = [name.strip() for name in header]
    if not any(names):
        problem = InputProblem(file, line, None, "there is no header", "Name the columns in line 1")
        raise InputError(problem)
    if "" in names:
        what = f"column {names.index('') + 1} has no name"
        raise InputError(InputProblem(file, line, None, what, "Name the column or remove it"))
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        what, remedy = "two columns have this name", "Rename or remove one of them"
        raise InputError(InputProblem(file, line, twice, what, remedy))
    if len(names) == 1 and any(mark in names[0] for mark in ";\t,"):
        what = f"the header {shown(names[0])} is one column"
        remedy = "Separate the columns by commas in a .csv file, by tabs in a .tsv file"
        raise InputError(InputProblem(file, line, None, what, remedy))
    return names


def _ragged(file: str, line: int, n_cells: int, n_names: int) -> InputProblem:
    cells = "1 cell" if n_cells == 1 else f"{n_cells} cells"
    what = f"the row has {cells}, the header has {n_names}"
    remedy = "Give the row a cell for each column, and put quotes around text with commas"
    return InputProblem(file, line, None, what, remedy)


def _broken_quoting(file: str, line: int, error: csv.Error) -> InputProblem:
    if "unexpected end" in str(error):
        what = "a quote is opened in this row and never closed"
    else:
        what = f"the quotes in this row are broken ({error})"
    remedy = 'Put quotes around the whole cell and write a quote inside it twice, as in "a ""b"" c"'
    return InputProblem(file, line, None, what, remedy)
