"""Agreement by round of labelling, and its change from round to round."""

from collections.abc import Mapping

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


def measure_rounds(
    rounds: Mapping[str, Mapping[int, LongRatings]], evaluation: Evaluation, *, data_version: str
) -> tuple[RoundFigures, ...]:
    """Return the figures of each round of each question that has several.

    Gains are over the round before, on the responses with two ratings or more in both: other
    responses may be easier.

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
        for current in of_question:
            rows.append(_figures(current, previous, question, levels[question.id], data_version))
            previous = current
    return tuple(rows)


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
