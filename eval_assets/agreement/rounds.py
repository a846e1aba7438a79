"""Agreement by round of labelling: did the discussion help?"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from eval_assets.agreement._columns import CONFIDENCE, statistic_columns
from eval_assets.agreement.evidence import alpha_levels
from eval_assets.agreement.ratings import LongRatings
from eval_assets.evaluation import Evaluation
from eval_assets.rubric import RubricQuestion
from eval_assets.scale import Level
from eval_assets.statistics import ROUND_AGREEMENT
from eval_assets.stats import Alpha, HumanAgreement, coefficient_interval, difference_interval

ROUND_COLUMNS = (
    *("question_id", "round", "n_responses", "n_groups", "n_raters"),
    *("previous_round", "n_in_both", "n_groups_in_both", "alpha_level"),
    *(column for statistic in ROUND_AGREEMENT for column in statistic.columns),
)


def measure_rounds(
    rounds: Mapping[str, Mapping[int, LongRatings]], evaluation: Evaluation
) -> pd.DataFrame:
    """Return rows of `agreement_by_round`: each round of each question that has several.

    Gains are over the round before, on the responses with two ratings or more in both: other
    responses may be easier.

    Args:
        rounds: People's ratings by question and round.
        evaluation: The evaluation as declared now.
    """
    levels = alpha_levels(evaluation, "human")
    rows: list[dict[str, object]] = []
    for question in evaluation.rubric:
        given = sorted(rounds.get(question.id, {}).items())
        if len(given) == 1:
            continue
        for place, (number, ratings) in enumerate(given):
            row = _of_round(number, ratings, question, levels[question.id])
            if place:
                row |= _gain(given[place - 1], given[place], question, levels[question.id])
            rows.append(row)
    return pd.DataFrame(rows, columns=list(ROUND_COLUMNS))


def _of_round(
    number: int, given: LongRatings, question: RubricQuestion, level: Level
) -> dict[str, object]:
    """Return the figures of one round by itself."""
    a_hh, alpha = (
        coefficient_interval(given.matrix(), coefficient, confidence=CONFIDENCE, groups=given.group)
        for coefficient in (HumanAgreement(question.scale), Alpha(level))
    )
    return {
        "question_id": question.id,
        "round": number,
        "n_responses": a_hh.n_units,
        "n_groups": a_hh.n_groups,
        "n_raters": len(given.by_rater()),
        "alpha_level": level,
        **statistic_columns(ROUND_AGREEMENT, {"a_hh": a_hh, "alpha": alpha}),
    }


def _gain(
    before: tuple[int, LongRatings],
    after: tuple[int, LongRatings],
    question: RubricQuestion,
    level: Level,
) -> dict[str, object]:
    """Return by how much agreement is higher in the later of two rounds."""
    earlier, later = before[1].matrix(), after[1].matrix()
    in_both = _is_rated_twice(earlier) & _is_rated_twice(later)
    a_hh, alpha = (
        difference_interval(
            later[in_both],
            earlier[in_both],
            coefficient,
            paired=True,
            confidence=CONFIDENCE,
            groups=after[1].group[in_both],
        )
        for coefficient in (HumanAgreement(question.scale), Alpha(level))
    )
    return {
        "previous_round": before[0],
        "n_in_both": a_hh.n_units,
        "n_groups_in_both": a_hh.n_groups,
        **statistic_columns(ROUND_AGREEMENT, {"a_hh_gain": a_hh, "alpha_gain": alpha}),
    }


def _is_rated_twice(ratings: NDArray[np.float64]) -> NDArray[np.bool_]:
    is_rated_twice: NDArray[np.bool_] = np.count_nonzero(~np.isnan(ratings), axis=1) > 1
    return is_rated_twice
