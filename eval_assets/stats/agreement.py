"""How far raters agree: coefficients of a matrix of ratings, missing ratings allowed."""

from typing import cast

import numpy as np
import numpy.typing as npt

from eval_assets.scale import Level
from eval_assets.stats.coefficients import (
    AgreementWeights,
    Alpha,
    FleissKappa,
    GwetAC,
    HumanAgreement,
    PairwiseAgreement,
    estimate,
    refuse_off_scale,
)
from eval_assets.stats.distances import sums_between
from eval_assets.stats.patterns import RatingPatterns, Ratings


def human_agreement(ratings: Ratings, *, low: float, high: float) -> float:
    """A^HH: how close two raters of the same response are, on the scale they were given.

    The mean over responses with at least two ratings of each response's mean over rater pairs of
    1 - |a - b| / (high - low). Every response counts the same, however many raters it had. It is
    not corrected for chance: see `chance_human_agreement`.

    Args:
        ratings: Values of shape (n_units, n_raters), NaN where a rating is missing.
        low: Lowest value of the declared scale.
        high: Highest value of the declared scale.

    Returns:
        1 where all raters agree, 0 where each pair is at opposite ends; NaN where no
        unit has two ratings.

    Raises:
        ValueError: If `ratings` is not two-dimensional, a rating is infinite or outside
            [low, high], or `low` is not below `high`.

    References:
        Patwardhan et al. (2025), GDPval, arXiv:2510.04374.

    Examples:
        >>> human_agreement([[3, 4], [2, 3]], low=1, high=5)
        0.75
    """
    return estimate(HumanAgreement(low, high), RatingPatterns.from_matrix(ratings))


def chance_human_agreement(ratings: Ratings, *, low: float, high: float) -> float:
    """A^HH to expect of raters who know nothing but how often each value is given.

    1 - E|a - b| / (high - low) for two ratings drawn independently, with replacement, from all
    ratings of the units with at least two, each rating counting the same. An A^HH near this value
    says that raters share habits, not that they see the same in a response.

    Args:
        ratings: Values of shape (n_units, n_raters), NaN where a rating is missing.
        low: Lowest value of the declared scale.
        high: Highest value of the declared scale.

    Returns:
        1 where all ratings are equal, .5 where they are half `low`, half `high`, the
        least possible; NaN where no unit has two ratings.

    Raises:
        ValueError: As `human_agreement`.

    Examples:
        >>> each_value_twice = [[1, 2], [3, 4], [5, 5], [1, 2], [3, 4]]
        >>> round(chance_human_agreement(each_value_twice, low=1, high=5), 3)
        0.6
    """
    return chance_agreement(RatingPatterns.from_matrix(ratings), low=low, high=high)


def chance_agreement(patterns: RatingPatterns, *, low: float, high: float) -> float:
    """`chance_human_agreement` of patterns."""
    refuse_off_scale(patterns.values, low=low, high=high)
    observed = patterns.n_units[np.newaxis].astype(np.float64)
    marginals = patterns.marginals(observed, patterns.is_pairable.astype(np.float64))
    n_ratings = float(marginals.sum())
    if not n_ratings:
        return float("nan")
    distances = float(sums_between(marginals, patterns.values, "absolute")[0])
    return 1 - 2 * distances / n_ratings**2 / (high - low)


def pairwise_agreement(ratings: Ratings, *, within: float) -> float:
    """Share of rater pairs whose ratings are at most `within` apart.

    Pairs are pooled over units, so a unit with more raters counts more, unlike in
    `human_agreement`.

    Args:
        ratings: Values of shape (n_units, n_raters), NaN where a rating is missing.
        within: Greatest distance that counts as agreement, in scale points: 0 for exact
            agreement, the scale's step for adjacent. Float noise is allowed for.

    Returns:
        1 where all pairs agree, 0 where none does; NaN where no unit has two ratings.

    Raises:
        ValueError: If `ratings` is not two-dimensional or a rating is infinite.

    Examples:
        >>> pairwise_agreement([[4, 4], [4, 5], [1, 5]], within=0)
        0.3333333333333333
    """
    return estimate(PairwiseAgreement(within), RatingPatterns.from_matrix(ratings))


def krippendorff_alpha(ratings: Ratings, *, level: Level) -> float:
    """Krippendorff's alpha: agreement beyond chance, for any number of raters.

    Args:
        ratings: Values of shape (n_units, n_raters), NaN where a rating is missing.
            Units with fewer than two ratings cannot disagree and are left out.
        level: Level of measurement, which decides how far apart two values are. At the ratio
            level values are at least 0 and at most 10,000 of them differ.

    Returns:
        1 for perfect agreement, 0 for chance, below 0 for systematic disagreement; NaN where
        alpha is undefined, when no unit has two ratings or all ratings are equal.

    Raises:
        ValueError: If `ratings` is not two-dimensional, a rating is infinite or does not suit
            `level`.

    References:
        Krippendorff (2011), Computing Krippendorff's alpha-reliability; Hayes and
        Krippendorff (2007), doi:10.1080/19312450709336664.

    Examples:
        >>> two_raters = np.array([[1, 1], [2, 2], [3, 3], [3, 1]])
        >>> round(krippendorff_alpha(two_raters, level="nominal"), 3)
        0.667
    """
    return estimate(Alpha(level), RatingPatterns.from_matrix(ratings))


def fleiss_kappa(ratings: Ratings) -> float:
    """Fleiss' kappa: exact agreement beyond chance, whoever the raters of each unit are.

    With missing ratings, Gwet's generalisation: agreement is the mean over units with at least two
    ratings, and the share of each value is the mean over units with any rating.

    Args:
        ratings: Values of shape (n_units, n_raters), NaN where a rating is missing.

    Returns:
        1 for perfect agreement, 0 for chance, below 0 for less than that; NaN where no unit
        has two ratings or all ratings are equal.

    Raises:
        ValueError: If `ratings` is not two-dimensional or a rating is infinite.

    References:
        Fleiss (1971), doi:10.1037/h0031619; Gwet (2014), Handbook of Inter-Rater Reliability.

    Examples:
        >>> round(fleiss_kappa([[1, 1, 1], [2, 2, 2], [1, 1, 2], [1, 2, 2]]), 3)
        0.333
    """
    return estimate(FleissKappa(), RatingPatterns.from_matrix(ratings))


def gwet_ac(
    ratings: Ratings, *, weights: AgreementWeights | None, categories: npt.ArrayLike | None = None
) -> float:
    """Gwet's AC1 and AC2: agreement beyond chance that stays steady where one value prevails.

    Args:
        ratings: Values of shape (n_units, n_raters), NaN where a rating is missing.
        weights: Credit for near misses. None gives AC1; "linear" and "quadratic" (by value) and
            "ordinal" (by rank; not Krippendorff's ordinal distance) give AC2.
        categories: All values of the declared scale, ascending; None takes the values
            observed, which is fewer where one was never given.

    Returns:
        1 for perfect agreement, 0 for chance, below 0 for less than that; NaN where no unit
        has two ratings or there is one category.

    Raises:
        ValueError: If `ratings` is not two-dimensional, a rating is infinite or no category.

    References:
        Gwet (2008), doi:10.1348/000711006X126600; Gwet (2014).

    Examples:
        >>> round(gwet_ac([[1, 1], [1, 1], [1, 1], [1, 2]], weights=None), 3)
        0.68
    """
    declared = None
    if categories is not None:
        declared = tuple(cast("list[float]", np.asarray(categories, np.float64).tolist()))
    return estimate(GwetAC(weights, declared), RatingPatterns.from_matrix(ratings))
