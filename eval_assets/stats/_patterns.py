"""Rating patterns, from which every agreement coefficient is computed.

No coefficient of this package asks who gave a rating, so a unit is described by how many ratings
of each value it received: its pattern. Few raters on a short scale leave few distinct patterns
(three raters and five values: at most 55), however many units there are; long or continuous
scales leave one per unit. Both are held sparsely, so cost follows the number of ratings.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Self, TypeAlias

import numpy as np
import numpy.typing as npt

from eval_assets.stats._numbers import (
    EXACT_BITS,
    Column,
    Floats,
    Integers,
    Numbers,
    Ratings,
    distinct_integers,
    distinct_values,
    group_codes,
    is_exact_integer,
    rating_matrix,
    row_blocks,
    run_starts,
    value_range,
)
from eval_assets.stats._units import Units

BLOCK_ENTRIES = 1 << 15
"""Numbers treated at once, so that temporary arrays stay in the processor's cache."""


@dataclass(frozen=True, eq=False)
class RatingPatterns:
    """Distinct rating patterns, how many units show each, and in which groups.

    A pattern's entries are its values and how often it holds each: [4, 5, 4] has the entries 4
    (twice) and 5 (once). Units without any rating are left out. Every function that takes a matrix
    of ratings takes patterns as well: counting once saves time if there are many ratings.

    Attributes:
        values: Distinct ratings of shape (n_values,), ascending.
        pattern: Index of each entry's pattern, shape (n_entries,), ascending.
        code: Index in `values` of each entry, ascending within a pattern.
        count: How many ratings of the pattern have that value.
        units: How many units show each pattern, and which units are in one group.

    Examples:
        >>> patterns = RatingPatterns.from_matrix([[4, 5], [5, 4], [3, np.nan]])
        >>> patterns.values.tolist(), patterns.n_units.tolist(), patterns.n_ratings.tolist()
        ([3.0, 4.0, 5.0], [1, 2], [1, 2])
    """

    values: Floats
    pattern: Integers
    code: Integers
    count: Integers
    units: Units

    @classmethod
    def from_matrix(
        cls, ratings: Ratings, *, groups: Column | None = None, text: bool = False
    ) -> Self:
        """Return the patterns of a matrix of shape (n_units, n_raters).

        Args:
            ratings: Values, NaN if a rating is missing.
            groups: Which units are not independent of each other: any label, one for each unit.
            text: Whether ratings may be text labels.

        Raises:
            ValueError: If `ratings` is not two-dimensional, is not numeric or holds an infinity,
                or `groups` does not fit.
        """
        matrix = rating_matrix(ratings, text=text)
        index, patterns = _by_row(matrix)
        codes = group_codes(groups, n_units=len(matrix))
        return cls(*patterns, Units.of(index, n_kinds=_n_patterns(patterns), groups=codes))

    @classmethod
    def by_row(cls, ratings: Ratings, *, text: bool = False) -> tuple[Self, Integers]:
        """Return the patterns of a matrix and the index of each row's, -1 without any rating."""
        index, patterns = _by_row(rating_matrix(ratings, text=text))
        return cls(*patterns, Units.of(index, n_kinds=_n_patterns(patterns), groups=None)), index

    @classmethod
    def from_counts(
        cls,
        values: Column,
        counts: Column,
        n_units: Column,
        *,
        groups: Column | None = None,
    ) -> Self:
        """Return patterns that were counted elsewhere, in a database for instance.

        Args:
            values: Ratings of shape (n_values,), ascending.
            counts: Ratings of each value in each row, shape (n_rows, n_values).
            n_units: How many units each row stands for, shape (n_rows,).
            groups: Group that the units of a row belong to: any label, one for each row.

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
        codes = group_codes(groups, n_units=len(n_units))
        is_counted = (n_units > 0) & counts.any(axis=1)
        distinct, row = np.unique(counts[is_counted], axis=0, return_inverse=True)
        return cls(
            *_entries(distinct, values),
            Units.of_cells(
                None if codes is None else codes[is_counted],
                row,
                n_units[is_counted],
                n_kinds=len(distinct),
            ),
        )

    @property
    def n_units(self) -> Integers:
        """Return the number of units with each pattern, shape (n_patterns,)."""
        return self.units.n_units

    @cached_property
    def starts(self) -> Integers:
        """Index of each pattern's first entry."""
        return run_starts(self.pattern)

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
        """Return whether units with each pattern have the two ratings that agreement requires."""
        return self.n_ratings > 1

    @cached_property
    def _by_value(self) -> tuple[Integers, Integers]:
        """Order of the entries by value, and where each value starts in it."""
        order = np.argsort(self.code, kind="stable")
        return order, run_starts(self.code[order])

    def sum_by_pattern(self, entries: Numbers) -> Numbers:
        """Return the sum over the last axis, of length n_entries, within each pattern."""
        return np.add.reduceat(entries, self.starts, axis=-1)

    def marginals(self, weights: Floats, per_rating: Floats) -> Floats:
        """Return the weighted number of ratings of each value.

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


_Entries: TypeAlias = tuple[Floats, Integers, Integers, Integers]
"""Values and, entry by entry, pattern, code and count: the attributes of `RatingPatterns`."""


def _by_row(matrix: Floats) -> tuple[Integers, _Entries]:
    """Return the pattern of each row, -1 without any rating, and the distinct patterns' entries."""
    low, high = value_range(matrix)
    n_values = high - low + 1
    base = matrix.shape[1] + 1
    if is_exact_integer(low) and n_values * math.log2(base) <= EXACT_BITS:
        keys = _whole_number_keys(matrix, low=low, n_values=int(n_values), base=base)
        if keys is not None:
            return _from_keys(keys, low + np.arange(n_values), base=base)
    rated = ~np.isnan(matrix)
    n_ratings = np.count_nonzero(rated, axis=1)
    values, code = distinct_values(matrix[rated])
    base = int(n_ratings.max(initial=0)) + 1
    row = np.repeat(np.arange(len(matrix)), n_ratings)
    if len(values) * math.log2(base) <= EXACT_BITS:
        powers = float(base) ** np.arange(len(values))
        keys = np.bincount(row, powers[code], len(matrix)).astype(np.int64)
        return _from_keys(keys, values, base=base)
    is_rated = n_ratings > 0  # a pattern for each row
    index = np.where(is_rated, np.cumsum(is_rated) - 1, -1)
    entries, count = np.unique(index[row] * len(values) + code, return_counts=True)
    pattern, code = np.divmod(entries, len(values))
    return index, (values, pattern, code, count)


def _whole_number_keys(matrix: Floats, *, low: float, n_values: int, base: int) -> Integers | None:
    """Return the key of each row of whole numbers; None if there are others.

    A row's key has its counts of each value as the digits of one whole number.
    """
    powers = np.concatenate(([0.0], float(base) ** np.arange(n_values)))
    each_rater = np.ones(matrix.shape[1])
    keys = np.empty(len(matrix), np.int64)
    for rows in row_blocks(len(matrix), n_columns=matrix.shape[1], n_entries=BLOCK_ENTRIES):
        offset = np.fmax(matrix[rows] - low, -1.0)  # -1 if missing
        digit = offset.astype(np.intp)
        if (digit != offset).any():
            return None
        keys[rows] = powers.take(digit + 1) @ each_rater
    return keys


def _from_keys(keys: Integers, values: Floats, *, base: int) -> tuple[Integers, _Entries]:
    """Return the pattern of each row, and those that occur; the key 0 is a row without rating."""
    classes, index = distinct_integers(keys)
    if classes.size and classes[0] == 0:
        classes, index = classes[1:], index - 1
    powers = base ** np.arange(len(values), dtype=np.int64)
    return index, _entries(classes[:, np.newaxis] // powers % base, values)


def _entries(counts: Integers, values: Floats) -> _Entries:
    """Return the entries of patterns given as rows of counts, without values that do not occur."""
    used = counts.any(axis=0)
    pattern, code = np.nonzero(counts[:, used])
    return values[used], pattern, code, counts[:, used][pattern, code]


def _n_patterns(entries: _Entries) -> int:
    return int(entries[1].max(initial=-1)) + 1


def counted(
    ratings: Ratings | RatingPatterns, *, groups: Column | None = None, text: bool = False
) -> RatingPatterns:
    """Return the patterns of ratings, which may be patterns already.

    Raises:
        ValueError: As `RatingPatterns.from_matrix`, or if patterns come with groups beside them.
    """
    if not isinstance(ratings, RatingPatterns):
        return RatingPatterns.from_matrix(ratings, groups=groups, text=text)
    if groups is not None:
        raise ValueError("groups must be given when the patterns are counted, not beside them")
    return ratings
