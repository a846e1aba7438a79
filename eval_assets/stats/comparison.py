"""The difference of a coefficient between two sets of ratings, with its interval."""

import numpy as np

from eval_assets.stats.coefficients import Coefficient, Estimator
from eval_assets.stats.intervals import Interval, intervals
from eval_assets.stats.patterns import Floats, Integers, RatingPatterns, Ratings, rating_matrix
from eval_assets.stats.resampling import ResampledUnits


def difference_interval(  # noqa: PLR0913 - two sets of ratings, what of them, and the resampling
    a: Ratings,
    b: Ratings,
    coefficient: Coefficient,
    *,
    coefficient_b: Coefficient | None = None,
    paired: bool,
    confidence: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> Interval:
    """Coefficient of `a` less that of `b`, with its BCa bootstrap interval.

    Two intervals that overlap do not say that there is no difference; this one that holds 0 does
    say that none was shown.

    Args:
        a: Ratings of shape (n_units, n_raters), NaN where missing.
        b: Ratings of shape (n_units_b, n_raters_b).
        coefficient: What is compared, for instance `Alpha("ordinal")`.
        coefficient_b: The coefficient of `b` where it differs, as on another scale.
        paired: Whether row i of both is the same response, as for two questions or two groups of
            raters; they are then drawn together. Otherwise, as for the responses of two
            models, each set is drawn by itself.
        confidence: Long-run share of intervals that hold the true difference, in (0, 1).
        n_resamples: Bootstrap resamples; above `MAX_BOOTSTRAP_WORK` the jackknife is used.
        rng: Source of chance.

    Returns:
        The difference; above 0 where `a` has the higher coefficient. `n_units` counts the rows
        with two ratings, in `a` or `b` if paired, else in both together.

    Raises:
        ValueError: If the ratings have no two dimensions or do not suit the coefficient, or
            paired ratings differ in length, or an argument is out of range.

    Examples:
        >>> from eval_assets.stats import PairwiseAgreement
        >>> clear = [[1, 1], [2, 2], [3, 3], [1, 2], [2, 2], [3, 3], [1, 1], [2, 2]]
        >>> vague = [[1, 3], [2, 2], [3, 1], [1, 2], [2, 3], [3, 3], [2, 1], [2, 2]]
        >>> found = difference_interval(
        ...     clear, vague, PairwiseAgreement(within=0), paired=True, confidence=0.9,
        ...     n_resamples=1000, rng=np.random.default_rng(1),
        ... )
        >>> found.value, found.low > 0, found.n_units
        (0.5, True, 8)
    """
    matrix_a, matrix_b = rating_matrix(a), rating_matrix(b)
    other = coefficient if coefficient_b is None else coefficient_b
    if paired:
        estimator, units = _paired(matrix_a, matrix_b, coefficient, other)
    else:
        estimator, units = _independent(matrix_a, matrix_b, coefficient, other)
    return intervals(
        [estimator],
        units,
        confidence=confidence,
        n_resamples=n_resamples,
        rng=rng,
        at_most_one=False,
    )[0]


def _paired(
    a: Floats, b: Floats, coefficient: Coefficient, other: Coefficient
) -> tuple[Estimator, ResampledUnits]:
    """One weight for each row that has a rating in either matrix."""
    if len(a) != len(b):
        raise ValueError(f"paired ratings must have the same units, got {len(a)} and {len(b)}")
    (units_a, patterns_a), (units_b, patterns_b) = _by_row(a), _by_row(b)
    rows = np.union1d(units_a, units_b)
    columns_a, columns_b = np.searchsorted(rows, units_a), np.searchsorted(rows, units_b)
    of_a, of_b = coefficient.estimator(patterns_a), other.estimator(patterns_b)
    is_pairable = np.zeros(len(rows), np.bool_)
    is_pairable[columns_a] |= patterns_a.is_pairable
    is_pairable[columns_b] |= patterns_b.is_pairable
    drawn_a = ResampledUnits.of(patterns_a, [coefficient])
    drawn_b = ResampledUnits.of(patterns_b, [other])
    units = ResampledUnits(
        np.ones(len(rows), np.int64),
        (np.flatnonzero(is_pairable), np.flatnonzero(~is_pairable)),
        n_pairable=int(is_pairable.sum()),
        n_entries=drawn_a.n_entries + drawn_b.n_entries,
    )
    return lambda weights: of_a(weights[:, columns_a]) - of_b(weights[:, columns_b]), units


def _by_row(matrix: Floats) -> tuple[Integers, RatingPatterns]:
    row = np.repeat(np.arange(len(matrix)), matrix.shape[1])
    return RatingPatterns.by_unit(row, matrix.ravel())


def _independent(
    a: Floats, b: Floats, coefficient: Coefficient, other: Coefficient
) -> tuple[Estimator, ResampledUnits]:
    """Weights of the patterns of `a`, then of those of `b`, in strata of their own."""
    patterns_a, patterns_b = RatingPatterns.from_matrix(a), RatingPatterns.from_matrix(b)
    of_a, of_b = coefficient.estimator(patterns_a), other.estimator(patterns_b)
    split = len(patterns_a.n_units)
    drawn_a = ResampledUnits.of(patterns_a, [coefficient])
    drawn_b = ResampledUnits.of(patterns_b, [other])
    units = ResampledUnits(
        np.concatenate([drawn_a.n_units, drawn_b.n_units]),
        (*drawn_a.strata, *(stratum + split for stratum in drawn_b.strata)),
        n_pairable=drawn_a.n_pairable + drawn_b.n_pairable,
        n_entries=drawn_a.n_entries + drawn_b.n_entries,
    )
    return lambda weights: of_a(weights[:, :split]) - of_b(weights[:, split:]), units
