"""Remarks on the values that raters mix up, and on severe raters."""

import json
import math

import numpy as np
import pytest

from eval_assets.agreement.diagnosis import Diagnosis, RaterUse, lowest_values
from eval_assets.config.rubric import RubricQuestion
from eval_assets.scale import LIKERT5, Scale

QUESTION = RubricQuestion("clarity", "Is it clear?", Scale.from_steps(low=1, high=3), "ordinal")
PAIRS = np.array([[20.0, 2.0, 1.0], [2.0, 10.0, 8.0], [1.0, 8.0, 4.0]])


def rater(severity: float, *, n_shared: int = 20) -> RaterUse:
    return RaterUse("anna", n_shared, severity, (5, 5, 10))


def diagnosed(*raters: RaterUse, n_shared: int = 28) -> Diagnosis:
    return Diagnosis(QUESTION, n_shared, PAIRS, raters, ())


def test_most_frequent_pair_is_named_from_its_rarer_value() -> None:
    [observation] = diagnosed().observations()

    assert observation.text == (
        "raters most often mix up 2 and 3: beside 3, 62 % of the other ratings are 2"
    )


@pytest.mark.parametrize(
    ("severity", "text"),
    [
        (0.5, "anna rates 0.5 higher than the others on 20 shared responses"),
        (-0.7, "anna rates 0.7 lower than the others on 20 shared responses"),
    ],
)
def test_rater_a_quarter_of_the_scale_away_is_named(severity: float, text: str) -> None:
    assert [observation.text for observation in diagnosed(rater(severity)).observations()][1:] == [
        text
    ]


@pytest.mark.parametrize("use", [rater(0.49), rater(0.7, n_shared=9), rater(math.nan)])
def test_small_or_uncertain_severity_is_nothing_to_report(use: RaterUse) -> None:
    assert len(list(diagnosed(use).observations())) == 1


@pytest.mark.parametrize(
    ("n_shared", "summary"),
    [
        (0, "no response has two ratings"),
        (9, "only 9 responses with two ratings, too few to tell"),
    ],
)
def test_few_shared_responses_have_nothing_to_report(n_shared: int, summary: str) -> None:
    result = diagnosed(rater(0.7), n_shared=n_shared)

    assert list(result.observations()) == []
    assert result.summary() == summary


def test_equal_ratings_are_no_disagreement() -> None:
    result = Diagnosis(QUESTION, 20, np.diag([10.0, 0.0, 10.0]), (), ())

    assert result.summary() == "all ratings agree"
    assert np.isnan(result.shares[1]).all()


def test_long_scale_is_shown_in_fifths() -> None:
    question = RubricQuestion("score", "How good?", Scale(low=0, high=1), "interval")
    result = Diagnosis(question, 0, np.zeros((5, 5)), (), ())

    assert result.values[:2] == ["0 to 0.2", "0.2 to 0.4"]
    likert = RubricQuestion("quality", "How good?", LIKERT5, "ordinal")
    assert lowest_values(likert) == [1, 2, 3, 4, 5]


def test_json_has_null_for_undefined() -> None:
    diagnosis = Diagnosis(QUESTION, 20, np.diag([10.0, 0.0, 10.0]), (rater(math.nan),), ())
    result = json.loads(json.dumps(diagnosis.to_json()))

    assert {"value": "2", "other": "1", "share": None} in result["confusion"]
    assert result["raters"] == [
        {"rater_id": "anna", "n_shared": 20, "severity": None, "labels": {"1": 5, "2": 5, "3": 10}}
    ]
