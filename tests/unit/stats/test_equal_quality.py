"""Biases of judges at equal quality: found where planted, and not made up by unequal quality."""

import numpy as np
import pytest

from eval_assets.stats.equal_quality import (
    FEWEST_ERRORS,
    ValueBias,
    bias_by_value,
    errors_above_zero,
    without_severity,
)


def study(
    *,
    seed: int,
    n_groups: int = 300,
    bias: float = 0.0,
    stretch: float = 1.0,
    severity: float = 0.0,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return unit, rater, rating, score, system and group of five systems of unequal quality."""
    rng = np.random.default_rng(seed)
    system = np.tile(np.arange(5), n_groups)
    group = np.repeat(np.arange(n_groups), 5)
    quality = 3 + 0.4 * (system - 2) + rng.normal(0, 0.8, len(system))
    raters = rng.normal(0, severity, 4)
    noise = rng.normal(0, 0.7, (len(system), 4))
    ratings = np.clip(np.round(quality[:, None] + raters + noise), 1, 5)
    raw = 3 + stretch * (quality - 3) + rng.normal(0, 0.6, len(system)) + bias * (system == 3)
    unit, rater = np.nonzero(np.ones_like(ratings))
    return unit, rater, ratings.ravel(), np.clip(np.round(raw), 1, 5), system, group


def measured(**options: float) -> list[ValueBias]:
    """Return the biases of a study's systems."""
    unit, rater, rating, score, system, group = study(**options)  # type: ignore[arg-type]
    levelled = without_severity(unit, rater, rating)
    return bias_by_value(unit, levelled, score, system, group, low=1, high=5, has_bend=True)


def test_a_planted_bias_is_named_with_its_size() -> None:
    rows = measured(seed=1, bias=0.5)
    assert [row.is_named for row in rows] == [False, False, False, True, False]
    assert rows[3].low < 0.5 < rows[3].high
    assert rows[3].relative == pytest.approx(0.5, abs=0.15)


@pytest.mark.parametrize("stretch", [0.5, 1.0, 1.6])
@pytest.mark.parametrize("seed", range(5))
def test_unequal_quality_makes_no_bias_of_a_stretched_scale(seed: int, stretch: float) -> None:
    assert not any(row.is_named for row in measured(seed=seed, stretch=stretch, severity=0.5))


def test_two_systems_have_one_difference() -> None:
    unit, rater, rating, score, system, group = study(seed=3, bias=0.8)
    selected = system >= 3
    score = np.where(selected, score, np.nan)
    levelled = without_severity(unit, rater, rating)
    one, other = bias_by_value(unit, levelled, score, system, group, low=1, high=5, has_bend=True)
    assert one.is_named != other.is_named


def test_severity_is_taken_off_on_shared_responses() -> None:
    unit, rater = np.repeat(np.arange(10), 2), np.tile([0, 1], 10)
    values = np.repeat(np.arange(10.0), 2) + np.tile([0.0, 1.0], 10)
    levelled = without_severity(unit, rater, values).reshape(10, 2)
    assert levelled[:, 0] == pytest.approx(levelled[:, 1])


def test_people_who_agree_between_systems_alone_tell_no_bias() -> None:
    rng = np.random.default_rng(1)
    system, group = np.tile(np.arange(5), 100), np.repeat(np.arange(100), 5)
    ratings = np.clip(np.round(system[:, None] + rng.normal(0, 1, (500, 3))), 1, 5).ravel()
    unit = np.repeat(np.arange(500), 3)
    assert errors_above_zero(unit, ratings, system, group) < FEWEST_ERRORS
    unit, rater, rating, *_, system, group = study(seed=1)
    levelled = without_severity(unit, rater, rating)
    assert errors_above_zero(unit, levelled, system, group) > FEWEST_ERRORS


def test_single_ratings_have_no_covariance() -> None:
    unit = np.arange(4)
    assert np.isnan(errors_above_zero(unit, np.arange(4.0), unit % 2, unit))
    rows = bias_by_value(
        unit, np.arange(4.0), np.ones(4), unit % 2, unit, low=0, high=3, has_bend=True
    )
    assert rows == []


def test_the_order_of_units_and_groups_does_not_matter() -> None:
    unit, rater, rating, score, system, group = study(seed=5, n_groups=60, bias=0.4)
    levelled = without_severity(unit, rater, rating)
    options = {"low": 1.0, "high": 5.0, "has_bend": True}
    ordered = bias_by_value(unit, levelled, score, system, group, **options)  # type: ignore[arg-type]
    order = np.random.default_rng(2).permutation(len(score))
    place = np.argsort(order)
    by_unit = np.argsort(place[unit], kind="stable")
    permuted = bias_by_value(
        place[unit][by_unit],
        levelled[by_unit],
        score[order],
        system[order],
        group[order] * 7 + 3,
        **options,  # type: ignore[arg-type]
    )
    assert [row.relative for row in permuted] == pytest.approx([row.relative for row in ordered])
