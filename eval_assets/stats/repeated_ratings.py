"""Whether a judge repeats the ratings of one rater."""

import numpy as np

from eval_assets.stats._numbers import Column, Ratings
from eval_assets.stats.judge_pairs import with_judge

FEWEST_EQUAL, FEWEST_VALUES = 20, 3
"""Units and different values from which on equal ratings are no coincidence."""


def repeated_rater(ratings: Ratings, judge: Column) -> int | None:
    """Return the column of a rater whose ratings a judge repeats, None if there is none.

    All scores of the units that both rated are equal, of at least `FEWEST_EQUAL` units and
    `FEWEST_VALUES` values. A judge made from a rater's labels agrees with that rater alone.

    Args:
        ratings: Human ratings of shape (n_units, n_raters), NaN if missing.
        judge: The judge's scores of shape (n_units,), NaN if missing.

    Returns:
        The index of the first such rater.

    Raises:
        ValueError: If the shapes do not fit.

    References:
        docs/methods.md, section A^HA, this project's own rule.

    Examples:
        >>> values = np.arange(20.0) % 3
        >>> repeated_rater(np.stack([values + 1, values], axis=1), values)
        1
        >>> repeated_rater(values[:19, None], values[:19]) is None
        True
    """
    human, scores = with_judge(ratings, judge)
    both = ~(np.isnan(human) | np.isnan(scores)[:, np.newaxis])
    is_equal = both.any(axis=0) & ~(both & (human != scores[:, np.newaxis])).any(axis=0)
    for rater in np.flatnonzero(is_equal & (both.sum(axis=0) >= FEWEST_EQUAL)).tolist():
        if len(np.unique(scores[both[:, rater]])) >= FEWEST_VALUES:
            return int(rater)
    return None
