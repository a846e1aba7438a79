"""Invariants of stored ratings."""

import math
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import duckdb
import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_assets.config.rubric import RubricQuestion
from eval_assets.frame_columns import LABEL_COLUMNS, RESPONSE_COLUMNS
from eval_assets.scale import LIKERT5
from eval_assets.store.data_versions import rating_versions
from eval_assets.store.inputs import write_labels, write_rubric
from eval_assets.store.long_ratings import group_codes, long_ratings
from eval_assets.store.schema import replace_rows, schema
from tests.counting import counted

CLARITY = RubricQuestion("clarity", "Is it clear?", LIKERT5, "ordinal")
N_RESPONSES = 6

matrices = st.integers(1, 5).flatmap(
    lambda n_raters: st.lists(
        st.lists(
            st.sampled_from([math.nan, 1.0, 2.0, 3.0, 4.0, 5.0]),
            min_size=n_raters,
            max_size=n_raters,
        ),
        min_size=N_RESPONSES,
        max_size=N_RESPONSES,
    )
)
"""Ratings of shape (n_responses, n_raters), NaN where there is none."""


@cache
def database() -> duckdb.DuckDBPyConnection:
    """The tables, made once: each example replaces all rows."""
    connection = duckdb.connect()
    connection.execute(schema())
    return connection


@contextmanager
def stored(matrix: list[list[float]], *, shuffled: int = 0) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database that holds these ratings of one question alone, in an order of its own."""
    rows = [
        (f"a{response}", "clarity", f"r{rater}", value)
        for response, values in enumerate(matrix)
        for rater, value in enumerate(values)
        if not math.isnan(value)
    ]
    random.Random(shuffled).shuffle(rows)  # noqa: S311 - an order, no secret
    labels = pd.DataFrame(rows, columns=["response_id", "question_id", "rater_id", "value"])
    responses = pd.DataFrame({"response_id": [f"a{k}" for k in range(N_RESPONSES)]})
    connection = database()
    write_rubric(connection, [CLARITY])
    replace_rows(connection, "responses", responses.reindex(columns=list(RESPONSE_COLUMNS)))
    rows_of_table = labels.assign(source="x", skipped=False, round=1)
    write_labels(connection, rows_of_table.reindex(columns=list(LABEL_COLUMNS)))
    yield connection


@settings(deadline=None, max_examples=12)
@given(matrices, st.integers(0, 99))
def test_a_matrix_comes_back_as_it_was_stored(matrix: list[list[float]], order: int) -> None:
    """Without the raters who rated nothing, whom no label names."""
    given_ratings = np.array(matrix)
    with stored(matrix, shuffled=order) as connection:
        ratings = long_ratings(connection, "human", ["clarity"], group=group_codes(connection))
        stored_matrix = ratings["clarity"].matrix()

    np.testing.assert_array_equal(
        stored_matrix, given_ratings[:, ~np.isnan(given_ratings).all(axis=0)]
    )


@settings(deadline=None, max_examples=12)
@given(matrices)
def test_patterns_count_the_rows_of_the_matrix(matrix: list[list[float]]) -> None:
    rows = [tuple(sorted(v for v in row if not math.isnan(v))) for row in matrix]
    with stored(matrix) as connection:
        ratings = long_ratings(connection, "human", ["clarity"], group=group_codes(connection))

    assert counted(ratings["clarity"].patterns()) == Counter(row for row in rows if row)


@settings(deadline=None, max_examples=12)
@given(matrices, st.integers(0, N_RESPONSES - 1), st.integers(1, 99))
def test_the_version_knows_every_rating_and_not_their_order(
    matrix: list[list[float]], response: int, order: int
) -> None:
    changed = [list(row) for row in matrix]
    changed[response][0] = 2.0 if matrix[response][0] == 1.0 else 1.0
    with stored(matrix) as connection:
        version = rating_versions(connection)["human"]
    with stored(matrix, shuffled=order) as connection:
        reordered = rating_versions(connection)["human"]
    with stored(changed) as connection:
        of_changed = rating_versions(connection)["human"]

    assert reordered == version
    assert of_changed != version
