"""Sums of distances over all pairs of ratings, without enumerating the pairs.

Every coefficient compares the distances within units with those expected by chance, so two sums
are needed for each distance: over the pairs of one unit and over the pairs of all ratings pooled.
All but the ratio distance follow from counts, sums and sums of squares, in time proportional to the
number of ratings.
"""

from typing import Literal, assert_never

import numpy as np

from eval_assets.stats._numbers import NOISE, Floats, row_blocks
from eval_assets.stats._patterns import BLOCK_ENTRIES, RatingPatterns
from eval_assets.stats._units import weighted_sums

Distance = Literal["nominal", "absolute", "squared", "ratio"]
"""1 where a != b · |a - b| · (a - b)**2 · ((a - b) / (a + b))**2."""

MAX_RATIO_VALUES = 10_000
"""The ratio distance has no closed form: its cost is the square of the distinct values."""


def sums_within(patterns: RatingPatterns, positions: Floats, distance: Distance) -> Floats:
    """Return the distances summed over the pairs of ratings of a unit with each pattern.

    Args:
        patterns: Patterns of ratings.
        positions: Position of each value, shape (n_values,): the values themselves, or their
            ranks. For squared distances also (n_sets, n_values).
        distance: Kind of distance between two positions.

    Returns:
        Shape (n_patterns,), or (n_sets, n_patterns).

    Raises:
        ValueError: For the ratio distance, if a value is negative.
    """
    n_ratings = patterns.n_ratings
    match distance:
        case "nominal":
            return (n_ratings**2 - patterns.sum_by_pattern(patterns.count**2)) / 2
        case "absolute":
            # the gap between neighbours is crossed by (ratings below) x (ratings above) pairs
            gaps = np.diff(positions[patterns.code], append=0.0)
            gaps[patterns.starts[1:] - 1] = 0.0
            gaps[-1:] = 0.0
            totals = np.cumsum(patterns.count)
            before = totals[patterns.starts] - patterns.count[patterns.starts]
            below = (totals - before[patterns.pattern]).astype(np.float64)
            above = n_ratings[patterns.pattern] - below
            return patterns.sum_by_pattern(below * above * gaps)
        case "squared":
            # measured from the unit's lowest value, so that equal ratings give 0 exactly
            first = patterns.code[patterns.starts][patterns.pattern]
            offset = positions[..., patterns.code] - positions[..., first]
            weighted = patterns.count * offset
            sums = patterns.sum_by_pattern(weighted)
            weighted *= offset
            return n_ratings * patterns.sum_by_pattern(weighted) - sums**2
        case "ratio":
            return _ratio_within(patterns, positions)
        case _:
            assert_never(distance)


def sums_between(marginals: Floats, positions: Floats, distance: Distance) -> Floats:
    """Return the distances summed over the pairs of all ratings pooled.

    Args:
        marginals: Number of ratings with each value, shape (n_sets, n_values).
        positions: Position of each value, ascending, shape (n_values,). For squared distances also
            (n_sets, n_values).
        distance: Kind of distance between two positions.

    Returns:
        Shape (n_sets,).

    Raises:
        ValueError: For the ratio distance, if a value is negative or there are more than
            `MAX_RATIO_VALUES` of them.
    """
    total = marginals.sum(axis=1)
    sums: Floats
    match distance:
        case "nominal":
            sums = (total**2 - (marginals**2).sum(axis=1)) / 2
        case "absolute":
            below = np.cumsum(marginals, axis=1)[:, :-1]
            sums = weighted_sums(below * (total[:, np.newaxis] - below), np.diff(positions))
        case "squared":
            with np.errstate(invalid="ignore"):
                mean = (marginals * positions).sum(axis=1, keepdims=True) / total[:, np.newaxis]
            sums = total * (marginals * (positions - mean) ** 2).sum(axis=1)
        case "ratio":
            sums = _ratio_between(marginals, positions)
        case _:
            assert_never(distance)
    return sums


def near_pairs(patterns: RatingPatterns, *, within: float) -> Floats:
    """Return the pairs of ratings at most `within` apart, by pattern, shape (n_patterns,).

    Float noise is allowed for.
    """
    values, pattern, count = patterns.values, patterns.pattern, patterns.count
    noise = NOISE * np.abs(values).max(initial=0.0)
    beyond = np.searchsorted(values, values + (within + noise), side="right")
    # first entry of the same pattern that is too far away, found on (pattern, code) as one number
    keys = pattern * (len(values) + 1) + patterns.code
    end = np.searchsorted(keys, pattern * (len(values) + 1) + beyond[patterns.code])
    totals = np.cumsum(count)
    n_later = totals[end - 1] - totals
    return patterns.sum_by_pattern(count * (count - 1) / 2 + count * n_later)


def _ratio(a: Floats, b: Floats) -> Floats:
    """Return ((a - b) / (a + b))**2, and 0 between 0 and 0."""
    total = a + b
    return np.square(np.divide(a - b, total, out=np.zeros_like(total), where=total > 0))


def _refuse_negative(values: Floats) -> None:
    if values.min(initial=0.0) < 0:
        raise ValueError(f"ratio level needs values of at least 0, got {values.min():g}")


def _ratio_within(patterns: RatingPatterns, values: Floats) -> Floats:
    _refuse_negative(values)
    sums = np.zeros(len(patterns.n_units))
    first = np.arange(len(patterns.code))
    lag = 0
    while True:  # entries and the one `lag` places further, while that is of the same pattern
        lag += 1
        first = first[first < len(patterns.code) - lag]
        first = first[patterns.pattern[first] == patterns.pattern[first + lag]]
        if not first.size:
            return sums
        a, b = values[patterns.code[first]], values[patterns.code[first + lag]]
        pairs = patterns.count[first] * patterns.count[first + lag] * _ratio(a, b)
        sums += np.bincount(patterns.pattern[first], weights=pairs, minlength=len(sums))


def _ratio_between(marginals: Floats, values: Floats) -> Floats:
    _refuse_negative(values)
    if len(values) > MAX_RATIO_VALUES:
        raise ValueError(
            f"ratio level takes at most {MAX_RATIO_VALUES} distinct values, got {len(values)}"
        )
    sums = np.zeros(len(marginals))
    n_values = len(values)
    for rows in row_blocks(n_values, n_columns=n_values, n_entries=8 * BLOCK_ENTRIES):
        distances = _ratio(values[rows, np.newaxis], values)
        sums += ((marginals @ distances.T) * marginals[:, rows]).sum(axis=1) / 2
    return sums
