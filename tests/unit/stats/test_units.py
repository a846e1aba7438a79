"""Weights on kinds of units stand for rows, and the jackknife leaves out rows group by group."""

import math

import numpy as np
import numpy.typing as npt
import pytest

from eval_assets.scale import LIKERT5
from eval_assets.stats import (
    Alpha,
    FleissKappa,
    GwetAC,
    HumanAgreement,
    PairwiseAgreement,
    RatingPatterns,
)
from eval_assets.stats import _units as module
from eval_assets.stats._coefficients import PatternCoefficient, estimate
from eval_assets.stats._units import Deletions, Units

Floats = npt.NDArray[np.float64]

COEFFICIENTS: list[PatternCoefficient] = [
    HumanAgreement(LIKERT5),
    PairwiseAgreement(within=0),
    PairwiseAgreement(within=1),
    Alpha("nominal"),
    Alpha("ordinal"),
    Alpha("interval"),
    Alpha("ratio"),
    FleissKappa(),
    GwetAC(None, (1, 2, 3, 4, 5)),
    GwetAC("linear", (1, 2, 3, 4, 5)),
    GwetAC("quadratic", (1, 2, 3, 4, 5)),
    GwetAC("ordinal", (1, 2, 3, 4, 5)),
]


def sample(n_units: int, *, seed: int, missing: float = 0.2, continuous: bool = False) -> Floats:
    """Ratings 1-5 by three raters who mostly agree."""
    rng = np.random.default_rng(seed)
    truth = rng.uniform(1.5, 4.5, (n_units, 1))
    ratings: Floats = np.clip(truth + rng.normal(0, 0.8, (n_units, 3)), 1, 5)
    if not continuous:
        ratings = np.rint(ratings)
    ratings[rng.random(ratings.shape) < missing] = math.nan
    return ratings


def expanded(patterns: RatingPatterns, weights: Floats) -> RatingPatterns:
    """Patterns counted again from as many rows as the weights say."""
    rows = []
    for index, weight in enumerate(weights):
        first = patterns.pattern == index
        row = np.full(3, math.nan)
        ratings = np.repeat(patterns.values[patterns.code[first]], patterns.count[first])
        row[: len(ratings)] = ratings
        rows += [row] * int(weight)
    return RatingPatterns.from_matrix(np.array(rows))


@pytest.mark.parametrize("continuous", [False, True])
@pytest.mark.parametrize("coefficient", COEFFICIENTS, ids=str)
def test_a_weighted_coefficient_is_that_of_the_rows_it_stands_for(
    coefficient: PatternCoefficient, *, continuous: bool
) -> None:
    if continuous and isinstance(coefficient, GwetAC):
        coefficient = GwetAC(coefficient.weights, tuple(np.linspace(1, 5, 401)))
    ratings = sample(40, seed=1, continuous=continuous).round(2)
    patterns = RatingPatterns.from_matrix(ratings)
    n_patterns = len(patterns.n_units)
    weights = np.random.default_rng(2).multinomial(40, np.full(n_patterns, 1 / n_patterns), 20)
    values = coefficient.measure(patterns).estimator(weights.astype(float))
    rows = [estimate(coefficient, expanded(patterns, row)) for row in weights]
    np.testing.assert_allclose(values, rows, rtol=0, atol=1e-12)
    assert not np.isnan(values).all()


def test_undefined_sets_of_weights_are_nan_beside_defined_ones() -> None:
    patterns = RatingPatterns.from_matrix([[1, 1], [1, 2]])
    weights = np.array([[2.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
    alpha = Alpha("interval").measure(patterns).estimator(weights)
    # [1 1][1 1]: no variation; [1 1][1 2]: 1 - (2/4) / (6/12) = 0; [1 2][1 2]: 1 - 1 / (8/12)
    np.testing.assert_allclose(alpha, [math.nan, 0.0, -0.5], atol=1e-15)


def left_out(deletions: Deletions) -> Floats:
    """The first estimator's values, one for each deletion."""
    return np.repeat(deletions.values[0], deletions.multiplicity)


def test_the_jackknife_leaves_out_each_unit_once() -> None:
    ratings = sample(30, seed=4, missing=0.1)
    patterns = RatingPatterns.from_matrix(ratings)
    alpha = Alpha("ordinal").measure(patterns).estimator
    actual = left_out(patterns.units.jackknife([alpha], cost=1))
    expected = [estimate(Alpha("ordinal"), np.delete(ratings, unit, axis=0)) for unit in range(30)]
    np.testing.assert_allclose(np.sort(actual), np.sort(expected), rtol=0, atol=1e-12)


def test_the_jackknife_leaves_out_each_group_with_all_its_units() -> None:
    ratings, groups = sample(60, seed=4, missing=0.1), np.random.default_rng(1).integers(9, size=60)
    patterns = RatingPatterns.from_matrix(ratings, groups=groups)
    alpha = Alpha("ordinal").measure(patterns).estimator
    actual = left_out(patterns.units.jackknife([alpha], cost=1))
    expected = [estimate(Alpha("ordinal"), ratings[groups != group]) for group in range(9)]
    np.testing.assert_allclose(np.sort(actual), np.sort(expected), rtol=0, atol=1e-12)


@pytest.mark.parametrize("is_grouped", [True, False])
def test_many_deletions_of_many_kinds_are_those_of_each_group(is_grouped: bool) -> None:  # noqa: FBT001
    rng = np.random.default_rng(3)
    kind, groups = rng.integers(300, size=900), rng.permutation(np.arange(900) // 3)
    units = Units.of(kind, n_kinds=300, groups=groups if is_grouped else None)
    without: list[Floats] = []

    def remember(weights: Floats) -> Floats:
        without.append(units.n_units - weights)
        return np.zeros(len(weights))

    deletions = units.jackknife([remember], cost=1)
    counts = np.repeat(np.concatenate(without), deletions.multiplicity, axis=0)
    expected = (
        [np.bincount(kind[groups == group], minlength=300) for group in range(300)]
        if is_grouped
        else np.eye(300)[np.sort(kind)]
    )
    np.testing.assert_array_equal(counts, expected)


@pytest.mark.parametrize(("kind", "is_mixed"), [([0, 0, 1, 1], False), ([0, 1, 1, 1], True)])
def test_groups_of_equal_units_are_not_mixed(kind: list[int], is_mixed: bool) -> None:  # noqa: FBT001
    units = Units.of(np.array(kind), n_kinds=2, groups=np.array([0, 0, 1, 1]))

    assert units.has_mixed_groups is is_mixed


def test_groups_of_one_unit_each_are_no_groups() -> None:
    kind = np.array([0, 1, 0])

    assert Units.of(kind, n_kinds=2, groups=np.array([5, 3, 4])).group is None
    assert Units.of(kind, n_kinds=2, groups=np.array([5, 3, 3])).group is not None


@pytest.mark.parametrize("groups", [None, np.arange(699) // 3])
def test_blocks_of_groups_hold_every_unit_once(
    groups: npt.NDArray[np.int64] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_JACKKNIFE_WORK", 0)
    kind = np.random.default_rng(2).integers(120, size=699)
    units = Units.of(kind, n_kinds=120, groups=groups)
    differences: list[Floats] = []

    def remember(weights: Floats) -> Floats:
        differences.append(units.n_units - weights)
        return np.zeros(len(weights))

    deletions = units.jackknife([remember], cost=1)
    assert deletions.n_deletions == module.FEWEST_DELETIONS
    missing = np.concatenate(differences)
    assert (missing.sum(axis=0) == units.n_units).all()
    sizes = missing.sum(axis=1)
    assert sizes.max() - sizes.min() <= (1 if groups is None else 3)


def test_means_of_groups_are_those_of_their_units() -> None:
    kind, groups = np.array([0, 1, 1, 2, -1, 0]), np.array([0, 0, 1, 1, 1, 2])
    values = np.array([1.0, 3.0, 8.0])
    grouped = Units.of(kind, n_kinds=3, groups=groups)
    assert grouped.group_means(values).tolist() == [2.0, 5.5, 1.0]
    alone = Units.of(kind, n_kinds=3, groups=None)
    assert sorted(alone.group_means(values)) == [1.0, 1.0, 3.0, 3.0, 8.0]
