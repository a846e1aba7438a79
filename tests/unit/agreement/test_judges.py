"""Judges beside people."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from eval_assets.agreement.judges import (
    measure_judges,
    measure_judges_against_humans,
    measure_leave_one_judge_out,
)
from eval_assets.agreement.pairs import alpha_over_evaluations
from eval_assets.agreement.ratings import JudgeRatings, LongRatings
from eval_assets.bands import REPEATED, UNSTABLE
from eval_assets.config.evaluation import Evaluation
from eval_assets.config.rubric import RubricQuestion
from eval_assets.figures import LeaveOneJudgeOutFigures
from eval_assets.scale import BINARY, LIKERT5, Scale
from eval_assets.stats import krippendorff_alpha

CLARITY = RubricQuestion("clarity", "Is it clear?", LIKERT5, "ordinal")


def given(*columns: list[float], raters: tuple[str, ...]) -> LongRatings:
    """Ratings of as many responses as a column is long, NaN if missing."""
    values = np.array(columns).T
    unit, rater = np.nonzero(~np.isnan(values))
    return LongRatings(unit, rater, values[unit, rater], raters, np.arange(len(values)))


def test_a_judge_that_scored_conversations_is_compared_on_those_alone() -> None:
    """What it gave single turns as well is left out; the other judge is compared on turns."""
    nan = float("nan")
    people = given([1, 2, 4, 5], raters=("anna",))
    judges = given([1, 2, 4, 4], [3, 3, 3, 3], raters=("by turn", "by talk"))
    means = given([1.5, nan, 4.5, nan], raters=("people",))
    talks = given([2, nan, 4, nan], raters=("by talk",))
    rows = measure_judges_against_humans(
        {"clarity": people},
        {"clarity": judges},
        Evaluation("test", Path(), (CLARITY,)),
        conversations={"clarity": (means, talks)},
        data_version="v1",
    ).agreement

    assert [(row.judge_id, row.unit, row.n_units, row.mae.value) for row in rows] == [
        ("by turn", "response", 4, 0.25),
        ("by talk", "conversation", 2, 0.5),
    ]


@pytest.mark.parametrize(
    ("n_units", "n_values", "other", "expected"),
    [
        (20, 3, [], REPEATED),
        (20, 3, [2.0] * 20, REPEATED),
        (19, 3, [], "reliable"),
        (20, 2, [], "reliable"),
    ],
)
def test_equal_scores_of_two_judges_are_named_from_the_limits_on(
    n_units: int, n_values: int, other: list[float], expected: str
) -> None:
    scores = [float(unit % n_values + 1) for unit in range(n_units)]
    columns = [scores, *([other] if other else []), scores]
    scored = given(*columns, raters=("gpt", "haiku", "twin")[: len(columns)])
    judges = JudgeRatings(
        {"clarity": scored}, scored.unit.astype(object), np.arange(n_units), "judges", "v1"
    )
    rows = measure_judges(judges, Evaluation("test", Path(), (CLARITY,))).agreement

    assert [row.interpretation for row in rows] == [expected, expected]


def test_equal_scores_that_hardly_vary_are_named_for_both() -> None:
    scores = [2.0, 4.0, *[3.0] * 38]
    other = [*[3.0] * 38, 4.0, 2.0]
    scored = given(scores, other, scores, raters=("gpt", "haiku", "twin"))
    judges = JudgeRatings(
        {"clarity": scored}, scored.unit.astype(object), np.arange(40), "judges", "v1"
    )
    rows = measure_judges(judges, Evaluation("test", Path(), (CLARITY,))).agreement

    assert {row.interpretation for row in rows} == {f"{REPEATED}; {UNSTABLE}"}


def test_alpha_over_evaluations_pools_units_on_a_common_scale() -> None:
    binary = RubricQuestion("ok", "Is it fine?", BINARY, "nominal")
    nan = math.nan
    one = {"ok": given([0, 1], [1, 1], raters=("a", "b"))}
    two = {"clarity": given([5, 1, 2], [3, 1, nan], raters=("b", "c"))}
    parts = [
        (Evaluation("one", Path(), (binary,)), one),
        (Evaluation("two", Path(), (CLARITY,)), two),
    ]
    pooled = [[0, 1, nan], [1, 1, nan], [nan, 1, 0.5], [nan, 0, 0]]

    alpha, n_units = alpha_over_evaluations(parts)

    assert alpha == pytest.approx(krippendorff_alpha(pooled, level="interval"))
    assert n_units == 4
    assert math.isnan(alpha_over_evaluations([])[0])


QUALITY = RubricQuestion("quality", "Is it good?", Scale(low=0, high=1), "interval")
NAN = float("nan")


def scores(matrix: list[list[float]], judges: tuple[str, ...]) -> LongRatings:
    values = np.array(matrix)
    unit, rater = np.nonzero(~np.isnan(values))
    return LongRatings(unit, rater, values[unit, rater], judges, np.arange(len(values)))


def row_of(
    rows: Sequence[LeaveOneJudgeOutFigures], scope: str, judge_id: str
) -> LeaveOneJudgeOutFigures:
    [row] = [row for row in rows if (row.scope, row.judge_id) == (scope, judge_id)]
    return row


def evaluation(*rubric: RubricQuestion) -> Evaluation:
    return Evaluation("test", Path(), rubric)


THREE: list[list[float]] = [[1, 2, 5], [2, 2, 4], [3, 4, 1], [4, 4, 3], [5, NAN, 1]]


def test_alpha_without_a_judge_is_that_of_the_others() -> None:
    """The third judge contradicts the other two, who agree."""
    inputs = {"clarity": scores(THREE, ("a", "b", "odd"))}
    rows = measure_leave_one_judge_out(inputs, evaluation(CLARITY), data_version="v1")

    odd = row_of(rows, "question", "odd")
    matrix = np.array(THREE)
    assert odd.alpha == pytest.approx(krippendorff_alpha(matrix, level="interval"))
    assert odd.alpha_without == pytest.approx(krippendorff_alpha(matrix[:, :2], level="interval"))
    assert odd.alpha_without > 0.8
    assert odd.alpha < 0
    assert (odd.n_units, row_of(rows, "question", "b").n_units) == (5, 4)


def test_a_judge_lies_from_the_mean_of_the_others_on_shared_units() -> None:
    """Of b: (2 - 3) + (2 - 3) + (4 - 2) + (4 - 3.5), over four units."""
    inputs = {"clarity": scores(THREE, ("a", "b", "odd"))}
    rows = measure_leave_one_judge_out(inputs, evaluation(CLARITY), data_version="v1")

    assert row_of(rows, "question", "b").mean_difference == pytest.approx(0.125)
    assert row_of(rows, "overall", "b").mean_difference == pytest.approx(0.125 / 4)


def test_of_two_judges_nothing_is_left_without_one() -> None:
    inputs = {"clarity": scores([[1, 2], [3, 3], [5, NAN]], ("a", "b"))}
    rows = measure_leave_one_judge_out(inputs, evaluation(CLARITY), data_version="v1")

    assert all(math.isnan(row.alpha_without) for row in rows)
    assert [row.n_units for row in rows] == [2, 2, 2, 2]


def test_overall_pools_the_questions_on_their_scales() -> None:
    inputs = {
        "clarity": scores(THREE, ("a", "b", "odd")),
        "quality": scores([[0.1, 0.2, 0.9], [0.7, 0.8, 0.1]], ("a", "b", "odd")),
    }
    rows = measure_leave_one_judge_out(inputs, evaluation(CLARITY, QUALITY), data_version="v1")

    pooled = np.concatenate([(np.array(THREE) - 1) / 4, [[0.1, 0.2, 0.9], [0.7, 0.8, 0.1]]])
    assert row_of(rows, "overall", "odd").alpha_without == pytest.approx(
        krippendorff_alpha(pooled[:, :2], level="interval")
    )


def test_judges_who_share_no_unit_have_no_row() -> None:
    inputs = {"clarity": scores([[1, NAN], [NAN, 3]], ("a", "b"))}

    assert measure_leave_one_judge_out(inputs, evaluation(CLARITY), data_version="v1") == ()
