"""Tests of whether a rater's figure is more than chance, and their correction for their number."""

import math
from collections.abc import Callable, Mapping
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from eval_assets.stats import holm_p_values

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Test = Callable[[], float]
"""Returns the chance of a figure at least this extreme; called only where it matters."""

Name = TypeVar("Name")

ERROR_RATE = 0.05
"""Chance that honest labels of a whole evaluation lead to any advice on tested figures."""

_DRAWS = 20_000
_CHUNK = 1_000
_ENOUGH = 20
"""Draws beyond the figure after which it is no exception (Besag and Clifford, 1991)."""


def beyond_chance(
    candidates: Mapping[Name, Test], *, n_tests: int, rate: float = ERROR_RATE
) -> set[Name]:
    """Return the candidates that are more than chance, by Holm's correction for all tests.

    Args:
        candidates: Tests of the figures that are large enough for advice.
        n_tests: Tests that could have led to advice, these included.
        rate: Chance of naming any figure if all are chance.
    """
    adjusted = holm_p_values([test() for test in candidates.values()], n_tests=n_tests)
    return {name for name, p in zip(candidates, adjusted, strict=True) if p <= rate}


def flipped_signs(values: Floats) -> float:
    """Return how often values with random signs have a mean this far below 0."""
    values = values[~np.isnan(values)]
    limit = values.mean() + 1e-12

    def draw(rng: np.random.Generator, n: int) -> Bools:
        signs = rng.integers(0, 2, (n, len(values)), dtype=np.int8) * 2 - 1
        return np.asarray((signs @ values) / len(values) <= limit)

    return _share(draw, len(values))


def shuffled(values: Floats, statistic: Callable[[Floats], Floats]) -> float:
    """Return how often shuffled values have a statistic as large as theirs in this order.

    `statistic` takes rows of values, and returns one number for each row.
    """
    limit = statistic(values[None, :])[0] - 1e-12

    def draw(rng: np.random.Generator, n: int) -> Bools:
        rows = rng.permuted(np.broadcast_to(values, (n, len(values))), axis=1)
        return np.asarray(statistic(rows) >= limit)

    return _share(draw, len(values))


def exchanged(by_rater: Floats, column: int, *, margin: float = 0.0) -> float:
    """Return how often raters drawn anew for each response have a mean as large as one rater's."""
    shared = ~np.isnan(by_rater[:, column]) & (np.count_nonzero(~np.isnan(by_rater), axis=1) > 1)
    rows = by_rater[shared]
    if not len(rows):
        return math.nan
    limit = rows[:, column].mean() - margin - 1e-12
    order = np.argsort(np.isnan(rows), axis=1, kind="stable")
    values = np.take_along_axis(rows, order, axis=1)
    n_values = np.count_nonzero(~np.isnan(rows), axis=1)
    numbers = np.arange(len(rows))

    def draw(rng: np.random.Generator, n: int) -> Bools:
        chosen = (rng.random((n, len(rows))) * n_values).astype(np.int64)
        return np.asarray(values[numbers, chosen].mean(axis=1) >= limit)

    return _share(draw, len(rows))


def binomial_tail(count: int, n: int, share: float) -> float:
    """Return the chance of at least `count` successes in `n` trials.

    Examples:
        >>> round(binomial_tail(2, 2, 0.5), 12), round(binomial_tail(0, 3000, 0.1), 9)
        (0.25, 1.0)
    """
    # Logarithms: the coefficients of a few thousand trials are beyond floating point.
    terms = (
        math.lgamma(n + 1)
        - math.lgamma(k + 1)
        - math.lgamma(n - k + 1)
        + k * math.log(share)
        + (n - k) * math.log1p(-share)
        for k in range(count, n + 1)
    )
    return min(1.0, math.fsum(map(math.exp, terms)))


def longest_runs(rows: Floats) -> Floats:
    """Return the length of the longest run of equal values in each row.

    Examples:
        >>> longest_runs(np.array([[1.0, 1, 2, 2, 2, 1], [1, 2, 1, 2, 1, 2]])).tolist()
        [3.0, 1.0]
    """
    changes = [np.flatnonzero(row[1:] != row[:-1]) + 1 for row in rows]
    ends = rows.shape[1]
    return np.array([np.diff(at, prepend=0, append=ends).max() for at in changes], dtype=float)


def _share(draw: Callable[[np.random.Generator, int], Bools], length: int) -> float:
    """Return the share of draws beyond the figure, the figure itself among them.

    It ends early if many are: such a figure is no exception, however often one draws.
    """
    rng = np.random.default_rng(0)
    chunk = max(20, min(_CHUNK, 2_000_000 // max(1, length)))
    n_beyond = n_drawn = 0
    while n_drawn < _DRAWS and n_beyond < _ENOUGH:
        n_beyond += int(np.count_nonzero(draw(rng, chunk)))
        n_drawn += chunk
    return (1 + n_beyond) / (1 + n_drawn)
