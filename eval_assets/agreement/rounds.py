"""Agreement by round of labelling, and its change from round to round."""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from eval_assets.agreement.gates.evidence import alpha_levels
from eval_assets.agreement.ratings import LongRatings
from eval_assets.catalogue import CONFIDENCE, UNDEFINED_FIGURE, Figure
from eval_assets.config.evaluation import Evaluation
from eval_assets.config.rubric import RubricQuestion
from eval_assets.figures import RoundFigures
from eval_assets.scale import Level
from eval_assets.stats import (
    Alpha,
    HumanAgreement,
    Interval,
    coefficient_interval,
    difference_interval,
)

_Round = tuple[int, LongRatings]

_SELECTED = 2.58
"""Standard deviations by which relabelled responses had more disagreement: p of .005, one-sided."""


def measure_rounds(
    rounds: Mapping[str, Mapping[int, LongRatings]], evaluation: Evaluation, *, data_version: str
) -> tuple[RoundFigures, ...]:
    """Return the figures of each round of each question that has several.

    Gains are over the round before, on the responses with two ratings or more in both: other
    responses may be easier. A round that relabels what raters disagreed on has no gain: a second
    rating of an extreme lies nearer to the mean whatever was discussed.

    Args:
        rounds: Human ratings by question and round.
        evaluation: The evaluation as declared now.
        data_version: Version of the ratings.
    """
    levels = alpha_levels(evaluation, "human")
    rows: list[RoundFigures] = []
    for question in evaluation.rubric:
        of_question = sorted(rounds.get(question.id, {}).items())
        if len(of_question) == 1:
            continue
        previous: _Round | None = None
        is_selected = first_round_decides(dict(of_question), question)
        for current in of_question:
            row = _figures(current, previous, question, levels[question.id], data_version)
            rows.append(_without_gain(row) if is_selected else row)
            previous = current
    return tuple(rows)


def first_round_decides(rounds: Mapping[int, LongRatings], question: RubricQuestion) -> bool:
    """Return whether a later round relabels mainly what raters disagreed on.

    The ranges of the ratings of relabelled responses are compared with those of the others by their
    ranks (Mann and Whitney 1947, normal approximation). A round that relabels every response does
    not select.

    Args:
        rounds: Human ratings by round.
        question: The question.
    """
    if not rounds:
        return False
    numbers = sorted(rounds)
    current = rounds[numbers[0]]
    for number in numbers[1:]:
        matrix = current.matrix()
        is_known = _is_rated_twice(matrix)
        ranges = np.nanmax(matrix[is_known], axis=1) - np.nanmin(matrix[is_known], axis=1)
        if not question.has_order:
            ranges = (ranges > 0).astype(np.float64)
        is_relabelled = np.isin(np.flatnonzero(is_known), rounds[number].unit)
        if _deviation(ranges, is_relabelled) > _SELECTED:
            return True
        current = _replaced(current, rounds[number])
    return False


def first_ratings(rounds: Mapping[int, LongRatings]) -> LongRatings:
    """Return the ratings of each response in the first round that rated it."""
    numbers = sorted(rounds, reverse=True)
    ratings = rounds[numbers[0]]
    for number in numbers[1:]:
        ratings = _replaced(ratings, rounds[number])
    return ratings


def _replaced(ratings: LongRatings, others: LongRatings) -> LongRatings:
    """Return ratings with those of other ones in place of the responses that these rated."""
    rater_ids = sorted({*ratings.rater_ids, *others.rater_ids})
    is_kept = ~np.isin(ratings.unit, others.unit)
    unit = np.concatenate([ratings.unit[is_kept], others.unit])
    rater = np.concatenate(
        [
            np.searchsorted(rater_ids, part.rater_ids)[part.rater[kept]]
            for part, kept in ((ratings, is_kept), (others, np.ones(len(others.unit), np.bool_)))
        ]
    )
    value = np.concatenate([ratings.value[is_kept], others.value])
    order = np.lexsort((rater, unit))
    return LongRatings(unit[order], rater[order], value[order], tuple(rater_ids), ratings.group)


def _deviation(values: NDArray[np.float64], is_chosen: NDArray[np.bool_]) -> float:
    """Return how far the ranks of chosen values lie above those of random ones, standardized."""
    n, n_chosen = len(values), int(is_chosen.sum())
    if n_chosen in (0, n):
        return 0.0
    _, code, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[code]
    ties = float((counts**3 - counts).sum()) / (n * (n - 1))
    variance = n_chosen * (n - n_chosen) / 12 * (n + 1 - ties)
    above = float(ranks[is_chosen].sum()) - n_chosen * (n + 1) / 2
    return above / math.sqrt(variance) if variance > 0 else 0.0


def _without_gain(row: RoundFigures) -> RoundFigures:
    return replace(
        row,
        n_in_both=None,
        n_groups_in_both=None,
        a_hh_gain=UNDEFINED_FIGURE,
        alpha_gain=UNDEFINED_FIGURE,
    )


def _figures(
    current: _Round,
    previous: _Round | None,
    question: RubricQuestion,
    level: Level,
    data_version: str,
) -> RoundFigures:
    number, ratings = current
    a_hh, alpha = (
        coefficient_interval(
            ratings.matrix(), coefficient, confidence=CONFIDENCE, groups=ratings.group
        )
        for coefficient in (HumanAgreement(question.scale), Alpha(level))
    )
    gains = _gains(previous[1], ratings, question, level) if previous else None
    return RoundFigures(
        question_id=question.id,
        round=number,
        n_responses=a_hh.n_units,
        n_groups=a_hh.n_groups,
        n_raters=len(ratings.by_rater()),
        a_hh=Figure.of(a_hh),
        alpha=Figure.of(alpha),
        alpha_level=level,
        previous_round=previous[0] if previous else None,
        n_in_both=gains[0].n_units if gains else None,
        n_groups_in_both=gains[0].n_groups if gains else None,
        a_hh_gain=Figure.of(gains[0]) if gains else UNDEFINED_FIGURE,
        alpha_gain=Figure.of(gains[1]) if gains else UNDEFINED_FIGURE,
        data_version=data_version,
    )


def _gains(
    earlier: LongRatings, later: LongRatings, question: RubricQuestion, level: Level
) -> tuple[Interval, Interval]:
    """Return by how much A^HH and alpha are higher in the later of two rounds."""
    before, after = earlier.matrix(), later.matrix()
    in_both = _is_rated_twice(before) & _is_rated_twice(after)
    a_hh, alpha = (
        difference_interval(
            after[in_both],
            before[in_both],
            coefficient,
            paired=True,
            confidence=CONFIDENCE,
            groups=later.group[in_both],
        )
        for coefficient in (HumanAgreement(question.scale), Alpha(level))
    )
    return a_hh, alpha


def _is_rated_twice(ratings: NDArray[np.float64]) -> NDArray[np.bool_]:
    is_rated_twice: NDArray[np.bool_] = np.count_nonzero(~np.isnan(ratings), axis=1) > 1
    return is_rated_twice
