"""Patterns of single raters on the labels of a question."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eval_assets.agreement.ratings import LongRatings
from eval_assets.config.rubric import RubricQuestion
from eval_assets.scale import TOLERANCE

Floats = NDArray[np.float64]
Integers = NDArray[np.integer[Any]]
Mask = NDArray[np.bool_]

_FEWEST_SHARED = 5
"""Least number of shared responses for a remark on a rater."""

_MANY_EQUAL = 20
"""Number of responses from which equal ratings of two raters who use three values are reported."""

_FEWEST_BETWEEN, _SELDOM_BETWEEN = 20, 0.9
"""A rater always between the others on so many responses is reported if another is not."""


@dataclass(frozen=True)
class Finding:
    """A remark on a question's labels; a row of the table `label_findings`."""

    question_id: str
    finding: str


def rater_patterns(question: RubricQuestion, ratings: LongRatings) -> list[Finding]:
    """Return patterns of single raters on the responses that they share with other raters.

    A rater who never varies is named if others vary on the same responses; two raters are named if
    they lie half the scale apart around the mean of all raters, and raters who rated the same
    responses if all their ratings are equal. A rater who always lies between the others, as a mean
    or an adjudication does, is named.

    Examples:
        >>> from eval_assets.scale import LIKERT5
        >>> question = RubricQuestion("clarity", "Is it clear?", LIKERT5, "ordinal")
        >>> unit, rater = np.repeat(np.arange(6), 2), np.tile([0, 1], 6)
        >>> value = np.array([3.0, 2, 3, 4, 3, 2, 3, 4, 3, 2, 3, 4])
        >>> given = LongRatings(unit, rater, value, ("r1", "r2"), np.arange(6))
        >>> found = rater_patterns(question, given)
        >>> found[0].finding
        'r1 gives 3 every time, while others vary on the same 6 responses'
    """
    if not ratings.rater_ids:
        return []
    ratings = ratings.shared()
    rater, value, names = ratings.rater, ratings.value, ratings.rater_ids
    n = np.bincount(rater, minlength=len(names))
    low, high = np.full(len(names), np.inf), np.full(len(names), -np.inf)
    np.minimum.at(low, rater, value)
    np.maximum.at(high, rater, value)
    compared = np.flatnonzero(n >= _FEWEST_SHARED).tolist()
    constant = [index for index in compared if low[index] == high[index]]
    texts = [
        f"{names[index]} gives {_named(question, float(low[index]))} every time, while others "
        f"vary on the same {n[index]} responses"
        for index in _beside_varying(ratings, constant)
    ]
    # Raters whose ratings are all equal have equal sums.
    sums = zip(
        np.bincount(rater, ratings.unit, len(names)).tolist(),
        np.bincount(rater, value, len(names)).round(6).tolist(),
        strict=True,
    )
    equal: defaultdict[tuple[int, float, float], list[int]] = defaultdict(list)
    for index, (sum_of_units, sum_of_values) in enumerate(sums):
        if n[index] >= _MANY_EQUAL:
            equal[int(n[index]), sum_of_units, sum_of_values].append(index)
    for first, second in chain.from_iterable(pairwise(alike) for alike in equal.values()):
        if _never_differ(ratings, first, second):
            texts.append(
                f"{names[first]} and {names[second]} gave equal ratings to all {n[first]} "
                "responses: check that each of them rated"
            )
    starts, length = _runs(ratings.unit)
    means = np.add.reduceat(value, starts) / length if len(starts) else value
    deviation = np.bincount(rater, value - np.repeat(means, length), len(names))
    leaning = {
        names[index]: (float(deviation[index] / n[index]), int(n[index])) for index in compared
    }
    texts += _between_others(question, ratings)
    if len(leaning) > 1 and not question.scale.is_binary and question.level != "nominal":
        lenient, strict = (
            max(leaning, key=leaning.__getitem__),
            min(leaning, key=leaning.__getitem__),
        )
        (above, n_above), (below, n_below) = leaning[lenient], leaning[strict]
        if above - below >= (question.scale.high - question.scale.low) / 2 - TOLERANCE:
            texts.append(
                f"{lenient} lies {above:.2f} above and {strict} {-below:.2f} below the mean of all "
                f"raters of the same responses ({n_above} and {n_below} of them): at least half "
                "the scale apart"
            )
    return [Finding(question.id, text) for text in texts]


def _beside_varying(ratings: LongRatings, raters: Sequence[int]) -> list[int]:
    """Return the raters on whose responses the other raters differ."""
    varying = []
    for index in raters:
        is_own = ratings.rater == index
        is_beside = np.isin(ratings.unit, ratings.unit[is_own]) & ~is_own
        if len(np.unique(ratings.value[is_beside])) > 1:
            varying.append(index)
    return varying


def _between_others(question: RubricQuestion, ratings: LongRatings) -> list[str]:
    """Return a remark on a rater who lies between the others wherever ratings differ."""
    if not question.has_order:
        return []
    rater_ids = ratings.rater_ids
    differ, is_between = _between_in(ratings.unit, ratings.value)
    n_differing = np.bincount(ratings.rater[differ], minlength=len(rater_ids))
    n_between = np.bincount(ratings.rater[is_between], minlength=len(rater_ids))
    has_enough = n_differing >= _FEWEST_BETWEEN
    always = has_enough & (n_between == n_differing)
    if always.sum() != 1 or not (has_enough & (n_between < _SELDOM_BETWEEN * n_differing)).any():
        return []
    [index] = np.flatnonzero(always)
    responses = f"all {n_differing[index]} responses on which ratings differ"
    reason = "check that it is a rater, and no mean or adjudication"
    return [f"{rater_ids[int(index)]} lies between the other raters on {responses}: {reason}"]


def _between_in(unit: Integers, value: Floats) -> tuple[Mask, Mask]:
    """Return which ratings belong to units with differences, and which lie between the others.

    Units ascend; those with fewer than three ratings count as equal.
    """
    first, length = _runs(unit)
    if not len(first):
        return np.zeros(0, dtype=bool), np.zeros(0, dtype=bool)
    ranges = np.maximum.reduceat(value, first) - np.minimum.reduceat(value, first)
    differ = np.repeat((ranges > 0) & (length > 2), length)  # noqa: PLR2004 - one between two
    unit, value = unit[differ], value[differ]
    order = np.lexsort((value, unit))
    index = np.empty_like(order)
    index[order] = np.arange(len(unit))
    ordered = value[order]
    first, length = _runs(unit)
    start, end = np.repeat(first, length), np.repeat(first + length - 1, length)
    low = ordered[np.where(index == start, start + 1, start)]
    high = ordered[np.where(index == end, end - 1, end)]
    is_between = np.zeros(len(differ), dtype=bool)
    is_between[differ] = (low <= value) & (value <= high)
    return differ, is_between


def _runs(unit: Integers) -> tuple[Integers, Integers]:
    """Return the first rating of each unit, and its number of ratings."""
    first = np.flatnonzero(np.diff(unit, prepend=-1))
    return first, np.diff(first, append=len(unit))


def _never_differ(ratings: LongRatings, rater: int, peer: int) -> bool:
    """Return whether two raters rated the same units equally, with three values.

    Two careful raters may never differ on yes and no.
    """
    first, second = ratings.rater == rater, ratings.rater == peer
    return (
        np.array_equal(ratings.unit[first], ratings.unit[second])
        and np.array_equal(ratings.value[first], ratings.value[second])
        and len(np.unique(ratings.value[first])) > 2  # noqa: PLR2004 - yes and no
    )


def _named(question: RubricQuestion, value: float) -> str:
    if question.scale.is_binary:
        return f"{value:g} ({'pass' if value == 1 else 'fail'})"
    return f"{value:g}"
