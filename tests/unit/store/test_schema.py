"""Whole tables are replaced at once, with columns matched by name."""

import math

import duckdb
import pandas as pd
import pytest

from eval_assets.agreement.humans import Finding
from eval_assets.store.connection import transaction
from eval_assets.store.schema import count_rows, read_table, replace_records, replace_rows
from tests.unit.store.conftest import responses

Connection = duckdb.DuckDBPyConnection


def test_rows_replace_all_that_was_there(connection: Connection) -> None:
    replace_rows(connection, "responses", responses("c1"))

    assert read_table(connection, "responses")["response_id"].tolist() == ["c1"]


def test_columns_are_matched_by_name_whatever_their_order(connection: Connection) -> None:
    rows = responses("c1", model_name="mine", prompt_text="Why?")
    replace_rows(connection, "responses", rows[rows.columns[::-1]])

    [row] = read_table(connection, "responses").to_dict("records")
    assert (row["response_id"], row["model_name"], row["prompt_text"]) == (
        "c1",
        "mine",
        "Why?",
    )


def test_no_rows_empty_the_table(connection: Connection) -> None:
    replace_rows(connection, "responses", responses().head(0))

    assert count_rows(connection, "responses") == 0


def test_nan_is_stored_as_null(connection: Connection) -> None:
    """DuckDB ranks NaN above every number: a comparison in SQL would let it pass."""
    rows = pd.DataFrame(
        {
            "response_id": ["a1", "a2"],
            "question_id": "clarity",
            "judge_id": "j",
            "score": [math.nan, 3.0],
            "status": ["missing", "ok"],
        }
    )
    replace_rows(connection, "judge_scores", rows)

    assert connection.execute(
        "SELECT count(*), count(score), bool_or(isnan(score)) FROM judge_scores"
    ).fetchall() == [(2, 1, False)]


def test_a_text_that_says_nan_stays_text(connection: Connection) -> None:
    rows = responses("c1", "c2", "c3").assign(response_text=["nan", "None", "N/A"])
    replace_rows(connection, "responses", rows)

    assert read_table(connection, "responses")["response_text"].tolist() == ["nan", "None", "N/A"]


def test_rows_that_do_not_fit_leave_the_previous_ones(connection: Connection) -> None:
    def misfit() -> None:
        with transaction(connection):
            replace_rows(connection, "responses", responses("c1").assign(response_id=None))

    with pytest.raises(duckdb.ConstraintException):
        misfit()
    assert count_rows(connection, "responses") == 4


def test_no_records_empty_the_table(connection: Connection) -> None:
    finding = Finding("clarity", "r1 gives 3 every time")
    replace_records(connection, "label_findings", [finding])
    assert count_rows(connection, "label_findings") == 1

    replace_records(connection, "label_findings", [])

    assert count_rows(connection, "label_findings") == 0
