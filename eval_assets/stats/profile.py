"""All agreement coefficients of one question at once, with intervals from one set of resamples."""

from dataclasses import dataclass

import numpy as np

from eval_assets.scale import Level
from eval_assets.stats.agreement import chance_agreement
from eval_assets.stats.coefficients import (
    Alpha,
    Coefficient,
    FleissKappa,
    GwetAC,
    HumanAgreement,
    PairwiseAgreement,
    Undefined,
)
from eval_assets.stats.intervals import Interval, intervals
from eval_assets.stats.patterns import Floats, RatingPatterns
from eval_assets.stats.resampling import ResampledUnits


@dataclass(frozen=True)
class AgreementProfile:
    """Agreement on one question.

    Attributes:
        a_hh: A^HH on the declared scale, in [0, 1].
        a_hh_by_chance: A^HH to expect of raters who share nothing but their habits.
        exact_agreement: Share of rater pairs with equal ratings.
        adjacent_agreement: Share of rater pairs within one step; NaN where the scale has none.
        alpha: Krippendorff's alpha at `level`.
        fleiss_kappa: Fleiss' kappa.
        gwet_ac1: Gwet's AC1.
        gwet_ac2: Gwet's AC2 with quadratic weights; NaN at the nominal level.
        level: Level of measurement of `alpha`.
        n_units: Units with at least two ratings.
        n_ratings: Ratings of those units.
        n_pairs: Pairs of ratings of one unit: the evidence behind every figure.
    """

    a_hh: Interval
    a_hh_by_chance: float
    exact_agreement: Interval
    adjacent_agreement: Interval
    alpha: Interval
    fleiss_kappa: Interval
    gwet_ac1: Interval
    gwet_ac2: Interval
    level: Level
    n_units: int
    n_ratings: int
    n_pairs: int


def agreement_profile(  # noqa: PLR0913 - the scale, the resampling and what they are of
    patterns: RatingPatterns,
    *,
    low: float,
    high: float,
    step: float | None,
    level: Level,
    confidence: float,
    n_resamples: int,
    rng: np.random.Generator,
    categories: tuple[float, ...] | None = None,
) -> AgreementProfile:
    """Every agreement coefficient of one question, with intervals over its units.

    Args:
        patterns: The question's ratings.
        low: Lowest value of the declared scale.
        high: Highest value of the declared scale.
        step: Distance of neighbouring values; None where it varies or the scale is continuous.
        level: Level of measurement of alpha.
        confidence: Long-run share of intervals that hold the true value, in (0, 1).
        n_resamples: Bootstrap resamples of the units, shared by all coefficients.
        rng: Source of chance.
        categories: Declared values for Gwet's coefficients. None takes the steps from `low` to
            `high` where every rating is on one, else the values observed.

    Returns:
        The profile; what is undefined is NaN.

    Raises:
        ValueError: If a rating is off the scale or does not suit `level`, or an argument
            is out of range.

    Examples:
        >>> profile = agreement_profile(
        ...     RatingPatterns.from_matrix([[4, 4], [4, 5], [1, 2], [2, 2], [5, 4], [3, 3]]),
        ...     low=1, high=5, step=1, level="ordinal", confidence=0.95, n_resamples=500,
        ...     rng=np.random.default_rng(1),
        ... )
        >>> round(profile.a_hh.value, 3), profile.exact_agreement.value, profile.n_pairs
        (0.875, 0.5, 6)
    """
    if categories is None:
        categories = _declared_steps(patterns.values, low=low, high=high, step=step)
    coefficients: list[Coefficient] = [
        HumanAgreement(low, high),
        PairwiseAgreement(within=0),
        Undefined() if step is None else PairwiseAgreement(within=step),
        Alpha(level),
        FleissKappa(),
        GwetAC(None, categories),
        Undefined() if level == "nominal" else GwetAC("quadratic", categories),
    ]
    a_hh, exact, adjacent, alpha, kappa, ac1, ac2 = intervals(
        [coefficient.estimator(patterns) for coefficient in coefficients],
        ResampledUnits.of(patterns, coefficients),
        confidence=confidence,
        n_resamples=n_resamples,
        rng=rng,
    )
    pairable = patterns.n_units * patterns.is_pairable
    return AgreementProfile(
        a_hh=a_hh,
        a_hh_by_chance=chance_agreement(patterns, low=low, high=high),
        exact_agreement=exact,
        adjacent_agreement=adjacent,
        alpha=alpha,
        fleiss_kappa=kappa,
        gwet_ac1=ac1,
        gwet_ac2=ac2,
        level=level,
        n_units=int(pairable.sum()),
        n_ratings=int(pairable @ patterns.n_ratings),
        n_pairs=int(patterns.n_units @ patterns.n_pairs),
    )


def _declared_steps(
    values: Floats, *, low: float, high: float, step: float | None
) -> tuple[float, ...] | None:
    """The scale's steps; None where there are none or a value lies between them."""
    if step is None:
        return None
    if not step > 0:
        raise ValueError(f"step must be above 0, got {step:g}")
    n_steps = round((high - low) / step)
    positions = (values - low) / step
    on_a_step = np.abs(positions - np.rint(positions)) <= 1e-9 * max(1, n_steps)
    if not on_a_step.all():
        return None
    return tuple(np.linspace(low, high, n_steps + 1).tolist())
