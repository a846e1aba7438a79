"""Difference of a coefficient between two sets of ratings, with its interval."""

from dataclasses import replace

import numpy as np

from eval_assets.stats._coefficients import Coefficient
from eval_assets.stats._numbers import Column, Floats, Ratings, group_codes
from eval_assets.stats._patterns import RatingPatterns
from eval_assets.stats._units import Units
from eval_assets.stats.intervals import Interval, coefficient_interval, less, with_covariances


def difference_interval(  # noqa: PLR0913 - two sets of ratings and what of them
    a: Ratings | RatingPatterns,
    b: Ratings | RatingPatterns,
    coefficient: Coefficient,
    *,
    coefficient_b: Coefficient | None = None,
    paired: bool,
    confidence: float,
    groups: Column | None = None,
    groups_b: Column | None = None,
) -> Interval:
    """Return the coefficient of `a` less that of `b`, with its confidence interval.

    Two intervals that overlap do not say that there is no difference; this one, if it holds 0, does
    say that none was shown. It is made of the intervals of both (MOVER).

    Args:
        a: Ratings of shape (n_units, n_raters), NaN if missing.
        b: Ratings of shape (n_units_b, n_raters_b).
        coefficient: What is compared, for instance `Alpha("ordinal")`.
        coefficient_b: The coefficient of `b` if it differs, as on another scale.
        paired: Whether row i of both is the same response, as for two questions or two sets of
            raters, so that what they have in common cancels out.
        confidence: Long-run share of intervals that hold the true difference, in (0, 1).
        groups: Which units of `a`, and of `b` if paired, are not independent.
        groups_b: The same for `b` if not paired.

    Returns:
        The difference: above 0 if `a` has the higher coefficient. `n_units` and `n_groups` count
        those of `a` or `b` if paired, else those of both together.

    Raises:
        ValueError: If the ratings do not suit the coefficient, paired ratings differ in length or
            come as patterns, or an argument is out of range.

    References:
        Zou and Donner (2008), doi:10.1002/sim.3095.

    Examples:
        >>> from eval_assets.stats import PairwiseAgreement
        >>> clear = [[1, 1], [2, 2], [3, 3], [1, 2], [2, 2], [3, 3], [1, 1], [2, 2]]
        >>> vague = [[1, 3], [2, 2], [3, 1], [1, 2], [2, 3], [3, 3], [2, 1], [2, 2]]
        >>> found = difference_interval(
        ...     clear, vague, PairwiseAgreement(within=0), paired=True, confidence=0.9
        ... )
        >>> found.value, found.low > 0, found.n_units
        (0.5, True, 8)
    """
    other = coefficient if coefficient_b is None else coefficient_b
    if paired:
        (one, two), products, n_units, n_groups = _paired(
            a, b, coefficient, other, confidence=confidence, groups=groups
        )
    else:
        one = coefficient_interval(a, coefficient, confidence=confidence, groups=groups)
        two = coefficient_interval(b, other, confidence=confidence, groups=groups_b)
        products, n_units = np.eye(2), one.n_units + two.n_units
        n_groups = one.n_groups + two.n_groups
    return replace(less(one, two, products), n_units=n_units, n_groups=n_groups)


def _paired(  # noqa: PLR0913 - two sets of ratings and what of them
    a: Ratings | RatingPatterns,
    b: Ratings | RatingPatterns,
    coefficient: Coefficient,
    other: Coefficient,
    *,
    confidence: float,
    groups: Column | None,
) -> tuple[list[Interval], Floats, int, int]:
    """Return both sides' intervals, covariances of their estimates, and n of units and groups.

    Raises:
        TypeError: If the ratings are patterns.
        ValueError: If they differ in length.
    """
    if isinstance(a, RatingPatterns) or isinstance(b, RatingPatterns):
        raise TypeError("patterns forget which unit is which: give matrices if they are paired")
    (one, kind_a), (two, kind_b) = coefficient.by_row(a), other.by_row(b)
    if len(kind_a) != len(kind_b):
        raise ValueError(
            f"paired ratings must have the same units, got {len(kind_a)} and {len(kind_b)}"
        )
    codes = group_codes(groups, n_units=len(kind_a))
    row = np.arange(len(kind_a)) if codes is None else codes
    n_a, n_b = len(one.is_evidence), len(two.is_evidence)
    units = Units.of(
        np.concatenate([kind_a, np.where(kind_b < 0, -1, n_a + kind_b)]),
        n_kinds=n_a + n_b,
        groups=np.concatenate([row, row]),
    )
    measures = [
        replace(
            one,
            estimator=lambda weights: one.estimator(weights[:, :n_a]),
            is_evidence=np.append(one.is_evidence, np.zeros(n_b, np.bool_)),
        ),
        replace(
            two,
            estimator=lambda weights: two.estimator(weights[:, n_a:]),
            is_evidence=np.append(np.zeros(n_a, np.bool_), two.is_evidence),
        ),
    ]
    intervals, products = with_covariances(measures, units, confidence=confidence)
    counts = np.append(one.is_evidence, False)[kind_a] | np.append(two.is_evidence, False)[kind_b]
    return intervals, products, int(counts.sum()), len(np.unique(row[counts]))
