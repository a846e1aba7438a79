"""Causes of disagreement: a lenient rater, or two values that are mixed up."""

import numpy as np
import pytest

from eval_assets.agreement.diagnosis import (
    Cause,
    DeviatingRater,
    MixedValues,
    SeverityGap,
    cause_of_disagreement,
)
from eval_assets.scale import LIKERT5, Level, Scale
from eval_assets.stats import krippendorff_alpha
from tests.unit.shown.studies import PASS_FAIL, Floats, binary, lenient, question, rated

CLASSES = Scale.from_words("billing", "bug", "praise", "other")


def cause(ratings: Floats, *, scale: Scale = LIKERT5, level: Level = "ordinal") -> Cause | None:
    of = question(ratings, scale=scale, level=level)
    return cause_of_disagreement(
        of.question, of.people, of.people.patterns(), level=level, limit=0.667
    )


@pytest.mark.parametrize(("noise", "raters"), [(0.2, 2), (0.5, 2), (0.5, 3)])
def test_a_rater_one_point_above_another_is_named(noise: float, raters: int) -> None:
    ratings, _ = lenient(200, noise, raters=raters)
    result = cause(ratings)

    assert isinstance(result, SeverityGap)
    assert result.lenient == "anna"
    assert result.points == pytest.approx(np.ptp(ratings.mean(axis=0)))


@pytest.mark.parametrize("seed", range(5))
def test_noise_alone_has_no_cause(seed: int) -> None:
    assert cause(rated(60, 0.6, seed=seed)[0]) is None
    assert cause(binary(60, 0.5, 0.2, seed=seed), scale=PASS_FAIL) is None


def test_a_rater_of_two_classes_who_passes_more_is_named() -> None:
    ratings = binary(100, 0.5, 0.05)
    ratings[::2, 1] = 0.0

    result = cause(ratings, scale=PASS_FAIL)
    assert isinstance(result, SeverityGap)
    assert (result.lenient, result.strict) == ("anna", "ben")
    assert result.points == pytest.approx(np.ptp(ratings.mean(axis=0)))


@pytest.mark.parametrize("deviation", ["random", "reversed", "constant"])
def test_the_one_rater_without_whom_the_others_agree_is_named(deviation: str) -> None:
    ratings, _ = rated(60, 0.3, raters=3)
    values = {
        "random": np.random.default_rng(7).permutation(ratings[:, 1]),
        "reversed": 6 - ratings[:, 1],
        "constant": np.full(60, 3.0),
    }
    rest = krippendorff_alpha(ratings[:, [0, 2]], level="ordinal")
    ratings[:, 1] = values[deviation]

    assert rest > 0.667
    result = cause(ratings)
    assert isinstance(result, DeviatingRater)
    assert result.rater == "ben"
    assert result.alpha == pytest.approx(rest)
    of_two = cause(ratings[:, :2])  # nobody can tell which
    assert not isinstance(of_two, DeviatingRater)


@pytest.mark.parametrize("seed", range(5))
def test_no_rater_deviates_where_all_are_as_uncertain(seed: int) -> None:
    assert not isinstance(cause(rated(40, 0.9, raters=3, seed=seed)[0]), DeviatingRater)


def test_few_shared_responses_have_no_cause() -> None:
    assert cause(lenient(9, 0.2)[0]) is None


def test_two_values_that_are_mixed_up_are_named_with_their_share() -> None:
    first = np.tile([1.0, 2.0, 3.0, 4.0], 30)
    second = first.copy()
    at = np.flatnonzero(first == 3)[:15], np.flatnonzero(first == 2)[:9]
    second[at[0]], second[at[1]] = 2.0, 3.0
    second[np.flatnonzero(first == 4)[:6]] = 3.0

    scale = Scale.from_steps(low=1, high=4)
    assert cause(np.column_stack([first, second]), scale=scale) == MixedValues((2.0, 3.0), 24 / 30)


def test_classes_without_an_order_may_be_mixed_up_but_have_no_severity() -> None:
    first = np.tile([0.0, 1.0, 2.0, 3.0], 30)
    second = np.where(first == 3, 2.0, first)

    result = cause(np.column_stack([first, second]), scale=CLASSES, level="nominal")
    assert result == MixedValues((2.0, 3.0), 1.0)
