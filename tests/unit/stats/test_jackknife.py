import math

import numpy as np
import pytest
from scipy import stats

from eval_assets.stats import Jackknife, detectable_gain
from eval_assets.stats.jackknife import groups_to_detect


def test_the_jackknife_error_of_a_mean_is_its_standard_error() -> None:
    values = np.array([2.0, 4.0, 4.0, 5.0, 9.0])
    deleted = (values.sum() - values) / 4
    found = Jackknife.of(float(values.mean()), deleted)

    assert found.standard_error == pytest.approx(stats.sem(values))
    assert found.ends(significance=0.05) == pytest.approx(
        stats.t.interval(0.95, 4, loc=values.mean(), scale=stats.sem(values))
    )


@pytest.mark.parametrize("deleted", [[], [0.3]])
def test_one_group_has_no_error(deleted: list[float]) -> None:
    found = Jackknife.of(0.3, np.array(deleted))

    assert math.isnan(found.standard_error)
    assert np.isnan(found.ends(significance=0.05)).all()
    assert math.isnan(found.critical_value(significance=0.05))
    two = Jackknife.of(0.3, np.array([0.2, 0.4])).critical_value(significance=0.05)
    assert two == pytest.approx(stats.t.ppf(0.975, 1))


def test_an_estimate_that_is_undefined_without_one_group_has_no_error() -> None:
    assert math.isnan(Jackknife.of(0.3, np.array([0.2, math.nan, 0.4])).standard_error)


@pytest.mark.parametrize("significance", [0.0, 1.0, 95.0])
def test_a_level_outside_its_range_is_refused(significance: float) -> None:
    with pytest.raises(ValueError, match=r"significance must lie in \(0, 1\), got "):
        Jackknife(0.1, 0.1, 5, 5).ends(significance=significance)


def test_many_groups_detect_blooms_multiple_of_the_standard_error() -> None:
    """Bloom (1995): 2.80 standard errors at a two-sided level of .05 with 80 % power."""
    assert detectable_gain(1.0, n_groups=100_000, significance=0.05) == pytest.approx(
        2.80, abs=5e-3
    )


@pytest.mark.parametrize("n_groups", [20, 60, 200])
def test_a_detectable_gain_is_found_in_four_of_five_tries(n_groups: int) -> None:
    """By the noncentral t distribution, which the normal quantile stands for."""
    gain = detectable_gain(0.03, n_groups=n_groups, significance=0.025)
    critical = stats.t.ppf(1 - 0.0125, n_groups - 1)

    assert stats.nct.sf(critical, n_groups - 1, gain / 0.03) == pytest.approx(0.8, abs=0.02)


def test_four_times_the_groups_have_half_the_error() -> None:
    found = Jackknife(0.1, 0.02, 25, 25).scaled_to(100)

    assert (found.value, found.standard_error, found.n_groups) == (0.1, 0.01, 100)


def test_halving_the_effect_takes_four_times_the_groups() -> None:
    assert groups_to_detect(0.04, detectable=0.08, n_groups=50) == 200
    assert groups_to_detect(0.08, detectable=0.08, n_groups=50) == 50


def test_uneven_weights_lower_the_degrees_of_freedom_and_not_the_error() -> None:
    deleted = np.array([0.09, 0.1, 0.1, 0.11])
    even = Jackknife.of(0.1, deleted, weights=np.full(4, 7.0))
    uneven = Jackknife.of(0.1, deleted, weights=np.array([1.0, 1.0, 1.0, 5.0]))

    assert even.n_effective == pytest.approx(4)
    assert uneven.n_effective == pytest.approx(64 / 28)
    assert uneven.standard_error == even.standard_error == Jackknife.of(0.1, deleted).standard_error
    assert uneven.critical_value(significance=0.05) > even.critical_value(significance=0.05)
    assert uneven.scaled_to(40).n_effective == pytest.approx(640 / 28)


def test_an_effect_of_nothing_takes_no_number_of_groups() -> None:
    with pytest.raises(ValueError, match="effect must be above 0, got 0"):
        groups_to_detect(0.0, detectable=0.1, n_groups=40)
