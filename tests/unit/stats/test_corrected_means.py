import itertools
import math
from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats

from benchmarks.pass_rates import held
from eval_assets.stats import prediction_powered_difference, prediction_powered_mean, rogan_gladen

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
    from ppi_py import ppi_mean_ci, ppi_mean_pointestimate  # type: ignore[import-untyped]

    """Theirs takes the normal quantile and divides by n, ours Student's t and by n - 1."""
    labels, predictions, unlabelled = simulated(seed, noise=noise)
    result = prediction_powered_mean(labels, predictions, unlabelled, confidence=0.9)
    low, high = (float(end[0]) for end in ppi_mean_ci(labels, predictions, unlabelled, alpha=0.1))

    [peer] = ppi_mean_pointestimate(labels, predictions, unlabelled)
    assert result.value == pytest.approx(peer, rel=1e-12)
    n = len(labels)
    wider = stats.t.ppf(0.95, n - 1) / stats.norm.ppf(0.95) * math.sqrt(n / (n - 1))
    assert result.high - result.low == pytest.approx((high - low) * wider, rel=1e-9)


def test_without_unlabelled_units_it_is_the_t_interval_of_the_labels() -> None:
    labels, predictions, _ = simulated(4)
    actual = prediction_powered_mean(labels, predictions, [], confidence=0.95)

    expected = stats.t.interval(0.95, len(labels) - 1, labels.mean(), stats.sem(labels))
    assert (actual.low, actual.high) == pytest.approx(expected)


def test_a_judge_that_knows_nothing_leaves_the_labels_as_they_are() -> None:
    labels, _, unlabelled = simulated(5)
    result = prediction_powered_mean(
        labels, np.full(60, 2.0), np.full(len(unlabelled), 2.0), confidence=0.95
    )

    assert result.value == pytest.approx(labels.mean())


def test_units_that_lack_a_value_are_left_out() -> None:
    labels, predictions, unlabelled = simulated(6)
    gap = labels.copy()
    gap[7] = NAN
    is_complete = np.arange(60) != 7

    assert prediction_powered_mean(
        gap, predictions, [*unlabelled, NAN], confidence=0.95
    ) == prediction_powered_mean(
        labels[is_complete], predictions[is_complete], unlabelled, confidence=0.95
    )


def test_units_of_one_group_count_as_one() -> None:
    """Every unit three times in a group of its own: the estimate and its error stay."""
    labels, predictions, unlabelled = simulated(7)
    single = prediction_powered_mean(labels, predictions, unlabelled, confidence=0.95)
    thrice = prediction_powered_mean(
        np.repeat(labels, 3),
        np.repeat(predictions, 3),
        np.repeat(unlabelled, 3),
        confidence=0.95,
        groups=np.repeat(np.arange(560), 3),
    )

    assert thrice.value == pytest.approx(single.value, rel=1e-3)
    assert thrice.high - thrice.low == pytest.approx(single.high - single.low, rel=1e-3)


@pytest.mark.slow
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
        result = prediction_powered_mean(
            truth[:n_labelled],
            judge[:n_labelled],
            judge[n_labelled:],
            confidence=0.95,
            groups=groups,
        )
        held += result.low <= 0 <= result.high

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
    result = prediction_powered_mean([3.0] * n_labelled, [2.0] * n_labelled, [2, 3], confidence=0.9)

    assert math.isnan(result.low)
    assert math.isnan(result.high)
    assert math.isnan(result.value) == (n_labelled == 0)


@pytest.mark.parametrize("n_labelled", [2, 20])
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_equal_labels_of_a_binary_scale_have_the_exact_bound(n_labelled: int, value: float) -> None:
    """Clopper and Pearson's: with twenty passes up to .168 of the others may fail."""
    result = prediction_powered_mean(
        [value] * n_labelled, [value] * n_labelled, [1 - value, value], confidence=0.95
    )
    other = 0.025 ** (1 / n_labelled)

    assert (result.value, result.method) == (value, "exact")
    assert sorted([result.low, result.high]) == pytest.approx(
        sorted([value, abs(value - 1 + other)])
    )


def test_a_sample_in_groups_is_as_large_as_they_are_many() -> None:
    """Twenty passes in four groups bound the others as four passes do."""
    result = prediction_powered_mean(
        [1.0] * 20, [1.0] * 20, [], confidence=0.95, groups=np.repeat(range(4), 5), bounds=(0, 1)
    )

    assert (result.low, result.high) == pytest.approx((0.025**0.25, 1))


def test_equal_labels_of_an_unknown_scale_have_no_interval() -> None:
    result = prediction_powered_mean([3.0] * 20, [3.0] * 20, [3.0, 4.0], confidence=0.95)
    known = prediction_powered_mean(
        [3.0] * 20, [3.0] * 20, [3.0, 4.0], confidence=0.95, bounds=(1, 5)
    )

    assert (result.value, result.method) == (3, None)
    assert math.isnan(result.low)
    assert known.low == pytest.approx(3 - 2 * (1 - 0.025 ** (1 / 20)))


def test_labels_alone_on_a_binary_scale_have_the_interval_of_wilson() -> None:
    """Of 40 labels 12 are rare, so the degrees of freedom are 25."""
    labels = [1.0] * 28 + [0.0] * 12
    result = prediction_powered_mean(labels, labels, [], confidence=0.95)
    t, p, n = stats.t.ppf(0.975, 25), 28 / 40, 39
    half = t / (1 + t**2 / n) * math.sqrt(p * (1 - p) / n + t**2 / (4 * n**2))
    centre = (p + t**2 / (2 * n)) / (1 + t**2 / n)

    assert (result.low, result.high) == pytest.approx((centre - half, centre + half))
    assert result.method == "wilson"


@pytest.mark.parametrize(("n_rare", "df"), [(1, 3), (3, 7), (30, 59)])
def test_rare_labels_lend_two_degrees_of_freedom_each_and_one(n_rare: int, df: int) -> None:
    rng = np.random.default_rng(n_rare)
    labels = np.where(np.arange(60) < n_rare, rng.normal(5, 1, 60), 3.0)
    actual = prediction_powered_mean(labels, labels, [], confidence=0.95)

    expected = stats.t.ppf(0.975, df) * stats.sem(labels)
    assert actual.high - actual.value == pytest.approx(expected)


def test_a_difference_of_equal_systems_is_not_certain() -> None:
    """All twenty responses of both passed; a tenth of the others may fail, or more."""
    system = [1.0] * 20, [1.0] * 20, [1.0] * 80
    result = prediction_powered_difference(system, system, confidence=0.95)

    assert result.value == 0
    assert result.low == pytest.approx(-result.high)
    assert result.high == pytest.approx(1 - 0.025 ** (1 / 20))


def test_an_estimate_beyond_the_scale_is_its_end() -> None:
    """The judge is stricter on the rated responses than on the others."""
    labels, scores = [1.0] * 9 + [0.0], [0.9] * 5 + [0.6] * 4 + [0.0]
    result = prediction_powered_mean(labels, scores, [1.0] * 50, confidence=0.95)

    assert result.value == result.high == 1
    assert result.low < 1


@pytest.mark.slow
@pytest.mark.parametrize("n_alike", [1, 5])
@pytest.mark.parametrize("rate", [0.9, 0.97])
@pytest.mark.parametrize("judge", ["no error", "95 / 70 %"])
def test_pass_rates_are_held_with_few_failures(judge: str, rate: float, n_alike: int) -> None:
    """Student's interval holds .44 at 20 rated responses and a rate of .97."""
    for n_rated in (20, 40):
        shares = held(rate, judge, n_rated, n_alike=n_alike, n_sets=100)
        for name in ("labels alone", "corrected", "difference"):
            # .95 less two and a half standard errors of 100
            assert shares[name][0] >= 0.895, (name, n_rated)
            assert shares[name][2] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"predictions": [1.0]}, "one prediction for each label"),
        ({"unlabelled": [math.inf]}, "finite or NaN"),
        ({"confidence": 95}, r"confidence must lie in \(0, 1\), got 95"),
        ({"groups": ["a"]}, "3 groups are needed"),
        ({"bounds": (0, 1)}, r"labels must lie in \[0, 1\], got 1 to 2"),
    ],
)
def test_what_does_not_fit_is_refused(arguments: dict[str, object], message: str) -> None:
    inputs = {"labels": [1.0, 2.0], "predictions": [1.0, 2.0], "unlabelled": [3.0]}
    with pytest.raises(ValueError, match=message):
        prediction_powered_mean(**{**inputs, "confidence": 0.95, **arguments})  # type: ignore[arg-type]


def labelled(sensitivity: float, specificity: float, *, n_each: int) -> tuple[list[int], list[int]]:
    """As many positive as negative units, with these rates exactly."""
    result, clear = round(sensitivity * n_each), round(specificity * n_each)
    judge = [1] * result + [0] * (n_each - result) + [0] * clear + [1] * (n_each - clear)
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
    from statsmodels.stats.proportion import proportion_confint  # type: ignore[import-untyped]

    """Then it is the Agresti-Coull interval of that share, moved and stretched."""
    truth, judge = labelled(0.9, 0.99, n_each=2_000_000)
    result = rogan_gladen(truth, judge, [1] * 20 + [0] * 100, confidence=0.95)
    ends = proportion_confint(20, 120, method="agresti_coull")

    assert (result.low, result.high) == pytest.approx(
        [(end + 0.99 - 1) / 0.89 for end in ends], abs=1e-5
    )


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_the_interval_holds_the_share_as_often_as_it_says(share: float) -> None:
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(1_000):
        truth = np.array([1] * 60 + [0] * 60)
        judge = np.where(truth == 1, rng.random(120) < 0.85, rng.random(120) < 0.2)
        positive = rng.random(400) < share
        other = np.where(positive, rng.random(400) < 0.85, rng.random(400) < 0.2)
        result = rogan_gladen(truth, judge, other, confidence=0.95)
        held += result.low <= share <= result.high

    assert 0.935 <= held / 1_000 <= 0.985


def test_a_share_below_zero_is_reported_as_zero() -> None:
    truth, judge = labelled(0.9, 0.8, n_each=50)
    result = rogan_gladen(truth, judge, [1] * 7 + [0] * 33, confidence=0.95)

    assert result.value == 0
    assert result.low == 0
    assert 0 < result.high < 0.3


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
    result = rogan_gladen(labels, predictions, unlabelled, confidence=0.95)

    assert np.isnan([result.value, result.low, result.high]).all()


def test_all_small_tables_have_an_ordered_interval_or_none() -> None:
    sides = [(n, hits) for n in range(1, 7) for hits in range(n + 1)]
    for (n_positive, result), (n_negative, clear) in itertools.product(sides, sides):
        truth = [1] * n_positive + [0] * n_negative
        judge = (
            [1] * result + [0] * (n_positive - result) + [0] * clear + [1] * (n_negative - clear)
        )
        for n_called, n_other in ((0, 1), (1, 1), (1, 2), (2, 5)):
            unlabelled = [1] * n_called + [0] * (n_other - n_called)
            estimate = rogan_gladen(truth, judge, unlabelled, confidence=0.95)
            ends = [estimate.low, estimate.value, estimate.high]
            better = (result + 1) / (n_positive + 2) + (clear + 1) / (n_negative + 2) > 1 + 1e-9

            assert np.isnan(ends).all() or 0 <= estimate.low <= estimate.high <= 1
            assert better or np.isnan(ends).all()


def test_three_labels_are_enough_if_they_show_more_than_chance() -> None:
    """With two units of each class more the rates are 2/3 and 2/4, which add up to more than 1."""
    result = rogan_gladen([1, 0, 0], [1, 0, 1], [1, 1, 1, 0], confidence=0.95)

    assert (result.value, result.low, result.high) == pytest.approx((0.5, 0, 1))


def test_the_interval_adds_two_units_to_each_class() -> None:
    """By hand: .8 of 50 and .75 of 40 with one hit and one miss more are 41/52 and 31/42."""
    truth = [1] * 50 + [0] * 40
    judge = [1] * 40 + [0] * 10 + [0] * 30 + [1] * 10
    result = rogan_gladen(truth, judge, [1] * 60 + [0] * 40, confidence=0.95)
    z = NormalDist().inv_cdf(0.975)
    sens, spec, positive = 41 / 52, 31 / 42, (60 + z**2 / 2) / (100 + z**2)
    share = (positive + spec - 1) / (sens + spec - 1)
    of_sens, of_spec = sens * (1 - sens) / 52, spec * (1 - spec) / 42
    variance = positive * (1 - positive) / (100 + z**2)
    variance += share**2 * of_sens + (1 - share) ** 2 * of_spec
    reach = z * math.sqrt(variance) / (sens + spec - 1)
    centre = share + 2 * z**2 * (share * of_sens - (1 - share) * of_spec)

    assert result.value == pytest.approx((0.6 + 0.75 - 1) / (0.8 + 0.75 - 1))
    assert (result.low, result.high) == pytest.approx((centre - reach, centre + reach))
    assert 0 < result.low < result.high < 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"labels": [1, 2]}, "each 0, 1 or NaN"),
        ({"predictions": [1]}, "one prediction for each label"),
        ({"confidence": 95}, r"confidence must lie in \(0, 1\), got 95"),
        ({"confidence": 0}, r"confidence must lie in \(0, 1\), got 0"),
    ],
)
def test_labels_that_do_not_fit_are_refused(arguments: dict[str, object], message: str) -> None:
    inputs = {"labels": [1, 0], "predictions": [1, 0], "unlabelled": [1], "confidence": 0.95}
    with pytest.raises(ValueError, match=message):
        rogan_gladen(**{**inputs, **arguments})  # type: ignore[arg-type]


def test_bounds_are_taken_to_shares_and_back() -> None:
    """The same labels in points of a scale of four steps have an interval of four steps."""
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 2, 40) * 1.0
    other = rng.integers(0, 2, 200) * 1.0
    shares = prediction_powered_mean(labels, labels, other, confidence=0.95, bounds=(0, 1))
    points = prediction_powered_mean(
        1 + 4 * labels, 1 + 4 * labels, 1 + 4 * other, confidence=0.95, bounds=(1, 5)
    )

    assert points.low == pytest.approx(1 + 4 * shares.low)
    assert points.high == pytest.approx(1 + 4 * shares.high)


@pytest.mark.parametrize("factor", [1, 7, 5_000])
def test_numbers_of_groups_may_be_far_apart(factor: int) -> None:
    rng = np.random.default_rng(6)
    labels, other = rng.normal(size=20), rng.normal(size=60)
    groups = np.arange(80) // 4
    plain = prediction_powered_mean(
        labels, labels, other, confidence=0.95, groups=[f"g{group}" for group in groups]
    )
    numbered = prediction_powered_mean(
        labels, labels, other, confidence=0.95, groups=factor * groups
    )

    assert (numbered.low, numbered.high) == pytest.approx((plain.low, plain.high))
    assert numbered.n_groups == plain.n_groups == 5
