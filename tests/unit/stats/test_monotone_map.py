import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize

from eval_assets.scale import BINARY, LIKERT5, Scale
from eval_assets.stats import MonotoneMap, best_monotone_map, concordance
from eval_assets.stats.monotone_map import isotonic_regression

NAN = math.nan
UNIT = Scale(low=0, high=1)


def merit(
    people: np.ndarray, judge: np.ndarray, mapped: dict[float, int]
) -> tuple[Fraction, float]:
    """Concordance in exact numbers, then nearness to the identity: higher is better."""
    pairs = [(y, mapped[f]) for f, row in zip(judge, people.tolist(), strict=True) for y in row]
    first, second = (sum(ratings) for ratings in zip(*pairs, strict=True))
    expected = len(pairs) * sum(y**2 + f**2 for y, f in pairs) - 2 * first * second
    agreement = 1 - Fraction(len(pairs) * sum((f - y) ** 2 for y, f in pairs), expected)
    return agreement, -sum((to - value) ** 2 for value, to in mapped.items())


@pytest.mark.slow
@pytest.mark.parametrize("n_levels", [2, 3, 4, 5])
def test_no_other_map_is_better_or_as_good_and_nearer_to_the_identity(n_levels: int) -> None:
    rng = np.random.default_rng(n_levels)
    scale = Scale.from_steps(low=0, high=n_levels - 1)
    for _ in range(100):
        n_units = rng.integers(3, 30)
        people = rng.integers(0, n_levels, size=(n_units, 2))
        people[:2, 0] = 0, 1
        judge = rng.integers(0, n_levels, size=n_units)
        if rng.random() < 0.5:
            judge = np.clip(people[:, 0] + rng.integers(-1, 2, size=n_units), 0, n_levels - 1)
        result = best_monotone_map(people, judge, scale=scale)
        paths = itertools.combinations_with_replacement(range(n_levels), len(result.seen))
        best = max(
            merit(people, judge, dict(zip(result.seen, path, strict=True))) for path in paths
        )
        chosen = dict(zip(result.seen, map(int, result.mapped), strict=True))
        assert merit(people, judge, chosen) == best


@pytest.mark.slow
def test_a_continuous_map_is_the_best_of_all_continuous_maps() -> None:
    """Against a general optimiser over the steps upward from the lowest value."""
    rng = np.random.default_rng(3)
    for _ in range(10):
        judge = rng.integers(0, 6, size=60) / 5
        people = np.clip(judge[:, None] ** 2 + rng.normal(0, 0.2, (60, 2)), 0, 1)
        result = best_monotone_map(people, judge, scale=UNIT)
        levels = np.array(result.seen)

        def shortfall(
            steps: np.ndarray,
            people: np.ndarray = people,
            judge: np.ndarray = judge,
            levels: np.ndarray = levels,
        ) -> float:
            mapped = np.clip(np.cumsum(steps), 0, 1)
            return -concordance(people, mapped[np.searchsorted(levels, judge)])

        start = np.full(len(levels), 1 / len(levels))
        best = minimize(shortfall, start, bounds=[(0, 1)] * len(levels), tol=1e-12)
        assert concordance(people, result(judge)) >= -best.fun - 1e-9


def test_scores_between_the_steps_stay_between_them() -> None:
    people = np.repeat([[1, 1], [2, 3], [4, 4], [5, 5]], 5, axis=0)
    judge = np.repeat([1.5, 2, 2.5, 3.5], 5)
    result = best_monotone_map(people, judge, scale=LIKERT5)

    assert result.target is None
    assert result.mapped == pytest.approx((1, 2.5, 4, 5), abs=0.02)


def test_a_binary_scale_gets_a_threshold_even_for_fractional_scores() -> None:
    people = [[0], [0], [0], [1], [1], [1]]
    result = best_monotone_map(people, [0.0, 0.1, 0.1, 0.2, 0.3, 0.9], scale=BINARY)

    assert result.mapped == (0, 0, 1, 1, 1)
    assert result([0.15, 0.25, 1.0]).tolist() == [0, 1, 1]


def test_a_perfect_judge_is_left_alone() -> None:
    judge = [1, 2, 3, 4, 5, 3]
    result = best_monotone_map(judge, judge, scale=LIKERT5)

    assert result.is_identity


@pytest.mark.parametrize(
    ("people", "judge"),
    [([[3, 3], [3, 3]], [1.0, 2.0]), ([[NAN, NAN]], [1.0]), ([[1, 2]], [NAN])],
)
def test_without_different_ratings_the_map_is_the_identity(
    people: list[list[float]], judge: list[float]
) -> None:
    result = best_monotone_map(people, judge, scale=LIKERT5)

    assert result.is_identity
    assert result([1.0, 4.0]).tolist() == [1.0, 4.0]


def test_scores_without_ratings_and_ratings_without_scores_do_not_count() -> None:
    people: list[list[float]] = [[1, NAN], [3, 3], [5, 5], [NAN, NAN], [1, 1]]
    judge = [1, 2, 3, 5, NAN]
    result = best_monotone_map(people, judge, scale=LIKERT5)

    assert result.seen == (1, 2, 3)
    assert result.mapped == (1, 3, 5)


@pytest.mark.parametrize(
    ("score", "mapped"),
    [
        (0, 0),  # below all that was seen: as near to the score as the map allows
        (1, 0),
        (2, 2),  # between 1 -> 0 and 4 -> 2: the score itself
        (3, 2),  # likewise, but at most 2
        (4, 2),
        (5, 5),
        (2.5, 2),  # midway between two levels the lower one
        (NAN, NAN),
    ],
)
def test_an_unseen_score_goes_to_the_nearest_level_that_keeps_the_order(
    score: float, mapped: float
) -> None:
    harsh = MonotoneMap((1, 4), (0, 2), target=(0, 1, 2, 3, 4, 5), low=0, high=5)

    assert harsh([score])[0] == pytest.approx(mapped, nan_ok=True)


def test_mapped_scores_never_descend() -> None:
    rng = np.random.default_rng(4)
    people = rng.random((80, 2))
    result = best_monotone_map(people, (people[:, 0] + rng.random(80)) / 2, scale=UNIT)

    assert (np.diff(result(np.linspace(0, 1, 501))) >= 0).all()


@pytest.mark.parametrize(
    ("seen", "mapped", "message"),
    [
        ((1, 2), (1,), "2 values seen, but 1 mapped"),
        ((2, 1), (1, 2), "seen must ascend"),
        ((1, 2), (2, 1), "mapped must not descend"),
    ],
)
def test_a_map_that_is_none_is_refused(
    seen: tuple[float, ...], mapped: tuple[float, ...], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        MonotoneMap(seen, mapped, target=None, low=0, high=5)


@pytest.mark.parametrize("scale", [LIKERT5, Scale(1, 5)])
@pytest.mark.parametrize("rating", [3.0, 0.1 + 0.2 + 1])
def test_equal_ratings_leave_scores_as_they_are(rating: float, scale: Scale) -> None:
    people = np.full((6, 2), rating)

    assert best_monotone_map(people, [2, 4, 2, 2, 4, 1], scale=scale).mapped == (1, 2, 4)


def test_isotonic_regression_equals_scikit_learns() -> None:
    from sklearn.isotonic import IsotonicRegression  # type: ignore[import-untyped]

    rng = np.random.default_rng(5)
    for n_values in (1, 2, 10, 300):
        means, weights = rng.normal(size=n_values), rng.integers(1, 9, n_values).astype(float)
        peer = IsotonicRegression().fit_transform(np.arange(n_values), means, sample_weight=weights)
        assert isotonic_regression(means, weights) == pytest.approx(peer, abs=1e-12)


def test_unseen_scores_are_interpolated_where_every_value_may_be_given() -> None:
    stretched = MonotoneMap((1.0, 2.0, 4.0), (1.0, 3.0, 5.0), target=None, low=1, high=5)

    assert stretched([1.5, 3.0, 3.5, 4.5]).tolist() == [2.0, 4.0, 4.5, 5.0]
    assert MonotoneMap((2.0, 4.0), (2.0, 3.0), target=None, low=1, high=5)([1.5]).tolist() == [1.5]
