import math
from itertools import product

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score  # type: ignore[import-untyped]

from eval_assets.stats import (
    CohenKappa,
    KappaWeights,
    coefficient_interval,
    cohen_kappa,
    spearman,
)

NAN = math.nan


def pairs(table: list[list[int]]) -> tuple[list[int], list[int]]:
    """Both raters' values from a contingency table."""
    a, b = [], []
    for row, cells in enumerate(table):
        for column, count in enumerate(cells):
            a += [row] * count
            b += [column] * count
    return a, b


@pytest.mark.parametrize(
    ("table", "kappa"),
    [
        ([[20, 5], [10, 15]], 0.4),  # P_o .7, P_e .5
        ([[38, 4], [4, 4]], 0.405),  # P_o .84, P_e .7312
        ([[85, 5], [5, 5]], 0.444),  # nine in ten agree, and nine in ten would by chance .82
        ([[0, 0], [1, 4]], 0.0),  # one judge never says no
        ([[3, 0], [0, 2]], 1.0),
        ([[0, 2], [2, 0]], -1.0),
    ],
)
def test_kappa_of_a_table(table: list[list[int]], kappa: float) -> None:
    assert cohen_kappa(*pairs(table), weights=None) == pytest.approx(kappa, abs=5e-4)


def test_binary_kappa_has_two_categories_whatever_scale_is_in_fashion() -> None:
    # [1 1 0 0], [1 0 0 0]: P_o 3/4, P_e = .5 * .25 + .5 * .75 = .5
    assert cohen_kappa([1, 1, 0, 0], [1, 0, 0, 0], weights=None) == pytest.approx(0.5)


def test_a_judge_who_is_one_off_now_and_then_has_low_plain_and_high_weighted_kappa() -> None:
    human, judge = [1, 2, 3, 4, 5], [2, 2, 4, 5, 5]
    # two of five are exact, P_e = 1/5; squares add up to 3, over all 25 pairings to 105
    assert cohen_kappa(human, judge, weights=None) == pytest.approx(0.25)
    assert cohen_kappa(human, judge, weights="quadratic") == pytest.approx(1 - 5 * 3 / 105)
    assert spearman(judge, human) == pytest.approx(9 / math.sqrt(10 * 9))


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_kappa_agrees_with_scikit_learn_if_no_value_is_skipped(
    weights: KappaWeights | None,
) -> None:
    rng = np.random.default_rng(1)
    a = rng.integers(1, 6, 200)
    b = np.clip(a + rng.integers(-1, 2, 200), 1, 5)
    expected = cohen_kappa_score(a, b, weights=weights)
    assert cohen_kappa(a, b, weights=weights) == pytest.approx(expected, abs=1e-12)


def test_distances_are_of_values_not_of_ranks() -> None:
    a, b = [1, 1, 2, 5, 5, 2], [1, 2, 2, 5, 2, 2]
    # |a - b| adds up to 4; one rater 1 1 2 2 5 5, the other 1 2 2 2 2 5: over all 36 pairings
    # 1: 0 4 4 = 4 + 4 -> 2 * 8, 2: 1 + 3 -> 2 * 4, 5: 4 + 4 * 3 -> 2 * 16: 56
    assert cohen_kappa(a, b, weights="linear") == pytest.approx(1 - 6 * 4 / 56)
    with_every_value = cohen_kappa_score(a, b, weights="linear", labels=[1, 2, 3, 4, 5])
    assert cohen_kappa(a, b, weights="linear") == pytest.approx(with_every_value)


def test_fractional_scores_are_values_like_any_other() -> None:
    """A mean of two integer scores lies between the steps of the scale."""
    assert cohen_kappa([1, 2, 3, 2], [1, 2.5, 3, 2], weights="quadratic") == pytest.approx(
        # sum of squares .25; sums 8 and 8.5, squares 18 and 20.25: (4 * 38.25 - 2 * 8 * 8.5) / 16
        1 - (0.25 / 4) / ((4 * 38.25 - 2 * 8 * 8.5) / 16)
    )


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
@pytest.mark.parametrize(
    ("a", "b"),
    [([1, 1, 1], [1, 1, 1]), ([], []), ([NAN, 1], [1, NAN])],
    ids=["one class", "none", "no pair"],
)
def test_kappa_without_two_classes_is_undefined(
    a: list[float], b: list[float], weights: KappaWeights | None
) -> None:
    assert math.isnan(cohen_kappa(a, b, weights=weights))


def test_units_that_one_rater_left_out_do_not_count() -> None:
    full = cohen_kappa([1, 0, 1, 0], [1, 0, 0, 0], weights=None)
    assert cohen_kappa([1, 0, NAN, 1, 0], [1, 0, 1, 0, 0], weights=None) == full


def test_five_units_with_two_classes_have_fourteen_kappas() -> None:
    """Between .615 and 1 there is none: a gate at .70 on five documents asks for perfection."""
    kappas = {
        round(kappa, 3)
        for a in product((0, 1), repeat=5)
        for b in product((0, 1), repeat=5)
        if not math.isnan(kappa := cohen_kappa(a, b, weights=None))
    }
    assert sorted(kappas) == [
        -0.923, -0.667, -0.471, -0.429, -0.364, -0.25, -0.154,
        0.0, 0.118, 0.167, 0.286, 0.545, 0.615, 1.0,
    ]  # fmt: skip


def test_columns_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="one value per unit"):
        cohen_kappa([1, 2], [1], weights=None)
    with pytest.raises(ValueError, match="finite or NaN"):
        cohen_kappa([1, math.inf], [1, 2], weights=None)


def test_kappa_that_rests_on_one_unit_has_no_interval() -> None:
    """Without the last unit all ratings are equal, to the last bit or not."""
    ratings = [[0.1, 0.1]] * 5 + [[0.7, 0.7]]
    result = coefficient_interval(ratings, CohenKappa("quadratic"), confidence=0.95)

    assert result.value == 1
    assert result.method is None
