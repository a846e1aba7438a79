"""Matrices of ratings from annotation records."""

import math

import numpy as np
import pandas as pd
import pytest

from eval_assets.scale import BINARY, LIKERT5
from eval_assets.stats import human_agreement, human_agreement_by_question, rating_matrices

LONG: list[dict[str, object]] = [
    {"response_id": "a", "rater_id": "x", "question_id": "q", "rating": 1},
    {"response_id": "a", "rater_id": "y", "question_id": "q", "rating": 2},
    {"response_id": "b", "rater_id": "y", "question_id": "q", "rating": 5},
    {"response_id": "b", "rater_id": "x", "question_id": "q", "rating": None},
    {"response_id": "a", "rater_id": "x", "question_id": "r", "rating": 3},
]


def test_long_records_become_a_matrix_by_question() -> None:
    matrices = rating_matrices(LONG)

    assert list(matrices) == ["q", "r"]
    expected = np.array([[1, 2], [math.nan, 5]])
    assert np.array_equal(matrices["q"], expected, equal_nan=True)
    assert matrices["r"].tolist() == [[3.0]]


def test_a_frame_and_workshop_records_give_the_same_figures() -> None:
    workshop: list[dict[str, object]] = [
        {"trace_id": "a", "user_id": "x", "ratings": {"q": 1, "r": 3}},
        {"trace_id": "a", "user_id": "y", "rating": 9, "ratings": {"q": 2}},
        {"trace_id": "b", "user_id": "y", "ratings": {"q": 5}},
    ]
    by_question = human_agreement_by_question(pd.DataFrame(LONG), scale=LIKERT5)

    assert by_question["q"] == human_agreement([[1, 2]], scale=LIKERT5) == 0.75
    assert math.isnan(by_question["r"])
    other = human_agreement_by_question(workshop, low=1, high=5)
    assert other == pytest.approx(by_question, nan_ok=True)


def test_each_question_has_its_declared_scale() -> None:
    """Two adjacent ratings of two values disagree, on five they nearly agree."""
    records: list[dict[str, object]] = [
        {"trace_id": "t", "user_id": "x", "ratings": {"tone": 4, "right": 0}},
        {"trace_id": "t", "user_id": "y", "ratings": {"tone": 5, "right": 1}},
    ]
    scales = {"tone": LIKERT5, "right": BINARY}

    assert human_agreement_by_question(records, scale=scales) == {"tone": 0.75, "right": 0.0}
    with pytest.raises(ValueError, match="scale must hold every question, got none for right"):
        human_agreement_by_question(records, scale={"tone": LIKERT5})


def test_records_without_a_question_have_an_empty_name() -> None:
    records: list[dict[str, object]] = [
        {"item_id": 1, "user_id": user, "score": 2} for user in "ab"
    ]
    assert human_agreement_by_question(records, low=1, high=5) == {"": 1.0}


def test_the_first_name_of_a_rating_counts() -> None:
    record: dict[str, object] = {"response_id": "a", "rater_id": "x", "score": 1, "rating": 4}
    assert rating_matrices([record])[""].tolist() == [[4]]


def test_ratings_that_are_no_mapping_give_way_to_a_single_rating() -> None:
    records: list[dict[str, object]] = [
        {"response_id": "a", "rater_id": rater, "question_id": "q", "rating": 2, "ratings": ratings}
        for rater, ratings in (("x", "4 of 5"), ("y", {}), ("z", None))
    ]
    assert rating_matrices(records)["q"].tolist() == [[2, 2, 2]]


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        ({"rater_id": "x", "rating": 1}, "record 2 needs response_id or item_id"),
        ({"response_id": "a", "rating": 1}, "record 2 needs rater_id"),
        ({"response_id": "a", "rater_id": "x", "rating": "5"}, "must be a number, got '5'"),
        ({"response_id": "a", "rater_id": "x", "rating": 4}, "record 2: x rated a twice"),
    ],
)
def test_records_that_cannot_be_used_are_refused(record: dict[str, object], problem: str) -> None:
    first = {"response_id": "a", "rater_id": "x", "rating": 1}
    if "twice" not in problem:
        first["rater_id"] = "other"
    with pytest.raises(ValueError, match=problem):
        rating_matrices([first, record])
