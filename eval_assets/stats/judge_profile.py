"""All coefficients of a judge against human ratings, each with its interval."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from eval_assets.scale import Level, Scale
from eval_assets.stats._coefficients import Measure, inapplicable
from eval_assets.stats._interval_bounds import MeanShare
from eval_assets.stats._numbers import (
    Column,
    Floats,
    Integers,
    Ratings,
    category_index,
    distinct_values,
    group_codes,
    on_scale,
    require_literal,
    require_on_scale,
)
from eval_assets.stats._paired_scores import PairedScores
from eval_assets.stats._patterns import RatingPatterns
from eval_assets.stats._units import (
    Units,
    defined_ratio,
    sums_by_code,
    weighted_sums,
)
from eval_assets.stats.association import wilcoxon_of_differences
from eval_assets.stats.intervals import Interval, Profile, less, with_covariances
from eval_assets.stats.judge_pairs import with_judge
from eval_assets.stats.kappa import PairTable

DECIMALS = 12
"""Of positions on a scale taken to [0, 1]; beyond, means that are equal differ by float noise."""

_NOISE = 1e-12
"""Distance of positions below which they are equal."""


@dataclass(frozen=True, eq=False)
class ComparedUnits:
    """Kinds of units that have a judge's score and a human rating; arrays of shape (n_kinds,).

    Attributes:
        units: How many units are of each kind, and in which groups.
        judge: The judge's score on [0, 1].
        mean_human: Mean of the human ratings on [0, 1].
        agreement: 1 - mean distance of the ratings from the judge's score on [0, 1].
        n_ratings: Human ratings.
        n_equal: Those equal to the judge's score.
        n_near: Those at most one step from it; on a continuous scale all.
        judge_code: Index of the declared value nearest to the judge's score, midway the lower; 0 on
            a continuous scale, as is the next.
        consensus_code: Index of the declared value that is the humans' consensus.
    """

    units: Units
    judge: Floats
    mean_human: Floats
    agreement: Floats
    n_ratings: Floats
    n_equal: Floats
    n_near: Floats
    judge_code: Integers
    consensus_code: Integers

    @classmethod
    def of(
        cls,
        ratings: Ratings,
        judge: Column,
        *,
        scale: Scale,
        level: Level,
        groups: Column | None,
    ) -> Self:
        """Return the kinds of units that occur; units that lack either side are left out.

        Raises:
            ValueError: If the shapes do not fit, or a score or rating is off the scale.
        """
        human, scores = (on_scale(declared, scale) for declared in with_judge(ratings, judge))
        for declared in (human, scores):
            require_on_scale(declared, scale)
        if scale.values is not None:
            category_index(human[~np.isnan(human)], np.asarray(scale.values))
        codes = group_codes(groups, n_units=len(human))
        is_compared = ~(np.isnan(human).all(axis=1) | np.isnan(scores))
        patterns, pattern = RatingPatterns.by_row(human[is_compared])
        values, code = distinct_values(scores[is_compared])
        n_patterns = len(patterns.n_units)
        kinds, kind = np.unique(code * n_patterns + pattern, return_inverse=True)
        units = Units.of(
            kind, n_kinds=len(kinds), groups=None if codes is None else codes[is_compared]
        )
        return cls._of_kinds(
            patterns,
            kinds % n_patterns,
            judge=values[kinds // n_patterns],
            units=units,
            scale=scale,
            level=level,
        )

    @classmethod
    def _of_kinds(  # noqa: PLR0913 - both sides of each kind, and what they are measured by
        cls,
        patterns: RatingPatterns,
        pattern: Integers,
        *,
        judge: Floats,
        units: Units,
        scale: Scale,
        level: Level,
    ) -> Self:
        places, scores = scale.to_unit(patterns.values), scale.to_unit(judge)
        n_ratings = patterns.n_ratings.astype(np.float64)
        # the entries of each kind's pattern, kind by kind
        lengths = np.bincount(patterns.pattern, minlength=len(n_ratings))[pattern]
        of_kind = np.repeat(np.arange(len(pattern)), lengths)
        within = np.arange(len(of_kind)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        entry = patterns.starts[pattern[of_kind]] + within
        code, count = patterns.code[entry], patterns.count[entry].astype(np.float64)

        def summed(terms: Floats) -> Floats:
            return sums_by_code(of_kind, count * terms, n_codes=len(pattern))

        distances = np.abs(places[code] - scores[of_kind])
        if not scale.has_order:
            distances = (distances > _NOISE).astype(np.float64)
        steps = np.abs(_ranks(patterns.values, scale)[code] - _ranks(judge, scale)[of_kind])
        return cls(
            units=units,
            judge=np.round(scores, DECIMALS),
            mean_human=np.round(summed(places[code]) / n_ratings[pattern], DECIMALS),
            agreement=1 - summed(distances) / n_ratings[pattern],
            n_ratings=n_ratings[pattern],
            n_equal=summed((steps == 0).astype(np.float64)),
            n_near=summed((steps <= 1 + _NOISE).astype(np.float64)),
            judge_code=_nearest(judge, scale),
            consensus_code=_consensus(patterns, scale, level=level)[pattern],
        )


def _ranks(values: Floats, scale: Scale) -> Floats:
    """Return places on the scale counted in steps; a score may lie between two ranks."""
    if scale.values is None:
        return scale.to_unit(values)
    return np.interp(values, scale.values, np.arange(len(scale.values)))


def _nearest(scores: Floats, scale: Scale) -> Integers:
    """Return the index of the declared value nearest to each score, of two the lower."""
    if scale.values is None:
        return np.zeros(len(scores), np.int64)
    declared = np.asarray(scale.values)
    middles = (declared[1:] + declared[:-1]) / 2
    return np.searchsorted(middles + 1e-9 * np.diff(declared), scores)


def _consensus(human: RatingPatterns, scale: Scale, *, level: Level) -> Integers:
    """Return the index of the declared value that is the consensus of each pattern's raters."""
    if scale.values is None:
        return np.zeros(len(human.n_units), np.int64)
    if level == "nominal":  # the most frequent; entries ascend, so the smallest of several
        entry = np.lexsort((-human.count, human.pattern))[human.starts]
    else:  # the lower median
        totals = np.cumsum(human.count)
        before = totals[human.starts] - human.count[human.starts]
        entry = np.searchsorted(totals, before + (human.n_ratings + 1) // 2)
    return category_index(human.values, np.asarray(scale.values))[human.code[entry]]


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
