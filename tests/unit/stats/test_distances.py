from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from eval_assets.stats import RatingPatterns
from eval_assets.stats._distances import Distance, near_pairs, sums_between, sums_within

DISTANCES: tuple[Distance, ...] = ("nominal", "absolute", "squared", "ratio")


def apart(a: float, b: float, distance: Distance) -> float:
    """The distances as their names are defined."""
    return {
        "nominal": float(a != b),
        "absolute": abs(a - b),
        "squared": (a - b) ** 2,
        "ratio": ((a - b) / (a + b)) ** 2 if a + b else 0.0,
    }[distance]


def units(seed: int) -> list[npt.NDArray[np.float64]]:
    """Units of 1 to 30 ratings, some equal, some 0."""
    rng = np.random.default_rng(seed)
    return [rng.integers(0, 12, rng.integers(1, 31)) / 4 for _ in range(60)]


def patterns_of(
    ratings: list[npt.NDArray[np.float64]],
) -> tuple[RatingPatterns, npt.NDArray[np.integer[Any]]]:
    """Patterns, and the index of each unit's."""
    matrix = np.full((len(ratings), 30), np.nan)
    for row, first in zip(matrix, ratings, strict=True):
        row[: len(first)] = first
    return RatingPatterns.by_row(matrix)


@pytest.mark.parametrize("distance", DISTANCES)
def test_sums_within_units_are_those_over_all_pairs(distance: Distance) -> None:
    ratings = units(1)
    patterns, index = patterns_of(ratings)
    expected = [
        sum(apart(a, b, distance) for a, b in combinations(first.tolist(), 2)) for first in ratings
    ]
    np.testing.assert_allclose(
        sums_within(patterns, patterns.values, distance)[index], expected, atol=1e-9
    )


@pytest.mark.parametrize("distance", DISTANCES)
def test_sums_between_all_ratings_are_those_over_all_pairs(distance: Distance) -> None:
    values = np.array([0.0, 0.5, 1.0, 4.0, 4.5])
    marginals = np.array([[1, 0, 3, 2, 2], [0, 0, 5, 0, 0], [0, 0, 0, 0, 0], [2, 2, 2, 2, 2]])
    expected = [
        sum(apart(a, b, distance) for a, b in combinations(np.repeat(values, row).tolist(), 2))
        for row in marginals
    ]
    actual = sums_between(marginals[[0, 1, 3]].astype(float), values, distance)
    np.testing.assert_allclose(actual, np.array(expected)[[0, 1, 3]], atol=1e-12)


@pytest.mark.parametrize("within", [0.0, 0.25, 0.3, 1.0, 99.0])
def test_near_pairs_are_those_among_all_pairs(within: float) -> None:
    ratings = units(2)
    expected = [
        sum(abs(a - b) <= within for a, b in combinations(first.tolist(), 2)) for first in ratings
    ]
    patterns, index = patterns_of(ratings)
    assert near_pairs(patterns, within=within)[index].tolist() == expected


def test_far_from_zero_equal_ratings_are_still_no_distance_apart() -> None:
    patterns = RatingPatterns.from_matrix([[1e9 + 0.1] * 3, [1e9 + 0.2, 1e9 + 0.1, 1e9 + 0.1]])
    squared = np.sort(sums_within(patterns, patterns.values, "squared"))
    assert squared[0] == 0.0
    assert squared[1] == pytest.approx(0.02, rel=1e-5)


def test_ratio_distances_of_many_values_are_added_up_in_blocks() -> None:
    rng = np.random.default_rng(3)
    values = np.sort(rng.random(900))
    marginals = rng.integers(0, 3, (2, 900)).astype(float)
    table = ((values[:, np.newaxis] - values) / (values[:, np.newaxis] + values)) ** 2
    expected = np.einsum("bi,ij,bj->b", marginals, table, marginals) / 2
    np.testing.assert_allclose(sums_between(marginals, values, "ratio"), expected)
