"""Meaning of a cell: a rating on its question's scale, a number, a time, or nothing."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt

from eval_assets.readers.formats.table import Repeated, per_distinct, repeating, without_blanks
from eval_assets.scale import Scale

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WHOLE_NUMBER = re.compile(r"([+-]?[0-9]+)(?:\.0*)?")
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+\s*%?")
_TRUE_OR_FALSE = {
    **dict.fromkeys(("true", "yes", "y", "ja", "wahr", "oui", "vrai", "s\u00ed", "si", "sim"), 1.0),
    **dict.fromkeys(("false", "no", "n", "nein", "falsch", "non", "faux", "n\u00e3o"), 0.0),
}
"""As people write them, and as spreadsheets of other languages do."""

_ABSENT = {
    *("na", "n/a", "#n/a", "n.a.", "k.a.", "nan", "null", "-", "--", "\u2013", "\u2014", "?"),
    *("missing", "unrated", "skip", "skipped"),
}
"""Words that people write for a rating that they did not give."""


@dataclass(frozen=True)
class Ratings:
    """Rating cells, read but not yet checked against a scale.

    Args:
        texts: The cells.
        values: Number in each cell, NaN if it has none; "nan" and "inf" are not numbers. That of
            80 % is 80.
        blank: Whether the cell is blank.
        true_or_false: Whether it says true, false, yes or no: 1 or 0 on a binary scale alone.
    """

    texts: Repeated[str | None]
    values: FloatArray
    blank: BoolArray
    true_or_false: BoolArray

    def only(self, kept: BoolArray) -> "Ratings":
        """Return the cells that are kept."""
        texts = Repeated(self.texts.values, self.texts.codes[kept])
        return Ratings(texts, self.values[kept], self.blank[kept], self.true_or_false[kept])


def number_in(cell: str | None) -> float:
    """Return the finite number that the whole cell is, NaN if it is not a number.

    Examples:
        >>> [number_in(cell) for cell in ("3.0", "03", " 4 ", "five", "nan", "1_000", None)]
        [3.0, 3.0, 4.0, nan, nan, nan, nan]
    """
    text = without_blanks(cell)
    if text is None or not _NUMBER.fullmatch(text):
        return math.nan
    number = float(text)
    return number if math.isfinite(number) else math.nan


def canonical_number(cell: str | None) -> str | None:
    """Return a whole number in one spelling; spreadsheets turn seed 1 into 1.0 and 01 into 1.

    Examples:
        >>> [canonical_number(seed) for seed in ("1", "1.0", " 01 ", "a1", "1.5", "")]
        ['1', '1', '1', 'a1', '1.5', None]
    """
    text = without_blanks(cell)
    number = _WHOLE_NUMBER.fullmatch(text) if text is not None else None
    return str(int(number[1])) if number else text


def in_utc(text: str) -> str | None:
    """Return an ISO 8601 time in UTC; a time that names no zone is taken to be UTC.

    Returns:
        The time as text ending in Z; None if `text` is not such a time.

    Examples:
        >>> in_utc("2026-11-21T06:00:00+02:00")
        '2026-11-21T04:00:00Z'
        >>> in_utc("yesterday") is None
        True
    """
    try:
        time = datetime.fromisoformat(text)
        return time.replace(tzinfo=time.tzinfo or UTC).astimezone(UTC).isoformat()[:-6] + "Z"
    except (ValueError, OverflowError):
        return None


def is_absent(cell: str) -> bool:
    """Return whether a cell says that there is no rating, as N/A or a dash does.

    Examples:
        >>> [is_absent(cell) for cell in ("N/A", "-", "0", "no")]
        [True, True, False, False]
    """
    return cell.strip().casefold() in _ABSENT


def read_ratings(cells: Sequence[str | None], *, has_decimal_commas: bool = False) -> Ratings:
    """Return what each cell says.

    Args:
        cells: The cells.
        has_decimal_commas: Whether 4,5 is a number.

    Examples:
        >>> read_ratings(["3.0", "yes", ""]).values
        array([ 3.,  1., nan])
    """
    texts = per_distinct(cells, _with_decimal_point) if has_decimal_commas else repeating(cells)
    read = per_distinct(texts, _read_cell)
    values, blank, true_or_false = np.array(read.values, dtype=float).reshape(-1, 3).T
    codes = read.codes
    return Ratings(
        texts, values[codes], blank.astype(bool)[codes], true_or_false.astype(bool)[codes]
    )


def values_on(ratings: Ratings, scale: Scale) -> FloatArray:
    """Return the value that each cell means on a scale, on it or not; NaN if it means none.

    Examples:
        >>> values_on(read_ratings(["Good", "1", "yes"]), Scale.from_words("bad", "fair", "good"))
        array([ 2.,  1., nan])
    """
    values = ratings.values
    if not scale.is_binary:
        values = np.where(ratings.true_or_false, np.nan, values)
    if scale.words is None or scale.values is None:
        return values
    named = {w.casefold(): value for w, value in zip(scale.words, scale.values, strict=True)}
    found = per_distinct(ratings.texts, lambda cell: named.get((cell or "").strip().casefold()))
    words = np.array(found, dtype=float)
    return np.where(np.isnan(words), values, words)


def on_scale(ratings: Ratings, scale: Scale) -> tuple[FloatArray, BoolArray]:
    """Return values as the scale has them, and which of them it contains.

    Examples:
        >>> cells = read_ratings(["3.0", "4.5", "yes"])
        >>> on_scale(cells, Scale.from_steps(low=1, high=5))[1]
        array([ True, False, False])
    """
    values = values_on(ratings, scale)
    return scale.snap(values), scale.contains(values)


def _read_cell(cell: str | None) -> tuple[float, bool, bool]:
    """Return value, whether blank, whether true or false."""
    text = without_blanks(cell)
    if text is None:
        return math.nan, True, False
    word = _TRUE_OR_FALSE.get(text.lower())
    if word is not None:
        return word, False, True
    return number_in(text.removesuffix("%")), False, False


def _with_decimal_point(cell: str | None) -> str | None:
    text = without_blanks(cell)
    return text.replace(",", ".") if text and _DECIMAL_COMMA.fullmatch(text) else cell
