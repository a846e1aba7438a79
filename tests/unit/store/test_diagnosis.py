"""Counts of ratings by value and rater, from the database."""

import math

import duckdb
import numpy as np
import pandas as pd
import pytest

from eval_assets.agreement.diagnosis import DisputedResponse
from eval_assets.config.rubric import RubricQuestion
from eval_assets.labelling.quality import HISTORY_COLUMNS
from eval_assets.scale import Scale
from eval_assets.store.inputs import write_labels
from eval_assets.store.labelling import diagnosis, write_label_history
from eval_assets.store.summaries import write_label_disagreements
from tests.unit.store.conftest import CLARITY, labels

RATINGS = labels(
    *(("a1", "clarity", "anna", 1), ("a1", "clarity", "ben", 5), ("a1", "clarity", "cleo", 4)),
    *(("a2", "clarity", "anna", 2), ("a2", "clarity", "ben", 2)),
    ("b1", "clarity", "anna", 3),
)


def test_pairs_are_krippendorffs_coincidences(connection: duckdb.DuckDBPyConnection) -> None:
    write_labels(connection, RATINGS)

    result = diagnosis(connection, CLARITY)
    expected = np.zeros((5, 5))
    for one, other in ((0, 4), (0, 3), (3, 4)):
        expected[one, other] = expected[other, one] = 0.5
    expected[1, 1] = 2
    assert result.n_shared == 2
    np.testing.assert_allclose(result.pairs, expected, atol=1e-12)


def test_severity_is_the_mean_difference_from_the_others(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    write_labels(connection, RATINGS)

    raters = diagnosis(connection, CLARITY).raters
    assert [(rater.rater_id, rater.n_shared) for rater in raters] == [
        *(("anna", 2), ("ben", 2), ("cleo", 1))
    ]
    expected = [(1 - 4.5) / 2, (5 - 2.5) / 2, 4 - 3]
    assert [rater.severity for rater in raters] == pytest.approx(expected)
    assert raters[0].counts == (1, 1, 1, 0, 0)


def test_classes_without_an_order_have_no_severity(connection: duckdb.DuckDBPyConnection) -> None:
    write_labels(connection, RATINGS)
    classes = RubricQuestion("clarity", "?", Scale.from_steps(low=1, high=5), "nominal")

    assert all(math.isnan(rater.severity) for rater in diagnosis(connection, classes).raters)


def test_long_scale_is_counted_in_fifths(connection: duckdb.DuckDBPyConnection) -> None:
    write_labels(connection, RATINGS)
    continuous = RubricQuestion("clarity", "?", Scale(low=0, high=5), "interval")

    anna, *_ = diagnosis(connection, continuous).raters
    assert anna.counts == (0, 1, 1, 1, 0)


def test_disputed_responses_have_the_latest_ratings_after_a_discussion(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    write_labels(connection, RATINGS)
    write_label_disagreements(connection)
    answers = [
        ("a1", "clarity", rater, number, "discussion", 1.0, after, "2026-11-20")
        for rater, number, after in (("anna", 1, 2.0), ("anna", 2, 3.0), ("ben", 1, np.nan))
    ]
    write_label_history(connection, pd.DataFrame(answers, columns=list(HISTORY_COLUMNS)))

    assert diagnosis(connection, CLARITY).responses == (
        DisputedResponse("a1", "Answer a1", {"anna": 1, "ben": 5, "cleo": 4}, {"anna": 3}),
    )


def test_question_without_labels_has_no_shared_response(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    result = diagnosis(connection, CLARITY)

    assert (result.n_shared, result.raters, result.responses) == (0, (), ())
