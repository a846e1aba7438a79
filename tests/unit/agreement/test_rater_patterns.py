"""Remarks: patterns of single raters, and advice on a question."""

import math

import numpy as np

from eval_assets.agreement.rater_patterns import rater_patterns
from eval_assets.agreement.ratings import LongRatings
from eval_assets.config.rubric import RubricQuestion
from eval_assets.scale import BINARY, LIKERT5, Scale

NAN = math.nan

CLARITY = RubricQuestion("clarity", "Is it clear?", LIKERT5, "ordinal")
SAFETY = RubricQuestion("safety", "Is it safe?", BINARY, "nominal")


def patterns(question: RubricQuestion, **ratings: list[float]) -> list[str]:
    """Return the patterns of raters who rated responses 0, 1, 2 ...; NaN if one did not."""
    matrix = np.array(list(ratings.values())).T
    unit, rater = np.nonzero(~np.isnan(matrix))
    inputs = LongRatings(unit, rater, matrix[unit, rater], tuple(ratings), np.arange(len(matrix)))
    return [finding.finding for finding in rater_patterns(question, inputs)]


def test_a_rater_who_never_varies_is_named_if_others_do_on_the_same_responses() -> None:
    assert patterns(SAFETY, r1=[1, 1, 1, 1, 1], r2=[1, 0, 1, 1, 1]) == [
        "r1 gives 1 (pass) every time, while others vary on the same 5 responses"
    ]
    assert patterns(SAFETY, r1=[1, 1, 1, 1, 1, 0], r2=[1, 1, 1, 1, 1, NAN]) == []


def test_a_rater_who_never_varies_is_not_named_if_no_one_else_does() -> None:
    assert patterns(CLARITY, r1=[3.0] * 6, r2=[4.0] * 6) == []


def test_nothing_is_said_of_a_rater_with_fewer_than_five_shared_responses() -> None:
    """Two ratings of 0 and no shared response say nothing about the rater."""
    assert patterns(SAFETY, r1=[1, 1, 1, 1, NAN, NAN], r2=[1, 0, 1, 0, 1, 0]) == []
    assert patterns(CLARITY, r1=[1, 1, 1, NAN, NAN, NAN], r2=[NAN, NAN, NAN, 5, 5, 5]) == []
    assert patterns(CLARITY, r1=[5], r2=[1]) == []


def test_without_raters_nothing_is_said() -> None:
    empty = np.array([], dtype=np.int64)
    inputs = LongRatings(empty, empty, empty.astype(np.float64), (), np.arange(6))

    assert rater_patterns(CLARITY, inputs) == []


def test_raters_half_a_scale_apart_on_the_same_responses_are_named() -> None:
    """2 points apart on every response: 1 above and 1 below the mean of both."""
    strict, lenient = [2.0, 3, 1, 2, 3], [4.0, 5, 3, 4, 5]

    [result] = patterns(CLARITY, strict=strict, lenient=lenient)
    assert result == (
        "lenient lies 1.00 above and strict 1.00 below the mean of all raters of the same "
        "responses (5 and 5 of them): at least half the scale apart"
    )
    assert patterns(CLARITY, strict=strict, lenient=[3.9, *lenient[1:]]) == []


def test_raters_of_different_responses_are_not_compared() -> None:
    """Their averages differ by four points because the responses do."""
    low, high = [1.0] * 6 + [NAN] * 6, [NAN] * 6 + [5.0] * 6
    third = [1.0, 1, 2, 1, 1, 1, 5, 5, 4, 5, 5, 5]

    assert patterns(CLARITY, low=low, high=high, third=third) == [
        "low gives 1 every time, while others vary on the same 6 responses",
        "high gives 5 every time, while others vary on the same 6 responses",
    ]


def test_half_a_scale_is_measured_on_the_declared_scale() -> None:
    """Two points apart are half of 1 to 5 and a fifth of 0 to 10."""
    wide = RubricQuestion("clarity", "?", Scale.from_steps(low=0, high=10), "ordinal")

    assert patterns(wide, strict=[2, 3, 1, 2, 3], lenient=[4, 5, 3, 4, 5]) == []


def test_raters_whose_ratings_are_all_equal_are_named_once_there_are_many() -> None:
    """One rater's file under two names; the third differs."""
    ratings = [float(1 + k % 4) for k in range(24)]
    third = [5.0, *ratings[1:]]

    assert patterns(CLARITY, r1=ratings, r2=ratings, r3=third) == [
        "r1 and r2 gave equal ratings to all 24 responses: check that each of them rated"
    ]
    assert patterns(CLARITY, r1=ratings[:19], r2=ratings[:19]) == []
    passes = [float(k % 2) for k in range(24)]
    assert patterns(SAFETY, r1=passes, r2=passes) == []


def test_means_of_classes_are_not_compared() -> None:
    assert patterns(SAFETY, r1=[1, 1, 0, 1, 1], r2=[0, 0, 1, 0, 0]) == []


def test_a_rater_who_always_lies_between_the_others_is_named() -> None:
    rng = np.random.default_rng(5)
    one, other = rng.integers(1, 6, (2, 40)).astype(float)
    n_differing = int((one != other).sum())
    mean = ((one + other) / 2).tolist()
    between = (
        f"gold lies between the other raters on all {n_differing} responses on which ratings "
        "differ: check that it is a rater, and no mean or adjudication"
    )

    assert between in patterns(CLARITY, r1=one.tolist(), r2=other.tolist(), gold=mean)
    higher = np.maximum(one, other).tolist()
    assert between in patterns(CLARITY, r1=one.tolist(), r2=other.tolist(), gold=higher)
    third = rng.integers(1, 6, 40).astype(float).tolist()
    assert not any(
        "between" in text
        for text in patterns(CLARITY, r1=one.tolist(), r2=other.tolist(), gold=third)
    )
    few = [mean[:19], one.tolist()[:19], other.tolist()[:19]]
    assert not any("between" in t for t in patterns(CLARITY, gold=few[0], r1=few[1], r2=few[2]))


def test_a_rater_between_the_others_is_named_whatever_the_numbers_of_the_responses() -> None:
    rng = np.random.default_rng(6)
    n_responses = 180
    one, other = rng.integers(1, 6, (2, 60)).astype(float)
    values = np.column_stack([one, other, (one + other) / 2])
    n_differing = int((one != other).sum())
    unit = np.sort(rng.choice(n_responses, 60, replace=False))

    names = rater_patterns(
        CLARITY,
        LongRatings(
            unit=np.repeat(unit, 3),
            rater=np.tile(np.arange(3), 60),
            value=values.ravel(),
            rater_ids=("r1", "r2", "gold"),
            group=np.arange(n_responses),
        ),
    )

    assert f"gold lies between the other raters on all {n_differing}" in names[0].finding
