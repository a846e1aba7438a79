import itertools
import math
from statistics import NormalDist

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint  # type: ignore[import-untyped]

from eval_assets.stats import rogan_gladen


def labelled(sensitivity: float, specificity: float, *, n_each: int) -> tuple[list[int], list[int]]:
    """As many positive as negative units, with these rates exactly."""
    found, clear = round(sensitivity * n_each), round(specificity * n_each)
    judge = [1] * found + [0] * (n_each - found) + [0] * clear + [1] * (n_each - clear)
    return [1] * n_each + [0] * n_each, judge


@pytest.mark.parametrize(
    ("positive", "tested", "sensitivity", "specificity", "share"),
    [
        (23, 150, 0.96, 0.89, 0.0510),  # brucellosis in a herd, documentation of R's epiR
        (20, 120, 0.90, 0.99, 0.17603),  # documentation of R's RSurveillance
    ],
)
def test_published_shares_are_reproduced(
    positive: int, tested: int, sensitivity: float, specificity: float, share: float
) -> None:
    truth, judge = labelled(sensitivity, specificity, n_each=100)
    unlabelled = [1] * positive + [0] * (tested - positive)

    assert rogan_gladen(truth, judge, unlabelled, confidence=0.95).value == pytest.approx(
        share, abs=5e-5
    )


def test_with_rates_known_for_certain_only_the_apparent_share_is_uncertain() -> None:
    """Then it is the Agresti-Coull interval of that share, moved and stretched."""
    truth, judge = labelled(0.9, 0.99, n_each=2_000_000)
    found = rogan_gladen(truth, judge, [1] * 20 + [0] * 100, confidence=0.95)
    ends = proportion_confint(20, 120, method="agresti_coull")

    assert (found.low, found.high) == pytest.approx(
        [(end + 0.99 - 1) / 0.89 for end in ends], abs=1e-5
    )


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_the_interval_holds_the_share_as_often_as_it_says(share: float) -> None:
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(1_000):
        truth = np.array([1] * 60 + [0] * 60)
        judge = np.where(truth == 1, rng.random(120) < 0.85, rng.random(120) < 0.2)
        positive = rng.random(400) < share
        other = np.where(positive, rng.random(400) < 0.85, rng.random(400) < 0.2)
        found = rogan_gladen(truth, judge, other, confidence=0.95)
        held += found.low <= share <= found.high

    assert 0.935 <= held / 1_000 <= 0.985


def test_a_share_below_zero_is_reported_as_zero() -> None:
    truth, judge = labelled(0.9, 0.8, n_each=50)
    found = rogan_gladen(truth, judge, [1] * 7 + [0] * 33, confidence=0.95)

    assert found.value == 0
    assert found.low == 0
    assert 0 < found.high < 0.3


@pytest.mark.parametrize(
    ("labels", "predictions", "unlabelled"),
    [
        ([1, 1], [1, 0], [1]),
        ([0, 0], [0, 1], [1]),
        ([1, 0], [0, 1], [1]),
        ([1, 0], [1, 1], [1]),
        ([1, 0], [1, 0], []),
        ([1, 0], [1, math.nan], [1]),
        ([1] * 50 + [0] * 50, [1] * 50 + [0] * 25 + [1] * 25, [0] * 200),
    ],
    ids=["no negative", "no positive", "reversed", "chance", "none else", "unjudged", "other"],
)
def test_it_is_undefined_if_error_rates_are_unknown_useless_or_not_those_of_the_labels(
    labels: list[float], predictions: list[float], unlabelled: list[float]
) -> None:
    found = rogan_gladen(labels, predictions, unlabelled, confidence=0.95)

    assert np.isnan([found.value, found.low, found.high]).all()


def test_all_small_tables_have_an_ordered_interval_or_none() -> None:
    sides = [(n, hits) for n in range(1, 7) for hits in range(n + 1)]
    for (n_positive, found), (n_negative, clear) in itertools.product(sides, sides):
        truth = [1] * n_positive + [0] * n_negative
        judge = [1] * found + [0] * (n_positive - found) + [0] * clear + [1] * (n_negative - clear)
        for n_called, n_other in ((0, 1), (1, 1), (1, 2), (2, 5)):
            unlabelled = [1] * n_called + [0] * (n_other - n_called)
            estimate = rogan_gladen(truth, judge, unlabelled, confidence=0.95)
            ends = [estimate.low, estimate.value, estimate.high]
            better = (found + 1) / (n_positive + 2) + (clear + 1) / (n_negative + 2) > 1 + 1e-9

            assert np.isnan(ends).all() or 0 <= estimate.low <= estimate.high <= 1
            assert better or np.isnan(ends).all()


def test_three_labels_are_enough_if_they_show_more_than_chance() -> None:
    """With two units of each class more the rates are 2/3 and 2/4, which add up to more than 1."""
    found = rogan_gladen([1, 0, 0], [1, 0, 1], [1, 1, 1, 0], confidence=0.95)

    assert (found.value, found.low, found.high) == pytest.approx((0.5, 0, 1))


def test_the_interval_adds_two_units_to_each_class() -> None:
    """By hand: .8 of 50 and .75 of 40 with one hit and one miss more are 41/52 and 31/42."""
    truth = [1] * 50 + [0] * 40
    judge = [1] * 40 + [0] * 10 + [0] * 30 + [1] * 10
    found = rogan_gladen(truth, judge, [1] * 60 + [0] * 40, confidence=0.95)
    z = NormalDist().inv_cdf(0.975)
    sens, spec, positive = 41 / 52, 31 / 42, (60 + z**2 / 2) / (100 + z**2)
    share = (positive + spec - 1) / (sens + spec - 1)
    of_sens, of_spec = sens * (1 - sens) / 52, spec * (1 - spec) / 42
    variance = positive * (1 - positive) / (100 + z**2)
    variance += share**2 * of_sens + (1 - share) ** 2 * of_spec
    reach = z * math.sqrt(variance) / (sens + spec - 1)
    centre = share + 2 * z**2 * (share * of_sens - (1 - share) * of_spec)

    assert found.value == pytest.approx((0.6 + 0.75 - 1) / (0.8 + 0.75 - 1))
    assert (found.low, found.high) == pytest.approx((centre - reach, centre + reach))
    assert 0 < found.low < found.high < 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"labels": [1, 2]}, "each 0, 1 or NaN"),
        ({"predictions": [1]}, "one prediction for each label"),
        ({"confidence": 95}, r"confidence must lie in \(0, 1\), got 95"),
        ({"confidence": 0}, r"confidence must lie in \(0, 1\), got 0"),
    ],
)
def test_what_does_not_fit_is_refused(arguments: dict[str, object], message: str) -> None:
    given = {"labels": [1, 0], "predictions": [1, 0], "unlabelled": [1], "confidence": 0.95}
    with pytest.raises(ValueError, match=message):
        rogan_gladen(**{**given, **arguments})  # type: ignore[arg-type]
