"""What a rating cell says: a value on the question's scale, nothing, or something else."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from eval_assets.readers.table import per_distinct, without_blanks
from eval_assets.scale import TOLERANCE, Scale

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WORDS = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}


@dataclass(frozen=True)
class Ratings:
    """Rating cells, read but not yet held against a scale.

    Args:
        values: Number in each cell, NaN where it has none; "nan" and "inf" are no numbers.
        blank: Whether the cell is blank.
        words: Whether the cell says true, false, yes or no: 1 or 0 on a binary scale alone.
    """

    values: FloatArray
    blank: BoolArray
    words: BoolArray


def number_in(cell: str | None) -> float:
    """The finite number that the whole cell is, NaN where it is none.

    Examples:
        >>> [number_in(cell) for cell in ("3.0", "03", " 4 ", "five", "nan", "1_000", None)]
        [3.0, 3.0, 4.0, nan, nan, nan, nan]
    """
    text = without_blanks(cell)
    if text is None or not _NUMBER.fullmatch(text):
        return math.nan
    number = float(text)
    return number if math.isfinite(number) else math.nan


def read_ratings(cells: Sequence[str | None]) -> Ratings:
    """What each cell says.

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
    """Values as the scale has them, and which of them it holds.

    A value that differs from an allowed one by float noise is taken to be that value, so that
    equal ratings are equal.

    Examples:
        >>> cells = read_ratings(["3.0", "4.5", "yes"])
        >>> on_scale(cells, Scale.from_steps(low=1, high=5))[1]
        array([ True, False, False])
    """
    values = ratings.values.copy()
    if scale.values is None:
        held = (values >= scale.low - TOLERANCE) & (values <= scale.high + TOLERANCE)
        values = np.clip(values, scale.low, scale.high)
    else:
        allowed = np.array(scale.values)
        above = np.clip(np.searchsorted(allowed, values), 1, len(allowed) - 1)
        below = above - 1
        nearest = np.where(
            np.abs(values - allowed[below]) <= np.abs(values - allowed[above]),
            allowed[below],
            allowed[above],
        )
        held = np.abs(values - nearest) <= TOLERANCE
        values = nearest
    return values, held & (~ratings.words | scale.is_binary)


def _read_cell(cell: str | None) -> tuple[float, bool, bool]:
    """Value, whether blank, whether a word."""
    text = without_blanks(cell)
    if text is None:
        return math.nan, True, False
    word = _WORDS.get(text.lower())
    return (word, False, True) if word is not None else (number_in(text), False, False)
