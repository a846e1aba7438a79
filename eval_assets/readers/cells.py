"""What a cell means: a rating on its question's scale, a number, a time, or nothing."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt

from eval_assets.readers.formats.table import per_distinct, without_blanks
from eval_assets.scale import Scale

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WHOLE_NUMBER = re.compile(r"([+-]?[0-9]+)(?:\.0*)?")
_WORDS = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}


@dataclass(frozen=True)
class Ratings:
    """Rating cells, read but not yet checked against a scale.

    Args:
        values: Number in each cell, NaN if it has none; "nan" and "inf" are not numbers.
        blank: Whether the cell is blank.
        words: Whether the cell says true, false, yes or no: 1 or 0 on a binary scale alone.
    """

    values: FloatArray
    blank: BoolArray
    words: BoolArray


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


def read_ratings(cells: Sequence[str | None]) -> Ratings:
    """Return what each cell says.

    Examples:
        >>> read_ratings(["3.0", "yes", ""]).values
        array([ 3.,  1., nan])
    """
    read = per_distinct(cells, _read_cell)
    columns = np.array(read, dtype=float).reshape(len(read), 3)
    return Ratings(
        values=columns[:, 0], blank=columns[:, 1].astype(bool), words=columns[:, 2].astype(bool)
    )


def on_scale(ratings: Ratings, scale: Scale) -> tuple[FloatArray, BoolArray]:
    """Return values as the scale has them, and which of them it contains.

    Examples:
        >>> cells = read_ratings(["3.0", "4.5", "yes"])
        >>> on_scale(cells, Scale.from_steps(low=1, high=5))[1]
        array([ True, False, False])
    """
    contained = scale.contains(ratings.values)
    return scale.snap(ratings.values), contained & (~ratings.words | scale.is_binary)


def _read_cell(cell: str | None) -> tuple[float, bool, bool]:
    """Return value, whether blank, whether a word."""
    text = without_blanks(cell)
    if text is None:
        return math.nan, True, False
    word = _WORDS.get(text.lower())
    return (word, False, True) if word is not None else (number_in(text), False, False)
