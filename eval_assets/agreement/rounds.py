"""Agreement by wording of a question, and which round of labelling decides."""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from eval_assets.agreement.gates.evidence import alpha_levels
from eval_assets.agreement.ratings import Integers, LongRatings
from eval_assets.catalogue import CONFIDENCE, UNDEFINED_FIGURE, Figure
from eval_assets.config.evaluation import Evaluation
from eval_assets.config.rubric import RubricQuestion
from eval_assets.figures import RubricVersionFigures
from eval_assets.stats import (
    Alpha,
    Coefficient,
    HumanAgreement,
    Interval,
    coefficient_interval,
)
from eval_assets.stats.intervals import less

_SELECTED = 2.58
"""Standard deviations by which relabelled responses must have had more disagreement: p of .005,
one-sided."""


@dataclass(frozen=True, eq=False)
class RewordedRatings:
    """Human ratings of questions with several versions.

    Args:
        texts: A number for each stored response, the same for those with equal text; empty if no
            question has several versions.
        rescaled: Questions and versions with another scale than the question has now, whose A^HH
            is undefined.
    """

    versions: Mapping[str, Mapping[int, LongRatings]]
    texts: NDArray[np.int64]
    rescaled: Collection[tuple[str, int]] = ()


def measure_rewordings(
    reworded: RewordedRatings, evaluation: Evaluation, *, data_version: str
) -> tuple[RubricVersionFigures, ...]:
    """Return the figures of each version of each question that has several.

    Changes compare responses whose text was rated under no earlier version, which raters cannot
    remember, with all responses under the version before.
    """
    levels = alpha_levels(evaluation, "human")
    rows = []
    for question in evaluation.rubric:
        versions = sorted(reworded.versions.get(question.id, {}).items())
        coefficients = HumanAgreement(question.scale), Alpha(levels[question.id])
        before: list[Interval] = []
        for index, (number, ratings) in enumerate(versions if len(versions) > 1 else ()):
            a_hh, alpha = of_version = _intervals(ratings.matrix(), coefficients, ratings.group)
            row = RubricVersionFigures(
                question_id=question.id,
                rubric_version=number,
                n_responses=a_hh.n_units,
                n_groups=a_hh.n_groups,
                n_raters=len(ratings.raters),
                a_hh=Figure.of(a_hh),
                alpha=Figure.of(alpha),
                alpha_level=levels[question.id],
                previous_version=versions[index - 1][0] if index else None,
                n_new=None,
                data_version=data_version,
            )
            if index:
                texts = reworded.texts
                rated = np.concatenate([earlier.unit for _, earlier in versions[:index]])
                is_new = ~np.isin(texts, texts[rated])
                new = ratings.matrix()[is_new]
                of_new = _intervals(new, coefficients, ratings.group[is_new])
                # Of other responses, so without correlation.
                a_hh, alpha = (less(*pair, np.eye(2)) for pair in zip(of_new, before, strict=True))
                row = replace(
                    row,
                    n_new=int(_is_rated_twice(new).sum()),
                    a_hh_change=Figure.of(a_hh),
                    alpha_change=Figure.of(alpha),
                )
            if (question.id, number) in reworded.rescaled:
                row = replace(row, a_hh=UNDEFINED_FIGURE)
            if any((question.id, of) in reworded.rescaled for of in (number, row.previous_version)):
                row = replace(row, a_hh_change=UNDEFINED_FIGURE)
            rows.append(row)
            before = of_version
    return tuple(rows)


def _intervals(
    ratings: NDArray[np.float64], coefficients: Iterable[Coefficient], groups: Integers
) -> list[Interval]:
    return [
        coefficient_interval(ratings, of, confidence=CONFIDENCE, groups=groups)
        for of in coefficients
    ]


def first_round_decides(rounds: Mapping[int, LongRatings], question: RubricQuestion) -> bool:
    """Return whether a later round relabels mainly disagreements.

    The ranges of the ratings of relabelled responses are compared with those of the others by their
    ranks (Mann and Whitney 1947, normal approximation). A round that relabels every response does
    not select.
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


def _replaced(ratings: LongRatings, earlier: LongRatings) -> LongRatings:
    """Return ratings in which other ratings of the same responses replace the present ones."""
    rater_ids = sorted({*ratings.rater_ids, *earlier.rater_ids})
    is_kept = ~np.isin(ratings.unit, earlier.unit)
    unit = np.concatenate([ratings.unit[is_kept], earlier.unit])
    rater = np.concatenate(
        [
            np.searchsorted(rater_ids, part.rater_ids)[part.rater[mask]]
            for part, mask in ((ratings, is_kept), (earlier, np.ones(len(earlier.unit), np.bool_)))
        ]
    )
    value = np.concatenate([ratings.value[is_kept], earlier.value])
    order = np.lexsort((rater, unit))
    return LongRatings(unit[order], rater[order], value[order], tuple(rater_ids), ratings.group)


def _deviation(values: NDArray[np.float64], is_chosen: NDArray[np.bool_]) -> float:
    """Return the standardized difference between the ranks of chosen and random values."""
    n, n_chosen = len(values), int(is_chosen.sum())
    if n_chosen in (0, n):
        return 0.0
    _, code, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[code]
    ties = float((counts**3 - counts).sum()) / (n * (n - 1))
    variance = n_chosen * (n - n_chosen) / 12 * (n + 1 - ties)
    above = float(ranks[is_chosen].sum()) - n_chosen * (n + 1) / 2
    return above / math.sqrt(variance) if variance > 0 else 0.0


def _is_rated_twice(ratings: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.asarray(np.count_nonzero(~np.isnan(ratings), axis=1) > 1)
