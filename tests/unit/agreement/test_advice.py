"""Remarks: patterns of single raters, and advice on a question."""

import math

import numpy as np
import pytest

from eval_assets.agreement.advice import rater_patterns, suggestions
from eval_assets.agreement.ratings import LongRatings
from eval_assets.config.rubric import RubricQuestion
from eval_assets.scale import BINARY, LIKERT5, Scale
from eval_assets.stats import Interval

NAN = math.nan

CLARITY = RubricQuestion("clarity", "Is it clear?", LIKERT5, "ordinal")
SAFETY = RubricQuestion("safety", "Is it safe?", BINARY, "nominal")


def patterns(question: RubricQuestion, **ratings: list[float]) -> list[str]:
    """Return the patterns of raters who rated responses 0, 1, 2 ...; NaN if one did not."""
    matrix = np.array(list(ratings.values())).T
    unit, rater = np.nonzero(~np.isnan(matrix))
    inputs = LongRatings(unit, rater, matrix[unit, rater], tuple(ratings), np.arange(len(matrix)))
    return [finding.finding for finding in rater_patterns(question, inputs)]


def advice(  # noqa: PLR0913 - the figures that decide
    question: RubricQuestion = CLARITY,
    *,
    a_hh: float = 0.9,
    exact: float = 0.9,
    adjacent: float = 0.95,
    alpha: float = 0.8,
    half_width: float = 0.02,
    most_frequent_share: float = 0.3,
    n_disagreements: int = 0,
) -> str:
    result = suggestions(
        question,
        a_hh=a_hh,
        exact=exact,
        adjacent=adjacent,
        most_frequent_share=most_frequent_share,
        alpha=Interval(alpha, alpha - half_width, alpha + half_width, 0.95, "score", 60, 60),
        minimum_alpha=0.667,
        n_disagreements=n_disagreements,
    )
    assert all((f.question_id, f.kind) == (question.id, "suggestion") for f in result)
    return "\n".join(finding.finding for finding in result)


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


def test_nothing_is_suggested_if_raters_agree() -> None:
    assert advice() == ""


def test_poor_agreement_asks_for_calibration_and_a_revised_question() -> None:
    text = advice(exact=0.2, adjacent=0.4, alpha=0.4)

    assert "Rate a few example responses together" in text
    assert "Revise the question" in text
    assert "Give an example response for every value" in text
    assert "Consider fewer values" in text


def test_moderate_agreement_asks_for_examples_only() -> None:
    text = advice(exact=0.4, adjacent=0.6, alpha=0.7)

    assert text == "Give an example response for every value of the scale"


def test_classes_ask_for_the_border_between_them() -> None:
    """The share of equal ratings decides: on two values all pairs lie within one step."""
    text = advice(SAFETY, exact=0.6, adjacent=1.0, alpha=0.4)

    assert "Define what makes a response pass" in text
    assert "borderline cases" in text
    assert "fewer values" not in text


def test_close_but_seldom_equal_ratings_are_called_that() -> None:
    assert advice(exact=0.4, adjacent=0.9, alpha=0.7).startswith("Raters are close but seldom")


@pytest.mark.parametrize(
    ("alpha", "expected"),
    [
        (-0.15, "Raters contradict one another"),
        (-0.03, "Agreement is near chance"),
        (-0.01, "Agreement is near chance"),
        (0.149, "Agreement is near chance"),
        (0.15, "Clarify the question"),
        (0.299, "Clarify the question"),
        (0.3, "Agree on the guidelines with examples"),
        (0.6, "Agree on the guidelines with examples"),
    ],
)
def test_an_alpha_certainly_below_its_minimum_is_answered_by_how_low_it_is(
    alpha: float, expected: str
) -> None:
    assert advice(alpha=alpha).startswith(expected)


def test_an_alpha_whose_interval_reaches_the_minimum_asks_for_more_ratings() -> None:
    """18 of 20 equal pairs have alpha .458: raters are careful, and the data cannot tell."""
    skewed = advice(alpha=0.458, half_width=0.4, most_frequent_share=0.9)

    assert skewed.startswith("Have more responses rated: the data are inconclusive")
    assert skewed.endswith("choose some that deserve the rarer values")
    assert "deserve" not in advice(exact=0.6, alpha=0.5, half_width=0.2, most_frequent_share=0.9)
    assert "deserve" not in advice(alpha=0.5, half_width=0.2, most_frequent_share=0.5)


def test_what_the_data_cannot_tell_is_chance_or_the_minimum() -> None:
    assert "inconclusive on whether raters agree beyond chance" in advice(alpha=0.3, half_width=0.4)
    assert "inconclusive on whether alpha reaches 0.667" in advice(alpha=0.6, half_width=0.2)


def test_a_low_share_of_equal_ratings_is_not_excused_if_alpha_is_low() -> None:
    text = advice(exact=0.4, adjacent=0.9, alpha=-0.2)

    assert "that may do" not in text
    assert "Raters contradict one another" in text


def test_an_alpha_that_reaches_its_minimum_needs_no_advice() -> None:
    assert advice(alpha=0.667) == ""


def test_undefined_figures_suggest_nothing() -> None:
    assert advice(exact=math.nan, adjacent=math.nan, alpha=math.nan) == ""


@pytest.mark.parametrize(
    ("n", "words"),
    [
        (1, "the response rated most differently"),
        (3, "the 3 responses"),
        (350, "the first 20 of 350 responses"),
    ],
)
def test_disagreements_are_discussed_without_changing_ratings(n: int, words: str) -> None:
    assert advice(n_disagreements=n) == (
        f"Discuss {words} as a group, without changing the ratings already given"
    )


def test_a_scale_without_steps_goes_by_alpha_as_hardly_any_two_ratings_are_equal() -> None:
    unit = RubricQuestion("quality", "?", Scale(low=0, high=1), "interval")

    assert advice(unit, exact=0.04, adjacent=math.nan, alpha=0.93) == ""
    assert advice(unit, exact=0.04, adjacent=math.nan, alpha=0.5) == (
        "Agree on the guidelines with examples, then have the same responses labelled again"
    )


def test_uneven_values_go_by_exact_agreement() -> None:
    """Without equal steps no pair can be adjacent."""
    uneven = RubricQuestion("quality", "?", Scale(low=0, high=5, values=(0, 1, 5)), "interval")

    assert "Revise the question" in advice(uneven, exact=0.1, adjacent=math.nan, alpha=0.5)


def test_classes_that_are_no_pass_and_fail_are_not_called_so() -> None:
    topic = RubricQuestion("topic", "?", Scale.from_steps(low=0, high=3), "nominal")

    assert "Define what each value means" in advice(topic, exact=0.6, adjacent=1.0, alpha=0.4)
    assert "pass" not in advice(topic, exact=0.6, adjacent=1.0, alpha=0.4)


def test_raters_who_contradict_one_another_are_not_told_to_use_fewer_values() -> None:
    """One of three reads the scale the wrong way round."""
    text = advice(exact=0.27, adjacent=0.58, alpha=-0.23, half_width=0.1)

    assert text.startswith("Raters contradict one another")
    assert "fewer values" not in text
    assert "every value" not in text


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


POINTS = RubricQuestion("points", "How many?", Scale.from_steps(low=0, high=100), "interval")


def test_equal_ratings_are_not_asked_for_on_a_scale_of_many_values() -> None:
    assert advice(POINTS, a_hh=0.962, alpha=0.973, exact=0.01, adjacent=0.03) == ""
    assert "Revise" not in advice(POINTS, a_hh=0.7, alpha=0.8, exact=0.01, adjacent=0.03)
    far = advice(POINTS, a_hh=0.4, alpha=0.8, exact=0.01, adjacent=0.03)
    assert far == (
        "Revise the question: ratings of one response lie far apart\n"
        "Give example responses for the ends and the middle of the scale"
    )
