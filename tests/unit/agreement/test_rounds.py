"""Wordings of a question side by side, and the round of labelling that decides."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import ArrayLike

from eval_assets.agreement.ratings import LongRatings
from eval_assets.agreement.rounds import (
    RewordedRatings,
    first_ratings,
    first_round_decides,
    measure_rewordings,
)
from eval_assets.config.evaluation import Evaluation
from eval_assets.config.rubric import RubricQuestion
from eval_assets.scale import LIKERT5
from eval_assets.stats import Alpha, coefficient_interval, human_agreement, krippendorff_alpha
from eval_assets.stats.intervals import less

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


def labelled_again(*, chosen: str) -> dict[int, LongRatings]:
    """Return 60 responses, of which a second round settles 20: the disagreements or any."""
    rng = np.random.default_rng(7)
    first = np.repeat(rng.integers(1, 6, 60)[:, None], 2, axis=1).astype(float)
    differ = rng.permutation(60)[:20]
    first[differ, 1] = 1 + (first[differ, 0] + rng.integers(1, 4, 20)) % 5
    repeat = differ if chosen == "disagreements" else rng.permutation(60)[:20]
    second = np.full((60, 2), NAN)
    second[repeat] = first[repeat, :1]
    return {1: ratings(first), 2: ratings(second)}


def test_the_first_round_decides_if_disagreements_are_relabelled() -> None:
    rounds = labelled_again(chosen="disagreements")

    assert first_round_decides(rounds, CLARITY)
    result = first_ratings(rounds)
    assert result.matrix() == pytest.approx(rounds[1].matrix())


def test_the_latest_round_decides_if_any_or_all_responses_are_relabelled() -> None:
    some = labelled_again(chosen="any")
    rows = {1: ratings(APART), 2: ratings(CLOSE)}

    assert not first_round_decides(some, CLARITY)
    assert not first_round_decides(rows, CLARITY)


def test_first_ratings_keep_responses_that_only_later_rounds_have() -> None:
    early, late = np.array(APART, dtype=float), np.array(CLOSE, dtype=float)
    early[0] = NAN
    late[1:6] = NAN
    result = first_ratings({1: ratings(early), 2: ratings(late)})

    expected = early.copy()
    expected[0] = late[0]
    assert result.matrix() == pytest.approx(expected)


def halves() -> dict[str, dict[int, LongRatings]]:
    """Return the first half of the responses under version 1, the others under version 2."""
    before, after = np.array(APART * 4, dtype=float), np.array(CLOSE * 4, dtype=float)
    before[16:], after[:16] = NAN, NAN
    return {"clarity": {1: ratings(before), 2: ratings(after)}}


def test_new_responses_are_compared_with_those_of_the_wording_before() -> None:
    first, second = measure_rewordings(
        RewordedRatings(halves(), np.arange(32)), EVALUATION, data_version="v1"
    )

    close, apart = (
        coefficient_interval(of * 2, Alpha("ordinal"), confidence=0.95) for of in (CLOSE, APART)
    )
    expected = less(close, apart, np.eye(2))
    assert (second.alpha_change.low, second.alpha_change.value, second.alpha_change.high) == (
        pytest.approx((expected.low, expected.value, expected.high))
    )
    assert (second.n_new, second.previous_version) == (16, 1)
    assert (first.n_new, first.alpha_change.is_defined) == (None, False)
    for row, matrix in ((first, APART * 2), (second, CLOSE * 2)):
        assert row.alpha.value == pytest.approx(krippendorff_alpha(matrix, level="ordinal"))
        assert row.a_hh.value == pytest.approx(human_agreement(matrix, low=1, high=5))
        assert (row.n_responses, row.n_raters) == (16, 2)


def test_questions_with_one_wording_are_not_listed() -> None:
    single = RewordedRatings({"clarity": {1: ratings(CLOSE)}}, np.arange(8))

    assert measure_rewordings(single, EVALUATION, data_version="v1") == ()


def test_responses_rated_before_are_not_new() -> None:
    versions = halves()
    repeat = np.array(CLOSE * 4, dtype=float)
    repeat[24:] = NAN
    versions["clarity"][2] = ratings(repeat)

    _, second = measure_rewordings(
        RewordedRatings(versions, np.arange(32)), EVALUATION, data_version="v1"
    )

    assert (second.n_new, second.n_responses) == (8, 24)


def test_responses_with_the_text_of_one_rated_before_are_not_new() -> None:
    texts = np.arange(32)
    texts[16:24] = texts[:8]

    _, second = measure_rewordings(RewordedRatings(halves(), texts), EVALUATION, data_version="v1")

    assert second.n_new == 8


def test_agreement_on_another_scale_is_undefined_and_alpha_compared() -> None:
    first, second = measure_rewordings(
        RewordedRatings(halves(), np.arange(32), {("clarity", 1)}), EVALUATION, data_version="v1"
    )

    assert (first.a_hh.is_defined, second.a_hh.is_defined) == (False, True)
    assert (second.a_hh_change.is_defined, second.alpha_change.is_defined) == (False, True)
    assert first.alpha.is_defined
