"""All coefficients of a judge against human ratings, each with its interval."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from eval_assets.scale import Level, Scale
from eval_assets.stats._coefficients import Measure, inapplicable
from eval_assets.stats._compared_units import ComparedUnits, within_groups
from eval_assets.stats._interval_bounds import BeyondChance, MeanShare
from eval_assets.stats._numbers import Column, Floats, Ratings, require_literal
from eval_assets.stats._paired_scores import PairedScores
from eval_assets.stats._units import Units, defined_ratio, sums_by_code, weighted_sums
from eval_assets.stats.association import wilcoxon_of_differences
from eval_assets.stats.intervals import Interval, Profile, less, product, with_covariances
from eval_assets.stats.kappa import PairTable

_OF_MEANS, _BY_UNIT, _AS_SHARE = "of means", "unit by unit", "as a share"
"""Three ways to an interval of how far A^HA exceeds that of shuffled scores; see `_outermost`."""


class _Pair(NamedTuple):
    """Two measures, and the function that combines their intervals."""

    first: Measure
    second: Measure
    joined: Callable[[Interval, Interval, Floats], Interval] = less


@dataclass(frozen=True)
class JudgeHumanProfile(Profile):
    """A judge against human raters on one question; NaN if undefined.

    "Mean human" is the mean of a unit's human ratings. Their consensus is a rating that was given:
    the lower median, at the nominal level the most frequent one (of several the smallest). The
    judge's value is the declared value nearest to its score, midway the lower.

    Attributes:
        a_ha: A^HA, as in `judge_human_agreement`.
        a_ha_above_constant: A^HA less that of the best constant score.
        a_ha_above_shuffled: A^HA less that of the same scores dealt out to the units at random.
        a_ha_above_people: A^HA less the A^HH of the same units, over units with two ratings or
            more: below 0 if the judge is below human agreement.
        a_ha_within: A^HA less that of the same scores dealt out at random within each group, over
            groups with two units or more: 0 if a judge reads only the text that a group shares.
        a_hh_within: The same of each human rater, as a judge of the others; the mean over ratings.
        a_ha_within_above_people: `a_ha_within` less `a_hh_within`.
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
        a_ha_constant: Largest A^HA of a judge that gives every response the same score.
        a_ha_shuffled: A^HA to expect of these scores dealt out to the units at random.
        n_units: Units with a judge score and a human rating.
        n_groups: Groups of these units.
        n_pairs: Human ratings of those units, each of them compared with the judge's score.
        confusion: (consensus, judge's value, units) of each combination that occurs, ascending;
            empty on a continuous scale.
    """

    a_ha: Interval
    a_ha_above_constant: Interval
    a_ha_above_shuffled: Interval
    a_ha_above_people: Interval
    a_ha_within: Interval
    a_hh_within: Interval
    a_ha_within_above_people: Interval
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
    a_ha_constant: float
    a_ha_shuffled: float
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

    A^HA has two controls, a constant judge and the same scores in random order: an A^HA near
    these means that judge and humans share habits, not that the judge reads.

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
    pairs = {**_differences(kinds), _AS_SHARE: _beyond_shuffled(kinds, scores, scale)}
    figures = _with_intervals(
        _measures(kinds, scores, scale), pairs, kinds.units, confidence=confidence
    )
    figures["a_ha_above_shuffled"] = _outermost(
        figures.pop(_OF_MEANS), figures.pop(_BY_UNIT), figures.pop(_AS_SHARE)
    )
    figures["a_ha_within"], figures["a_hh_within"], figures["a_ha_within_above_people"] = (
        within_groups(ratings, judge, scale=scale, groups=groups, confidence=confidence)
    )
    bias = figures["bias"]
    figures["bias"] = replace(bias, low=_in_range(bias.low), high=_in_range(bias.high))
    for name in ("mae", "bias"):
        figures[name] = figures[name].times(scale.high - scale.low)
    n_units = kinds.units.n_units
    return JudgeHumanProfile(
        **figures,
        wilcoxon_p=wilcoxon_of_differences(kinds.units.group_means(kinds.judge - kinds.mean_human)),
        a_ha_constant=kinds.constant_agreement,
        a_ha_shuffled=kinds.shuffled_agreement,
        n_units=int(n_units.sum()),
        n_groups=figures["a_ha"].n_groups,
        n_pairs=int(n_units @ kinds.n_ratings),
        confusion=_confusion(kinds, scale),
    )


def _in_range(end: float) -> float:
    """Return an end of an interval of differences on [0, 1], no farther from 0 than these."""
    return float(np.clip(end, -1, 1))


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


def _differences(kinds: ComparedUnits) -> dict[str, _Pair]:
    """Return the figures that are one mean less another."""
    ones = np.ones(len(kinds.judge))
    with_shuffled = kinds.agreement - kinds.above_shuffled
    return {
        "a_ha_above_constant": _above_and_below(kinds.above_constant, ones),
        _OF_MEANS: _Pair(_mean(kinds.agreement, ones), _mean(with_shuffled, ones)),
        _BY_UNIT: _above_and_below(kinds.above_shuffled, ones),
        "a_ha_above_people": _above_and_below(kinds.above_people, kinds.is_shared),
        "bias": _above_and_below(kinds.judge - kinds.mean_human, ones),
    }


def _beyond_shuffled(kinds: ComparedUnits, scores: PairedScores, scale: Scale) -> _Pair:
    """Return A^HA above that of shuffled scores as a share, as in kappa, and its denominator.

    If few units have the rarer values, others may well have more of them, which raises both.
    """
    distance, distance_if_shuffled = 1 - kinds.agreement, 1 - kinds.agreement + kinds.above_shuffled
    ones = np.ones(len(distance))
    n_units = kinds.units.n_units.astype(np.float64)
    spread = scores.measure("alpha", n_units).spread
    if not scale.has_order:
        values, code = np.unique(kinds.judge, return_inverse=True)
        score_counts = sums_by_code(code, n_units, n_codes=len(values))
        spread = BeyondChance.of_classes(score_counts, n_pairs=float(n_units.sum()))
    share = Measure(
        lambda weights: (
            1
            - defined_ratio(
                weighted_sums(weights, distance), weighted_sums(weights, distance_if_shuffled)
            )
        ),
        spread,
        ones > 0,
        cost=len(ones),
    )
    return _Pair(share, _mean(distance_if_shuffled, ones), product)


def _with_intervals(
    measures: Mapping[str, Measure],
    pairs: Mapping[str, _Pair],
    units: Units,
    *,
    confidence: float,
) -> dict[str, Interval]:
    """Return the intervals of measures and of pairs of them, by name."""
    of_pairs = [measure for pair in pairs.values() for measure in (pair.first, pair.second)]
    intervals, products = with_covariances(
        [*measures.values(), *of_pairs], units, confidence=confidence
    )
    figures = dict(zip(measures, intervals, strict=False))
    for index, (name, pair) in enumerate(pairs.items()):
        start = len(measures) + 2 * index
        rows = slice(start, start + 2)
        first, second = intervals[rows]
        figures[name] = pair.joined(first, second, products[rows, rows])
    return figures


def _outermost(of_means: Interval, by_unit: Interval, as_share: Interval) -> Interval:
    """Return the outermost ends of three intervals of the same figure.

    That of the means is too narrow if ratings are skewed or a value is rare. With a rare value it
    and that of the share reach up too little, so the upper end of single units counts too. Their
    lower end does not: if one group has most of the values below 0, it is almost arbitrary. The
    interval is undefined if all ratings and scores are equal.
    """
    low, high = of_means.low, max(of_means.high, by_unit.high)
    if as_share.method is not None:
        low, high = min(low, as_share.low), max(high, as_share.high)
    return replace(of_means, low=low, high=high)


def _above_and_below(differences: Floats, counts: Floats) -> _Pair:
    """Return the means of differences above 0 and of those below: their mean is one less other.

    Of each the interval holds although only few units differ, since neither can vanish.
    """
    above, below = np.maximum(differences, 0), np.maximum(-differences, 0)
    return _Pair(_mean(above, counts), _mean(below, counts))


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
