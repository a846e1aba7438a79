import math

import numpy as np
import numpy.typing as npt
import pytest

from eval_assets.scale import LIKERT5
from eval_assets.stats import RatingPatterns, agreement_profile, krippendorff_alpha

NAN = math.nan


def shown(patterns: RatingPatterns) -> dict[tuple[float, ...], int]:
    """Each pattern as its sorted ratings, and how many units show it."""
    result: dict[tuple[float, ...], int] = {}
    for index, n_units in enumerate(patterns.n_units.tolist()):
        first = patterns.pattern == index
        ratings = np.repeat(patterns.values[patterns.code[first]], patterns.count[first])
        key = tuple(ratings.tolist())
        result[key] = result.get(key, 0) + n_units
    return result


MATRIX = np.array([[4, 5, 4], [5, 4, 4], [NAN, 3, NAN], [3, 4, 3], [NAN] * 3, [4, 4, 5]])
EXPECTED = {(4, 4, 5): 3, (3,): 1, (3, 3, 4): 1}


def test_a_pattern_forgets_who_gave_which_rating() -> None:
    patterns = RatingPatterns.from_matrix(MATRIX)
    assert shown(patterns) == EXPECTED
    assert len(patterns.n_units) == 3
    assert patterns.values.tolist() == [3, 4, 5]


def test_pairs_are_those_of_the_ratings_of_a_unit() -> None:
    ratings = np.array([[1, NAN, NAN, NAN], [1, 2, NAN, NAN], [1, 2, 3, NAN], [2, 2, 3, 3]])
    patterns = RatingPatterns.from_matrix(ratings)

    assert dict(zip(patterns.n_ratings, patterns.n_pairs, strict=True)) == {1: 0, 2: 1, 3: 3, 4: 6}
    assert patterns.is_pairable.sum() == 3


def test_each_row_has_its_pattern() -> None:
    patterns, index = RatingPatterns.by_row(MATRIX)
    rows = [sorted(row[~np.isnan(row)].tolist()) for row in MATRIX]
    assert [
        np.repeat(
            patterns.values[patterns.code[patterns.pattern == i]],
            patterns.count[patterns.pattern == i],
        ).tolist()
        for i in index
    ] == rows
    assert index[4] == -1


@pytest.mark.parametrize("is_grouped", [True, False])
@pytest.mark.parametrize(
    "values",
    [np.arange(1.0, 6.0), np.array([0.1, 0.1 + 1e-17, 0.3]), np.linspace(0, 1, 100)],
    ids=["steps", "noise", "continuous"],
)
def test_ratings_one_by_one_have_the_patterns_of_the_matrix(
    values: npt.NDArray[np.float64], *, is_grouped: bool
) -> None:
    rng = np.random.default_rng(1)
    matrix = rng.choice(values, (40, 4))
    matrix[rng.random(matrix.shape) < 0.4] = NAN
    matrix[7] = matrix[39] = NAN
    groups = rng.integers(9, size=40) if is_grouped else None
    unit, rater = np.nonzero(~np.isnan(matrix))

    from_ratings = RatingPatterns.from_ratings(unit, matrix[unit, rater], n_units=40, groups=groups)

    expected = RatingPatterns.from_matrix(matrix, groups=groups)
    for column in ("values", "pattern", "code", "count", "index"):
        np.testing.assert_array_equal(getattr(from_ratings, column), getattr(expected, column))
    for column in ("n_units", "group", "kind", "count"):
        of_units, of_expected = getattr(from_ratings.units, column), getattr(expected.units, column)
        np.testing.assert_array_equal(of_units, of_expected)


def test_no_ratings_have_no_patterns() -> None:
    patterns = RatingPatterns.from_ratings(np.empty(0, np.int64), np.empty(0), n_units=3)

    assert len(patterns.n_units) == 0
    assert patterns.index.tolist() == [-1] * 3


def test_groups_hold_the_patterns_of_their_units() -> None:
    patterns = RatingPatterns.from_matrix(MATRIX, groups=["a", "b", "a", "b", "b", "b"])
    assert shown(patterns) == EXPECTED
    assert patterns.units.group is not None
    cells = zip(patterns.units.group, patterns.units.count, strict=True)
    assert sorted((int(group), int(count)) for group, count in cells) == [
        (0, 1), (0, 1), (1, 1), (1, 2),
    ]  # fmt: skip
    assert patterns.units.evidence(patterns.is_pairable) == (4, 2)


def test_groups_of_one_unit_each_are_no_groups() -> None:
    assert RatingPatterns.from_matrix(MATRIX, groups=list("abcdef")).units.group is None


@pytest.mark.parametrize(
    "values",
    [
        np.arange(5.0),
        np.arange(5.0) / 7,
        np.array([-3.0, 1000.0]),
        np.array([2.0**60, 2.0**61]),
        np.arange(40.0),
        np.random.default_rng(2).normal(size=500),
    ],
    ids=["steps", "fractions", "far apart", "huge", "many", "continuous"],
)
def test_ways_to_hold_ratings_do_not_change_what_is_held(values: npt.NDArray[np.float64]) -> None:
    rng = np.random.default_rng(3)
    matrix = rng.choice(values, (300, 4))
    matrix[rng.random(matrix.shape) < 0.3] = NAN
    expected: dict[tuple[float, ...], int] = {}
    for row in matrix:
        key = tuple(sorted(row[~np.isnan(row)].tolist()))
        expected[key] = expected.get(key, 0) + 1
    expected.pop((), None)
    assert shown(RatingPatterns.from_matrix(matrix)) == expected


def test_ratings_are_read_in_blocks_without_losing_any() -> None:
    rng = np.random.default_rng(4)
    matrix = rng.integers(1, 6, (50_000, 3)).astype(float)
    patterns = RatingPatterns.from_matrix(matrix)
    assert patterns.n_units.sum() == 50_000
    assert len(patterns.n_units) == 35  # multisets of three from five values
    ones = np.ones(len(patterns.n_units))
    by_value = patterns.marginals(patterns.n_units[np.newaxis].astype(float), ones)
    assert by_value.tolist() == [np.bincount(matrix.ravel().astype(int))[1:].tolist()]


def test_a_late_fraction_is_not_taken_for_a_whole_number() -> None:
    matrix = np.ones((40_000, 3))
    matrix[-1] = 1.5, 2, 2
    assert shown(RatingPatterns.from_matrix(matrix)) == {(1, 1, 1): 39_999, (1.5, 2, 2): 1}


def test_marginals_are_the_same_for_few_and_for_many_entries() -> None:
    """Above a block of entries they are counted row by row."""
    rng = np.random.default_rng(5)
    matrix = rng.normal(size=(12_000, 3)).round(3)
    patterns = RatingPatterns.from_matrix(matrix)
    assert len(patterns.code) > 1 << 15
    weights = rng.integers(0, 3, (2, 12_000)).astype(float)
    per_rating = rng.random(12_000)
    expected = np.zeros((2, len(patterns.values)))
    for row in range(2):
        np.add.at(
            expected[row],
            patterns.code,
            (weights[row] * per_rating)[patterns.pattern] * patterns.count,
        )
    np.testing.assert_allclose(patterns.marginals(weights, per_rating), expected)


def test_no_ratings_at_all_are_patterns_too() -> None:
    for empty in (
        RatingPatterns.from_matrix(np.empty((0, 0))),
        RatingPatterns.from_matrix(np.empty((0, 2)), groups=[]),
    ):
        assert len(empty.n_units) == 0
        assert math.isnan(krippendorff_alpha(empty, level="interval"))


def test_groups_stay_with_the_patterns_they_were_counted_in() -> None:
    patterns = RatingPatterns.from_matrix(MATRIX)
    with pytest.raises(ValueError, match="groups must be given when the patterns are counted"):
        agreement_profile(
            patterns, scale=LIKERT5, level="ordinal", confidence=0.95, groups=list("aabbcc")
        )
