"""Conversion of ratings to arrays of floats.

Accepted are lists, arrays and data frames, with NaN, None and pandas' NA for a missing rating, and
at the nominal level text. Values that differ by float noise only are one value from here on, so
that all coefficients agree on which ratings are equal.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from eval_assets.scale import Scale

Ratings: TypeAlias = npt.ArrayLike | Sequence[Sequence[object]]
"""Values of shape (n_units, n_raters); NaN, None or pandas' NA if a rating is missing."""

Column: TypeAlias = npt.ArrayLike | Sequence[object]
"""Values of shape (n_units,): scores, with NaN, None or pandas' NA if one is missing, or labels."""

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Indices = npt.NDArray[np.integer[Any]]
"""Indices of units, groups or kinds, which take half the memory as int32."""

Mask = npt.NDArray[np.bool_]
Numbers = TypeVar("Numbers", Floats, Integers)

NOISE = 1e-14
"""Float noise as a share of the largest value: more than adding up a dozen ratings leaves."""

EXACT_BITS = 52.0
"""Whole numbers below 2**EXACT_BITS are exact as floats, and so are sums that stay below."""


def rating_matrix(ratings: Ratings, *, text: bool = False) -> Floats:
    """Return ratings as floats of shape (n_units, n_raters), NaN if a rating is missing.

    With `text` they may be labels, each of which becomes its place in alphabetical order.

    Raises:
        ValueError: If `ratings` is not two-dimensional, is not numeric or holds an infinity.
    """
    [matrix] = number_arrays(ratings, name="ratings", text=text)
    if matrix.ndim != 2:  # noqa: PLR2004 - a matrix
        raise ValueError(f"ratings must have the shape (n_units, n_raters), got {matrix.shape}")
    return matrix


def paired_columns(a: Column, b: Column, *, text: bool = False) -> tuple[Floats, Floats]:
    """Return two columns of the same units, NaN if missing, without float noise between them.

    Raises:
        ValueError: If the shapes differ, a column is not numeric or holds an infinity.
    """
    first, second = number_arrays(a, b, name="both columns", text=text)
    if first.ndim != 1 or first.shape != second.shape:
        raise ValueError(
            f"both columns must have one value per unit, got {first.shape} and {second.shape}"
        )
    values = without_noise(np.concatenate([first, second]))
    return values[: len(first)], values[len(first) :]


def paired_values(a: Column, b: Column, *, text: bool = False) -> tuple[Floats, Floats]:
    """Return two columns as `paired_columns` does, without the units that lack either value."""
    first, second = paired_columns(a, b, text=text)
    is_known = ~(np.isnan(first) | np.isnan(second))
    return first[is_known], second[is_known]


def two_columns(ratings: Ratings, *, text: bool = False) -> tuple[Floats, Floats, Mask]:
    """Return both columns of the complete rows of a matrix, and which rows these are.

    Raises:
        ValueError: If there are not two columns, or as `rating_matrix`.
    """
    matrix = rating_matrix(ratings, text=text)
    if matrix.shape[1] != 2:  # noqa: PLR2004 - a pair
        raise ValueError(f"ratings must have two columns, got {matrix.shape[1]}")
    is_known = ~np.isnan(matrix[:, 0] + matrix[:, 1])
    complete = without_noise(matrix[is_known])
    return complete[:, 0], complete[:, 1], is_known


def number_arrays(*values: Column, name: str, text: bool = False) -> list[Floats]:
    """Return arrays as floats, NaN if missing; text labels get codes that all arrays share.

    Raises:
        ValueError: If an array is ragged, holds an infinity or another value that is no number.
    """
    arrays = [_array(value, name) for value in values]
    if all(array.dtype.kind in "fiub" for array in arrays):
        floats = [array.astype(np.float64, copy=False) for array in arrays]
    else:
        floats = _from_objects(arrays, name, text=text)
    if any(np.isinf(_extremes(array)).any() for array in floats):
        raise ValueError(f"{name} must be finite or NaN, got an infinity")
    return floats


def group_codes(groups: Column | None, *, n_units: int) -> Indices | None:
    """Return a number for each unit's group, from 0 on in order of appearance; None without groups.

    Raises:
        ValueError: If there is not one group for each unit, or a group is missing.
    """
    if groups is None:
        return None
    array = _array(groups, "groups")
    if array.shape != (n_units,):
        raise ValueError(f"groups must name a group for each of {n_units} units, got {array.shape}")
    if array.dtype == object or array.dtype.kind == "f":
        if any(is_missing(group) for group in array):
            raise ValueError("groups must name a group for each unit, got a missing one")
        codes = {group: code for code, group in enumerate(dict.fromkeys(array.tolist()))}
        return np.array([codes[group] for group in array.tolist()], dtype=np.int64)
    if array.dtype.kind == "i":
        distinct, index = distinct_integers(array.astype(np.int64, copy=False))
    else:
        distinct, index = np.unique(array, return_inverse=True)
    first = np.empty(len(distinct), np.int64)
    first[index[::-1]] = np.arange(len(index))[::-1]  # of the units of a group the first stays
    place = np.empty(len(distinct), np.int32)
    place[np.argsort(first)] = np.arange(len(distinct))
    return place[index]


def declared_scale(scale: Scale | None, low: float | None, high: float | None) -> Scale:
    """Return the scale, made of its ends if these are passed instead.

    Raises:
        ValueError: If neither or both are passed, or `low` is not below `high`.
    """
    if scale is not None and low is None and high is None:
        return scale
    if scale is not None or low is None or high is None:
        raise ValueError("give either scale, or low and high")
    if not low < high:
        raise ValueError(f"low must lie below high, got {low:g} and {high:g}")
    return Scale(low=float(low), high=float(high))


def require_literal(value: object, literal: object, *, name: str, or_none: bool = False) -> None:
    """Raise ValueError if `value` is not one of the values of a Literal."""
    allowed = (None, *get_args(literal)) if or_none else get_args(literal)
    if value not in allowed:
        listed = ", ".join(map(repr, allowed))
        raise ValueError(f"{name} must be one of {listed}, got {value!r}")


def require_on_scale(values: Floats, scale: Scale) -> None:
    """Raise ValueError if a value lies outside the scale's ends by more than float noise."""
    noise = max(1e-9 * (scale.high - scale.low), NOISE * max(abs(scale.low), abs(scale.high)))
    low, high = _extremes(values)
    if low < scale.low - noise or high > scale.high + noise:
        raise ValueError(
            f"ratings must lie in [{scale.low:g}, {scale.high:g}], got {low:g} to {high:g}"
        )


_BLOCK_VALUES = 1 << 16
"""Values compared with a scale at once, so that temporary arrays stay in the processor's cache."""


def on_scale(values: Floats, scale: Scale) -> Floats:
    """Return the values, those that miss a declared value by float noise only set to it."""
    if scale.values is None:
        return values
    declared = np.asarray(scale.values)
    middles, noise = (declared[1:] + declared[:-1]) / 2, _category_noise(declared)
    result = values
    for rows in row_blocks(len(values), n_columns=values[:1].size, n_entries=_BLOCK_VALUES):
        block = values[rows]
        nearest = declared[np.searchsorted(middles, block)]
        is_noise = (np.abs(block - nearest) <= noise) & (block != nearest)
        if is_noise.any():
            result = values.copy() if result is values else result
            result[rows] = np.where(is_noise, nearest, block)
    return result


def without_noise(values: Floats) -> Floats:
    """Return the values, those that differ by float noise only made equal."""
    if _are_whole(values):
        return values
    is_known = ~np.isnan(values)
    distinct, index = distinct_values(values[is_known])
    equal = values.copy()
    equal[is_known] = distinct[index]
    return equal


def distinct_values(values: Floats) -> tuple[Floats, Integers]:
    """Return the distinct values, ascending, and each value's place among them.

    Neighbours that differ by float noise only are one value, the lowest of them. Whole numbers
    have no float noise.
    """
    if _are_whole(values):
        whole, index = distinct_integers(values.astype(np.int64))
        return whole.astype(np.float64), index
    distinct, index = np.unique(values, return_inverse=True)
    is_apart = np.diff(distinct, prepend=-np.inf) > NOISE * np.abs(distinct).max(initial=0.0)
    return distinct[is_apart], (np.cumsum(is_apart) - 1)[index]


def distinct_integers(values: Indices) -> tuple[Indices, Integers]:
    """Return the distinct integers, ascending, and each one's place among them."""
    # a table that is not much longer than the values is faster
    if not len(values) or int(values.max()) - int(values.min()) > 4 * len(values):
        return np.unique(values, return_inverse=True)
    low = values.min()
    occurs = np.bincount(values - low) > 0
    return low + np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[values - low]


def run_starts(codes: Indices) -> Integers:
    """Return where each run of equal codes begins; codes are not negative."""
    return np.flatnonzero(np.diff(codes, prepend=-1))


def row_blocks(n_rows: int, *, n_columns: int, n_entries: int) -> Iterator[slice]:
    """Yield consecutive rows with about `n_entries` entries in all."""
    size = max(1, n_entries // max(1, n_columns))
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def category_index(values: Floats, categories: Floats) -> Integers:
    """Return the place of each value among the categories, float noise allowed for.

    Raises:
        ValueError: If the categories do not ascend or a value is not one of them.
    """
    if np.any(np.diff(categories) <= 0):
        raise ValueError(f"categories must ascend, got {categories}")
    if not len(categories):
        if len(values):
            raise ValueError(f"ratings must be categories, got {values[0]:g}")
        return np.empty(0, np.int64)
    index = np.searchsorted((categories[1:] + categories[:-1]) / 2, values)
    noise = _category_noise(categories)
    off = values[np.abs(categories[index] - values) > noise]
    if off.size:
        raise ValueError(f"ratings must be categories, got {off[0]:g}")
    return index


def _category_noise(categories: Floats) -> float:
    """Return the float noise allowed between a value and its category."""
    gap = float(np.diff(categories).min(initial=1.0))
    return min(max(1e-9 * gap, NOISE * float(np.abs(categories).max())), gap / 4)


def is_exact_integer(value: float) -> bool:
    """Return whether a float is a whole number without rounding."""
    return value.is_integer() and abs(value) < 2**EXACT_BITS


def value_range(values: Floats) -> tuple[float, float]:
    """Return the lowest and highest value; (0, -1) if there is none."""
    low, high = _extremes(values)
    return (0.0, -1.0) if math.isnan(low) else (low, high)


def _extremes(values: Floats) -> tuple[float, float]:
    if not values.size:
        return math.nan, math.nan
    return float(np.fmin.reduce(values, axis=None)), float(np.fmax.reduce(values, axis=None))


def _are_whole(values: Floats) -> bool:
    low, high = value_range(values)
    if not (is_exact_integer(low) and is_exact_integer(high)):
        return False
    return bool((np.isnan(values) | (values == np.rint(values))).all())


def _array(declared: Column, name: str) -> npt.NDArray[np.generic]:
    """Return the values as an array that keeps text and missing values unchanged."""
    if isinstance(declared, np.ma.MaskedArray):
        values = np.array(declared.data, dtype=object)
        values[np.ma.getmaskarray(declared)] = None
        declared = values
    try:
        array = np.asarray(declared)
        if array.dtype.kind in "US" and not isinstance(declared, np.ndarray):
            return np.asarray(declared, dtype=object)  # a NaN among text would have become "nan"
    except ValueError as error:
        raise ValueError(f"{name} must have equally many values in each row") from error
    return array


def _from_objects(arrays: list[npt.NDArray[np.generic]], name: str, *, text: bool) -> list[Floats]:
    """Return floats of arrays that hold Python objects: numbers, missing values or text."""
    known_elements = [
        element for array in arrays for element in array.ravel() if not is_missing(element)
    ]
    texts: list[str] = [element for element in known_elements if isinstance(element, str)]
    if texts and not text:
        raise ValueError(f"{name} must be numbers unless the level is nominal, got {texts[0]!r}")
    if texts and len(texts) < len(known_elements):
        raise ValueError(f"{name} must be all text or all numbers, got both")
    codes: dict[str, float] = {
        label: float(index) for index, label in enumerate(sorted(set(texts)))
    }

    def number(element: object) -> float:
        if is_missing(element):
            return math.nan
        if isinstance(element, str):
            return codes[element]
        try:
            return float(element)  # type: ignore[arg-type] # whatever is not a number is refused here
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name} must be numbers, got {element!r}") from error

    return [
        np.fromiter(map(number, array.ravel()), np.float64, array.size).reshape(array.shape)
        for array in arrays
    ]


def is_missing(element: object) -> bool:
    """Return whether an element is None, NaN or pandas' NA, known by name to do without pandas."""
    if element is None or type(element).__name__ == "NAType":
        return True
    return isinstance(element, float | np.floating) and math.isnan(element)
