import math

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from eval_assets.stats import (
    Jackknife,
    bootstrap_interval,
)
from eval_assets.stats.resampling import _bca_ends


def test_the_jackknife_error_of_a_mean_is_its_standard_error() -> None:
    values = np.array([2.0, 4.0, 4.0, 5.0, 9.0])
    deleted = (values.sum() - values) / 4
    result = Jackknife.of(float(values.mean()), deleted)

    assert result.standard_error == pytest.approx(stats.sem(values))
    assert result.ends(significance=0.05) == pytest.approx(
        stats.t.interval(0.95, 4, loc=values.mean(), scale=stats.sem(values))
    )


@pytest.mark.parametrize("deleted", [[], [0.3]])
def test_one_group_has_no_error(deleted: list[float]) -> None:
    result = Jackknife.of(0.3, np.array(deleted))

    assert math.isnan(result.standard_error)
    assert np.isnan(result.ends(significance=0.05)).all()


def test_an_estimate_that_is_undefined_without_one_group_has_no_error() -> None:
    assert math.isnan(Jackknife.of(0.3, np.array([0.2, math.nan, 0.4])).standard_error)


@pytest.mark.parametrize("value", [-0.3, 0.0, 0.02, 0.7])
def test_p_values_are_the_tails_of_students_distribution(value: float) -> None:
    rng = np.random.default_rng(3)
    result = Jackknife.of(value, value + 0.1 * rng.normal(size=30) ** 3)
    t = value / result.standard_error

    assert 1 <= result.df < 15
    assert result.p_above == pytest.approx(stats.t.sf(t, result.df))
    assert result.p_below == pytest.approx(stats.t.cdf(t, result.df))


def test_p_values_without_an_error_say_on_which_side_the_estimate_lies() -> None:
    above, at_zero = (Jackknife.of(value, np.full(5, value)) for value in (0.2, 0.0))

    assert (above.p_above, above.p_below) == (0.0, 1.0)
    assert (at_zero.p_above, at_zero.p_below) == (1.0, 1.0)
    assert math.isnan(Jackknife.of(math.nan, np.full(5, math.nan)).p_above)


@pytest.mark.parametrize("significance", [0.0, 1.0, 95.0])
def test_a_level_outside_its_range_is_refused(significance: float) -> None:
    with pytest.raises(ValueError, match=r"significance must lie in \(0, 1\), got "):
        Jackknife(0.1, 0.1, 5, df=4).ends(significance=significance)


@pytest.mark.parametrize("df", [19, 59, 199])
def test_a_detectable_gain_is_found_in_four_of_five_tries(df: int) -> None:
    """By the noncentral t distribution, which the normal quantile stands for."""
    gain = Jackknife(0.0, 0.03, df + 1, df).detectable_by(p_value=0.0125)

    power = stats.nct.sf(stats.t.ppf(1 - 0.0125, df), df, gain / 0.03)
    assert power == pytest.approx(0.8, abs=0.02)


def test_four_times_the_groups_have_half_the_error() -> None:
    result = Jackknife(0.1, 0.02, 25, df=12).scaled_to(100)

    assert (result.value, result.standard_error, result.n_groups) == (0.1, 0.01, 100)


Floats = npt.NDArray[np.float64]

NAN = math.nan


def row_mean(rows: Floats) -> float:
    return float(rows.mean())


def test_a_bootstrap_interval_is_scipys_bca_widened_for_few_units() -> None:
    rng = np.random.default_rng(1)
    sample = rng.exponential(size=(60, 1))
    ours = bootstrap_interval(
        sample, row_mean, confidence=0.9, n_resamples=8000, rng=np.random.default_rng(2)
    )
    # 60 units: t 1.6711 for z 1.6449, times sqrt(60 / 59)
    widened = 2 * stats.norm.cdf(1.6711 * math.sqrt(60 / 59)) - 1
    peer = stats.bootstrap(
        (sample[:, 0],),
        np.mean,
        confidence_level=widened,
        n_resamples=8000,
        method="BCa",
        rng=np.random.default_rng(3),
    ).confidence_interval
    assert ours.method == "bca"
    assert ours.value == sample.mean()
    assert ours.low == pytest.approx(peer.low, abs=0.01)
    assert ours.high == pytest.approx(peer.high, abs=0.01)


def test_few_units_are_widened_to_students_t() -> None:
    """The mean of eight normal values, whose bootstrap is nearly normal without correction."""
    sample = stats.norm.ppf((np.arange(8) + 0.5) / 8)[:, np.newaxis]
    result = bootstrap_interval(
        sample, row_mean, confidence=0.95, n_resamples=40_000, rng=np.random.default_rng(1)
    )
    half_width = float(stats.t.ppf(0.975, 7)) * float(sample.std(ddof=1)) / math.sqrt(8)
    assert (result.high - result.low) / 2 == pytest.approx(half_width, rel=0.05)


def test_groups_are_drawn_with_all_their_units() -> None:
    rng = np.random.default_rng(4)
    means = rng.normal(size=40)
    rows = np.repeat(means, 5)[:, np.newaxis]
    grouped = bootstrap_interval(
        rows,
        row_mean,
        confidence=0.95,
        n_resamples=4000,
        rng=np.random.default_rng(1),
        groups=np.repeat(np.arange(40), 5),
    )
    of_means = bootstrap_interval(
        means[:, np.newaxis],
        row_mean,
        confidence=0.95,
        n_resamples=4000,
        rng=np.random.default_rng(1),
    )
    assert (grouped.low, grouped.high) == pytest.approx((of_means.low, of_means.high))
    assert (grouped.n_units, grouped.n_groups) == (200, 40)


def test_mostly_undefined_resamples_have_no_interval() -> None:
    ratings = np.array([[1, 1], [1, 1], [1, 1], [1, 1], [1, 1], [1, 2]])

    def mostly_undefined(rows: Floats) -> float:
        return float(rows.sum()) if (rows[:, 1] == 2).sum() == 1 else NAN

    # the last row is drawn exactly once in 40 % of the resamples
    result = bootstrap_interval(
        ratings, mostly_undefined, confidence=0.95, n_resamples=400, rng=np.random.default_rng(1)
    )
    assert result.value == 13
    assert result.method is None
    assert math.isnan(result.low)


@pytest.mark.parametrize("ratings", [[[1.0]] * 10, [[3.0]]], ids=["no variation", "one unit"])
def test_resamples_that_do_not_vary_show_nothing(ratings: list[list[float]]) -> None:
    result = bootstrap_interval(
        ratings, row_mean, confidence=0.95, n_resamples=50, rng=np.random.default_rng(1)
    )
    assert result.value == ratings[0][0]
    assert np.isnan([result.low, result.high]).all()


def test_a_statistic_at_the_edge_of_its_resamples_falls_back_to_percentiles() -> None:
    ratings = np.arange(20.0)[:, np.newaxis]

    def lower_if_repeated(rows: Floats) -> float:
        return float(len(np.unique(rows)))

    result = bootstrap_interval(
        ratings, lower_if_repeated, confidence=0.95, n_resamples=300, rng=np.random.default_rng(1)
    )
    assert result.method == "percentile"
    assert result.high < result.value == 20


def test_resamples_equal_to_the_estimate_count_half_as_below_it() -> None:
    """Of a share that few resamples miss, most are ties: counted whole they shift the ends."""
    ratings = np.repeat([0.0, 1.0], [5, 35])[:, np.newaxis]
    actual = bootstrap_interval(
        ratings, row_mean, confidence=0.95, n_resamples=20_000, rng=np.random.default_rng(1)
    )
    resampled = np.random.default_rng(1).binomial(40, 35 / 40, 20_000) / 40
    below = np.mean(resampled < 35 / 40) + np.mean(resampled == 35 / 40) / 2
    bias = float(stats.norm.ppf(below))
    influence = 35 / 40 - ratings[:, 0]
    acceleration = float((-(influence**3)).sum() / 6 / (influence**2).sum() ** 1.5)
    widened = float(stats.t.ppf(0.975, 39)) * math.sqrt(40 / 39)
    ends = [
        stats.norm.cdf(bias + (bias + z) / (1 - acceleration * (bias + z)))
        for z in (-widened, widened)
    ]
    expected = np.quantile(resampled, ends)
    assert (actual.low, actual.high) == pytest.approx(tuple(expected), abs=0.013)


def test_the_same_seed_gives_the_same_interval() -> None:
    ratings = np.random.default_rng(1).normal(size=(30, 1))
    result = [
        bootstrap_interval(
            ratings, row_mean, confidence=0.95, n_resamples=300, rng=np.random.default_rng(seed)
        )
        for seed in (1, 1, 2)
    ]
    assert result[0] == result[1] != result[2]


def test_arguments_out_of_range_are_refused() -> None:
    rng = np.random.default_rng(1)
    with pytest.raises(ValueError, match=r"confidence must lie in \(0, 1\), got 95"):
        bootstrap_interval([[1.0]], row_mean, confidence=95, n_resamples=10, rng=rng)
    with pytest.raises(ValueError, match="n_resamples must be at least 1, got 0"):
        bootstrap_interval([[1.0]], row_mean, confidence=0.95, n_resamples=0, rng=rng)


def test_percentiles_of_few_groups_are_widened_by_one_degree_of_freedom_fewer() -> None:
    """Resamples of a standard normal: Student's quantile of two degrees, times sqrt(3 / 2)."""
    resampled = stats.norm.ppf((np.arange(100_000) + 0.5) / 100_000)
    low, high, _ = _bca_ends(0.0, resampled, np.zeros(3), confidence=0.9, n_groups=3)

    expected = float(stats.t.ppf(0.95, 2)) * math.sqrt(3 / 2)
    assert (-low, high) == pytest.approx((expected, expected), rel=0.01)


def test_a_statistic_that_most_resamples_leave_undefined_has_no_interval() -> None:
    """The mean of what is above 0 needs one of the two units of thirty that are."""
    ratings = np.zeros((30, 1))
    ratings[:1] = 1.0
    ratings[1:3] = [[2.0], [3.0]]

    def of_all_three(rows: np.ndarray) -> float:
        values = np.unique(rows[rows > 0])
        return float(rows.mean()) if len(values) == 3 else math.nan

    interval = bootstrap_interval(
        ratings,
        of_all_three,
        confidence=0.95,
        n_resamples=200,
        rng=np.random.default_rng(1),
    )

    assert interval.value == pytest.approx(0.2)
    assert math.isnan(interval.low)
    assert interval.method is None
