"""Rounds of labelling side by side."""

from dataclasses import replace
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
    measure_rounds,
    rewording_sentences,
)
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
    repeat = np.array(CLOSE, dtype=float)
    repeat[:2], repeat[7, 1] = NAN, NAN
    rounds = {"clarity": {1: ratings(APART), 3: ratings(repeat)}}

    _, second = measure_rounds(rounds, EVALUATION, data_version="v1")

    relabelled = slice(2, 7)
    gain = krippendorff_alpha(CLOSE[relabelled], level="ordinal") - krippendorff_alpha(
        APART[relabelled], level="ordinal"
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
    single = {"clarity": {1: ratings(CLOSE)}}

    assert measure_rounds(single, EVALUATION, data_version="v1") == ()
    assert measure_rounds({}, EVALUATION, data_version="v1") == ()


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


def test_a_round_that_relabels_the_disagreements_has_no_gain() -> None:
    rounds = labelled_again(chosen="disagreements")
    _, second = measure_rounds({"clarity": rounds}, EVALUATION, data_version="v1")

    assert first_round_decides(rounds, CLARITY)
    assert (second.previous_round, second.n_in_both) == (1, None)
    assert not second.alpha_gain.is_defined
    assert not second.a_hh_gain.is_defined
    result = first_ratings(rounds)
    assert result.matrix() == pytest.approx(rounds[1].matrix())


def test_a_round_that_relabels_any_responses_or_all_has_a_gain() -> None:
    some = labelled_again(chosen="any")
    rows = {1: ratings(APART), 2: ratings(CLOSE)}

    assert not first_round_decides(some, CLARITY)
    assert not first_round_decides(rows, CLARITY)
    _, second = measure_rounds({"clarity": some}, EVALUATION, data_version="v1")
    assert second.n_in_both == 20


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

    expected = difference_interval(
        CLOSE * 2, APART * 2, Alpha("ordinal"), paired=False, confidence=0.95
    )
    assert (second.alpha_change.low, second.alpha_change.value, second.alpha_change.high) == (
        pytest.approx((expected.low, expected.value, expected.high))
    )
    assert (second.n_new, second.n_groups_new, second.previous_version) == (16, 16, 1)
    assert (first.n_new, first.alpha_change.is_defined) == (None, False)
    assert second.n_in_both == 0


def test_responses_rated_before_are_not_new() -> None:
    versions = halves()
    repeat = np.array(CLOSE * 4, dtype=float)
    repeat[24:] = NAN
    versions["clarity"][2] = ratings(repeat)

    _, second = measure_rewordings(
        RewordedRatings(versions, np.arange(32)), EVALUATION, data_version="v1"
    )

    assert (second.n_new, second.n_in_both, second.n_responses) == (8, 16, 24)


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


def test_a_change_is_told_with_its_effect_on_the_gates() -> None:
    [sentence] = rewording_sentences(
        measure_rewordings(RewordedRatings(halves(), np.arange(32)), EVALUATION, data_version="v1"),
        EVALUATION,
    )

    assert sentence.startswith("clarity, version 2 after version 1: alpha rose by ")
    assert "on 16 responses not rated under an earlier one. human_a_hh is 0.5" in sentence
    assert "human_alpha is 0.140, below the minimum 0.667, under version 1 and" in sentence
    assert sentence.endswith("at or above the minimum 0.667, under version 2")


def test_equivalent_wordings_have_no_change() -> None:
    same = replace(EVALUATION, rubric=(replace(CLARITY, equivalent_versions=(1,)), DEPTH))
    rows = measure_rewordings(RewordedRatings(halves(), np.arange(32)), same, data_version="v1")

    assert list(rewording_sentences(rows, same)) == []


def test_disagreements_that_were_labelled_again_are_no_gain() -> None:
    before = np.array([[k % 5 + 1, 5 - k % 5 if k % 4 == 0 else k % 5 + 1] for k in range(40)])
    after = np.where((np.arange(40) % 4 == 0)[:, None], 3.0, NAN) * np.ones((40, 2))
    versions = {"clarity": {1: ratings(before), 2: ratings(after)}}
    rows = measure_rewordings(
        RewordedRatings(versions, np.arange(40)), EVALUATION, data_version="v1"
    )

    [sentence] = rewording_sentences(rows, EVALUATION)

    assert sentence.startswith("clarity, version 2: mainly responses on which raters disagreed")
    assert sentence.endswith("No gain is reported")


def test_without_new_responses_there_is_no_sentence() -> None:
    versions = {"clarity": {1: ratings(APART), 2: ratings(CLOSE)}}
    rows = measure_rewordings(
        RewordedRatings(versions, np.arange(8)), EVALUATION, data_version="v1"
    )

    assert list(rewording_sentences(rows, EVALUATION)) == []
    assert (rows[1].n_new, rows[1].alpha_change.is_defined) == (0, False)
