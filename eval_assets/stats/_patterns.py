"""Rating patterns, from which every agreement coefficient is computed.

No coefficient of this package depends on who gave a rating, so a unit is described by the number
of ratings of each value that it received: its pattern. Few raters on a short scale leave few
distinct patterns (three raters and five values: at most 55) for any number of units; long or
continuous scales leave one per unit. Both are stored sparsely, so cost follows the number of
ratings.
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
    Indices,
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
from eval_assets.stats._units import Units, sums_by_code

BLOCK_ENTRIES = 1 << 15
"""Numbers treated at once, so that temporary arrays stay in the processor's cache."""


@dataclass(frozen=True, eq=False)
class RatingPatterns:
    """Distinct rating patterns with the number of units that show each, and their groups.

    A pattern's entries are its values and how often it holds each: [4, 5, 4] has the entries 4
    (twice) and 5 (once). Units without any rating are left out. Every function that takes a matrix
    of ratings takes patterns as well: counting once saves time if there are many ratings.

    Attributes:
        values: Distinct ratings of shape (n_values,), ascending.
        pattern: Index of each entry's pattern, shape (n_entries,), ascending.
        code: Index in `values` of each entry, ascending within a pattern.
        count: Number of ratings of the pattern with that value.
        units: Number of units with each pattern, and which units are in one group.
        index: Pattern of each unit, -1 without any rating.

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
    index: Indices

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
        return cls._of(*_by_row(rating_matrix(ratings, text=text)), groups=groups)

    @classmethod
    def from_ratings(
        cls, unit: Indices, values: Floats, *, n_units: int, groups: Column | None = None
    ) -> Self:
        """Return the patterns of ratings that stand one after the other, as `from_matrix` does.

        A matrix of many ratings takes several times the memory.

        Args:
            unit: Unit of each rating, from 0 on, ascending.
            values: The ratings, none of which is missing.
            n_units: Units, with those that have no rating.
            groups: Which units are not independent of each other: any label, one for each unit.

        Raises:
            ValueError: If `groups` does not fit.
        """
        return cls._of(*_by_unit(unit, values, n_units=n_units), groups=groups)

    @classmethod
    def _of(cls, index: Indices, entries: "_Entries", *, groups: Column | None) -> Self:
        codes = group_codes(groups, n_units=len(index))
        units = Units.of(index, n_kinds=int(entries[1].max(initial=-1)) + 1, groups=codes)
        return cls(*entries, units, index)

    @classmethod
    def by_row(cls, ratings: Ratings, *, text: bool = False) -> tuple[Self, Indices]:
        """Return the patterns of a matrix and the index of each row's, -1 without any rating."""
        index, entries = _by_row(rating_matrix(ratings, text=text))
        return cls._of(index, entries, groups=None), index

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
            per_rating: Weight of one rating in each pattern, shape (n_patterns,).

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


def _by_row(matrix: Floats) -> tuple[Indices, _Entries]:
    """Return the pattern of each row, -1 without any rating, and the distinct patterns' entries."""
    low, high = value_range(matrix)
    n_values = high - low + 1
    base = matrix.shape[1] + 1
    if is_exact_integer(low) and n_values * math.log2(base) <= EXACT_BITS:
        keys = _whole_number_keys(matrix, low=low, n_values=int(n_values), base=base)
        if keys is not None:
            return _from_keys(keys, low + np.arange(n_values), base=base)
    rated = ~np.isnan(matrix)
    unit = np.repeat(np.arange(len(matrix)), np.count_nonzero(rated, axis=1))
    return _by_unit(unit, matrix[rated], n_units=len(matrix))


def _by_unit(unit: Indices, ratings: Floats, *, n_units: int) -> tuple[Indices, _Entries]:
    """Return the same of ratings in the order of their units."""
    values = distinct_values(ratings)[0]
    base = 1 + int(np.bincount(unit, minlength=n_units).max(initial=0))
    if len(values) * math.log2(base) <= EXACT_BITS:
        powers = np.power(float(base), np.arange(len(values)))
        keys = sums_by_code(unit, powers[_codes(ratings, values)], n_codes=n_units)
        return _from_keys(keys.astype(np.int64), values, base=base)
    is_rated = np.bincount(unit, minlength=n_units) > 0  # a pattern for each unit
    index = np.where(is_rated, np.cumsum(is_rated) - 1, -1)
    cells = index[unit] * len(values) + _codes(ratings, values)
    entries, count = np.unique(cells, return_counts=True)
    pattern, code = np.divmod(entries, len(values))
    return index, (values, pattern, code, count)


def _codes(ratings: Floats, values: Floats) -> Integers:
    """Return the place of each rating among the distinct values; float noise lies above them."""
    return np.searchsorted(values, ratings, side="right") - 1


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


def _from_keys(keys: Integers, values: Floats, *, base: int) -> tuple[Indices, _Entries]:
    """Return the pattern of each row, and those that occur; the key 0 is a row without rating."""
    classes, index = distinct_integers(keys)
    if classes.size and classes[0] == 0:
        classes, index = classes[1:], index - 1
    powers = base ** np.arange(len(values), dtype=np.int64)
    counts = classes[:, np.newaxis] // powers % base
    is_present = counts.any(axis=0)
    pattern, code = np.nonzero(counts[:, is_present])
    entries = values[is_present], pattern, code, counts[:, is_present][pattern, code]
    return index.astype(np.int32), entries


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
