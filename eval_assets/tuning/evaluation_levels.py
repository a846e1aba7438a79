"""Policy of the test: the level of each evaluation, and the precision of its figures.

Whoever tunes against a test by its printed results sooner or later fits it. So each evaluation of
a question's test has a stricter level than the one before, all evaluations together keep to 5 %,
and none prints more than its verdict needs.
"""

import math

TOTAL_SIGNIFICANCE = 0.05
"""Chance of a false certificate over all evaluations of one test."""

MOST_EVALUATIONS = 5
"""Evaluations after which a test is spent: the level of the next would detect hardly anything."""

DECISION_RULE = "Satterthwaite's degrees of freedom for both claims, 5 evaluations, 24 groups"
"""Name of the rule that decides an evaluation. It changes with the rule: what an evaluation under
another name decided is stale."""

RELEASED_STEP = 0.02
"""Gains of candidates that are not accepted are printed to the nearest of these."""


def evaluation_significance(evaluation: int, *, n_candidates: int) -> float:
    """Return the two-sided level of each candidate's test at an evaluation.

    The levels .05 / (k (k + 1)) of all evaluations k add up to .05, however many there are.

    Args:
        evaluation: Number of the evaluation of the test, from 1.
        n_candidates: Candidates that were fixed before it and are evaluated together.

    Raises:
        ValueError: If the test is spent, or an argument is below 1.

    Examples:
        >>> [evaluation_significance(k, n_candidates=1) for k in (1, 2)]
        [0.025, 0.008333333333333333]
    """
    if not 1 <= evaluation <= MOST_EVALUATIONS:
        raise ValueError(f"evaluations are 1 to {MOST_EVALUATIONS}, got {evaluation}")
    if n_candidates < 1:
        raise ValueError(f"n_candidates must be at least 1, got {n_candidates}")
    return TOTAL_SIGNIFICANCE / (evaluation * (evaluation + 1)) / n_candidates


def coarse_gain(gain: float) -> float:
    """Return a gain as it is printed for a candidate that was not accepted; NaN stays NaN.

    Examples:
        >>> coarse_gain(0.0331), coarse_gain(-0.004)
        (0.04, 0.0)
    """
    if math.isnan(gain):
        return gain
    return round(RELEASED_STEP * round(gain / RELEASED_STEP), 10) + 0.0
