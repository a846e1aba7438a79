import math

import numpy as np
import pytest
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate  # type: ignore[import-untyped]
from scipy import stats

from eval_assets.stats import prediction_powered_difference, prediction_powered_mean

NAN = math.nan


def simulated(seed: int, *, noise: float = 0.3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels and scores of 60 units, and scores of 500 further ones."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(3, 1, 560)
    judge = 0.7 * truth + rng.normal(0, noise, 560)
    return truth[:60], judge[:60], judge[60:]


@pytest.mark.parametrize("noise", [0.01, 0.3, 3.0])
@pytest.mark.parametrize("seed", range(3))
def test_it_equals_ppi_python(seed: int, noise: float) -> None:
    """Theirs takes the normal quantile and divides by n, ours Student's t and by n - 1."""
    labels, predictions, unlabelled = simulated(seed, noise=noise)
    found = prediction_powered_mean(labels, predictions, unlabelled, confidence=0.9)
    low, high = (float(end[0]) for end in ppi_mean_ci(labels, predictions, unlabelled, alpha=0.1))

    [peer] = ppi_mean_pointestimate(labels, predictions, unlabelled)
    assert found.value == pytest.approx(peer, rel=1e-12)
    n = len(labels)
    wider = stats.t.ppf(0.95, n - 1) / stats.norm.ppf(0.95) * math.sqrt(n / (n - 1))
    assert found.high - found.low == pytest.approx((high - low) * wider, rel=1e-9)


def test_without_unlabelled_units_it_is_the_t_interval_of_the_labels() -> None:
    labels, predictions, _ = simulated(4)
    found = prediction_powered_mean(labels, predictions, [], confidence=0.95)

    expected = stats.t.interval(0.95, len(labels) - 1, labels.mean(), stats.sem(labels))
    assert (found.low, found.high) == pytest.approx(expected)


def test_a_judge_that_knows_nothing_leaves_the_labels_as_they_are() -> None:
    labels, _, unlabelled = simulated(5)
    found = prediction_powered_mean(
        labels, np.full(60, 2.0), np.full(len(unlabelled), 2.0), confidence=0.95
    )

    assert found.value == pytest.approx(labels.mean())


def test_units_that_lack_a_value_are_left_out() -> None:
    labels, predictions, unlabelled = simulated(6)
    gap = labels.copy()
    gap[7] = NAN
    kept = np.arange(60) != 7

    assert prediction_powered_mean(
        gap, predictions, [*unlabelled, NAN], confidence=0.95
    ) == prediction_powered_mean(labels[kept], predictions[kept], unlabelled, confidence=0.95)


def test_units_of_one_group_count_as_one() -> None:
    """Every unit three times in a group of its own: the estimate and its error stay."""
    labels, predictions, unlabelled = simulated(7)
    once = prediction_powered_mean(labels, predictions, unlabelled, confidence=0.95)
    thrice = prediction_powered_mean(
        np.repeat(labels, 3),
        np.repeat(predictions, 3),
        np.repeat(unlabelled, 3),
        confidence=0.95,
        groups=np.repeat(np.arange(560), 3),
    )

    assert thrice.value == pytest.approx(once.value, rel=1e-3)
    assert thrice.high - thrice.low == pytest.approx(once.high - once.low, rel=1e-3)


@pytest.mark.parametrize("clustered", [False, True])
def test_the_interval_holds_the_mean_as_often_as_it_says(clustered: bool) -> None:  # noqa: FBT001
    rng = np.random.default_rng(8)
    n_tries, held = 1_000, 0
    for _ in range(n_tries):
        n_groups, size = (75, 4) if clustered else (300, 1)
        groups = np.repeat(np.arange(n_groups), size)
        truth = rng.normal(0, 1, n_groups)[groups] + rng.normal(0, 1, n_groups * size)
        judge = truth + rng.normal(0, 0.5, n_groups)[groups] - 1
        n_labelled = n_groups * size // 3
        found = prediction_powered_mean(
            truth[:n_labelled],
            judge[:n_labelled],
            judge[n_labelled:],
            confidence=0.95,
            groups=groups,
        )
        held += found.low <= 0 <= found.high

    assert 0.935 <= held / n_tries <= 0.975


def test_a_difference_on_the_same_prompts_is_a_paired_one() -> None:
    """Prompts that are hard for both systems do not blur their difference."""
    rng = np.random.default_rng(9)
    hard = rng.normal(0, 2, 200)
    names = [f"p{k}" for k in range(200)]
    first = hard + rng.normal(0.5, 0.3, 200)
    second = hard + rng.normal(0, 0.3, 200)
    systems = (first[:60], first[:60], first[60:]), (second[:60], second[:60], second[60:])
    paired = prediction_powered_difference(*systems, confidence=0.95, groups=(names, names))
    unpaired = prediction_powered_difference(*systems, confidence=0.95)

    assert paired.value == pytest.approx(unpaired.value)
    assert paired.low > 0.4
    assert paired.high - paired.low < (unpaired.high - unpaired.low) / 3


@pytest.mark.parametrize("n_labelled", [0, 1])
def test_fewer_than_two_labels_have_no_interval(n_labelled: int) -> None:
    found = prediction_powered_mean([3.0] * n_labelled, [2.0] * n_labelled, [2, 3], confidence=0.9)

    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert math.isnan(found.value) == (n_labelled == 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"predictions": [1.0]}, "one prediction for each label"),
        ({"unlabelled": [math.inf]}, "finite or NaN"),
        ({"confidence": 95}, r"confidence must lie in \(0, 1\), got 95"),
        ({"groups": ["a"]}, "3 groups are needed"),
    ],
)
def test_what_does_not_fit_is_refused(arguments: dict[str, object], message: str) -> None:
    given = {"labels": [1.0, 2.0], "predictions": [1.0, 2.0], "unlabelled": [3.0]}
    with pytest.raises(ValueError, match=message):
        prediction_powered_mean(**{**given, "confidence": 0.95, **arguments})  # type: ignore[arg-type]
