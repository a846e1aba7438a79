"""Agreement of a judge and of people within response groups, beyond that of scores dealt out there.

A judge that reads only the prompt gives every response of a group the same score. It agrees with
people as far as prompts differ, and tells no two responses of one group apart.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from eval_assets.scale import TOLERANCE, Scale
from eval_assets.stats._coefficients import Measure
from eval_assets.stats._interval_bounds import MeanShare, unseen_share
from eval_assets.stats._numbers import (
    Column,
    Floats,
    Integers,
    Ratings,
    distinct_values,
    group_codes,
    on_scale,
)
from eval_assets.stats._units import (
    MAX_DELETIONS,
    GroupSums,
    blocks,
    defined_ratio,
    sums_by_code,
)
from eval_assets.stats.intervals import Interval, intervals, less, with_covariances
from eval_assets.stats.judge_pairs import with_judge

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
    both = np.column_stack([judged, human])[shared]
    code, is_known = np.full(both.shape, _MISSING), ~np.isnan(both)
    values, code[is_known] = distinct_values(both[is_known])
    places = scale.to_unit(values) if scale.has_order else None
    n_groups = int(group.max(initial=-1)) + 1
    parts = [
        _sums(scores, places, n_groups=n_groups, n_values=max(1, len(values)))
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
    [own, dealt, *_], products = with_covariances(measures, of_judge, confidence=confidence)
    beyond = less(own, dealt, products[:2, :2])
    own, dealt = intervals(measures[2:], of_people, confidence=confidence)
    people = less(own, dealt, products[2:, 2:])
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
    """Return each rating of a unit that others rated, as a score beside theirs."""
    is_rated = human != _MISSING
    is_rated[is_rated.sum(axis=1) == 1] = False
    unit, rater = np.nonzero(is_rated)
    rating, n_ratings = human[unit, rater], is_rated.sum(axis=1)
    of_score = np.repeat(np.arange(len(unit)), n_ratings[unit])
    first_of_unit = (np.cumsum(n_ratings) - n_ratings)[unit]
    first_of_score = np.cumsum(n_ratings[unit]) - n_ratings[unit]
    other = np.arange(len(of_score)) + (first_of_unit - first_of_score)[of_score]
    is_other = other != of_score
    cell = _numbered(group[unit] * human.shape[1] + rater)[1]
    return _Scores(rating, cell, group[unit], of_score[is_other], rating[other[is_other]])


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
    mine, cell = scores.score[scores.of_score], scores.cell[scores.of_score]
    weight = 1 / np.bincount(scores.of_score, minlength=len(scores.score))[scores.of_score]
    distance = (
        (mine != scores.rating).astype(np.float64)
        if places is None
        else np.abs(places[mine] - places[scores.rating])
    )
    own = sums_by_code(cell, weight * distance, n_codes=len(n))
    key, index = _numbered(
        np.concatenate([scores.cell * n_values + scores.score, cell * n_values + scores.rating])
    )
    apart = _summed_distances(
        *np.divmod(key, n_values),
        sums_by_code(index[: len(scores.score)], np.ones(len(scores.score)), n_codes=len(key)),
        sums_by_code(index[len(scores.score) :], weight, n_codes=len(key)),
        places,
    )
    dealt = apart / np.maximum(1, n)
    dealt = np.where(np.abs(dealt - own) <= TOLERANCE, own, dealt)
    group_of_cell = np.zeros(len(n), np.int64)
    group_of_cell[scores.cell] = scores.group
    counts, agreement, if_dealt = (
        sums_by_code(group_of_cell, np.where(n > 1, terms, 0.0), n_codes=n_groups)
        for terms in (n, n - own, n - dealt)
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


def _numbered(keys: Integers) -> tuple[Integers, Integers]:
    """Return keys from 0 on that hold all that occur, and the place of each among them."""
    n_keys = int(keys.max(initial=-1)) + 1
    if n_keys <= 4 * len(keys):  # a table not much longer than they are is cheaper than sorting
        return np.arange(n_keys), keys
    distinct, index = np.unique(keys, return_inverse=True)
    return distinct, index


def _mean(numerator: int, denominator: int) -> Measure:
    """Return the ratio of two columns of sums, in [0, 1]."""
    return Measure(
        lambda sums: defined_ratio(sums[:, numerator], sums[:, denominator]),
        MeanShare(),
        np.ones(0, np.bool_),
        cost=1,
    )
