"""Correlations as functions of unit weights."""

from collections.abc import Callable
from typing import Literal

import numpy as np
import pytest
from scipy import stats

from eval_assets.stats._numbers import Floats
from eval_assets.stats._paired_scores import CorrelationKind, PairedScores
from eval_assets.stats.agreement import krippendorff_alpha

Oracle = Callable[[Floats, Floats], float]

ORACLES: dict[CorrelationKind | Literal["alpha"], Oracle] = {
    "pearson": lambda a, b: float(stats.pearsonr(a, b).statistic),
    "spearman": lambda a, b: float(stats.spearmanr(a, b).statistic),
    "kendall": lambda a, b: float(stats.kendalltau(a, b).statistic),
    "alpha": lambda a, b: krippendorff_alpha(np.column_stack([a, b]), level="interval"),
}


@pytest.mark.parametrize("kind", ORACLES)
@pytest.mark.parametrize("n_values", [(3, 11), (11, 3), (2, 2), (1000, 1000)])
def test_weights_are_copies_of_units(
    kind: CorrelationKind | Literal["alpha"], n_values: tuple[int, int]
) -> None:
    rng = np.random.default_rng(7)
    one, other = (rng.integers(0, n, size=40) / n for n in n_values)
    weights = rng.integers(0, 4, size=(25, 40))

    actual = PairedScores.of(one, other).estimator(kind)(weights.astype(np.float64))

    expected = [ORACLES[kind](np.repeat(one, row), np.repeat(other, row)) for row in weights]
    assert actual == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("kind", ORACLES)
@pytest.mark.parametrize("weights", [[0, 0, 0, 0], [1, 0, 0, 0], [5, 0, 0, 7]])
def test_what_does_not_vary_in_a_resample_is_undefined(
    kind: CorrelationKind | Literal["alpha"], weights: list[float]
) -> None:
    same = np.array([0.1 + 0.2, 0.5, 0.7, 0.1 + 0.2])

    estimator = PairedScores.of(same, same).estimator(kind)
    assert np.isnan(estimator(np.array([weights], np.float64))).all()


def test_small_differences_are_measured_from_where_the_resample_is() -> None:
    """Sums of squares taken from the middle of all values would be nothing but float noise."""
    rng = np.random.default_rng(8)
    one = np.append(0.7 + 1e-9 * rng.random(50), 0.0)
    other = np.append(0.7 - 1e-9 * rng.random(50), 1.0)
    without_last = np.append(np.ones(50), 0.0)[np.newaxis]

    result = PairedScores.of(one, other).estimator("pearson")(without_last)

    assert result == pytest.approx([stats.pearsonr(one[:-1], other[:-1]).statistic], abs=1e-6)


def test_a_constant_side_leaves_alpha_defined() -> None:
    # units (0, .5) and (1, .5): D_o = .25; ordered pairs of 0, 1, .5, .5 -> 2 (1 + 4 x .25) / 12
    scores = PairedScores.of(np.array([0.0, 1.0]), np.array([0.5, 0.5]))
    weights = np.ones((1, 2))

    assert scores.estimator("alpha")(weights) == pytest.approx([1 - 0.25 / (4 / 12)])
    assert np.isnan(scores.estimator("pearson")(weights)).all()
    assert np.isnan(scores.estimator("kendall")(weights)).all()


def test_no_units_have_no_correlation() -> None:
    empty = PairedScores.of(np.empty(0), np.empty(0))

    for kind in ORACLES:
        assert np.isnan(empty.estimator(kind)(np.empty((2, 0)))).all()
