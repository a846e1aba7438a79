"""Each judge beside the others."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from eval_assets.agreement.leave_one_judge_out import measure_leave_one_judge_out
from eval_assets.agreement.ratings import LongRatings
from eval_assets.config.evaluation import Evaluation
from eval_assets.config.rubric import RubricQuestion
from eval_assets.figures import LeaveOneJudgeOutFigures
from eval_assets.scale import LIKERT5, Scale
from eval_assets.stats import krippendorff_alpha

CLARITY = RubricQuestion("clarity", "Is it clear?", LIKERT5, "ordinal")
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
    given = {"clarity": scores(THREE, ("a", "b", "odd"))}
    rows = measure_leave_one_judge_out(given, evaluation(CLARITY), data_version="v1")

    odd = row_of(rows, "question", "odd")
    matrix = np.array(THREE)
    assert odd.alpha == pytest.approx(krippendorff_alpha(matrix, level="interval"))
    assert odd.alpha_without == pytest.approx(krippendorff_alpha(matrix[:, :2], level="interval"))
    assert odd.alpha_without > 0.8
    assert odd.alpha < 0
    assert (odd.n_units, row_of(rows, "question", "b").n_units) == (5, 4)


def test_a_judge_lies_from_the_mean_of_the_others_on_shared_units() -> None:
    """Of b: (2 - 3) + (2 - 3) + (4 - 2) + (4 - 3.5), over four units."""
    given = {"clarity": scores(THREE, ("a", "b", "odd"))}
    rows = measure_leave_one_judge_out(given, evaluation(CLARITY), data_version="v1")

    assert row_of(rows, "question", "b").mean_difference == pytest.approx(0.125)
    assert row_of(rows, "overall", "b").mean_difference == pytest.approx(0.125 / 4)


def test_of_two_judges_nothing_is_left_without_one() -> None:
    given = {"clarity": scores([[1, 2], [3, 3], [5, NAN]], ("a", "b"))}
    rows = measure_leave_one_judge_out(given, evaluation(CLARITY), data_version="v1")

    assert all(math.isnan(row.alpha_without) for row in rows)
    assert [row.n_units for row in rows] == [2, 2, 2, 2]


def test_overall_pools_the_questions_on_their_scales() -> None:
    given = {
        "clarity": scores(THREE, ("a", "b", "odd")),
        "quality": scores([[0.1, 0.2, 0.9], [0.7, 0.8, 0.1]], ("a", "b", "odd")),
    }
    rows = measure_leave_one_judge_out(given, evaluation(CLARITY, QUALITY), data_version="v1")

    pooled = np.concatenate([(np.array(THREE) - 1) / 4, [[0.1, 0.2, 0.9], [0.7, 0.8, 0.1]]])
    assert row_of(rows, "overall", "odd").alpha_without == pytest.approx(
        krippendorff_alpha(pooled[:, :2], level="interval")
    )


def test_judges_who_share_no_unit_have_no_row() -> None:
    given = {"clarity": scores([[1, NAN], [NAN, 3]], ("a", "b"))}

    assert measure_leave_one_judge_out(given, evaluation(CLARITY), data_version="v1") == ()
