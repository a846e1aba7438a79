"""A test of adjacent levels of a scale that raters do not tell apart."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_N_DRAWS = 999
_FEWEST_LABELS = 10
"""Labels at each of two levels that are compared."""

_FEWEST_LEVELS, _MOST_LEVELS = 3, 11
_N_HALVINGS = 30
_N_NODES = 61


@dataclass(frozen=True)
class ConfusedLevels:
    """The pair of adjacent levels that raters tell apart least, against the other pairs.

    Args:
        lower: Index of the lower level.
        p_value: Share of draws without confusion in which some pair is told apart as badly.
    """

    lower: int
    p_value: float


def confused_levels(
    unit: Integers, code: Integers, level: Floats, *, alpha: float, rng: np.random.Generator
) -> ConfusedLevels | None:
    """Return the pair of levels that raters confuse most; None with too few levels or labels.

    The null model has a normal impression of each response, which raters share with an error, cut
    at the shares of the levels and with the same alpha.

    Args:
        unit: Unit of each label, from 0; every unit has at least two.
        code: Index of its level.
        level: The levels, ascending.
        alpha: Interval-level alpha of the labels.
        rng: Source of chance.
    """
    if not _FEWEST_LEVELS <= len(level) <= _MOST_LEVELS:
        return None
    share = np.bincount(code) / len(code)
    is_tested = np.minimum(share[:-1], share[1:]) * len(code) >= _FEWEST_LABELS
    if is_tested.sum() <= 1:
        return None
    # Confusion lowers alpha, to which the model is fitted: compare with the other levels.
    observed = _contrast(_log_odds(unit, code, len(level)), is_tested)
    draws = np.stack(list(_normal_draws(unit, level, share, alpha, rng)))
    drawn = _contrast(draws, is_tested)
    mean, spread = drawn.mean(axis=0), drawn.std(axis=0)
    score = np.where(is_tested, (observed - mean) / spread, np.inf)
    lowest = np.where(is_tested, (drawn - mean) / spread, np.inf).min(axis=1)
    lower = int(np.argmin(score))
    n_reached = int((lowest <= score[lower]).sum())
    return ConfusedLevels(lower, (1 + n_reached) / (1 + len(lowest)))


def _normal_draws(
    unit: Integers, level: Floats, share: Floats, alpha: float, rng: np.random.Generator
) -> Iterator[Floats]:
    """Yield log odds of adjacent levels under a normal model with the same alpha."""
    cuts = _normal_quantiles(np.cumsum(share)[:-1])
    shared = _correlation(alpha, level, cuts)
    n_units = int(unit.max()) + 1
    for _ in range(_N_DRAWS):
        latent = math.sqrt(shared) * rng.normal(size=n_units)[unit]
        latent += math.sqrt(1 - shared) * rng.normal(size=len(unit))
        yield _log_odds(unit, np.searchsorted(cuts, latent), len(level))


def _log_odds(unit: Integers, code: Integers, n_levels: int) -> Floats:
    """Return by how much raters tell each level from the next one: log odds of agreement."""
    counts = np.zeros((int(unit.max()) + 1, n_levels))
    np.add.at(counts, (unit, code), 1)
    weight = 1 / (counts.sum(axis=1) - 1)
    pairs = (counts * weight[:, None]).T @ counts
    own = np.diag(pairs) - weight @ counts
    other = np.diag(pairs, 1)
    odds: Floats = np.log((own[:-1] + 0.5) * (own[1:] + 0.5) / (other + 0.5) ** 2)
    return odds


def _contrast(odds: Floats, is_tested: NDArray[np.bool_]) -> Floats:
    """Return the difference of each pair of levels from the mean of the other pairs."""
    kept = np.where(is_tested, odds, 0.0)
    others = (kept.sum(axis=-1, keepdims=True) - kept) / (is_tested.sum() - 1)
    difference: Floats = kept - others
    return difference


def _correlation(alpha: float, level: Floats, cuts: Floats) -> float:
    """Return the correlation of two raters' normal impressions that gives such an alpha."""
    low, high = 0.0, 0.999
    for _ in range(_N_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _normal_alpha(middle, level, cuts) < alpha else (low, middle)
    return (low + high) / 2


def _normal_alpha(correlation: float, level: Floats, cuts: Floats) -> float:
    nodes, weights = np.polynomial.hermite_e.hermegauss(_N_NODES)
    weights = weights / weights.sum()
    limit = (cuts[:, None] - math.sqrt(correlation) * nodes) / math.sqrt(1 - correlation)
    below = np.vstack([np.zeros(len(nodes)), _normal_cdf(limit), np.ones(len(nodes))])
    chance = np.diff(below, axis=0)
    mean = level @ chance
    square = level**2 @ chance
    within = weights @ (square - mean**2)
    total = weights @ square - (weights @ mean) ** 2
    return float(1 - within / total)


_normal_cdf = np.vectorize(NormalDist().cdf, otypes=[float])
_normal_quantiles = np.vectorize(NormalDist().inv_cdf, otypes=[float])
