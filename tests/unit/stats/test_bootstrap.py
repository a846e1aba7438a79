import math

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from eval_assets.stats import bootstrap_interval
from eval_assets.stats.bootstrap import _bca_ends

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
    found = bootstrap_interval(
        sample, row_mean, confidence=0.95, n_resamples=40_000, rng=np.random.default_rng(1)
    )
    half_width = float(stats.t.ppf(0.975, 7)) * float(sample.std(ddof=1)) / math.sqrt(8)
    assert (found.high - found.low) / 2 == pytest.approx(half_width, rel=0.05)


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
    found = bootstrap_interval(
        ratings, mostly_undefined, confidence=0.95, n_resamples=400, rng=np.random.default_rng(1)
    )
    assert found.value == 13
    assert found.method is None
    assert math.isnan(found.low)


@pytest.mark.parametrize("ratings", [[[1.0]] * 10, [[3.0]]], ids=["no variation", "one unit"])
def test_resamples_that_do_not_vary_show_nothing(ratings: list[list[float]]) -> None:
    found = bootstrap_interval(
        ratings, row_mean, confidence=0.95, n_resamples=50, rng=np.random.default_rng(1)
    )
    assert found.value == ratings[0][0]
    assert np.isnan([found.low, found.high]).all()


def test_a_statistic_at_the_edge_of_its_resamples_falls_back_to_percentiles() -> None:
    ratings = np.arange(20.0)[:, np.newaxis]

    def lower_if_repeated(rows: Floats) -> float:
        return float(len(np.unique(rows)))

    found = bootstrap_interval(
        ratings, lower_if_repeated, confidence=0.95, n_resamples=300, rng=np.random.default_rng(1)
    )
    assert found.method == "percentile"
    assert found.high < found.value == 20


def test_resamples_equal_to_the_estimate_count_half_as_below_it() -> None:
    """Of a share that few resamples miss, most are ties: counted whole they shift the ends."""
    ratings = np.repeat([0.0, 1.0], [5, 35])[:, np.newaxis]
    found = bootstrap_interval(
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
    assert (found.low, found.high) == pytest.approx(tuple(expected), abs=0.013)


def test_the_same_seed_gives_the_same_interval() -> None:
    ratings = np.random.default_rng(1).normal(size=(30, 1))
    found = [
        bootstrap_interval(
            ratings, row_mean, confidence=0.95, n_resamples=300, rng=np.random.default_rng(seed)
        )
        for seed in (1, 1, 2)
    ]
    assert found[0] == found[1] != found[2]


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
