"""Ratios of sums over units, with intervals by response group.

Sums of each group are all that these figures need, so any number of units takes little memory.
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from eval_assets.scale import Level
from eval_assets.stats._coefficients import Measure
from eval_assets.stats._interval_bounds import BeyondChance, MeanShare, Spread
from eval_assets.stats._numbers import Floats, Indices
from eval_assets.stats._units import MAX_DELETIONS, Estimator, GroupSums, blocks, defined_ratio
from eval_assets.stats.intervals import Interval, intervals, less, with_covariances
from eval_assets.stats.pair_sums import (
    by_group,
    coded_pair_sums,
    figures_of,
    group_index,
    rater_pair_sums,
)


def share_interval(
    part: npt.ArrayLike,
    whole: npt.ArrayLike,
    *,
    confidence: float,
    groups: npt.ArrayLike | None = None,
) -> Interval:
    """Return the sum of the parts over that of the wholes, such as passed over all units.

    Args:
        part: Part of each unit, from 0 to its whole, shape (n_units,).
        whole: Whole of each unit, shape (n_units,); units with 0 are left out.
        confidence: Long-run share of intervals that hold the true value, in (0, 1).
        groups: Group of each unit; units of one group depend on one another. None if none do.

    Returns:
        Wilson's interval with the variance by groups, exact if all groups are alike; NaN without
        units.

    References:
        Wilson (1927), doi:10.1080/01621459.1927.10502953.

    Examples:
        >>> print(share_interval([1, 1, 0, 1], [1, 1, 1, 1], confidence=0.95))
        0.750 [0.131, 0.984]
    """
    parts, wholes = (np.asarray(terms, dtype=np.float64) for terms in (part, whole))
    is_kept = wholes > 0
    sums = _group_sums(np.column_stack([parts, wholes]), is_kept, groups)
    return intervals([_ratio(0, 1, MeanShare())], sums, confidence=confidence)[0]


def mean_difference(
    differences: npt.ArrayLike,
    *,
    span: float,
    confidence: float,
    groups: npt.ArrayLike | None = None,
) -> Interval:
    """Return the mean of differences on a scale, such as a judge's score less the mean rating.

    It is the mean of the differences above 0 less that of those below. The interval of each holds
    although only few units differ, since neither can vanish.

    Args:
        differences: Difference of each unit, shape (n_units,); NaN if missing.
        span: Largest difference that there can be: highest less lowest value of the scale.
        confidence: Long-run share of intervals that hold the true value, in (0, 1).
        groups: Group of each unit; None if every unit is a separate group.

    References:
        Zou and Donner (2008), doi:10.1002/sim.3095 (MOVER).

    Examples:
        >>> print(mean_difference([1, 0, 0, 1, 1, 0, 0, 0], span=4, confidence=0.95))
        0.375 [-1.124, 1.023]
    """
    shares = np.asarray(differences, dtype=np.float64) / span
    is_kept = ~np.isnan(shares)
    columns = [np.maximum(shares, 0), np.maximum(-shares, 0), np.ones(len(shares))]
    sums = _group_sums(np.column_stack(columns), is_kept, groups)
    measures = [_ratio(0, 2, MeanShare()), _ratio(1, 2, MeanShare())]
    (above, below), products = with_covariances(measures, sums, confidence=confidence)
    shift = less(above, below, products)
    ends = np.clip([shift.low, shift.high], -1, 1).tolist()
    return replace(shift, low=ends[0], high=ends[1]).times(span)


def pooled_agreement(  # noqa: PLR0913 - both sides, and the interval
    unit: Indices,
    values: Floats,
    judge: npt.ArrayLike,
    *,
    level: Level,
    confidence: float,
    groups: npt.ArrayLike | None = None,
    of_people: bool = False,
) -> Interval:
    """Return the agreement of a judge with people beyond chance, over pooled pairs.

    It is `concordance`, which is quadratic-weighted kappa by value; at the nominal level it is
    Cohen's kappa.

    Args:
        unit: Unit of each human rating, from 0 on.
        values: The ratings, none of which is missing.
        judge: Score of each unit, shape (n_units,); NaN if missing.
        level: Level of measurement; only `nominal` changes the figure.
        confidence: Long-run share of intervals that hold the true value, in (0, 1).
        groups: Group of each unit; None if every unit is a separate group.
        of_people: Whether to return people's with each other instead, on the units with a score,
            over ordered pairs of raters.

    References:
        Lin (1989), doi:10.2307/2532051; Cohen (1968), doi:10.1037/h0026256; Bloch and Kraemer
        (1989), doi:10.2307/2532052, for the variance.

    Examples:
        >>> unit, values = np.array([0, 1, 2, 3]), np.array([1.0, 2, 4, 4])
        >>> pooled_agreement(unit, values, [1, 2, 4, 4], level="ordinal", confidence=0.95).value
        1.0
    """
    scores = np.asarray(judge, dtype=np.float64)
    if of_people:
        sums, _ = rater_pair_sums(unit, values, scores, level=level)
        sides = values[sums[unit, 0] > 0]
    else:
        is_paired = ~np.isnan(scores[unit])
        unit, values = unit[is_paired], values[is_paired]
        sums = coded_pair_sums(unit, values, scores, level=level)
        sides = np.concatenate([values, scores[unit]])
    is_kept = sums[:, 0] > 0
    levels, counts = np.unique(sides, return_counts=True)
    positions = None if level == "nominal" else levels
    spread = BeyondChance.of(counts.astype(np.float64), positions, n_pairs=int(is_kept.sum()))
    measure = _measure(figures_of, spread)
    return intervals([measure], _group_sums(sums, is_kept, groups), confidence=confidence)[0]


def _group_sums(
    columns: Floats, is_kept: npt.NDArray[np.bool_], groups: npt.ArrayLike | None
) -> GroupSums:
    """Return the sums of the kept units by group or, of very many groups, by block of groups."""
    index, n_groups = group_index(groups, is_kept)
    block = blocks(np.arange(n_groups), most=MAX_DELETIONS)[index] if n_groups else index
    sums = by_group(columns[is_kept], block, min(n_groups, MAX_DELETIONS))
    return GroupSums(sums, int(is_kept.sum()), n_groups)


def _ratio(numerator: int, denominator: int, spread: Spread) -> Measure:
    return _measure(lambda sums: defined_ratio(sums[:, numerator], sums[:, denominator]), spread)


def _measure(estimator: Estimator, spread: Spread) -> Measure:
    return Measure(estimator, spread, np.ones(0, np.bool_), cost=1)
