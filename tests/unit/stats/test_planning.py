import numpy as np
import pytest

from eval_assets.stats import (
    Alpha,
    Level,
    RatingPatterns,
    coefficient_interval,
)
from eval_assets.stats.resampling import doubles_to_tell, units_after_revision

LIMIT = 0.667


def pairs(shares: list[float], alpha: float, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return ratings of two raters with a true alpha: the second copies the first that often."""
    first = rng.choice(len(shares), n, p=shares)
    second = np.where(rng.random(n) < alpha, first, rng.choice(len(shares), n, p=shares))
    return np.column_stack([first, second]).astype(float)


@pytest.mark.parametrize(
    ("shares", "level"),
    [([0.5, 0.5], "nominal"), ([0.8, 0.2], "nominal"), ([0.1, 0.2, 0.4, 0.2, 0.1], "ordinal")],
)
@pytest.mark.parametrize("alpha", [0.4, 0.9])
def test_doubles_tell_who_agrees_in_four_of_five_studies(
    shares: list[float], level: Level, alpha: float
) -> None:
    rng = np.random.default_rng(1)
    values = np.repeat(np.arange(len(shares)), np.round(np.array(shares) * 100).astype(int))
    n = doubles_to_tell(values.astype(float), level=level, limit=LIMIT)
    assert n is not None

    n_clear = 0
    for _ in range(100):
        study = coefficient_interval(pairs(shares, alpha, n, rng), Alpha(level), confidence=0.95)
        n_clear += study.low >= LIMIT if alpha > LIMIT else study.high < LIMIT

    assert 0.65 <= n_clear / 100 <= 0.95


def test_doubles_of_one_value_tell_nothing() -> None:
    assert doubles_to_tell(np.ones(30), level="nominal", limit=LIMIT) is None


@pytest.mark.parametrize("limit", [0.3, 0.95])
def test_doubles_are_planned_for_any_minimum(limit: float) -> None:
    n = doubles_to_tell(np.repeat([0.0, 1.0], 50), level="nominal", limit=limit)

    assert n is not None
    assert 10 < n < 200


def study(noise: float, n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    quality = rng.normal(0, 1, n)
    rated = quality[:, None] + rng.normal(0, noise, (n, 3))
    return np.searchsorted([-1.3, -0.45, 0.45, 1.3], rated).astype(float)


def test_new_units_show_a_revised_question_in_most_studies() -> None:
    """The plan is made on a poor question, and the studies have an alpha of .8."""
    plans = []
    for seed in range(20):
        ratings = study(1.0, 60, seed)
        alpha = coefficient_interval(ratings, Alpha("ordinal"), confidence=0.95)
        patterns = RatingPatterns.from_matrix(ratings)
        plans.append(units_after_revision(patterns, alpha, level="ordinal", limit=LIMIT))
    n = int(np.median([plan for plan in plans if plan is not None]))
    truth = coefficient_interval(study(0.4, 20_000, 1), Alpha("ordinal"), confidence=0.95)
    assert truth.value == pytest.approx(0.8, abs=0.02)

    shown = [
        coefficient_interval(study(0.4, n, seed), Alpha("ordinal"), confidence=0.95).low >= LIMIT
        for seed in range(100)
    ]

    assert 0.6 <= np.mean(shown) <= 0.95


def test_no_new_units_are_planned_without_an_interval() -> None:
    ratings = [[1, 2]]
    alpha = coefficient_interval(ratings, Alpha("ordinal"), confidence=0.95)
    patterns = RatingPatterns.from_matrix(ratings)

    assert units_after_revision(patterns, alpha, level="ordinal", limit=LIMIT) is None
