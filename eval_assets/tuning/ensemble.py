"""A jury: the weighted mean of calibrated judges, mapped once more."""

import itertools
from collections.abc import Mapping

import numpy as np

from eval_assets.tuning.rated import Floats, RatedUnits

EQUAL_WEIGHT_GROUPS = 40
"""Groups in train that fitted weights need to count as much as equal ones."""

MOST_JURORS = 8
"""All subsets of the judges are tried for their weights: 255 of eight."""


def jury_weights(train: RatedUnits, calibrated: Mapping[str, Floats]) -> dict[str, float]:
    """Return the weight of each judge, between equal weights and those that fit train best.

    Weights are at least 0 and add up to 1. The fitted ones minimise the squared distance of the
    weighted mean from the mean rating; with few groups they say little, so that equal weights
    count as much as `EQUAL_WEIGHT_GROUPS` groups do.

    Args:
        train: Units of the split `train`.
        calibrated: Each judge's scores of these units after its own map; NaN if missing.

    Raises:
        ValueError: If there are fewer than two judges or more than `MOST_JURORS`.
    """
    judges = sorted(calibrated)
    if not 2 <= len(judges) <= MOST_JURORS:  # noqa: PLR2004 - a jury takes two
        raise ValueError(f"a jury takes 2 to {MOST_JURORS} judges, got {len(judges)}")
    scores = np.column_stack([calibrated[judge] for judge in judges])
    used = ~np.isnan(scores).any(axis=1) & ~np.isnan(train.ratings).all(axis=1)
    n_groups = len(np.unique(train.groups[used]))
    equal = np.full(len(judges), 1 / len(judges))
    fitted = equal
    if used.any():
        fitted = _fitted_weights(scores[used], np.nanmean(train.ratings[used], axis=1))
    weights = (EQUAL_WEIGHT_GROUPS * equal + n_groups * fitted) / (EQUAL_WEIGHT_GROUPS + n_groups)
    return dict(zip(judges, weights.tolist(), strict=True))


def jury_scores(weights: Mapping[str, float], calibrated: Mapping[str, Floats]) -> Floats:
    """Return the weighted mean of the judges' scores; NaN if one of them is missing."""
    votes = [weight * calibrated[judge] for judge, weight in weights.items()]
    mean: Floats = np.sum(votes, axis=0)
    return mean


def _fitted_weights(scores: Floats, target: Floats) -> Floats:
    """Return non-negative weights that add up to 1 and bring the mean nearest to the target.

    The best weights are those of least squares on the judges whose weight is not 0, so trying
    every set of judges finds them exactly.
    """
    n_judges = scores.shape[1]
    best, least = np.full(n_judges, 1 / n_judges), np.inf
    for size in range(1, n_judges + 1):
        for chosen in itertools.combinations(range(n_judges), size):
            last, others = chosen[-1], list(chosen[:-1])
            apart = scores[:, others] - scores[:, [last]]
            solved = np.linalg.lstsq(apart, target - scores[:, last], rcond=None)[0]
            weights = np.zeros(n_judges)
            weights[others], weights[last] = solved, 1 - solved.sum()
            if (weights < 0).any():
                continue
            distance = float(((scores @ weights - target) ** 2).sum())
            if distance < least * (1 - 1e-12):
                best, least = weights, distance
    return best
