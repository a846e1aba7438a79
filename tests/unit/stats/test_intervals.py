import math

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from eval_assets.stats import (
    Alpha,
    HumanAgreement,
    Interval,
    RatingPatterns,
    bootstrap_interval,
    coefficient_interval,
    jackknife_interval,
    krippendorff_alpha,
)
from eval_assets.stats import intervals as module

NAN = math.nan


def two_raters(n_units: int, *, seed: int, noise: float = 0.7) -> npt.NDArray[np.float64]:
    """Ratings 1-5 of two raters."""
    rng = np.random.default_rng(seed)
    truth = rng.uniform(1, 5, (n_units, 1))
    ratings: npt.NDArray[np.float64] = np.rint(
        np.clip(truth + rng.normal(0, noise, (n_units, 2)), 1, 5)
    )
    return ratings


def row_mean(rows: npt.NDArray[np.float64]) -> float:
    return float(rows.mean())


def interval_alpha(rows: npt.NDArray[np.float64]) -> float:
    return krippendorff_alpha(rows, level="interval")


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


def test_resampling_patterns_gives_the_interval_of_resampling_rows() -> None:
    ratings = two_raters(40, seed=5)
    rows = bootstrap_interval(
        ratings, interval_alpha, confidence=0.95, n_resamples=4000, rng=np.random.default_rng(1)
    )
    patterns = coefficient_interval(
        RatingPatterns.from_matrix(ratings),
        Alpha("interval"),
        confidence=0.95,
        n_resamples=20_000,
        rng=np.random.default_rng(2),
    )
    assert rows.value == pytest.approx(patterns.value, abs=1e-12)
    assert rows.low == pytest.approx(patterns.low, abs=0.02)
    assert rows.high == pytest.approx(patterns.high, abs=0.01)
    assert rows.n_units == patterns.n_units == 40


def test_of_twenty_answers_the_interval_holds_the_true_alpha_as_often_as_it_says() -> None:
    true = interval_alpha(two_raters(200_000, seed=1))
    held = 0
    for seed in range(400):
        found = coefficient_interval(
            RatingPatterns.from_matrix(two_raters(20, seed=seed)),
            Alpha("interval"),
            confidence=0.9,
            n_resamples=400,
            rng=np.random.default_rng(seed),
        )
        held += found.low <= true <= found.high
    # 90 % of 400, give or take 2.5 standard errors of 6
    assert 345 <= held <= 375


def test_the_same_seed_gives_the_same_interval() -> None:
    patterns = RatingPatterns.from_matrix(two_raters(30, seed=6))
    found = [
        coefficient_interval(
            patterns,
            Alpha("ordinal"),
            confidence=0.95,
            n_resamples=300,
            rng=np.random.default_rng(seed),
        )
        for seed in (1, 1, 2)
    ]
    assert found[0] == found[1] != found[2]


def test_ten_answers_leave_alpha_wide_open() -> None:
    # squares of differences add up to 7: D_o = 2 * 7 / 20 = .7; twenty ratings with sum 61 and sum
    # of squares 221: D_e = 2 * (20 * 221 - 61**2) / 380 = 3.6789
    ratings = [[1, 1], [2, 2], [3, 3], [4, 4], [5, 5], [1, 2], [3, 2], [5, 4], [4, 4], [2, 4]]
    patterns = RatingPatterns.from_matrix(ratings)
    rng = np.random.default_rng(1)
    found = coefficient_interval(
        patterns, Alpha("interval"), confidence=0.95, n_resamples=5000, rng=rng
    )
    assert found.value == pytest.approx(1 - 0.7 / 3.6789, abs=1e-5)
    assert found.low < 0.5
    assert 0.93 < found.high < 1


def test_the_jackknife_is_students_t_on_the_logarithm() -> None:
    ratings = two_raters(25, seed=7)
    deleted = [math.log(1 - interval_alpha(np.delete(ratings, unit, axis=0))) for unit in range(25)]
    value = interval_alpha(ratings)
    error = math.sqrt(24 / 25 * sum((x - np.mean(deleted)) ** 2 for x in deleted))
    spread = math.exp(stats.t.ppf(0.975, 24) * error)
    found = jackknife_interval(
        RatingPatterns.from_matrix(ratings), Alpha("interval"), confidence=0.95
    )
    assert found.method == "jackknife_t"
    assert found.low == pytest.approx(1 - (1 - value) * spread)
    assert found.high == pytest.approx(1 - (1 - value) / spread)


def test_perfect_agreement_leaves_nothing_to_resample() -> None:
    patterns = RatingPatterns.from_matrix([[1, 1], [2, 2], [3, 3], [4, 4]])
    jackknife = jackknife_interval(patterns, Alpha("interval"), confidence=0.95)
    bootstrap = coefficient_interval(
        patterns,
        HumanAgreement(1, 5),
        confidence=0.95,
        n_resamples=200,
        rng=np.random.default_rng(1),
    )
    assert (jackknife.low, jackknife.value, jackknife.high) == (1, 1, 1)
    assert (bootstrap.low, bootstrap.value, bootstrap.high) == (1, 1, 1)


def test_one_unit_of_disagreement_has_a_jackknife_interval_that_ends_at_one() -> None:
    patterns = RatingPatterns.from_matrix([[1, 1], [2, 2], [3, 3], [4, 4], [1, 2]])
    found = jackknife_interval(patterns, Alpha("interval"), confidence=0.95)
    assert found.low < found.value < found.high == 1


@pytest.mark.parametrize(
    "ratings",
    [[[1, 1], [1, 1]], [[1, 5]], [[1, NAN], [2, NAN]]],
    ids=["no variation", "one", "none"],
)
def test_undefined_coefficients_have_undefined_ends(ratings: list[list[float]]) -> None:
    patterns = RatingPatterns.from_matrix(ratings)
    rng = np.random.default_rng(1)
    for found in (
        jackknife_interval(patterns, Alpha("interval"), confidence=0.95),
        coefficient_interval(patterns, Alpha("interval"), confidence=0.95, n_resamples=50, rng=rng),
        bootstrap_interval(
            np.array(ratings), interval_alpha, confidence=0.95, n_resamples=50, rng=rng
        ),
    ):
        assert math.isnan(found.low)
        assert math.isnan(found.high)


def test_a_coefficient_that_rests_on_one_unit_has_no_jackknife_interval() -> None:
    """Without the last unit nothing varies."""
    patterns = RatingPatterns.from_matrix([[1, 1], [1, 1], [1, 1], [1, 2]])
    found = jackknife_interval(patterns, Alpha("interval"), confidence=0.95)
    assert found.value == 0
    assert math.isnan(found.low)


def test_mostly_undefined_resamples_have_no_interval() -> None:
    ratings = np.array([[1, 1], [1, 1], [1, 1], [1, 1], [1, 1], [1, 2]])

    def mostly_undefined(rows: npt.NDArray[np.float64]) -> float:
        return float(rows.sum()) if (rows[:, 1] == 2).sum() == 1 else NAN

    # the last row is drawn exactly once in 40 % of the resamples
    found = bootstrap_interval(
        ratings, mostly_undefined, confidence=0.95, n_resamples=400, rng=np.random.default_rng(1)
    )
    assert found.value == 13
    assert math.isnan(found.low)


def test_a_statistic_at_the_edge_of_its_resamples_falls_back_to_percentiles() -> None:
    ratings = np.arange(20.0)[:, np.newaxis]

    def lower_if_repeated(rows: npt.NDArray[np.float64]) -> float:
        return float(len(np.unique(rows)))

    found = bootstrap_interval(
        ratings, lower_if_repeated, confidence=0.95, n_resamples=300, rng=np.random.default_rng(1)
    )
    assert found.method == "percentile"
    assert found.high < found.value == 20


def test_too_many_patterns_for_a_bootstrap_get_the_jackknife(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    patterns = RatingPatterns.from_matrix(two_raters(400, seed=8))

    def interval() -> Interval:
        rng = np.random.default_rng(1)
        return coefficient_interval(
            patterns, Alpha("interval"), confidence=0.95, n_resamples=4000, rng=rng
        )

    by_bootstrap = interval()
    monkeypatch.setattr(module, "MAX_BOOTSTRAP_WORK", 0)
    by_jackknife = interval()
    assert (by_bootstrap.method, by_jackknife.method) == ("bca", "jackknife_t")
    assert by_jackknife.low == pytest.approx(by_bootstrap.low, abs=0.01)
    assert by_jackknife.high == pytest.approx(by_bootstrap.high, abs=0.01)


def test_units_left_out_in_groups_give_nearly_the_same_interval() -> None:
    """3,000 units with patterns of their own are left out in some 800 groups."""
    rng = np.random.default_rng(9)
    ratings = rng.normal(size=(3000, 1)) + rng.normal(size=(3000, 2))
    patterns = RatingPatterns.from_matrix(ratings)
    grouped = jackknife_interval(patterns, Alpha("interval"), confidence=0.95)
    # correlation .5: standard error of alpha about (1 - .5**2) / sqrt(3000) = .0137
    assert grouped.high - grouped.low == pytest.approx(2 * 1.96 * 0.0137, rel=0.05)


def test_arguments_out_of_range_are_refused() -> None:
    patterns = RatingPatterns.from_matrix([[1, 2], [2, 2]])
    rng = np.random.default_rng(1)
    with pytest.raises(ValueError, match=r"confidence must lie in \(0, 1\), got 95"):
        jackknife_interval(patterns, Alpha("interval"), confidence=95)
    with pytest.raises(ValueError, match="n_resamples must be at least 1, got 0"):
        coefficient_interval(patterns, Alpha("interval"), confidence=0.95, n_resamples=0, rng=rng)
