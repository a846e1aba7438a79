"""Columns of a table, profiled by their values.

A column is its distinct values and a code for each row. Profiles and rules look at the values, tens
or thousands of them, and never loop over cells.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import cached_property
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from eval_assets.errors import InputProblem
from eval_assets.readers.formats.table import FileColumn, FileTable, as_text, plain
from eval_assets.readers.header_parts import names_file_of_judge
from eval_assets.readers.names import (
    Role,
    Who,
    is_first_name,
    may_be,
    names_id,
    names_model,
    names_no_rater,
    names_quality,
    who,
)
from eval_assets.readers.values import MISSING, number_in, order_of

BLANK = -1
"""Code of a cell without content."""

Codes = npt.NDArray[np.integer]
_MANY = 5000
"""Distinct values from which on a sample tells whether they are numbers."""

_SAMPLE = 500
_NEARLY_ALL = 0.9
_MOST_WORDS = 40
_LONGEST_WORD = 40
_OF_WORDS = (Role.ITEM, Role.SYSTEM, Role.TURN, Role.MEASURE, Role.GROUP)
"""Roles that a word may have beside one of quality: task of task_success."""

_TIME = re.compile(
    r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([ T]\d{1,2}:\d{2}.*)?|\d{1,2}:\d{2}(:\d{2})?"
    r"|\d{4}-\d{2}-\d{2}T.*"
    r"|\d{1,2}-(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"  # 4/5, as Excel takes it
)
_ADDRESS = re.compile(r"\S+@\S+\.\S+|https?://.*")
_HASH = re.compile(r"[0-9A-Fa-f-]+")


class Kind(Enum):
    """What the values of a column are."""

    EMPTY = auto()
    NUMBER = auto()
    WORD = auto()
    TEXT = auto()
    TIME = auto()
    ADDRESS = auto()


class Origin(Enum):
    """Origin of a column that no cell holds: where its rows come from."""

    FILE = "file"
    SHEET = "sheet"
    KEY = "key"
    POSITION = "position"


_WHOLE = re.compile(r"-?\d+\.0")


@dataclass(eq=False)
class CodedColumn:
    """A column of a table.

    Args:
        name: Header, or the path of a field in a nested document.
        codes: Position of each row's value, `BLANK` without one.
        values: Distinct values, without blanks around them.
        level: Depth of the list of a nested document from which the rows come.
        origin: Origin if no cell holds the column.
        missing_values: Further words that mean no rating, in lower case.
        values_of_scale: Words of the scale, which are ratings whatever else they may mean.
        is_on_scale: Whether all numbers of a person are on the scale that an option names.
    """

    name: str
    codes: Codes
    values: list[str]
    level: int = 0
    origin: Origin | None = None
    missing_values: frozenset[str] = frozenset()
    values_of_scale: frozenset[str] = frozenset()
    is_on_scale: bool = False

    @classmethod
    def of(cls, name: str, cells: Sequence[object], *, level: int = 0) -> "CodedColumn":
        """Return the column of cells; equal texts are one value, blank ones none.

        A data frame with missing numbers writes 7 as 7.0: such a column holds 7.

        Examples:
            >>> column = CodedColumn.of("score", ["4", " 4", "", None, 4.0])
            >>> column.values, column.codes.tolist()
            (['4'], [0, 0, -1, -1, 0])
            >>> CodedColumn.of("id", ["7.0", "", "8.0"]).values
            ['7', '8']
        """
        column = FileColumn.of(cells)
        texts = [(as_text(value) or "").strip(" \t\r\n\xa0\ufeff") for value in column.values]
        texts = ["" if text == r"\N" else text for text in texts]  # as databases write NULL
        if all(text == "" or _WHOLE.fullmatch(text) for text in texts):
            texts = [text.removesuffix(".0") for text in texts]
        present = np.zeros(len(texts) + 1, dtype=bool)  # the last one of rows without a cell
        present[column.codes] = True
        if not present[-1] and present[:-1].all() and all(texts) and len({*texts}) == len(texts):
            return cls(name, column.codes, texts, level)
        codes, values = np.full(len(texts) + 1, BLANK, dtype=np.int32), dict[str, int]()
        for code in np.flatnonzero(present[:-1]).tolist():
            if texts[code]:
                codes[code] = values.setdefault(texts[code], len(values))
        return cls(name, codes[column.codes], list(values), level)

    def __len__(self) -> int:
        return len(self.codes)

    @cached_property
    def has_cell(self) -> npt.NDArray[np.bool_]:
        """Return whether each row has content."""
        return self.codes >= 0

    @cached_property
    def counts(self) -> npt.NDArray[np.int64]:
        """Number of rows of each value."""
        return np.bincount(self.codes[self.has_cell], minlength=len(self.values))

    @cached_property
    def is_rating(self) -> npt.NDArray[np.bool_]:
        """Return whether each value may be a rating, and not a word such as N/A.

        Where no value is a number, `none` is a class, and where `+` is one, so is `-`.
        """
        missing = {*MISSING, *self.missing_values} - self.values_of_scale
        if len(self.values) > _MANY:  # names or texts: look for the words, not at each value
            spelled = {of for word in missing for of in (word, word.upper(), word.capitalize())}
            if not spelled.intersection(self.values):
                return np.ones(len(self.values), dtype=bool)
        words = {value.casefold() for value in self.values if len(value) < _LONGEST_WORD}
        missing -= {"-"} if "+" in words else set()
        if 2 < len(words) < _MOST_WORDS and not any(map(_is_number, self.values)):
            missing -= {"none"} - self.missing_values
        return np.array([value.casefold() not in missing for value in self.values], dtype=bool)

    @cached_property
    def numbers(self) -> npt.NDArray[np.float64]:
        """Number that each value is, NaN if it is none."""
        if len(self.values) > _MANY:
            sample = self.values[:: len(self.values) // _SAMPLE]
            if sum(map(_is_number, sample)) < (1 - _NEARLY_ALL) * len(sample):
                return np.full(len(self.values), np.nan)
        numbers = np.array(list(map(number_in, self.values)), dtype=float)
        return np.where(self.is_rating, numbers, np.nan) if len(numbers) else numbers

    @cached_property
    def kind(self) -> Kind:
        """Kind of the values."""
        values = [value for value, ok in zip(self.values, self.is_rating, strict=True) if ok]
        if not values:
            return Kind.EMPTY
        sample = values[:200]
        if _share(_TIME, sample) > _NEARLY_ALL:
            return Kind.TIME
        is_number = ~np.isnan(self.numbers)
        if self.counts[is_number].sum() > _NEARLY_ALL * self.counts[self.is_rating].sum():
            numbers = np.abs(self.numbers[is_number])
            is_time = may_be(self.name, Role.TIME) and numbers.max() > 1e8  # in Unix seconds
            return Kind.TIME if is_time else Kind.NUMBER
        if _share(_ADDRESS, sample) > _NEARLY_ALL:
            return Kind.ADDRESS
        is_hash = _share(_HASH, sample) == 1
        is_long = not is_hash and np.mean([len(value) for value in sample]) > 60
        has_words = np.mean([value.count(" ") >= 3 for value in sample]) > 0.5
        return Kind.TEXT if is_long or (has_words and len(values) > 12) else Kind.WORD

    @cached_property
    def n_distinct(self) -> int:
        """Number of distinct values that may be ratings."""
        return int((self.counts[self.is_rating] > 0).sum())

    @cached_property
    def n_cells(self) -> int:
        """Number of rows with content."""
        return int(self.has_cell.sum())

    @cached_property
    def distinct_numbers(self) -> frozenset[float]:
        """Numbers of a column of numbers."""
        is_number = self.kind is Kind.NUMBER
        return frozenset(np.round(self.numbers[~np.isnan(self.numbers) & is_number], 6).tolist())

    @cached_property
    def folded(self) -> list[str]:
        """Values without case."""
        return [value.casefold() for value in self.values]

    @property
    def is_whole(self) -> bool:
        """Return whether all numbers are whole."""
        numbers = self.numbers[~np.isnan(self.numbers)]
        return bool(len(numbers)) and bool((numbers == np.round(numbers)).all())

    @cached_property
    def counts_rows(self) -> bool:
        """Return whether the values count the rows from 0 or 1 on."""
        if self.kind is not Kind.NUMBER or not len(self.values) == self.n_cells == len(self) > 3:
            return False
        row_numbers = self.numbers[self.codes]
        return bool((np.diff(row_numbers) == 1).all() and abs(row_numbers[0]) <= 1)

    @property
    def rating_words(self) -> list[str]:
        """Values that may be ratings."""
        return [value for value, ok in zip(self.values, self.is_rating, strict=True) if ok]

    @cached_property
    def order(self) -> tuple[str, ...] | None:
        """Known order of the words, worst first; None if there is none."""
        return order_of(self.rating_words) if len(self.values) <= _MOST_WORDS else None

    @cached_property
    def holds_verdicts(self) -> bool:
        """Return whether two of a few words have a known order, as correct and wrong do."""
        words = self.rating_words if len(self.values) < _MOST_WORDS else ()
        return any(order_of(of) for of in combinations(words, 2) if min(map(len, of)) > 1)

    @cached_property
    def who(self) -> Who:
        """Whom the header names."""
        return who(self.name)

    @property
    def is_left_blank(self) -> bool:
        """Return whether no cell is filled in under a header that asks for ratings."""
        is_rating = may_be(self.name, Role.RATING) or names_quality(self.name)
        return self.kind is Kind.EMPTY and is_rating and not may_be(self.name, Role.TEXT)

    @property
    def holds_emails(self) -> bool:
        """Whether the values are addresses of people who may rate, not of customers or pages."""
        is_email = self.kind is Kind.ADDRESS and "@" in self.values[0]
        return is_email and not names_no_rater(self.name)

    def may_be(self, *roles: Role) -> bool:
        """Return whether the header has the name of one of the roles."""
        is_filled = self.kind is Kind.WORD and self.can_rate and self.has_cell.all()
        is_number = self.kind is Kind.NUMBER
        is_rating = (is_number or is_filled) and may_be(self.name, Role.RATING)
        if is_rating or (is_number and not self.name.endswith("s")):  # which may be counted
            roles = tuple(role for role in roles if role is not Role.TEXT)  # a French note
        if (is_number or self.order is not None) and names_quality(self.name):
            roles = tuple(role for role in roles if role not in _OF_WORDS)
        return may_be(self.name, *roles)

    @cached_property
    def can_rate(self) -> bool:
        """Return whether the values can be ratings: few words, or numbers that repeat or are near.

        Ids, times, addresses and long texts cannot, nor can columns that no cell holds.
        """
        if self.origin or self.kind in (Kind.EMPTY, Kind.TIME, Kind.TEXT, Kind.ADDRESS):
            return False
        if self.kind is Kind.NUMBER:
            return not names_id(self.name) and (self.is_on_scale or self._is_bounded())
        words = self.rating_words
        if len(words) > _MOST_WORDS:
            return False
        names = {word.casefold() for word in words if not _is_number(word)}
        if names and names <= self.values_of_scale:
            return True
        # Words of a scale without a known order; classes, if the header says that they are ratings.
        is_called = may_be(self.name, Role.RATING) and self.n_cells >= 4 * self.n_distinct
        return self.order is not None or (
            (self.n_distinct <= 9 or is_called)
            and self.n_cells >= 2 * self.n_distinct
            and max(map(len, words)) <= _LONGEST_WORD
            and not all(map(names_model, words))
        )

    def _is_bounded(self) -> bool:
        numbers = self.numbers[~np.isnan(self.numbers)]
        low, high = numbers.min(), numbers.max()
        if low < -10 or high > 100 or (self.counts_rows and self.n_distinct > 11):
            return False
        if not self.is_whole or high - low <= 10:
            return True
        repeats = self.n_distinct < 0.7 * self.n_cells and self.n_cells > 20
        is_called = self.may_be(Role.RATING) or names_quality(self.name)
        # Numbers from the first to the last, each once and in any order, name rows, or are ranks.
        is_numbering = low <= 1 and self.n_distinct == self.n_cells == high - low + 1
        is_person = self.who is not Who.UNKNOWN and (not is_numbering or is_first_name(self.name))
        has_name = is_called or is_person
        return repeats or self.n_cells < 12 or (low >= 0 and not self.counts_rows and has_name)

    def with_cells(self, cells: Sequence[object]) -> "CodedColumn":
        """Return the column with other cells."""
        return replace(CodedColumn.of(self.name, cells, level=self.level), origin=self.origin)

    def take(self, rows: npt.NDArray[np.integer]) -> "CodedColumn":
        """Return the column with some of its rows."""
        return CodedColumn(self.name, self.codes[rows], self.values, self.level, self.origin)

    def text(self, row: int) -> str:
        """Return the content of a row, "" without one."""
        code = int(self.codes[row])
        return self.values[code] if code >= 0 else ""

    def texts(self) -> npt.NDArray[np.object_]:
        """Return the content of each row, "" without one."""
        values: npt.NDArray[np.object_] = np.array([*self.values, ""], dtype=object)
        return values[self.codes]


Columns = Sequence[CodedColumn]


def _is_number(value: str) -> bool:
    return number_in(value) == number_in(value)


def _share(pattern: re.Pattern[str], values: Sequence[str]) -> float:
    return sum(pattern.fullmatch(value) is not None for value in values) / len(values)


@dataclass(eq=False)
class CodedTable:
    """Rows of one file or of several with the same columns.

    Args:
        columns: The columns.
        files: File of each row.
        lines: Line of each row, counted from 1.
        sheet: Sheet of a workbook, or place in a document.
        document: Name of the document if its other tables hold other levels of the same records.
        bad_rows: Rows that could not be read.
        notes: How the file was read, as far as that was guessed.
    """

    columns: list[CodedColumn]
    files: FileColumn[str]
    lines: Sequence[int]
    sheet: str = ""
    document: str = ""
    bad_rows: tuple[InputProblem, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def file(self) -> str:
        """File, as messages name it; the first of several."""
        return self.files.values[0]

    @property
    def place(self) -> str:
        """The file, as messages name it, and the sheet if it has several."""
        return f"{self.file}:{self.sheet}" if self.sheet else self.file

    @cached_property
    def judge(self) -> str | None:
        """Judge after whom the sheet or the file is called; None if neither is called like one.

        A file may be called after the model that all its rows name, as raw_claude of claude-3.
        """
        stem = Path(self.file).stem
        models = [of.values[0] for of in self.columns if len(of.values) == 1]
        models = [of for of in models if plain(of).split("_")[0] in plain(stem).split("_")]
        named = (*filter(names_file_of_judge, (self.sheet, stem)), *filter(names_model, models))
        return next(iter(named), None)

    def __len__(self) -> int:
        return len(self.lines)

    def find(self, name: str) -> CodedColumn | None:
        """Return the column of that name, in any spelling; None if there is none."""
        exact = next((c for c in self.columns if c.name == name), None)
        return exact or next((c for c in self.columns if plain(c.name) == plain(name)), None)

    @classmethod
    def of(cls, table: FileTable) -> "CodedTable":
        """Return a table of cells with its columns profiled by their values."""
        columns = [CodedColumn.of(header, cells) for header, cells in table.columns.items()]
        files = FileColumn.repeat(table.file, len(table))
        return cls(columns, files, table.lines, bad_rows=table.bad_rows, notes=table.notes)


def once_in(column: CodedColumn, unit: npt.NDArray[np.integer]) -> CodedColumn:
    """Return a column with the first cell of each unit, of which the others are repetitions."""
    rows = np.flatnonzero(column.has_cell)
    first = np.zeros(len(column), dtype=bool)
    first[rows[np.unique(unit[rows], return_index=True)[1]]] = True
    return replace(column, codes=np.where(first, column.codes, BLANK))


def combined(columns: Columns) -> npt.NDArray[np.int64]:
    """Return a number for the combination of values in each row."""
    code = columns[0].codes.astype(np.int64)
    for column in columns[1:]:
        code = code * (len(column.values) + 1) + column.codes + 1
        if code.max(initial=0) > 2**40:
            code = pd.factorize(code)[0]
    return code


def n_distinct(code: npt.NDArray[np.integer]) -> int:
    """Return the number of distinct numbers."""
    return len(pd.unique(code))


def share_constant(column: CodedColumn, groups: npt.NDArray[np.integer]) -> float:
    """Return the share of groups of several rows in which all cells are equal; NaN without any."""
    rows = column.has_cell
    group = groups[rows].astype(np.int64)
    n_values = len(column.values) + 1
    pairs = pd.unique(group * n_values + column.codes[rows])
    size, n_of_pairs = pd.Series(group).value_counts(), pd.Series(pairs // n_values).value_counts()
    several = size.index[size > 1]
    return float((n_of_pairs.reindex(several) == 1).mean()) if len(several) else float("nan")
