"""All agreement coefficients of one question, each with its interval."""

from dataclasses import dataclass

import numpy as np

from eval_assets.scale import Level, Scale
from eval_assets.stats._coefficients import (
    Alpha,
    FleissKappa,
    GwetAC,
    HumanAgreement,
    PairwiseAgreement,
    PatternCoefficient,
    chance_agreement,
    inapplicable,
)
from eval_assets.stats._numbers import Column, Ratings, on_scale, rating_matrix
from eval_assets.stats._patterns import RatingPatterns, counted
from eval_assets.stats.intervals import Interval, Profile, intervals


@dataclass(frozen=True)
class AgreementProfile(Profile):
    """Agreement on one question.

    Attributes:
        a_hh: A^HH on the declared scale, in [0, 1].
        exact_agreement: Share of rater pairs with equal ratings.
        adjacent_agreement: Share of rater pairs within one step; NaN if the scale has none.
        alpha: Krippendorff's alpha at `level`.
        gwet_ac2: Gwet's AC2 with quadratic weights; NaN at the nominal level.
        a_hh_by_chance: A^HH to expect of raters who share only their habits.
        level: Level of measurement of `alpha`.
        n_units: Units with at least two ratings.
        n_groups: Groups of these units.
        n_ratings: Ratings of those units.
        n_pairs: Pairs of ratings of one unit: the evidence behind every figure.
    """

    a_hh: Interval
    exact_agreement: Interval
    adjacent_agreement: Interval
    alpha: Interval
    fleiss_kappa: Interval
    gwet_ac1: Interval
    gwet_ac2: Interval
    a_hh_by_chance: float
    level: Level
    n_units: int
    n_groups: int
    n_ratings: int
    n_pairs: int


def agreement_profile(
    ratings: Ratings | RatingPatterns,
    *,
    scale: Scale,
    level: Level,
    confidence: float,
    groups: Column | None = None,
) -> AgreementProfile:
    """Return every agreement coefficient of one question, with intervals over response groups.

    Args:
        ratings: Values of shape (n_units, n_raters), NaN if a rating is missing.
        scale: The declared scale. If all ratings are on its values these are the categories of
            Gwet's coefficients, else the values observed.
        level: Level of measurement of alpha: "nominal", "ordinal", "interval" or "ratio".
        confidence: Long-run share of intervals that hold the true value, in (0, 1).
        groups: Which units are not independent: any label, one for each unit.

    Returns:
        The profile; undefined figures are NaN.

    Raises:
        ValueError: If a rating is off the scale or does not suit `level`, or an argument is out of
            range.

    References:
        docs/methods.md, section A^HH, and those that follow it, one for each figure, with their
        sources.

    Examples:
        >>> from eval_assets.scale import LIKERT5
        >>> ratings = [[4, 4], [4, 5], [1, 2], [2, 2], [5, 4], [3, 3]]
        >>> profile = agreement_profile(ratings, scale=LIKERT5, level="ordinal", confidence=0.95)
        >>> print(profile)
                              value      low     high
        a_hh                  0.875    0.671    0.960
        exact_agreement       0.500    0.123    0.877
        adjacent_agreement    1.000    0.541    1.000
        alpha                 0.851    0.119    0.984
        fleiss_kappa          0.345   -0.327    0.858
        gwet_ac1              0.382   -0.082    0.846
        gwet_ac2              0.890    0.667    0.965
    """
    if not isinstance(ratings, RatingPatterns):
        ratings = on_scale(rating_matrix(ratings), scale)
    patterns = counted(ratings, groups=groups)
    is_of_values = scale.values is not None and np.isin(patterns.values, scale.values).all()
    categories = scale.values if is_of_values else None
    is_nominal = level == "nominal"
    coefficients: list[PatternCoefficient | None] = [
        HumanAgreement(scale),
        PairwiseAgreement(within=0),
        None if scale.step is None else PairwiseAgreement(within=scale.step),
        Alpha(level),
        FleissKappa(),
        GwetAC(None, categories),
        None if is_nominal else GwetAC("quadratic", categories),
    ]
    undefined = inapplicable(n_kinds=len(patterns.n_units))
    a_hh, exact, adjacent, alpha, kappa, ac1, ac2 = intervals(
        [
            undefined if coefficient is None else coefficient.measure(patterns)
            for coefficient in coefficients
        ],
        patterns.units,
        confidence=confidence,
    )
    pairable = patterns.n_units * patterns.is_pairable
    return AgreementProfile(
        a_hh=a_hh,
        exact_agreement=exact,
        adjacent_agreement=adjacent,
        alpha=alpha,
        fleiss_kappa=kappa,
        gwet_ac1=ac1,
        gwet_ac2=ac2,
        a_hh_by_chance=chance_agreement(patterns, scale),
        level=level,
        n_units=a_hh.n_units,
        n_groups=a_hh.n_groups,
        n_ratings=int(pairable @ patterns.n_ratings),
        n_pairs=int(patterns.n_units @ patterns.n_pairs),
    )
