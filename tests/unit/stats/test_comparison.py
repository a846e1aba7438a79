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
    bootstrap_interval,
    coefficient_interval,
    difference_interval,
    krippendorff_alpha,
)

NAN = math.nan


def rated(n_units: int, *, seed: int, noise: float) -> npt.NDArray[np.float64]:
    """Ratings 1-5 by three raters of the same responses, however noisy they are."""
    truth = np.random.default_rng(0).uniform(1, 5, (n_units, 1))
    rng = np.random.default_rng(seed)
    ratings: npt.NDArray[np.float64] = np.rint(
        np.clip(truth + rng.normal(0, noise, (n_units, 3)), 1, 5)
    )
    ratings[rng.random(ratings.shape) < 0.15] = NAN
    return ratings


def test_paired_units_are_drawn_together() -> None:
    a, b = rated(50, seed=1, noise=0.5), rated(50, seed=2, noise=1.0)

    def difference(rows: npt.NDArray[np.float64]) -> float:
        of_a = krippendorff_alpha(rows[:, :3], level="ordinal")
        return of_a - krippendorff_alpha(rows[:, 3:], level="ordinal")

    expected = bootstrap_interval(
        np.hstack([a, b]),
        difference,
        confidence=0.95,
        n_resamples=2000,
        rng=np.random.default_rng(1),
    )
    found = difference_interval(
        a,
        b,
        Alpha("ordinal"),
        paired=True,
        confidence=0.95,
        n_resamples=6000,
        rng=np.random.default_rng(2),
    )
    assert found.value == pytest.approx(expected.value)
    assert found.low == pytest.approx(expected.low, abs=0.03)
    assert found.high == pytest.approx(expected.high, abs=0.03)


def test_ratings_do_not_differ_from_themselves() -> None:
    a = rated(30, seed=1, noise=0.8)
    found = difference_interval(
        a,
        a,
        Alpha("interval"),
        paired=True,
        confidence=0.95,
        n_resamples=200,
        rng=np.random.default_rng(1),
    )
    assert (found.low, found.value, found.high) == (0, 0, 0)


def test_independent_units_add_their_variances() -> None:
    a, b = rated(150, seed=1, noise=0.5), rated(100, seed=2, noise=1.0)
    found = difference_interval(
        a,
        b,
        HumanAgreement(1, 5),
        paired=False,
        confidence=0.95,
        n_resamples=6000,
        rng=np.random.default_rng(1),
    )
    widths = []
    for ratings in (a, b):
        alone = coefficient_interval(
            RatingPatterns.from_matrix(ratings),
            HumanAgreement(1, 5),
            confidence=0.95,
            n_resamples=6000,
            rng=np.random.default_rng(2),
        )
        widths.append(alone.high - alone.low)
    assert found.high - found.low == pytest.approx(math.hypot(*widths), rel=0.05)
    assert found.low > 0
    n_pairable = [int((np.count_nonzero(~np.isnan(x), axis=1) > 1).sum()) for x in (a, b)]
    assert found.n_units == sum(n_pairable)


def test_two_questions_may_have_scales_of_their_own() -> None:
    found = difference_interval(
        [[1, 5], [3, 3]],
        [[0, 1], [0, 1]],
        HumanAgreement(1, 5),
        coefficient_b=HumanAgreement(0, 1),
        paired=True,
        confidence=0.9,
        n_resamples=100,
        rng=np.random.default_rng(1),
    )
    assert found.value == 0.5


def test_a_difference_may_lie_beyond_one_where_the_jackknife_is_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("eval_assets.stats.intervals.MAX_BOOTSTRAP_WORK", 0)
    same, opposite = [[1, 1], [2, 2]] * 20, [[1, 2], [2, 1]] * 19 + [[1, 1], [2, 2]]
    found = difference_interval(
        same,
        opposite,
        Alpha("nominal"),
        paired=False,
        confidence=0.95,
        n_resamples=100,
        rng=np.random.default_rng(1),
    )
    assert found.method == "jackknife_t"
    assert 1 < found.low < found.value < found.high


@pytest.mark.parametrize("coefficient", [FleissKappa(), GwetAC(None), Alpha("ordinal")], ids=str)
def test_resamples_without_any_unit_of_one_side_are_left_out(coefficient: Coefficient) -> None:
    a = rated(12, seed=1, noise=0.7)
    b = np.full_like(a, NAN)
    b[:4] = rated(4, seed=2, noise=0.7)
    found = difference_interval(
        a,
        b,
        coefficient,
        paired=True,
        confidence=0.95,
        n_resamples=500,
        rng=np.random.default_rng(1),
    )
    # no row of the first four is drawn in (8 / 12)**12 = .8 % of the resamples
    assert found.low < found.value < found.high


def test_paired_ratings_of_different_units_are_refused() -> None:
    with pytest.raises(ValueError, match="must have the same units, got 1 and 2"):
        difference_interval(
            [[1, 1]],
            [[1, 1], [2, 2]],
            PairwiseAgreement(0),
            paired=True,
            confidence=0.95,
            n_resamples=10,
            rng=np.random.default_rng(1),
        )
