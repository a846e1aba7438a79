"""How close a judge's scores are to the ratings of humans, pair by pair."""

import numpy as np
import numpy.typing as npt

from eval_assets.stats.coefficients import refuse_off_scale
from eval_assets.stats.patterns import Floats, Ratings, rating_matrix


def judge_human_agreement(
    ratings: Ratings, scores: npt.ArrayLike, *, low: float, high: float
) -> float:
    """A^HA: how close a judge is to a human rater of the same response, on the scale both used.

    The mean over responses with a score and a rating of each response's mean over raters of
    1 - |rating - score| / (high - low). Set beside A^HH it says whether the judge is as close
    to a human as humans are to each other.

    Args:
        ratings: Human ratings of shape (n_units, n_raters), NaN where missing.
        scores: The judge's scores of shape (n_units,), NaN where missing.
        low: Lowest value of the declared scale.
        high: Highest value of the declared scale.

    Returns:
        1 where the judge always gives what humans gave, 0 where it is always at the opposite end;
        NaN where no unit has both.

    Raises:
        ValueError: If the shapes do not fit, or a value is infinite or outside [low, high].

    Examples:
        >>> judge_human_agreement([[3, 4], [2, np.nan]], [4, 2], low=1, high=5)
        0.9375
    """
    far = _distances(ratings, scores, low=low, high=high) / (high - low)
    n_raters = np.count_nonzero(~np.isnan(far), axis=1)
    rated = n_raters > 0
    if not rated.any():
        return float("nan")
    return float(np.mean(1 - np.nansum(far[rated], axis=1) / n_raters[rated]))


def judge_pairwise_agreement(ratings: Ratings, scores: npt.ArrayLike, *, within: float) -> float:
    """Share of (human rating, judge score) pairs at most `within` apart, pooled over responses.

    Args:
        ratings: Human ratings of shape (n_units, n_raters), NaN where missing.
        scores: The judge's scores of shape (n_units,), NaN where missing.
        within: Greatest distance that counts as agreement, in scale points: 0 for exact.

    Returns:
        1 where all pairs agree, 0 where none does; NaN where no unit has both.

    Raises:
        ValueError: If the shapes do not fit or a value is infinite.

    Examples:
        >>> judge_pairwise_agreement([[3, 4], [2, np.nan]], [4, 2], within=0)
        0.6666666666666666
    """
    far = _distances(ratings, scores, low=-np.inf, high=np.inf)
    far = far[~np.isnan(far)]
    noise = 1e-12 * max(np.nanmax(np.abs(side), initial=0.0) for side in (ratings, scores))
    return float(np.mean(far <= within + noise)) if far.size else float("nan")


def _distances(ratings: Ratings, scores: npt.ArrayLike, *, low: float, high: float) -> Floats:
    """|rating - score| of shape (n_units, n_raters), NaN where either is missing."""
    human = rating_matrix(ratings)
    judge = np.asarray(scores, dtype=np.float64)
    if judge.shape != human.shape[:1]:
        raise ValueError(
            f"scores must have one value for each of the {len(human)} units, got {judge.shape}"
        )
    judge = rating_matrix(judge[:, np.newaxis])
    for values in (human, judge):
        refuse_off_scale(values[~np.isnan(values)], low=low, high=high)
    return np.abs(human - judge)
