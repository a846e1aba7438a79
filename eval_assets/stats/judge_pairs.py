"""Agreement of a judge's scores with single human ratings."""

import numpy as np

from eval_assets.scale import Scale
from eval_assets.stats._numbers import (
    NOISE,
    Column,
    Floats,
    Ratings,
    declared_scale,
    number_arrays,
    rating_matrix,
    require_on_scale,
    without_noise,
)


def judge_human_agreement(
    ratings: Ratings,
    judge: Column,
    *,
    scale: Scale | None = None,
    low: float | None = None,
    high: float | None = None,
) -> float:
    """Return A^HA: how close a judge is to a human rater of the same response, on their scale.

    The mean over responses with a score and a rating of each response's mean over raters of
    1 - |rating - score| / (high - low). Beside A^HH it says whether the judge is as close
    to a human as humans are to each other.

    Args:
        ratings: Human ratings of shape (n_units, n_raters), NaN if missing.
        judge: The judge's scores of shape (n_units,), NaN if missing.
        scale: The declared scale; or its ends:
        low: Lowest value of the declared scale.
        high: Highest value of the declared scale.

    Returns:
        1 if the judge always gives what humans gave, 0 if it is always at the opposite end;
        NaN if no unit has both.

    Raises:
        ValueError: If the shapes do not fit, or a value is infinite or off the scale.

    References:
        Patwardhan et al. (2025), GDPval, arXiv:2510.04374.

    Examples:
        >>> judge_human_agreement([[3, 4], [2, np.nan]], [4, 2], low=1, high=5)
        0.9375
    """
    declared = declared_scale(scale, low, high)
    human, scores = with_judge(ratings, judge)
    for values in (human, scores):
        require_on_scale(values, declared)
    far = declared.distance(human, scores[:, np.newaxis])
    n_raters = np.count_nonzero(~np.isnan(far), axis=1)
    rated = n_raters > 0
    if not rated.any():
        return float("nan")
    return float(np.mean(1 - np.nansum(far[rated], axis=1) / n_raters[rated]))


def judge_pairwise_agreement(ratings: Ratings, judge: Column, *, within: float) -> float:
    """Return the share of (human rating, judge score) pairs at most `within` apart.

    Args:
        ratings: Human ratings of shape (n_units, n_raters), NaN if missing; may be text labels if
            `within` is 0.
        judge: The judge's scores of shape (n_units,), NaN if missing.
        within: Greatest distance that counts as agreement, in scale points: 0 for exact.

    Returns:
        1 if all pairs agree, 0 if none does; NaN if no unit has both.

    Raises:
        ValueError: If the shapes do not fit, a value is infinite or `within` is below 0.

    References:
        docs/methods.md, section Exact and adjacent agreement.

    Examples:
        >>> judge_pairwise_agreement([[3, 4], [2, np.nan]], [4, 2], within=0)
        0.6666666666666666
    """
    if not within >= 0:
        raise ValueError(f"within must be at least 0, got {within:g}")
    human, scores = with_judge(ratings, judge, text=within == 0)
    far = np.abs(human - scores[:, np.newaxis])
    known = far[~np.isnan(far)]
    noise = NOISE * max(np.nanmax(np.abs(side), initial=0.0) for side in (human, scores))
    return float(np.mean(known <= within + noise)) if known.size else float("nan")


def with_judge(ratings: Ratings, judge: Column, *, text: bool = False) -> tuple[Floats, Floats]:
    """Return human ratings and a judge's scores as floats, without float noise between them.

    Raises:
        ValueError: If the shapes do not fit, or a value is infinite or not a number.
    """
    human, scores = number_arrays(ratings, judge, name="ratings and scores", text=text)
    human = rating_matrix(human)
    if scores.shape != human.shape[:1]:
        raise ValueError(
            f"judge must have one score for each of the {len(human)} units, got {scores.shape}"
        )
    both = without_noise(np.append(human.ravel(), scores))
    return both[: human.size].reshape(human.shape), both[human.size :]
