"""Shifts of selected units, and coefficients weighted to all units."""

import itertools
import math

import numpy as np
import pytest

from eval_assets.scale import LIKERT5
from eval_assets.stats import (
    Alpha,
    HumanAgreement,
    PairwiseAgreement,
    coefficient_interval,
    human_agreement,
    krippendorff_alpha,
    rank_components,
    selection_shift,
    selection_weights,
    weighted_interval,
)

CONFIDENCE = 0.95


def test_ranks_are_those_of_the_mann_whitney_statistic() -> None:
    """Equal values share their rank; the outer quarters are not in the middle half."""
    components = rank_components([3.0, 1.0, 3.0, 7.0, np.nan])

    assert components[:4, 0].tolist() == [0.5, 0.125, 0.5, 0.875]
    assert components[:4, 1].tolist() == [1, 0, 1, 0]
    assert np.isnan(components[4]).all()


def test_the_p_value_is_the_share_of_all_selections_that_shift_as_far() -> None:
    """Of six values the three largest are selected: two of 20 selections shift as far."""
    values = np.arange(6.0)[:, None]
    selected = values[:, 0] > 2

    shift = selection_shift(values, selected, n_permutations=20_000, rng=np.random.default_rng(1))

    sums = [sum(chosen) for chosen in itertools.combinations(range(6), 3)]
    exact = np.mean([abs(total - 7.5) >= 4.5 for total in sums])
    assert exact == 0.1
    assert shift.p_value == pytest.approx(exact, abs=0.04)  # 199 permutations are enough
    assert (shift.selected, shift.rest) == (4.0, 1.0)
    assert (shift.n_selected, shift.n_rest, shift.n_groups) == (3, 3, 6)


def test_whole_groups_are_exchanged_with_whole_groups() -> None:
    """Two of four groups are selected, of 25 units each: one of six selections is as extreme."""
    group = np.repeat(np.arange(4), 25)
    values = group.astype(float)[:, None]

    alone = selection_shift(values, group > 1, n_permutations=999, rng=np.random.default_rng(0))
    grouped = selection_shift(
        values, group > 1, groups=group, n_permutations=999, rng=np.random.default_rng(0)
    )

    assert alone.p_value == 0.001
    assert grouped.p_value == pytest.approx(1 / 3, abs=0.1)


@pytest.mark.parametrize(("n_pairs", "tolerance"), [(10, 0.003), (3, 0.05)])
def test_selections_within_groups_are_exchanged_within_them(n_pairs: int, tolerance: float) -> None:
    """In each pair the larger one is selected: of 2**n_pairs selections two are as extreme."""
    group = np.repeat(np.arange(n_pairs), 2)
    values = group * 100.0 + np.tile([0.0, 1.0], n_pairs)

    shift = selection_shift(
        values[:, None],
        np.tile([False, True], n_pairs),
        groups=group,
        n_permutations=1_999,
        rng=np.random.default_rng(0),
    )

    assert shift.p_value == pytest.approx(2 / 2**n_pairs, abs=tolerance)


def test_a_feature_that_does_not_vary_is_not_shifted() -> None:
    shift = selection_shift(
        np.ones((8, 1)),
        np.arange(8) < 4,
        n_permutations=99,
        rng=np.random.default_rng(0),
    )

    assert (shift.p_value, shift.component) == (1.0, -1)


def test_units_without_the_feature_are_left_out_and_one_side_is_undefined() -> None:
    values = np.array([[1.0], [2.0], [np.nan], [np.nan]])

    shift = selection_shift(
        values, [True, True, False, False], n_permutations=99, rng=np.random.default_rng(0)
    )

    assert math.isnan(shift.p_value)
    assert (shift.n_selected, shift.n_rest) == (2, 0)


@pytest.mark.parametrize("length", [3, 5])
def test_a_selection_of_other_units_is_refused(length: int) -> None:
    with pytest.raises(ValueError, match=f"must have 4 units, got \\({length},\\)"):
        selection_shift(
            np.ones((4, 1)), [True] * length, n_permutations=9, rng=np.random.default_rng(0)
        )
    with pytest.raises(ValueError, match=f"must have 4 units, got \\({length},\\)"):
        selection_weights(np.ones((4, 1)), [True] * length)


def test_weights_are_inverse_shares_where_a_class_decides() -> None:
    """With 4,000 units the prior on the coefficients is next to nothing."""
    is_long = np.repeat([0.0, 1.0], 2_000)
    position = np.tile(np.arange(2_000), 2)
    selected = position < np.where(is_long, 500, 1_600)

    weights = selection_weights(is_long[:, None], selected)

    assert weights.weights[[0, 2_000]] == pytest.approx([1.25, 4], rel=0.01)
    assert weights.weights[~selected].tolist() == [0.0] * 1_900
    n_effective = (1_600 * 1.25 + 500 * 4) ** 2 / (1_600 * 1.25**2 + 500 * 4**2)
    assert weights.n_effective == pytest.approx(n_effective, rel=0.01)


def test_weights_without_a_group_are_those_of_a_model_fitted_without_it() -> None:
    rng = np.random.default_rng(3)
    features, group = rng.normal(size=(120, 2)), np.repeat(np.arange(40), 3)
    selected = rng.random(120) < 1 / (1 + np.exp(-features[:, 0]))

    weights = selection_weights(features, selected, groups=group)

    for without in (0, 17):
        is_present = group != without
        standard = (features - features.mean(axis=0)) / features.std(axis=0)
        repeat = selection_weights(standard[is_present], selected[is_present])
        block = weights.without[without][is_present[selected]]
        assert block == pytest.approx(repeat.weights[selected[is_present]], rel=0.03)
        assert not weights.without[without][~is_present[selected]].any()


def ratings(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return ratings of which the longer responses have more noise, whether long, and selected."""
    is_long = rng.random(n) < 0.5
    noise = np.where(is_long, 1.2, 0.3)[:, None] * rng.normal(size=(n, 2))
    values = np.clip(np.round(3 + 1.2 * rng.normal(size=(n, 1)) + noise), 1, 5)
    return values, is_long, rng.random(n) < np.where(is_long, 0.2, 0.8)


def test_weighted_agreement_is_that_of_all_units() -> None:
    values, is_long, selected = ratings(np.random.default_rng(5), 20_000)
    observed = np.where(selected[:, None], values, np.nan)
    weights = selection_weights(is_long[:, None].astype(float), selected)

    for coefficient, of_all, of_selected in (
        (
            HumanAgreement(LIKERT5),
            human_agreement(values, scale=LIKERT5),
            human_agreement(observed, scale=LIKERT5),
        ),
        (
            Alpha("interval"),
            krippendorff_alpha(values, level="interval"),
            krippendorff_alpha(observed, level="interval"),
        ),
    ):
        interval = weighted_interval(observed, coefficient, weights=weights, confidence=CONFIDENCE)
        assert interval.low < of_all < interval.high < of_selected
        assert interval.n_units == selected.sum()


def test_alpha_of_whole_weights_is_that_of_repeated_units() -> None:
    """Units of weight three count like three units, but for the correction for few ratings."""
    values, is_long, _ = ratings(np.random.default_rng(6), 4_000)
    selected = ~is_long | (np.cumsum(is_long) % 3 == 0)
    weights = selection_weights(is_long[:, None].astype(float), selected)

    interval = weighted_interval(
        np.where(selected[:, None], values, np.nan),
        Alpha("nominal"),
        weights=weights,
        confidence=CONFIDENCE,
    )

    times = np.where(is_long[selected], is_long.sum() / is_long[selected].sum(), 1)
    scaled = np.repeat(values[selected], np.round(1_000 * times / times.max()).astype(int), axis=0)
    assert interval.value == pytest.approx(krippendorff_alpha(scaled, level="nominal"), abs=2e-3)


def test_equal_weights_leave_the_figure_and_its_interval() -> None:
    values, _, _ = ratings(np.random.default_rng(7), 200)
    group = np.repeat(np.arange(50), 4)
    weights = selection_weights(np.ones((200, 1)), np.ones(200, np.bool_), groups=group)

    weighted = weighted_interval(values, Alpha("ordinal"), weights=weights, confidence=CONFIDENCE)
    plain = coefficient_interval(values, Alpha("ordinal"), confidence=CONFIDENCE, groups=group)

    assert weighted.value == pytest.approx(plain.value)
    assert (weighted.low, weighted.high) == pytest.approx((plain.low, plain.high), abs=0.005)
    assert (weighted.n_units, weighted.n_groups) == (200, 50)


def test_undefined_agreement_stays_undefined() -> None:
    weights = selection_weights(np.ones((4, 1)), [True] * 4)

    alike = weighted_interval(
        np.full((4, 2), 3.0), Alpha("ordinal"), weights=weights, confidence=CONFIDENCE
    )
    single = weighted_interval(
        np.array([[1, np.nan]] * 4),
        PairwiseAgreement(within=0),
        weights=weights,
        confidence=CONFIDENCE,
    )

    assert math.isnan(alike.value)
    assert math.isnan(single.value + single.low)
    assert single.n_units == 0


def test_ratings_of_other_units_than_the_weights_are_refused() -> None:
    weights = selection_weights(np.ones((4, 1)), [True] * 4)

    with pytest.raises(ValueError, match="ratings must have 4 units, got 3"):
        weighted_interval(np.ones((3, 2)), Alpha("ordinal"), weights=weights, confidence=CONFIDENCE)
