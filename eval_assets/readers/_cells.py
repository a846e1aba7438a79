"""Meaning of a cell: a rating on its question's scale, a number, a time, or nothing."""

import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property

import numpy as np
import numpy.typing as npt

from eval_assets.readers.formats.table import BoolArray, FileColumn, FileTable, without_blanks
from eval_assets.scale import Scale

FloatArray = npt.NDArray[np.float64]

_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
_TEXT_OF_SPREADSHEET = re.compile(r"'(.*)|=\"(.*)\"")
"""A cell that a spreadsheet keeps as text."""

_WHOLE_NUMBER = re.compile(r"([+-]?[0-9]+)(?:\.0*)?")
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+\s*%?")
_TRUE_OR_FALSE = {
    **dict.fromkeys(("true", "yes", "y", "ja", "wahr", "oui", "vrai", "s\u00ed", "si", "sim"), 1.0),
    **dict.fromkeys(("false", "no", "n", "nein", "falsch", "non", "faux", "n\u00e3o"), 0.0),
}
"""Spellings by people, and by spreadsheets in other languages."""

_ABSENT = {
    *("na", "n/a", "#n/a", "n.a.", "k.a.", "nan", "null", "-", "--", "\u2013", "\u2014", "?"),
    *("missing", "unrated", "skip", "skipped"),
}
"""Words that people write for a missing rating."""

_NO_OPINION = {
    *("unsure", "not sure", "don't know", "do not know", "dk", "i don't know", "can't say"),
    *("cannot judge", "can't judge", "no opinion", "no answer", "prefer not to say"),
    *("not applicable", "wei\u00df nicht", "keine angabe", "k.a", "unsicher"),
}
"""Words for no opinion; some scales have them as a value."""


@dataclass(frozen=True)
class ParsedCells:
    """Parsed cells of ratings, not yet compared with a scale.

    Args:
        texts: The cells.
        parsed: What each of their distinct values is; shape (n_values, 3): its number, NaN if it
            has none, whether it is blank, and whether it is true, false, yes or no.
    """

    texts: FileColumn[str | None]
    parsed: FloatArray

    @cached_property
    def values(self) -> FloatArray:
        """Number in each cell, NaN if it has none; that of 80 % is 80."""
        values: FloatArray = self.parsed[self.texts.codes, 0]
        return values

    @cached_property
    def blank(self) -> BoolArray:
        """Return whether each cell is blank."""
        is_blank: BoolArray = self.parsed[self.texts.codes, 1] > 0
        return is_blank

    @cached_property
    def is_boolean(self) -> BoolArray:
        """Return whether each cell is true, false, yes or no: 1 or 0 on a binary scale alone."""
        is_boolean: BoolArray = self.parsed[self.texts.codes, 2] > 0
        return is_boolean

    def take(self, rows: BoolArray) -> "ParsedCells":
        """Return the cells of some rows."""
        return ParsedCells(self.texts.take(rows), self.parsed)

    def distinct(self) -> tuple["ParsedCells", npt.NDArray[np.int64]]:
        """Return a cell for each distinct text, and the number of cells with it."""
        counts = np.bincount(self.texts.codes, minlength=len(self.texts.values))
        codes = np.flatnonzero(counts)
        return ParsedCells(FileColumn(self.texts.values, codes), self.parsed), counts[codes]

    def values_on(self, scale: Scale) -> FloatArray:
        """Return the value of each cell by a scale, on which it may not lie; NaN if it has none.

        Examples:
            >>> cells = parsed_ratings(FileColumn.of(["Good", "1", "yes"]))
            >>> cells.values_on(Scale.from_words("bad", "fair", "good"))
            array([ 2.,  1., nan])
        """
        values: FloatArray = self._on(scale)[self.texts.codes]
        return values

    def on_scale(self, scale: Scale) -> tuple[FloatArray, BoolArray]:
        """Return the values as written on the scale, and which of them it contains.

        Examples:
            >>> cells = parsed_ratings(FileColumn.of(["3.0", "4.5", "yes"]))
            >>> cells.on_scale(Scale.from_steps(low=1, high=5))[1]
            array([ True, False, False])
        """
        values = self._on(scale)
        return scale.snap(values)[self.texts.codes], scale.contains(values)[self.texts.codes]

    def _on(self, scale: Scale) -> FloatArray:
        """Return the value of each distinct text on a scale."""
        values, is_boolean = self.parsed[:, 0], self.parsed[:, 2]
        if not scale.is_binary:
            values = np.where(is_boolean > 0, np.nan, values)
        if scale.words is None or scale.values is None:
            return values
        named = {w.casefold(): value for w, value in zip(scale.words, scale.values, strict=True)}
        texts = ((text or "").strip().casefold() for text in self.texts.values)
        words = np.array([named.get(text, np.nan) for text in texts])
        return np.where(np.isnan(words), values, words)


def number_in(cell: str | None) -> float:
    """Return the cell as a finite number, NaN if it is not one.

    Examples:
        >>> [number_in(cell) for cell in ("3.0", "03", " 4 ", "five", "nan", "1_000", None)]
        [3.0, 3.0, 4.0, nan, nan, nan, nan]
        >>> [number_in(cell) for cell in ("'4", '="4"', "\N{FULLWIDTH DIGIT FOUR}")]
        [4.0, 4.0, 4.0]
        >>> number_in("\N{ARABIC-INDIC DIGIT FOUR}\N{ARABIC DECIMAL SEPARATOR}5")
        4.5
    """
    text = without_blanks(cell) or ""
    kept_as_text = _TEXT_OF_SPREADSHEET.fullmatch(text)
    text = kept_as_text[kept_as_text.lastindex or 0] if kept_as_text else text
    text = text.replace("\N{ARABIC DECIMAL SEPARATOR}", ".")
    if not _NUMBER.fullmatch(text):
        return math.nan
    number = float(text)
    return number if math.isfinite(number) else math.nan


def canonical_number(cell: str | None) -> str | None:
    """Return a whole number in its canonical spelling; spreadsheets turn 1 into 1.0 and 01 into 1.

    Examples:
        >>> [canonical_number(seed) for seed in ("1", "1.0", " 01 ", "a1", "1.5", "")]
        ['1', '1', '1', 'a1', '1.5', None]
    """
    text = without_blanks(cell)
    number = _WHOLE_NUMBER.fullmatch(text) if text is not None else None
    return str(int(number[1])) if number else text


def in_utc(text: str) -> str | None:
    """Return an ISO 8601 time in UTC, None if it is not one; a time without a zone is in UTC.

    Examples:
        >>> in_utc("2026-11-21T06:00:00+02:00")
        '2026-11-21T04:00:00Z'
    """
    try:
        time = datetime.fromisoformat(text)
        return time.replace(tzinfo=time.tzinfo or UTC).astimezone(UTC).isoformat()[:-6] + "Z"
    except (ValueError, OverflowError):
        return None


def is_absent(cell: str) -> bool:
    """Return whether a cell means a missing rating, such as N/A or a dash.

    Examples:
        >>> [is_absent(cell) for cell in ("N/A", "-", "0", "no")]
        [True, True, False, False]
    """
    return cell.strip().casefold() in _ABSENT


def is_no_opinion(cell: str) -> bool:
    """Return whether a cell means that the rater does not know, such as "Unsure".

    Examples:
        >>> [is_no_opinion(cell) for cell in ("Unsure", "don\u2019t know", "neutral")]
        [True, True, False]
    """
    return cell.strip().casefold().replace("\u2019", "'") in _NO_OPINION


def parsed_ratings(
    cells: FileColumn[str | None], *, has_decimal_commas: bool = False
) -> ParsedCells:
    """Return the parsed cells; with decimal commas 4,5 is a number.

    Examples:
        >>> parsed_ratings(FileColumn.of(["3.0", "yes", ""])).values
        array([ 3.,  1., nan])
    """
    texts = cells.map(_with_decimal_point) if has_decimal_commas else cells
    return ParsedCells(texts, np.array(list(map(_parsed, texts.values)), float).reshape(-1, 3))


def ratings_in(table: FileTable, *names: str) -> ParsedCells:
    """Return the parsed cells of the first of these columns that a table has."""
    return parsed_ratings(table.text(*names), has_decimal_commas=table.has_decimal_commas)


def _parsed(cell: str | None) -> tuple[float, bool, bool]:
    """Return value, whether blank, whether true or false."""
    text = without_blanks(cell)
    if text is None:
        return math.nan, True, False
    if text.lower() in _TRUE_OR_FALSE:
        return _TRUE_OR_FALSE[text.lower()], False, True
    return number_in(text.removesuffix("%")), False, False


def _with_decimal_point(cell: str | None) -> str | None:
    text = without_blanks(cell)
    return text.replace(",", ".") if text and _DECIMAL_COMMA.fullmatch(text) else cell
