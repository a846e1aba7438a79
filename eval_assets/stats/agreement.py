"""Agreement coefficients of a matrix of ratings; ratings may be missing."""

import numpy as np

from eval_assets.scale import Level, Scale
from eval_assets.stats._coefficients import (
    AgreementWeights,
    Alpha,
    FleissKappa,
    GwetAC,
    HumanAgreement,
    PairwiseAgreement,
    chance_agreement,
    estimate,
)
from eval_assets.stats._numbers import Column, Ratings, declared_scale, number_arrays
from eval_assets.stats._patterns import RatingPatterns, counted


def human_agreement(
    ratings: Ratings | RatingPatterns,
    *,
    scale: Scale | None = None,
    low: float | None = None,
    high: float | None = None,
) -> float:
    """Return A^HH: how close two raters of the same response are, on the scale they were given.

    The mean over responses with at least two ratings of each response's mean over rater pairs of
    1 - |a - b| / (high - low). Every response counts the same, however many raters it had. It is
    not corrected for chance: see `chance_human_agreement`.

    Args:
        ratings: Values of shape (n_units, n_raters), NaN if a rating is missing.
        scale: The declared scale; or its ends:
        low: Lowest value of the declared scale.
        high: Highest value of the declared scale.

    Returns:
        1 if all raters agree, 0 if each pair is at opposite ends; NaN if no unit has two ratings.

    Raises:
        ValueError: If `ratings` is not two-dimensional, a rating is infinite or off the scale, or
            neither `scale` nor both its ends are given.

    References:
        Patwardhan et al. (2025), GDPval, arXiv:2510.04374.

    Examples:
        >>> human_agreement([[3, 4], [2, 3]], low=1, high=5)
        0.75
    """
    return estimate(HumanAgreement(declared_scale(scale, low, high)), ratings)


def chance_human_agreement(
    ratings: Ratings | RatingPatterns,
    *,
    scale: Scale | None = None,
    low: float | None = None,
    high: float | None = None,
) -> float:
    """Return the A^HH to expect of raters who know nothing but how often each value is given.

    1 - E|a - b| / (high - low) for two ratings drawn independently, with replacement, from all
    ratings of the units with at least two, each rating counting the same. An A^HH near this value
    says that raters share habits, not that they see the same in a response.

    Args:
        ratings: Values of shape (n_units, n_raters), NaN if a rating is missing.
        scale: The declared scale; or its ends:
        low: Lowest value of the declared scale.
        high: Highest value of the declared scale.

    Returns:
        1 if all ratings are equal, .5 if half of them are `low` and half `high`, the least
        possible; NaN if no unit has two ratings.

    Raises:
        ValueError: As `human_agreement`.

    References:
        docs/methods.md, section A^HH by chance, this project's own figure.

    Examples:
        >>> each_value_twice = [[1, 2], [3, 4], [5, 5], [1, 2], [3, 4]]
        >>> round(chance_human_agreement(each_value_twice, low=1, high=5), 3)
        0.6
    """
    return chance_agreement(counted(ratings), declared_scale(scale, low, high))


def pairwise_agreement(ratings: Ratings | RatingPatterns, *, within: float) -> float:
    """Return the share of rater pairs whose ratings are at most `within` apart.

    Pairs are pooled over units, so a unit with more raters counts more, unlike in
    `human_agreement`.

    Args:
        ratings: Values of shape (n_units, n_raters), NaN if a rating is missing; may be text
            labels if `within` is 0.
        within: Greatest distance that counts as agreement, in scale points: 0 for exact
            agreement, the scale's step for adjacent. Float noise is allowed for.

    Returns:
        1 if all pairs agree, 0 if none does; NaN if no unit has two ratings.

    Raises:
        ValueError: If `ratings` is not two-dimensional or a rating is infinite, or `within` is
            below 0.

    References:
        docs/methods.md, section Exact and adjacent agreement.

    Examples:
        >>> pairwise_agreement([[4, 4], [4, 5], [1, 5]], within=0)
        0.3333333333333333
    """
    return estimate(PairwiseAgreement(within), ratings)


def krippendorff_alpha(ratings: Ratings | RatingPatterns, *, level: Level) -> float:
    """Return Krippendorff's alpha: agreement beyond chance, for any number of raters.

    Args:
        ratings: Values of shape (n_units, n_raters), NaN if a rating is missing; may be text
            labels at the nominal level. Units with fewer than two ratings cannot disagree and are
            left out.
        level: Level of measurement, which decides how far apart two values are: "nominal",
            "ordinal", "interval" or "ratio". At the ratio level values are at least 0 and at most
            10,000 of them differ.

    Returns:
        1 for perfect agreement, 0 for chance, below 0 for systematic disagreement; NaN if
        alpha is undefined: no unit has two ratings, or all ratings are equal.

    Raises:
        ValueError: If `ratings` is not two-dimensional, a rating is infinite or does not suit
            `level`, or `level` is unknown.

    References:
        Krippendorff (2011), Computing Krippendorff's alpha-reliability; Hayes and
        Krippendorff (2007), doi:10.1080/19312450709336664.

    Examples:
        >>> two_raters = np.array([[1, 1], [2, 2], [3, 3], [3, 1]])
        >>> round(krippendorff_alpha(two_raters, level="nominal"), 3)
        0.667
    """
    return estimate(Alpha(level), ratings)


def fleiss_kappa(ratings: Ratings | RatingPatterns) -> float:
    """Return Fleiss' kappa: exact agreement beyond chance, whoever the raters of each unit are.

    With missing ratings, Gwet's generalisation: agreement is the mean over units with at least two
    ratings, and the share of each value is the mean over units with any rating.

    Args:
        ratings: Values of shape (n_units, n_raters), NaN if a rating is missing; may be text
            labels.

    Returns:
        1 for perfect agreement, 0 for chance, below 0 for less than that; NaN if no unit has two
        ratings or all ratings are equal.

    Raises:
        ValueError: If `ratings` is not two-dimensional or a rating is infinite.

    References:
        Fleiss (1971), doi:10.1037/h0031619; Gwet (2014), Handbook of Inter-Rater Reliability.

    Examples:
        >>> round(fleiss_kappa([[1, 1, 1], [2, 2, 2], [1, 1, 2], [1, 2, 2]]), 3)
        0.333
    """
    return estimate(FleissKappa(), ratings)


def gwet_ac(
    ratings: Ratings | RatingPatterns,
    *,
    weights: AgreementWeights | None,
    categories: Column | None = None,
) -> float:
    """Return Gwet's AC1 or AC2: agreement beyond chance that stays steady if one value prevails.

    Args:
        ratings: Values of shape (n_units, n_raters), NaN if a rating is missing; may be text
            labels without `weights`.
        weights: Credit for near misses. None gives AC1; "linear" and "quadratic" (by value) and
            "ordinal" (by rank; not Krippendorff's ordinal distance) give AC2.
        categories: All values of the declared scale, ascending; None takes the values
            observed, which is fewer if one was never given.

    Returns:
        1 for perfect agreement, 0 for chance, below 0 for less than that; NaN if no unit has two
        ratings or there is one category.

    Raises:
        ValueError: If `ratings` is not two-dimensional, a rating is infinite or not one of the
            categories, or `weights` is unknown.

    References:
        Gwet (2008), doi:10.1348/000711006X126600; Gwet (2014).

    Examples:
        >>> round(gwet_ac([[1, 1], [1, 1], [1, 1], [1, 2]], weights=None), 3)
        0.68
    """
    if categories is None:
        return estimate(GwetAC(weights), ratings)
    if isinstance(ratings, RatingPatterns):
        [declared] = number_arrays(categories, name="categories")
    else:
        ratings, declared = number_arrays(
            ratings, categories, name="ratings and categories", text=weights is None
        )
    if weights is None:
        declared = np.unique(declared)
    return estimate(GwetAC(weights, tuple(declared.tolist())), ratings)
