import math

import numpy as np
import numpy.typing as npt
import pytest

from eval_assets.scale import BINARY, LIKERT5
from eval_assets.stats import (
    Alpha,
    Coefficient,
    FleissKappa,
    GwetAC,
    HumanAgreement,
    PairwiseAgreement,
    RatingPatterns,
    bootstrap_interval,
    coefficient_interval,
    difference_interval,
    krippendorff_alpha,
)

Floats = npt.NDArray[np.float64]

NAN = math.nan


def rated(n_units: int, *, seed: int, noise: float) -> Floats:
    """Ratings 1-5 by three raters of the same responses, however noisy they are."""
    truth = np.random.default_rng(0).uniform(1, 5, (n_units, 1))
    rng = np.random.default_rng(seed)
    ratings: Floats = np.rint(np.clip(truth + rng.normal(0, noise, (n_units, 3)), 1, 5))
    ratings[rng.random(ratings.shape) < 0.15] = NAN
    return ratings


@pytest.mark.parametrize("groups", [None, np.arange(240) // 3])
def test_what_paired_units_have_in_common_cancels_out(groups: npt.NDArray[np.int64] | None) -> None:
    a, b = rated(240, seed=1, noise=0.5), rated(240, seed=2, noise=1.0)

    def difference(rows: Floats) -> float:
        of_a = krippendorff_alpha(rows[:, :3], level="ordinal")
        return of_a - krippendorff_alpha(rows[:, 3:], level="ordinal")

    expected = bootstrap_interval(
        np.hstack([a, b]),
        difference,
        confidence=0.95,
        n_resamples=1000,
        rng=np.random.default_rng(1),
        groups=groups,
    )
    found = difference_interval(a, b, Alpha("ordinal"), paired=True, confidence=0.95, groups=groups)
    width = expected.high - expected.low
    assert found.value == pytest.approx(expected.value)
    assert found.low == pytest.approx(expected.low, abs=0.15 * width)
    assert found.high == pytest.approx(expected.high, abs=0.15 * width)
    n_ratings = [np.count_nonzero(~np.isnan(side), axis=1) for side in (a, b)]
    assert found.n_units == int(((n_ratings[0] > 1) | (n_ratings[1] > 1)).sum())
    assert found.n_groups == (found.n_units if groups is None else 80)


def test_ratings_do_not_differ_from_themselves() -> None:
    a = rated(60, seed=1, noise=0.8)
    found = difference_interval(a, a, Alpha("interval"), paired=True, confidence=0.95)
    apart = difference_interval(a, a, Alpha("interval"), paired=False, confidence=0.95)
    assert found.low <= found.value == 0 <= found.high
    assert found.high - found.low < (apart.high - apart.low) / 3


def test_independent_units_add_their_variances() -> None:
    a, b = rated(150, seed=1, noise=0.5), rated(100, seed=2, noise=1.0)
    agreement = HumanAgreement(LIKERT5)
    found = difference_interval(a, b, agreement, paired=False, confidence=0.95)
    one, other = (coefficient_interval(x, agreement, confidence=0.95) for x in (a, b))
    assert found.value == one.value - other.value
    assert found.low == pytest.approx(
        found.value - math.hypot(one.value - one.low, other.high - other.value)
    )
    assert found.high == pytest.approx(
        found.value + math.hypot(one.high - one.value, other.value - other.low)
    )
    assert found.low > 0
    assert found.n_units == one.n_units + other.n_units


def test_the_groups_of_each_side_are_its_own() -> None:
    a, b = rated(120, seed=1, noise=0.5), rated(90, seed=2, noise=1.0)
    found = difference_interval(
        a,
        b,
        Alpha("ordinal"),
        paired=False,
        confidence=0.95,
        groups=np.arange(120) // 4,
        groups_b=np.arange(90) // 3,
    )
    assert found.n_groups == 60


def test_two_sides_that_agree_perfectly_may_still_differ() -> None:
    same = [[1, 1], [2, 2]] * 5
    found = difference_interval(same, same, HumanAgreement(LIKERT5), paired=False, confidence=0.95)
    assert found.value == 0
    assert (found.low, found.high) == pytest.approx((0.025**0.1 - 1, 1 - 0.025**0.1))


def test_two_questions_may_have_scales_of_their_own() -> None:
    found = difference_interval(
        [[1, 5], [3, 3]],
        [[0, 1], [0, 1]],
        HumanAgreement(LIKERT5),
        coefficient_b=HumanAgreement(BINARY),
        paired=True,
        confidence=0.9,
    )
    assert found.value == 0.5


@pytest.mark.parametrize("coefficient", [FleissKappa(), GwetAC(None), Alpha("ordinal")], ids=str)
def test_units_that_one_side_lacks_count_for_the_other(coefficient: Coefficient) -> None:
    a = rated(12, seed=1, noise=0.7)
    b = np.full_like(a, NAN)
    b[:5] = rated(5, seed=2, noise=0.7)
    found = difference_interval(a, b, coefficient, paired=True, confidence=0.95)
    assert found.low < found.value < found.high
    assert found.n_units == int((np.count_nonzero(~np.isnan(a), axis=1) > 1).sum())


def test_a_side_without_an_interval_leaves_none_to_the_difference() -> None:
    found = difference_interval(
        [[1, 1], [1, 1]], [[1, 2], [2, 2]], Alpha("nominal"), paired=False, confidence=0.95
    )
    assert found.method is None
    assert np.isnan([found.value, found.low, found.high]).all()


def test_paired_ratings_of_different_units_are_refused() -> None:
    with pytest.raises(ValueError, match="must have the same units, got 1 and 2"):
        difference_interval(
            [[1, 1]], [[1, 1], [2, 2]], PairwiseAgreement(0), paired=True, confidence=0.95
        )
    patterns = RatingPatterns.from_matrix([[1, 1], [1, 2]])
    with pytest.raises(TypeError, match="patterns forget which unit is which"):
        difference_interval(patterns, patterns, Alpha("nominal"), paired=True, confidence=0.95)
