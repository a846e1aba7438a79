import math

import numpy as np
import pytest

from eval_assets.scale import LIKERT5
from eval_assets.stats import (
    CohenKappa,
    PairwiseAgreement,
    coefficient_interval,
    concordance,
    judge_human_profile,
    non_inferiority,
)
from eval_assets.stats.group_ratios import (
    mean_difference,
    pooled_agreement,
    share_interval,
)
from eval_assets.stats.pair_sums import rating_entries

GROUPS = np.arange(60) // 3


def ends(interval: object) -> tuple[float, float, float]:
    return interval.value, interval.low, interval.high  # type: ignore[attr-defined]


def ratings(seed: int, *, n_values: int = 5) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    quality = rng.normal(0, 1, 60)
    cuts = np.linspace(-1.2, 1.2, n_values - 1)
    people = 1.0 + np.searchsorted(cuts, quality[:, None] + rng.normal(0, 0.5, (60, 3)))
    people[:, 1:][rng.random((60, 2)) < 0.3] = math.nan
    judge = 1.0 + np.searchsorted(cuts, quality + rng.normal(0, 0.5, 60))
    judge[:5] = math.nan
    return people, judge


@pytest.mark.parametrize("groups", [None, GROUPS])
def test_share_of_units_is_the_interval_of_equal_pairs(groups: np.ndarray | None) -> None:
    is_pass = np.random.default_rng(1).random(60) < 0.7
    pairs = np.column_stack([np.zeros(60), np.where(is_pass, 0.0, 1.0)])
    expected = coefficient_interval(
        pairs, PairwiseAgreement(within=0), confidence=0.95, groups=groups
    )

    actual = share_interval(is_pass, np.ones(60), confidence=0.95, groups=groups)

    assert ends(actual) == pytest.approx(ends(expected))
    assert (actual.n_units, actual.n_groups) == (expected.n_units, expected.n_groups)


def test_units_without_a_whole_count_for_nothing() -> None:
    with_zeros = share_interval([1, 0, 1, 0], [1, 1, 1, 0], confidence=0.95)

    assert ends(with_zeros) == ends(share_interval([1, 0, 1], [1, 1, 1], confidence=0.95))
    assert math.isnan(share_interval([0.0], [0.0], confidence=0.95).value)


def test_mean_difference_is_the_bias_of_a_profile() -> None:
    people, judge = ratings(3)
    profile = judge_human_profile(
        people, judge, scale=LIKERT5, level="ordinal", confidence=0.95, groups=GROUPS
    )
    differences = judge - np.nanmean(people, axis=1)

    actual = mean_difference(differences, span=4, confidence=0.95, groups=GROUPS)

    assert ends(actual) == pytest.approx(ends(profile.bias))


@pytest.mark.parametrize("groups", [None, GROUPS])
@pytest.mark.parametrize("n_values", [2, 5])
def test_pooled_agreement_with_one_rater_is_cohens_kappa(
    groups: np.ndarray | None, n_values: int
) -> None:
    people, judge = ratings(4, n_values=n_values)
    one = people[:, :1]
    columns = np.column_stack([one[:, 0], judge])
    expected = coefficient_interval(
        columns, CohenKappa("quadratic"), confidence=0.95, groups=groups
    )

    actual = pooled_agreement(
        *rating_entries(one), judge, level="interval", confidence=0.95, groups=groups
    )

    assert ends(actual) == pytest.approx(ends(expected))


def test_pooled_agreement_is_concordance_over_all_pairs() -> None:
    people, judge = ratings(5)

    actual = pooled_agreement(*rating_entries(people), judge, level="interval", confidence=0.95)

    assert actual.value == pytest.approx(concordance(people, judge))
    assert actual.low < actual.value < actual.high


def test_peoples_agreement_is_that_of_the_comparison() -> None:
    people, judge = ratings(6)
    compared = non_inferiority(people, judge, margin=0.1, level="ordinal", groups=GROUPS)

    entries = rating_entries(people)
    actual = pooled_agreement(
        *entries, judge, level="interval", confidence=0.95, groups=GROUPS, of_people=True
    )

    assert actual.value == pytest.approx(compared.people.value)
    assert actual.low < actual.value < actual.high
    assert actual.n_units == compared.n_units


def test_very_many_groups_are_left_out_in_blocks() -> None:
    is_pass = np.random.default_rng(1).random(5_000) < 0.7

    actual = share_interval(is_pass, np.ones(5_000), confidence=0.95)

    share = is_pass.mean()
    expected = 1.96 * math.sqrt(share * (1 - share) / 5_000)
    assert (actual.high - actual.low) / 2 == pytest.approx(expected, rel=0.05)
    assert actual.n_groups == 5_000
