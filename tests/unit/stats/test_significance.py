"""Holm's procedure, compared with statsmodels."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_assets.stats import least_p_value, mean_shift

DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
"""Height of crossed minus self-fertilised maize, in eighths of an inch: Fisher's example."""


def test_the_published_example_comes_out() -> None:
    """Fisher counts 863 of 32,768 choices of signs with a sum of at least 314: p is .05267."""
    result = mean_shift(DARWIN, significance=0.05, span=240)

    assert result.value == pytest.approx(314 / 15)
    assert result.p_value == pytest.approx(2 * 863 / 2**15)


@settings(deadline=None)
@given(st.lists(st.integers(-6, 6), min_size=1, max_size=9))
def test_the_p_value_counts_all_choices_of_signs(differences: list[int]) -> None:
    given_ = np.array(differences)
    sums = [np.dot(signs, given_) for signs in itertools.product((-1, 1), repeat=len(given_))]
    tails = [np.mean(np.array(sums) >= total) for total in (given_.sum(), -given_.sum())]

    result = mean_shift(given_, significance=0.05, span=12)
    assert result.p_value == pytest.approx(min(1, 2 * min(tails)))


@settings(deadline=None)
@given(st.lists(st.integers(-4, 4), min_size=1, max_size=30), st.sampled_from([0.01, 0.05, 0.2]))
def test_the_interval_leaves_out_0_if_the_test_rejects_it(
    differences: list[int], significance: float
) -> None:
    result = mean_shift(differences, significance=significance, span=4)

    assert result.low <= result.value + 1e-9
    assert result.value <= result.high + 1e-9
    assert (result.low > 0 or result.high < 0) == (result.p_value <= significance)


@pytest.mark.slow
def test_a_judge_that_did_not_change_is_seldom_found_to_have_moved() -> None:
    rng = np.random.default_rng(3)
    scores = rng.integers(1, 6, size=(2_000, 2, 30))
    result = [
        mean_shift(after - before, significance=0.05, span=4).p_value for before, after in scores
    ]

    assert np.mean(np.array(result) <= 0.05) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 2_000)


def test_missing_pairs_are_left_out_and_none_leave_everything_undefined() -> None:
    result = mean_shift([np.nan, 1.0, 1.0], significance=0.05, span=4)
    none = mean_shift([np.nan], significance=0.05, span=4)

    assert (result.n, result.value, result.p_value) == (2, 1.0, least_p_value(2))
    assert none.n == 0
    assert np.isnan([none.value, none.low, none.high, none.p_value]).all()


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"significance": 0.0, "span": 4}, "significance must lie in \\(0, 1\\), got 0.0"),
        ({"significance": 0.05, "span": 0}, "span must be above 0, got 0"),
    ],
)
def test_impossible_arguments_are_refused(named: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mean_shift([1.0], **named)


def test_the_least_p_value_is_a_probability() -> None:
    assert (least_p_value(0), least_p_value(1), least_p_value(2)) == (1.0, 1.0, 0.5)
    with pytest.raises(ValueError, match="n_pairs must be at least 0, got -1"):
        least_p_value(-1)
