"""Contribution of each unit that a judge and human raters both rated, and agreement within groups.

A judge that reads only the prompt gives every response of a group the same score. It agrees with
people as far as prompts differ, and cannot distinguish responses of one group.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np

from eval_assets.scale import TOLERANCE, Level, Scale
from eval_assets.stats._coefficients import Measure
from eval_assets.stats._distances import Distance, sums_within
from eval_assets.stats._interval_bounds import MeanShare, unseen_share
from eval_assets.stats._numbers import (
    Column,
    Floats,
    Integers,
    Ratings,
    category_index,
    distinct_integers,
    distinct_values,
    group_codes,
    on_scale,
    require_on_scale,
)
from eval_assets.stats._patterns import RatingPatterns
from eval_assets.stats._units import (
    MAX_DELETIONS,
    GroupSums,
    Units,
    blocks,
    defined_ratio,
    sums_by_code,
)
from eval_assets.stats.intervals import Interval, intervals, less, with_covariances
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
        above_constant: Agreement less that of the best constant score.
        above_shuffled: Agreement less that of scores dealt out at random: the unit's part of the
        difference of the two means, which is not linear in the units.
        above_people: Agreement less that of the raters with each other; 0 for a single rating.
        is_shared: 1 if the unit has two ratings or more, else 0.
        n_ratings: Human ratings.
        n_equal: Those equal to the judge's score.
        n_near: Those at most one step from it; on a continuous scale all.
        judge_code: Index of the declared value nearest to the judge's score, midway the lower; 0 on
            a continuous scale, as is the next.
        consensus_code: Index of the declared value that is the humans' consensus.
        constant_agreement: Largest mean agreement of any one score: that of the median rating.
        shuffled_agreement: Mean agreement if each unit were as likely to get any unit's score.
    """

    units: Units
    judge: Floats
    mean_human: Floats
    agreement: Floats
    above_constant: Floats
    above_shuffled: Floats
    above_people: Floats
    is_shared: Floats
    n_ratings: Floats
    n_equal: Floats
    n_near: Floats
    judge_code: Integers
    consensus_code: Integers
    constant_agreement: float
    shuffled_agreement: float

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

        distances = _distances(places[code], scores[of_kind], scale)
        steps = np.abs(_ranks(patterns.values, scale)[code] - _ranks(judge, scale)[of_kind])
        agreement = 1 - summed(distances) / n_ratings[pattern]
        n_units = units.n_units.astype(np.float64)
        n = max(1.0, float(n_units.sum()))
        shares = patterns.marginals(patterns.units.observed(), 1 / n_ratings)[0] / n
        constant = _best_constant(places, shares, scale)
        from_constant = _distances(places, constant, scale)
        with_constant = 1 - summed(from_constant[code]) / n_ratings[pattern]
        from_scores = _mean_distance(places, scores, n_units / n, scale)
        from_ratings = _mean_distance(scores, places, shares, scale)
        shuffled = 1 - float(n_units @ from_ratings) / n if n_units.any() else np.nan
        dealt = 2 - summed(from_scores[code]) / n_ratings[pattern] - from_ratings - shuffled
        shared = n_ratings[pattern] > 1
        distance: Distance = "absolute" if scale.has_order else "nominal"
        far_apart = sums_within(patterns, places, distance) / np.maximum(patterns.n_pairs, 1)
        return cls(
            units=units,
            judge=np.round(scores, DECIMALS),
            mean_human=np.round(summed(places[code]) / n_ratings[pattern], DECIMALS),
            agreement=agreement,
            above_constant=agreement - with_constant,
            above_shuffled=agreement - dealt,
            above_people=np.where(shared, agreement - 1 + far_apart[pattern], 0.0),
            is_shared=shared.astype(np.float64),
            n_ratings=n_ratings[pattern],
            n_equal=summed((steps == 0).astype(np.float64)),
            n_near=summed((steps <= 1 + _NOISE).astype(np.float64)),
            judge_code=_nearest(judge, scale),
            consensus_code=_consensus(patterns, scale, level=level)[pattern],
            constant_agreement=float(n_units @ with_constant) / n if n_units.any() else np.nan,
            shuffled_agreement=shuffled,
        )


def _distances(a: Floats, b: Floats | float, scale: Scale) -> Floats:
    """Return the distances of places on [0, 1]; without order 1 if they differ, else 0."""
    distances = np.abs(a - b)
    return distances if scale.has_order else (distances > _NOISE).astype(np.float64)


def _best_constant(places: Floats, shares: Floats, scale: Scale) -> float:
    """Return the place nearest to places with these shares: their median, or the most frequent."""
    if not places.size:
        return float("nan")
    if not scale.has_order:
        return float(places[np.argmax(shares)])
    index = int(np.searchsorted(np.cumsum(shares), 0.5))
    return float(places[min(index, len(places) - 1)])


def _mean_distance(points: Floats, places: Floats, shares: Floats, scale: Scale) -> Floats:
    """Return the mean distance of each point from places whose shares add up to 1."""
    order = np.argsort(places)
    if not scale.has_order:
        share = np.append(0.0, np.cumsum(shares[order]))
        end = np.searchsorted(places[order], points + _NOISE, side="right")
        unequal: Floats = share[-1] - share[end]
        unequal += share[np.searchsorted(places[order], points - _NOISE)]
        return unequal
    below = np.searchsorted(places[order], points, side="right")
    share = np.append(0.0, np.cumsum(shares[order]))
    sums = np.append(0.0, np.cumsum((shares * places)[order]))
    distances: Floats = points * (2 * share[below] - share[-1]) + sums[-1] - 2 * sums[below]
    return distances


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


_MISSING = -1
"""Code of a rating that is missing."""


class WithinGroups(NamedTuple):
    """A^HA less that of the same scores dealt out within response groups.

    Attributes:
        judge: That of the judge.
        people: That of each rater as a judge of the others, the mean over their ratings.
        judge_above_people: The judge's less that of people.
    """

    judge: Interval
    people: Interval
    judge_above_people: Interval


class _Scores(NamedTuple):
    """Scores, each beside ratings of its unit.

    Attributes:
        score: Codes of the scores, shape (n_scores,).
        cell: Within which each is dealt out: a group and, of people, a rater.
        group: Group of each score.
        of_score: Score that each rating stands beside, shape (n_ratings,).
        rating: Codes of the ratings.
    """

    score: Integers
    cell: Integers
    group: Integers
    of_score: Integers
    rating: Integers


def within_groups(
    ratings: Ratings, judge: Column, *, scale: Scale, groups: Column | None, confidence: float
) -> WithinGroups:
    """Return the agreement within groups; undefined if every group has one unit.

    Args:
        ratings: Human ratings of shape (n_units, n_raters), NaN if missing.
        judge: The judge's scores of shape (n_units,), NaN if there is none.
        scale: The declared scale.
        groups: Group of each unit; None if each unit is its own.
        confidence: Long-run share of intervals that hold the true value.
    """
    human, judged = (on_scale(declared, scale) for declared in with_judge(ratings, judge))
    compared = ~(np.isnan(human).all(axis=1) | np.isnan(judged))
    codes = group_codes(groups, n_units=len(human))
    group = np.arange(len(human)) if codes is None else codes
    shared = compared & (np.bincount(group, compared, minlength=1)[group] > 1)
    group = np.unique(group[shared], return_inverse=True)[1]
    judge_and_humans = np.column_stack([judged, human])[shared]
    code, is_known = np.full(judge_and_humans.shape, _MISSING), ~np.isnan(judge_and_humans)
    values, code[is_known] = distinct_values(judge_and_humans[is_known])
    places = scale.to_unit(values) if scale.has_order else None
    n_groups = int(group.max(initial=-1)) + 1
    parts = [
        _sums(scores, places, n_groups=n_groups, n_values=len(values))
        for scores in (_of_judge(code[:, 0], code[:, 1:], group), _of_people(code[:, 1:], group))
    ]
    block = blocks(np.arange(n_groups), most=MAX_DELETIONS)
    n_blocks = int(block.max(initial=-1)) + 1
    columns = [sums_by_code(block, sums, n_codes=n_blocks) for part in parts for sums in part]
    of_judge, of_people = (
        GroupSums(np.column_stack(columns), int(counts.sum()), int(np.count_nonzero(counts)))
        for counts, *_ in parts
    )
    measures = [_mean(1, 0), _mean(2, 0), _mean(4, 3), _mean(5, 3)]
    [actual, dealt, *_], products = with_covariances(measures, of_judge, confidence=confidence)
    beyond = less(actual, dealt, products[:2, :2])
    actual, dealt = intervals(measures[2:], of_people, confidence=confidence)
    people = less(actual, dealt, products[2:, 2:])
    sides = np.array([[1, -1, 0, 0], [0, 0, 1, -1]])
    above_people = less(beyond, people, sides @ products @ sides.T)
    if beyond.method and np.array_equal(parts[0][1], parts[0][2]):
        largest = unseen_share(beyond.n_groups, confidence=confidence)
        beyond = replace(beyond, low=-largest, high=largest, method="exact")
    return WithinGroups(beyond, people, above_people)


def _of_judge(judge: Integers, human: Integers, group: Integers) -> _Scores:
    unit, rater = np.nonzero(human != _MISSING)
    return _Scores(judge, group, group, unit, human[unit, rater])


def _of_people(human: Integers, group: Integers) -> _Scores:
    """Return each rating of a unit with other ratings, as a score beside them."""
    is_rated = human != _MISSING
    is_rated[is_rated.sum(axis=1) == 1] = False
    unit, rater = np.nonzero(is_rated)
    rating, n_ratings = human[unit, rater], is_rated.sum(axis=1)
    of_score = np.repeat(np.arange(len(unit)), n_ratings[unit])
    first_of_unit = (np.cumsum(n_ratings) - n_ratings)[unit]
    first_of_score = np.cumsum(n_ratings[unit]) - n_ratings[unit]
    peer = np.arange(len(of_score)) + (first_of_unit - first_of_score)[of_score]
    is_other = peer != of_score
    cell = distinct_integers(group[unit] * human.shape[1] + rater)[1]
    return _Scores(rating, cell, group[unit], of_score[is_other], rating[peer[is_other]])


def _sums(
    scores: _Scores, places: Floats | None, *, n_groups: int, n_values: int
) -> tuple[Floats, Floats, Floats]:
    """Return each group's scores that can be dealt out, their agreement, and that if dealt out.

    Args:
        scores: Scores beside ratings.
        places: Place of each value on [0, 1]; None if values are equal or not.
        n_groups: Groups.
        n_values: Values.
    """
    n = np.bincount(scores.cell).astype(np.float64)
    score, cell = scores.score[scores.of_score], scores.cell[scores.of_score]
    weight = 1 / np.bincount(scores.of_score, minlength=len(scores.score))[scores.of_score]
    distance = (
        (score != scores.rating).astype(np.float64)
        if places is None
        else np.abs(places[score] - places[scores.rating])
    )
    actual = sums_by_code(cell, weight * distance, n_codes=len(n))
    keys = [scores.cell * n_values + scores.score, cell * n_values + scores.rating]
    key, index = distinct_integers(np.concatenate(keys))
    distances = _summed_distances(
        *np.divmod(key, n_values),
        sums_by_code(index[: len(scores.score)], np.ones(len(scores.score)), n_codes=len(key)),
        sums_by_code(index[len(scores.score) :], weight, n_codes=len(key)),
        places,
    )
    dealt = distances / np.maximum(1, n)
    dealt = np.where(np.abs(dealt - actual) <= TOLERANCE, actual, dealt)
    group_of_cell = np.zeros(len(n), np.int64)
    group_of_cell[scores.cell] = scores.group
    counts, agreement, if_dealt = (
        sums_by_code(group_of_cell, np.where(n > 1, terms, 0.0), n_codes=n_groups)
        for terms in (n, n - actual, n - dealt)
    )
    return counts, agreement, if_dealt


def _summed_distances(
    cell: Integers, code: Integers, scores: Floats, ratings: Floats, places: Floats | None
) -> Floats:
    """Return the distances summed over all pairs of a score and a rating of one cell.

    Args:
        cell: Cell, ascending.
        code: Code of a value, ascending within a cell.
        scores: Scores of that value in that cell.
        ratings: Weight of the ratings of that value there; in a cell as much as it has scores.
        places: Place of each value; None if values are equal or not.
    """
    n = np.bincount(cell, scores)
    if places is None:
        return n**2 - sums_by_code(cell, scores * ratings, n_codes=len(n))
    first = np.searchsorted(cell, np.arange(len(n)))

    def running(terms: Floats) -> Floats:
        before = np.append(0.0, np.cumsum(terms))
        below: Floats = before[1:] - before[first][cell]
        return below

    scores_below, ratings_below, total = running(scores), running(ratings), n[cell]
    gaps = np.where(np.diff(cell, append=-1) == 0, np.diff(places[code], append=0.0), 0.0)
    pairs = ratings_below * (total - scores_below) + (total - ratings_below) * scores_below
    return sums_by_code(cell, gaps * pairs, n_codes=len(n))


def _mean(numerator: int, denominator: int) -> Measure:
    """Return the ratio of two columns of sums, in [0, 1]."""
    return Measure(
        lambda sums: defined_ratio(sums[:, numerator], sums[:, denominator]),
        MeanShare(),
        np.ones(0, np.bool_),
        cost=1,
    )
