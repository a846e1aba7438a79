"""Weights on patterns are rows, drawn or left out: the same coefficients to the last digit."""

import math

import numpy as np
import numpy.typing as npt
import pytest

from eval_assets.stats import (
    Alpha,
    Coefficient,
    FleissKappa,
    GwetAC,
    HumanAgreement,
    PairwiseAgreement,
    RatingPatterns,
    estimate,
)
from eval_assets.stats.resampling import MAX_DELETIONS, ResampledUnits

COEFFICIENTS: list[Coefficient] = [
    HumanAgreement(1, 5),
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


def sample(
    n_units: int, *, seed: int, missing: float = 0.2, continuous: bool = False
) -> npt.NDArray[np.float64]:
    """Ratings 1-5 by three raters who mostly agree."""
    rng = np.random.default_rng(seed)
    truth = rng.uniform(1.5, 4.5, (n_units, 1))
    ratings: npt.NDArray[np.float64] = np.clip(truth + rng.normal(0, 0.8, (n_units, 3)), 1, 5)
    if not continuous:
        ratings = np.rint(ratings)
    ratings[rng.random(ratings.shape) < missing] = math.nan
    return ratings


def expanded(patterns: RatingPatterns, weights: npt.NDArray[np.float64]) -> RatingPatterns:
    """Patterns counted anew from as many rows as the weights say."""
    rows = []
    for index, weight in enumerate(weights):
        mine = patterns.pattern == index
        row = np.full(3, math.nan)
        ratings = np.repeat(patterns.values[patterns.code[mine]], patterns.count[mine])
        row[: len(ratings)] = ratings
        rows += [row] * int(weight)
    return RatingPatterns.from_matrix(np.array(rows))


@pytest.mark.parametrize("continuous", [False, True])
@pytest.mark.parametrize("coefficient", COEFFICIENTS, ids=str)
def test_a_weighted_coefficient_is_that_of_the_rows_it_stands_for(
    coefficient: Coefficient, *, continuous: bool
) -> None:
    if continuous and isinstance(coefficient, GwetAC):
        coefficient = GwetAC(coefficient.weights, tuple(np.linspace(1, 5, 401)))
    ratings = sample(40, seed=1, continuous=continuous).round(2)
    patterns = RatingPatterns.from_matrix(ratings)
    n_patterns = len(patterns.n_units)
    weights = np.random.default_rng(2).multinomial(40, np.full(n_patterns, 1 / n_patterns), 20)
    values = coefficient.estimator(patterns)(weights.astype(float))
    rows = [estimate(coefficient, expanded(patterns, row)) for row in weights]
    np.testing.assert_allclose(values, rows, rtol=0, atol=1e-12)
    assert not np.isnan(values).all()


def test_undefined_resamples_are_nan_beside_defined_ones() -> None:
    patterns = RatingPatterns.from_matrix([[1, 1], [1, 2]])
    weights = np.array([[2.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
    alpha = Alpha("interval").estimator(patterns)(weights)
    # [1 1][1 1]: no variation; [1 1][1 2]: 1 - (2/4) / (6/12) = 0; [1 2][1 2]: 1 - 1 / (8/12)
    np.testing.assert_allclose(alpha, [math.nan, 0.0, -0.5], atol=1e-15)


def test_draws_keep_the_number_of_units_in_each_stratum() -> None:
    patterns = RatingPatterns.from_matrix(sample(200, seed=3, missing=0.4))
    units = ResampledUnits.of(patterns, [])
    drawn: list[npt.NDArray[np.float64]] = []

    def remember(weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        drawn.append(weights)
        return np.zeros(len(weights))

    units.bootstrap([remember], n_resamples=50, rng=np.random.default_rng(1))
    weights = np.concatenate(drawn)
    assert weights.shape == (50, len(patterns.n_units))
    pairable = patterns.is_pairable
    assert set(weights[:, pairable].sum(axis=1)) == {units.n_pairable}
    assert set(weights[:, ~pairable].sum(axis=1)) == {float(patterns.n_units[~pairable].sum())}


@pytest.mark.parametrize("n_each", [1, 30])
def test_both_ways_to_draw_have_the_multinomial_mean_and_variance(n_each: int) -> None:
    """Units are drawn one by one where nearly each has its own pattern, else by binomials."""
    n_units = np.full(10, n_each)
    units = ResampledUnits.alike(n_units, n_entries=10)
    columns = [lambda weights, k=k: weights[:, k] for k in range(10)]
    drawn = units.bootstrap(columns, n_resamples=20_000, rng=np.random.default_rng(1))
    assert (drawn.sum(axis=0) == 10 * n_each).all()
    np.testing.assert_allclose(drawn.mean(axis=1), n_each, rtol=0.05)
    np.testing.assert_allclose(drawn.var(axis=1), n_each * 0.9, rtol=0.05)
    np.testing.assert_allclose(np.cov(drawn[:2])[0, 1], -n_each * 0.1, rtol=0.3)


def test_the_jackknife_leaves_out_each_unit_once() -> None:
    ratings = sample(30, seed=4, missing=0.1)
    patterns = RatingPatterns.from_matrix(ratings)
    pairable = np.count_nonzero(~np.isnan(ratings), axis=1) > 1
    (deletions, *_) = ResampledUnits.of(patterns, []).jackknife(
        [Alpha("ordinal").estimator(patterns)]
    )
    expected = [
        estimate(Alpha("ordinal"), RatingPatterns.from_matrix(np.delete(ratings, unit, axis=0)))
        for unit in np.flatnonzero(pairable)
    ]
    repeated = np.repeat(deletions.values[0], deletions.multiplicity)
    np.testing.assert_allclose(np.sort(repeated), np.sort(expected), rtol=0, atol=1e-12)


def test_many_patterns_are_left_out_in_groups_that_hold_every_unit_once() -> None:
    n_units = np.full(MAX_DELETIONS + 500, 2)
    units = ResampledUnits.alike(n_units, n_entries=1)
    seen: list[npt.NDArray[np.float64]] = []

    def remember(weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        seen.append(n_units - weights)
        return np.zeros(len(weights))

    (deletions,) = units.jackknife([remember])
    assert deletions.values.shape == (1, MAX_DELETIONS)
    assert (np.concatenate(seen).sum(axis=0) == n_units).all()
