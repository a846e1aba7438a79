"""All coefficients of a judge against human ratings, each with its interval."""

from dataclasses import dataclass, replace

import numpy as np

from eval_assets.scale import Level, Scale
from eval_assets.stats._coefficients import Measure, inapplicable
from eval_assets.stats._compared_units import ComparedUnits
from eval_assets.stats._interval_bounds import MeanShare
from eval_assets.stats._numbers import Column, Floats, Ratings, require_literal
from eval_assets.stats._paired_scores import PairedScores
from eval_assets.stats._units import defined_ratio, weighted_sums
from eval_assets.stats.association import wilcoxon_of_differences
from eval_assets.stats.intervals import Interval, Profile, less, with_covariances
from eval_assets.stats.kappa import PairTable


@dataclass(frozen=True)
class JudgeHumanProfile(Profile):
    """A judge against human raters on one question; NaN if undefined.

    "Mean human" is the mean of a unit's human ratings. Their consensus is a rating that was given:
    the lower median, at the nominal level the most frequent one (of several the smallest). The
    judge's value is the declared value nearest to its score, midway the lower.

    Attributes:
        a_ha: A^HA, as in `judge_human_agreement`.
        exact_agreement: Share of (human rating, judge score) pairs that are equal.
        adjacent_agreement: Share of them at most one step apart, that is at neighbouring values
            if steps vary; NaN on a continuous scale.
        alpha: Krippendorff's alpha of judge and mean human at the interval level.
        kappa: Cohen's kappa of judge's value and consensus; NaN on a continuous scale.
        weighted_kappa: The same with quadratic weights, by value.
        spearman: Spearman's rho of judge and mean human.
        kendall: Kendall's tau-b of judge and mean human.
        pearson: Pearson's correlation of judge and mean human.
        mae: Mean distance of judge and mean human, in scale points.
        bias: Mean of judge less mean human, in scale points: above 0 if the judge is lenient.
        wilcoxon_p: p-value of the signed-rank test that there is no bias, on the groups' means; NaN
            below 10 groups.
        n_units: Units with a judge score and a human rating.
        n_groups: Groups of these units.
        n_pairs: Human ratings of those units, each of them compared with the judge's score.
        confusion: (consensus, judge's value, units) of each combination that occurs, ascending;
            empty on a continuous scale.
    """

    a_ha: Interval
    exact_agreement: Interval
    adjacent_agreement: Interval
    alpha: Interval
    kappa: Interval
    weighted_kappa: Interval
    spearman: Interval
    kendall: Interval
    pearson: Interval
    mae: Interval
    bias: Interval
    wilcoxon_p: float
    n_units: int
    n_groups: int
    n_pairs: int
    confusion: tuple[tuple[float, float, int], ...]


def judge_human_profile(  # noqa: PLR0913 - two sides, their scale and the intervals
    ratings: Ratings,
    judge: Column,
    *,
    scale: Scale,
    level: Level,
    confidence: float,
    groups: Column | None = None,
) -> JudgeHumanProfile:
    """Return the agreement of a judge with human raters on one question, with intervals.

    Args:
        ratings: Human ratings of shape (n_units, n_raters), NaN if missing.
        judge: The judge's scores of shape (n_units,), NaN if there is none. They may lie between
            the declared values, as a mean of several replies does.
        scale: The declared scale.
        level: Level of measurement, which decides the humans' consensus.
        confidence: Long-run share of intervals that hold the true value, in (0, 1).
        groups: Which units are not independent: any label, one for each unit.

    Returns:
        The profile.

    Raises:
        ValueError: If the shapes do not fit, a score or rating is off the scale, or an argument is
            out of range.

    References:
        docs/methods.md, section A^HA, and those that follow it, one for each figure, with their
        sources.

    Examples:
        >>> from eval_assets.scale import LIKERT5
        >>> profile = judge_human_profile(
        ...     [[4, 5], [2, 3], [1, np.nan]], [4, 2.5, 1], scale=LIKERT5, level="ordinal",
        ...     confidence=0.95,
        ... )
        >>> round(profile.a_ha.value, 3), round(profile.bias.value, 3), profile.kappa.value
        (0.917, -0.167, 1.0)
        >>> profile.confusion
        ((1.0, 1.0, 1), (2.0, 2.0, 1), (4.0, 4.0, 1))
    """
    require_literal(level, Level, name="level")
    kinds = ComparedUnits.of(ratings, judge, scale=scale, level=level, groups=groups)
    scores = PairedScores.of(kinds.judge, kinds.mean_human)
    measures = _measures(kinds, scores, scale)
    # Of each side of a bias the interval holds although only few units differ: neither can vanish.
    ones, differences = np.ones(len(kinds.judge)), kinds.judge - kinds.mean_human
    sides = [_mean(np.maximum(sign * differences, 0), ones) for sign in (1, -1)]
    measured, products = with_covariances(
        [*measures.values(), *sides], kinds.units, confidence=confidence
    )
    figures = dict(zip(measures, measured, strict=False))
    above, below = measured[-2:]
    bias = less(above, below, products[-2:, -2:])
    low, high = np.clip([bias.low, bias.high], -1, 1).tolist()
    figures["bias"] = replace(bias, low=low, high=high)
    for name in ("mae", "bias"):
        figures[name] = figures[name].times(scale.high - scale.low)
    n_units = kinds.units.n_units
    return JudgeHumanProfile(
        **figures,
        wilcoxon_p=wilcoxon_of_differences(kinds.units.group_means(differences)),
        n_units=int(n_units.sum()),
        n_groups=figures["a_ha"].n_groups,
        n_pairs=int(n_units @ kinds.n_ratings),
        confusion=_confusion(kinds, scale),
    )


def _measures(kinds: ComparedUnits, scores: PairedScores, scale: Scale) -> dict[str, Measure]:
    """Return the figures with a separate interval."""
    n_units, ones = kinds.units.n_units.astype(np.float64), np.ones(len(kinds.judge))
    near = kappa = weighted = inapplicable(n_kinds=len(n_units))
    if scale.values is not None:
        near = _mean(kinds.n_near, kinds.n_ratings)
        cells = PairTable(
            np.asarray(scale.values), kinds.judge_code, kinds.consensus_code, kinds.units.n_units
        )
        kappa, weighted = cells.measure(None), cells.measure("quadratic")
    return {
        "a_ha": _mean(kinds.agreement, ones),
        "exact_agreement": _mean(kinds.n_equal, kinds.n_ratings),
        "adjacent_agreement": near,
        "alpha": scores.measure("alpha", n_units),
        "kappa": kappa,
        "weighted_kappa": weighted,
        "spearman": scores.measure("spearman", n_units),
        "kendall": scores.measure("kendall", n_units),
        "pearson": scores.measure("pearson", n_units),
        "mae": _mean(np.abs(kinds.judge - kinds.mean_human), ones),
    }


def _mean(numerator: Floats, denominator: Floats) -> Measure:
    """Return the ratio of two sums over units, in [0, 1]."""
    return Measure(
        lambda weights: defined_ratio(
            weighted_sums(weights, numerator), weighted_sums(weights, denominator)
        ),
        MeanShare(),
        denominator > 0,
        cost=len(numerator),
    )


def _confusion(kinds: ComparedUnits, scale: Scale) -> tuple[tuple[float, float, int], ...]:
    """Return (consensus, judge's value, units) of each combination that occurs."""
    if scale.values is None:
        return ()
    codes = np.stack([kinds.consensus_code, kinds.judge_code])
    cells, of_kind = np.unique(codes, axis=1, return_inverse=True)
    counts = np.bincount(of_kind, weights=kinds.units.n_units, minlength=cells.shape[1])
    return tuple(
        (scale.values[consensus], scale.values[judged], int(n_units))
        for (consensus, judged), n_units in zip(cells.T, counts, strict=True)
    )
