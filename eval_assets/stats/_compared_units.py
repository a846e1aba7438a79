"""Contribution of each unit that a judge and human raters both rated."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from eval_assets.scale import Level, Scale
from eval_assets.stats._numbers import (
    Column,
    Floats,
    Integers,
    Ratings,
    category_index,
    distinct_values,
    group_codes,
    on_scale,
    require_on_scale,
)
from eval_assets.stats._patterns import RatingPatterns
from eval_assets.stats._units import (
    Units,
    sums_by_code,
)
from eval_assets.stats.judge_pairs import with_judge

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
