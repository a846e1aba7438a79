"""Rating patterns: what every agreement coefficient needs to know of a set of ratings.

No coefficient of this package asks who gave a rating, so a unit is described by how many ratings
of each value it received: its pattern. Few raters on a short scale leave few distinct patterns
(three raters and five values: at most 55), however many units there are; long or continuous
scales leave one per unit. Both are held sparsely, so cost follows the number of ratings.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Self, TypeVar

import numpy as np
import numpy.typing as npt

Ratings = npt.ArrayLike
"""Values of shape (n_units, n_raters), NaN where a rating is missing."""

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Numbers = TypeVar("Numbers", Floats, Integers)

BLOCK_ENTRIES = 1 << 15
"""Numbers treated at once, so that temporary arrays stay in the processor's cache."""

EXACT_BITS = 52.0
"""Whole numbers below 2**EXACT_BITS are exact as floats, and so are sums that stay below."""


@dataclass(frozen=True, eq=False)
class RatingPatterns:
    """Distinct rating patterns and how many units show each.

    A pattern's entries are its values and how often it holds each: [4, 5, 4] has the entries 4
    (twice) and 5 (once). Units without any rating are left out. Use `from_matrix`, `from_long` or
    `from_counts` to make one.

    Attributes:
        values: Distinct ratings of shape (n_values,), ascending.
        n_units: How many units show each pattern, shape (n_patterns,).
        pattern: Index of each entry's pattern, shape (n_entries,), ascending.
        code: Index in `values` of each entry, ascending within a pattern.
        count: How many ratings of the pattern have that value.

    Examples:
        >>> patterns = RatingPatterns.from_matrix([[4, 5], [5, 4], [3, np.nan]])
        >>> patterns.values.tolist(), patterns.n_units.tolist(), patterns.n_ratings.tolist()
        ([3.0, 4.0, 5.0], [1, 2], [1, 2])
    """

    values: Floats
    n_units: Integers
    pattern: Integers
    code: Integers
    count: Integers

    @classmethod
    def from_matrix(cls, ratings: Ratings) -> Self:
        """Patterns of a matrix of shape (n_units, n_raters), NaN where a rating is missing.

        Raises:
            ValueError: If `ratings` is not two-dimensional or holds an infinity.
        """
        matrix = rating_matrix(ratings)
        low, high = _range(matrix)
        n_values = high - low + 1
        base = matrix.shape[1] + 1
        if _is_exact_integer(low) and n_values * math.log2(base) <= EXACT_BITS:
            keys = _matrix_keys(matrix, low=low, n_values=int(n_values), base=base)
            if keys is not None:
                return cls._from_keys(*keys, low + np.arange(n_values), base=base)
        rated = ~np.isnan(matrix)
        return cls._from_rated(np.count_nonzero(rated, axis=1), matrix[rated])

    @classmethod
    def from_long(cls, unit: npt.ArrayLike, value: npt.ArrayLike) -> Self:
        """Patterns of single ratings, one row each.

        Args:
            unit: Any integer that tells units apart, shape (n_ratings,).
            value: The rating, shape (n_ratings,); NaN is no rating.

        Raises:
            ValueError: If the shapes differ, a unit is no integer or a value is infinite.
        """
        _, n_ratings, value = _sorted_long(unit, value)
        return cls._from_rated(n_ratings, value)

    @classmethod
    def by_unit(cls, unit: npt.ArrayLike, value: npt.ArrayLike) -> tuple[Integers, Self]:
        """Like `from_long` with one pattern for each rated unit, to resample them with others.

        Returns:
            The rated units, ascending, and their patterns in the same order.
        """
        units, n_ratings, value = _sorted_long(unit, value)
        return units, cls._one_per_unit(n_ratings, *_encode(value))

    @classmethod
    def from_counts(
        cls, values: npt.ArrayLike, counts: npt.ArrayLike, n_units: npt.ArrayLike
    ) -> Self:
        """Patterns that were counted elsewhere, in a database for instance.

        Args:
            values: Ratings of shape (n_values,), ascending.
            counts: Ratings of each value in each pattern, shape (n_patterns, n_values).
            n_units: How many units show each pattern, shape (n_patterns,).

        Raises:
            ValueError: If the shapes do not fit, a count is negative or `values` do not ascend.
        """
        values = np.asarray(values, dtype=np.float64)
        n_units = np.asarray(n_units, dtype=np.int64)
        counts = np.asarray(counts, dtype=np.int64)
        if not counts.size:
            counts = counts.reshape(len(n_units), len(values))
        if not np.isfinite(values).all() or np.any(np.diff(values) <= 0):
            raise ValueError(f"values must be finite and ascend, got {values}")
        if counts.shape != (*n_units.shape, *values.shape):
            raise ValueError(
                f"counts must have the shape (n_patterns, n_values), "
                f"here {(*n_units.shape, *values.shape)}, got {counts.shape}"
            )
        if counts.min(initial=0) < 0 or n_units.min(initial=0) < 0:
            raise ValueError("counts and n_units must not be negative")
        return cls._from_dense(values, counts, n_units)

    @classmethod
    def _from_rated(cls, n_ratings: Integers, value: Floats) -> Self:
        """Patterns of units that stand one after the other, each with so many ratings."""
        n_ratings = n_ratings[n_ratings > 0]
        values, code = _encode(value)
        base = int(n_ratings.max(initial=0)) + 1
        if len(values) * math.log2(base) > EXACT_BITS:
            return cls._one_per_unit(n_ratings, values, code)
        unit = np.repeat(np.arange(len(n_ratings)), n_ratings)
        keys = np.bincount(unit, weights=(float(base) ** np.arange(len(values)))[code])
        return cls._from_keys(
            *np.unique(keys.astype(np.int64), return_counts=True), values, base=base
        )

    @classmethod
    def _one_per_unit(cls, n_ratings: Integers, values: Floats, code: Integers) -> Self:
        """A pattern for each unit, where the units' ratings stand one after the other."""
        unit = np.repeat(np.arange(len(n_ratings)), n_ratings)
        entries, count = np.unique(unit * len(values) + code, return_counts=True)
        unit, code = np.divmod(entries, max(1, len(values)))
        return cls(values, np.ones(len(n_ratings), np.int64), unit, code, count)

    @classmethod
    def _from_keys(cls, keys: Integers, n_units: Integers, values: Floats, *, base: int) -> Self:
        """Key of a pattern: its counts as the digits of one whole number."""
        powers = base ** np.arange(len(values), dtype=np.int64)
        return cls._from_dense(values, keys[:, np.newaxis] // powers % base, n_units)

    @classmethod
    def _from_dense(cls, values: Floats, counts: Integers, n_units: Integers) -> Self:
        """Patterns as rows of counts, without those that no unit shows or that hold no rating."""
        shown = (n_units > 0) & counts.any(axis=1)
        counts, n_units = counts[shown], n_units[shown]
        used = counts.any(axis=0)
        counts, values = counts[:, used], values[used]
        pattern, code = np.nonzero(counts)
        return cls(values, n_units, pattern, code, counts[pattern, code])

    @cached_property
    def starts(self) -> Integers:
        """Index of each pattern's first entry."""
        return np.flatnonzero(np.diff(self.pattern, prepend=-1))

    @cached_property
    def n_ratings(self) -> Integers:
        """Ratings of a unit with each pattern, shape (n_patterns,)."""
        return self.sum_by_pattern(self.count)

    @cached_property
    def n_pairs(self) -> Integers:
        """Pairs of ratings of a unit with each pattern, shape (n_patterns,)."""
        return self.n_ratings * (self.n_ratings - 1) // 2

    @cached_property
    def is_pairable(self) -> npt.NDArray[np.bool_]:
        """Whether units with each pattern have two ratings, which it takes to agree or disagree."""
        return self.n_ratings > 1

    @cached_property
    def _by_value(self) -> tuple[Integers, Integers]:
        """Order of the entries by value, and where each value starts in it."""
        order = np.argsort(self.code, kind="stable")
        return order, np.flatnonzero(np.diff(self.code[order], prepend=-1))

    def sum_by_pattern(self, entries: Numbers) -> Numbers:
        """Sum over the last axis, of length n_entries, within each pattern."""
        return np.add.reduceat(entries, self.starts, axis=-1)

    def marginals(self, weights: Floats, per_rating: Floats) -> Floats:
        """Weighted number of ratings of each value.

        Args:
            weights: Units that show each pattern, shape (n_sets, n_patterns).
            per_rating: What one rating in each pattern counts, shape (n_patterns,).

        Returns:
            Shape (n_sets, n_values).
        """
        if len(self.code) > BLOCK_ENTRIES:  # cheaper than bringing all entries into order
            entry = self.count * per_rating[self.pattern]
            n_values = len(self.values)
            return np.stack(
                [np.bincount(self.code, entry * row[self.pattern], n_values) for row in weights]
            )
        order, starts = self._by_value
        pattern = self.pattern[order]
        entries = weights[:, pattern]
        entries *= self.count[order] * per_rating[pattern]
        return np.add.reduceat(entries, starts, axis=1)


def rating_matrix(ratings: Ratings) -> Floats:
    """Ratings as floats of shape (n_units, n_raters).

    Raises:
        ValueError: If `ratings` is not two-dimensional or holds an infinity.
    """
    matrix = np.asarray(ratings, dtype=np.float64)
    if matrix.ndim != 2:  # noqa: PLR2004 - a matrix
        raise ValueError(f"ratings must have the shape (n_units, n_raters), got {matrix.shape}")
    if np.isinf(_range(matrix)).any():
        raise ValueError("ratings must be finite or NaN, got an infinity")
    return matrix


def paired_values(a: npt.ArrayLike, b: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Two columns of scores, without the units that lack either.

    Raises:
        ValueError: If the shapes differ or a value is infinite.
    """
    one, other = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if one.ndim != 1 or one.shape != other.shape:
        raise ValueError(
            f"both columns must have one value per unit, got {one.shape} and {other.shape}"
        )
    if np.isinf(one).any() or np.isinf(other).any():
        raise ValueError("both columns must be finite or NaN, got an infinity")
    known = ~(np.isnan(one) | np.isnan(other))
    return one[known], other[known]


def _sorted_long(unit: npt.ArrayLike, value: npt.ArrayLike) -> tuple[Integers, Integers, Floats]:
    """Rated units, ascending, how many ratings each has, and the ratings in that order."""
    units, values = np.asarray(unit), np.asarray(value, dtype=np.float64)
    if units.ndim != 1 or units.shape != values.shape:
        raise ValueError(
            f"unit and value must have one entry per rating, got {units.shape} and {values.shape}"
        )
    if units.size and not np.issubdtype(units.dtype, np.integer):
        raise ValueError(f"unit must hold integers, got {units.dtype}")
    if np.isinf(values).any():
        raise ValueError("value must be finite or NaN, got an infinity")
    rated = ~np.isnan(values)
    units, values = units[rated].astype(np.int64), values[rated]
    if np.any(units[1:] < units[:-1]):
        order = np.argsort(units, kind="stable")
        units, values = units[order], values[order]
    starts = np.flatnonzero(np.diff(units, prepend=units[:1] - 1))
    return units[starts], np.diff(starts, append=len(units)), values


def _range(values: Floats) -> tuple[float, float]:
    """Lowest and highest rating; (0, -1) where there is none."""
    if not values.size:
        return 0.0, -1.0
    low, high = np.fmin.reduce(values, axis=None), np.fmax.reduce(values, axis=None)
    return (0.0, -1.0) if np.isnan(low) else (float(low), float(high))


def _is_exact_integer(value: float) -> bool:
    return value.is_integer() and abs(value) < 2**EXACT_BITS


def _matrix_keys(
    matrix: Floats, *, low: float, n_values: int, base: int
) -> tuple[Integers, Integers] | None:
    """Keys of a matrix of whole numbers and how many units have each; None for other numbers."""
    powers = np.concatenate(([0.0], float(base) ** np.arange(n_values)))
    each_rater = np.ones(matrix.shape[1])
    n_keys = base**n_values
    counted = np.zeros(n_keys, np.int64) if n_keys <= max(1 << 16, len(matrix)) else None
    blocks = []
    n_rows = max(1, BLOCK_ENTRIES // max(1, matrix.shape[1]))
    for start in range(0, len(matrix), n_rows):
        shifted = np.fmax(matrix[start : start + n_rows] - (low - 1), 0.0)  # 0 where missing
        digit = shifted.astype(np.intp)
        if (digit != shifted).any():
            return None
        keys = (powers.take(digit) @ each_rater).astype(np.int64)
        if counted is None:
            blocks.append(keys)
        else:
            counted += np.bincount(keys, minlength=n_keys)
    if counted is None:
        return np.unique(np.concatenate(blocks), return_counts=True)
    found = np.flatnonzero(counted)
    return found, counted[found]


def _encode(values: Floats) -> tuple[Floats, Integers]:
    """Distinct values, ascending, and each value's index among them."""
    low, high = _range(values)
    # a table of whole numbers, where it is not much longer than they are, is cheaper than sorting
    if _is_exact_integer(low) and high - low <= 4 * len(values):
        offset = values - low
        index = offset.astype(np.int64)
        if (index == offset).all():
            present = np.bincount(index) > 0
            return np.float64(low) + np.flatnonzero(present), (np.cumsum(present) - 1)[index]
    distinct, index = np.unique(values, return_inverse=True)
    return distinct, index
