"""The header of a table: below a title, in two rows, or beside columns without a name."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from eval_assets.readers._problems import input_error
from eval_assets.readers.formats.table import FileColumn, plain

Row = tuple[int, Sequence[str]]
"""Line of a row, and its cells."""

SAMPLE_ROWS = 12
"""Rows at the start of a table among which its header is looked for."""

_IMPORT_ID = '"ImportId"'
_RESPONDENT = "respondent_id"
_OPEN = ("", "Response", "Open-Ended Response")
"""Second row of a question of SurveyMonkey that has one column."""

_DIGITS = re.compile("[0-9]+")
_FEWEST = 2
"""Groups of columns, and names in each, from which on two rows are one header."""


class Header(NamedTuple):
    """The names of a table's columns, "" if one has none.

    Args:
        names: The names, without blanks around them.
        line: Line of the row that they stand in.
        n_rows: Rows up to the first one of data.
        notes: How the header was read, if that had to be guessed.
    """

    names: list[str]
    line: int
    n_rows: int
    notes: tuple[str, ...]


def header_of(start: Sequence[Row], *, file: str) -> Header:
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
        return Header(names, line, n_titles + 3, tuple(notes))
    if below and plain(names[0]) == _RESPONDENT and not below[0]:
        notes.append(f"lines {line} and {rest[1][0]} read as the header of SurveyMonkey")
        pairs = zip(_filled_in(names), below, strict=False)
        joined = [f"{group} [{name}]" if name not in _OPEN else group for group, name in pairs]
        return Header(joined, rest[1][0], n_titles + 2, tuple(notes))
    if _is_data(names, below):
        notes.append(f"line {line} read as ratings: no row names the columns")
        first = [] if _is_number(names[0]) else ["item"]
        numbers = range(1, len(names) - len(first) + 1)
        return Header([*first, *(f"rater {k}" for k in numbers)], line, n_titles, tuple(notes))
    if _spans(names, below):
        notes.append(f"lines {line} and {rest[1][0]} read as one header")
        pairs = zip(_filled_in(names), below, strict=True)
        joined = [f"{group}: {name}" if group and name else group or name for group, name in pairs]
        return Header(joined, rest[1][0], n_titles + 2, tuple(notes))
    return Header(names, line, n_titles + 1, tuple(notes))


def named_columns(
    header: Header, columns: Sequence[FileColumn[Any]], *, file: str
) -> dict[str, FileColumn[Any]]:
    """Return columns by name, without those that have neither name nor content.

    A first column without a name that only counts the rows, as pandas writes it, goes as well.

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
        if not is_empty and not (position == 0 and is_count):
            message = f"column {position + 1} has no name"
            raise input_error(file, message, "Name the column or remove it", line=header.line)
    return named


def _n_titles(rows: Sequence[Sequence[str]]) -> int:
    """Return how many rows with only a first cell come before one with more; 0 if none has."""
    for n_above, row in enumerate(rows):
        if any(cell.strip() for cell in row[1:]):
            padded = all(len(title) == len(row) for title in rows[:n_above])
            return n_above if padded else 0
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
    """Yield each name, and again for each blank after it, as a merged cell is written."""
    last = ""
    for name in names:
        last = name or last
        yield last


def _is_number(cell: str) -> bool:
    return cell.replace(".", "", 1).replace(",", "", 1).isdigit()
