"""A test of paired differences."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

GRID = 240
"""Steps that a scale is divided into: all steps of scales of 3, 4, 5, 6, 7, 9 and 11 values fall
on it; other differences are rounded, which keeps the test exact."""

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class MeanShift:
    """Mean shift of values between two measurements of the same units.

    Attributes:
        value: Mean difference; NaN without any.
        low: Lower end of its interval, to the nearest of `GRID` steps of the scale.
        high: Upper end, likewise.
        p_value: Chance of a mean at least this far from 0 if nothing moved; NaN without any.
        n: Pairs that were compared.
    """

    value: float
    low: float
    high: float
    p_value: float
    n: int


def mean_shift(differences: npt.ArrayLike, *, significance: float, span: float) -> MeanShift:
    """Return the mean shift of paired measurements, by the sign-flip test of their differences.

    If the two measurements of each pair are exchangeable, as they are when one judge rates one
    response twice, each difference is as likely to have the other sign. The test counts all choices
    of signs, so it is exact for any distribution and any number of pairs. The interval holds the
    shifts that it does not reject.

    Args:
        differences: Second minus first measurement of each pair; NaN if one is missing.
        significance: Two-sided level; the interval excludes 0 if p is at most this.
        span: Highest minus lowest value of the scale.

    Returns:
        The mean shift with its interval and p-value; NaN without a pair.

    Raises:
        ValueError: If the significance is not in (0, 1) or the span is not above 0.

    References:
        Fisher (1935), The Design of Experiments, section 21; inverted by Hartigan (1969),
        doi:10.1080/01621459.1969.10501057.

    Examples:
        >>> found = mean_shift([-1, -1, -1, -1, 0, -2], significance=0.1, span=4)
        >>> round(found.value, 2), found.p_value
        (-1.0, 0.0625)
    """
    if not 0 < significance < 1:
        raise ValueError(f"significance must lie in (0, 1), got {significance}")
    if not span > 0:
        raise ValueError(f"span must be above 0, got {span}")
    values = np.asarray(differences, dtype=np.float64)
    values = values[~np.isnan(values)]
    if not len(values):
        return MeanShift(np.nan, np.nan, np.nan, np.nan, 0)
    steps = np.rint(values / span * GRID).astype(np.int64)
    tail = significance / 2
    low = _first(-GRID, GRID, lambda shift: _upper_tail(steps - shift) > tail)
    high = _first(-GRID, GRID, lambda shift: _upper_tail(-steps - shift) > tail)
    p_value = min(1.0, 2 * min(_upper_tail(steps), _upper_tail(-steps)))
    return MeanShift(
        float(values.mean()), low * span / GRID, -high * span / GRID, p_value, len(values)
    )


def least_p_value(n_pairs: int) -> float:
    """Return the smallest p-value of `n_pairs` pairs: all differences have one sign.

    Args:
        n_pairs: Pairs with both measurements.

    Returns:
        The p-value of `mean_shift`, two-sided; 1 without a pair.

    Raises:
        ValueError: If `n_pairs` is below 0.

    References:
        Fisher (1935), The Design of Experiments, section 21.

    Examples:
        >>> least_p_value(6)
        0.03125
    """
    if n_pairs < 0:
        raise ValueError(f"n_pairs must be at least 0, got {n_pairs}")
    return min(1.0, 2.0 ** (1 - n_pairs))


def _first(start: int, end: int, holds: Callable[[int], bool]) -> int:
    """Return the first number from which on a condition holds."""
    while start < end:
        middle = (start + end) // 2
        start, end = (start, middle) if holds(middle) else (middle + 1, end)
    return start


def _upper_tail(steps: Integers) -> float:
    """Return the share of all choices of signs with a sum at least that of the steps."""
    sizes = np.abs(steps)
    sizes = sizes[sizes > 0]
    divisor = int(np.gcd.reduce(sizes)) if len(sizes) else 1
    sizes = sizes // divisor
    # chance[k] is that of the sum 2 k - total, of which every second number can occur.
    chance: npt.NDArray[np.float64] = np.ones(1)
    for size in sizes:
        wider = np.zeros(len(chance) + size)
        wider[: len(chance)] += chance / 2
        wider[size:] += chance / 2
        chance = wider
    total = int(sizes.sum())
    at_least = (int(steps.sum()) // divisor + total) // 2
    return float(chance[at_least:].sum())
