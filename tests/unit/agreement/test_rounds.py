"""Rounds of labelling side by side."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import ArrayLike

from eval_assets.agreement.ratings import LongRatings
from eval_assets.agreement.rounds import measure_rounds
from eval_assets.config.evaluation import Evaluation
from eval_assets.config.rubric import RubricQuestion
from eval_assets.scale import LIKERT5
from eval_assets.stats import Alpha, difference_interval, human_agreement, krippendorff_alpha

CLARITY = RubricQuestion("clarity", "Is it clear?", LIKERT5, "ordinal")
DEPTH = RubricQuestion("depth", "Is it deep?", LIKERT5, "ordinal")
EVALUATION = Evaluation("test", Path(), (CLARITY, DEPTH))
NAN = float("nan")

APART = [[1, 4], [2, 5], [3, 1], [4, 2], [5, 5], [1, 3], [2, 2], [4, 5]]
CLOSE = [[1, 1], [2, 3], [3, 3], [4, 4], [5, 5], [1, 2], [2, 2], [4, 5]]


def ratings(matrix: ArrayLike) -> LongRatings:
    values = np.array(matrix, dtype=float)
    unit, rater = np.nonzero(~np.isnan(values))
    return LongRatings(unit, rater, values[unit, rater], ("anna", "ben"), np.arange(len(values)))


def test_each_round_is_measured_by_itself_and_compared_with_the_one_before() -> None:
    rounds = {"clarity": {1: ratings(APART), 2: ratings(CLOSE)}}

    first, second = measure_rounds(rounds, EVALUATION, data_version="v1")

    for row, matrix in ((first, APART), (second, CLOSE)):
        assert row.alpha.value == pytest.approx(krippendorff_alpha(matrix, level="ordinal"))
        assert row.a_hh.value == pytest.approx(human_agreement(matrix, low=1, high=5))
        assert (row.n_responses, row.n_raters) == (8, 2)
    assert first.previous_round is None
    assert not first.alpha_gain.is_defined
    assert (second.previous_round, second.n_in_both) == (1, 8)
    assert second.alpha_gain.value == pytest.approx(second.alpha.value - first.alpha.value)
    assert second.a_hh_gain.value == pytest.approx(second.a_hh.value - first.a_hh.value)
    expected = difference_interval(CLOSE, APART, Alpha("ordinal"), paired=True, confidence=0.95)
    assert (second.alpha_gain.low, second.alpha_gain.high) == (expected.low, expected.high)


def test_a_gain_is_measured_on_responses_rated_twice_in_both_rounds() -> None:
    """The first two responses were not rated again, the last by one rater only."""
    again = np.array(CLOSE, dtype=float)
    again[:2], again[7, 1] = NAN, NAN
    rounds = {"clarity": {1: ratings(APART), 3: ratings(again)}}

    _, second = measure_rounds(rounds, EVALUATION, data_version="v1")

    both = slice(2, 7)
    gain = krippendorff_alpha(CLOSE[both], level="ordinal") - krippendorff_alpha(
        APART[both], level="ordinal"
    )
    assert (second.previous_round, second.n_in_both) == (1, 5)
    assert second.alpha_gain.value == pytest.approx(gain)


def test_rounds_that_share_no_response_have_no_gain() -> None:
    first, second = np.array(APART, dtype=float), np.array(CLOSE, dtype=float)
    first[:4], second[4:] = NAN, NAN

    rounds = {"clarity": {1: ratings(first), 2: ratings(second)}}
    _, row = measure_rounds(rounds, EVALUATION, data_version="v1")

    assert (row.n_responses, row.n_in_both) == (4, 0)
    assert not row.a_hh_gain.is_defined
    assert not row.alpha_gain.is_defined


def test_questions_that_were_labelled_once_are_not_listed() -> None:
    once = {"clarity": {1: ratings(CLOSE)}}

    assert measure_rounds(once, EVALUATION, data_version="v1") == ()
    assert measure_rounds({}, EVALUATION, data_version="v1") == ()
