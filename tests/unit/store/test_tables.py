"""Whole tables: replaced at once, matched by name, and remembered by what they were made from."""

import math

import duckdb
import numpy as np
import pandas as pd
import pytest

from eval_assets.problems import InputProblem
from eval_assets.store.connection import StoreError, transaction
from eval_assets.store.tables import (
    count_rows,
    import_fingerprint,
    is_imported,
    read_table,
    record_import,
    replace_records,
    replace_rows,
    response_keys,
    write_labels,
)
from tests.unit.store.conftest import labels, responses

Connection = duckdb.DuckDBPyConnection


def test_rows_replace_all_that_was_there(connection: Connection) -> None:
    replace_rows(connection, "responses", responses("c1"))

    assert read_table(connection, "responses")["response_id"].tolist() == ["c1"]


def test_columns_are_matched_by_name_whatever_their_order(connection: Connection) -> None:
    rows = responses("c1", model_name="mine", prompt_text="Why?")
    replace_rows(connection, "responses", rows[rows.columns[::-1]])

    [stored] = read_table(connection, "responses").to_dict("records")
    assert (stored["response_id"], stored["model_name"], stored["prompt_text"]) == (
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


def test_skipped_labels_are_kept_apart_and_rejected_rows_listed(connection: Connection) -> None:
    given = labels(("a1", "clarity", "r1", 4), ("a2", "clarity", "r1", math.nan))
    given["skipped"] = [False, True]
    given["skip_reason"] = [None, "cut off"]
    problem = InputProblem("labels.csv", 3, "rating", "6 is not on the scale", "Use 1 to 5")
    write_labels(connection, given, [problem])

    stored = read_table(connection, "human_labels")
    assert stored[["response_id", "value"]].to_numpy().tolist() == [["a1", 4.0]]
    skipped = read_table(connection, "skipped_labels")
    assert skipped[["response_id", "skip_reason"]].to_numpy().tolist() == [["a2", "cut off"]]
    rejected = read_table(connection, "rejected_rows")
    assert rejected[["file", "line", "column"]].to_numpy().tolist() == [["labels.csv", 3, "rating"]]


def test_no_records_empty_the_table(connection: Connection) -> None:
    problem = InputProblem("labels.csv", 3, None, "what", "remedy")
    replace_records(connection, "rejected_rows", [problem])
    replace_records(connection, "rejected_rows", [])

    assert count_rows(connection, "rejected_rows") == 0


def test_keys_of_responses_keep_what_is_not_given_apart_from_texts(connection: Connection) -> None:
    rows = responses("c1", "c2").assign(
        turn_index=np.array([1, None], dtype=object), seed=np.array([None, "1"], dtype=object)
    )
    replace_rows(connection, "responses", rows)
    record_import(connection, "responses", fingerprint="one", n_rows=2)
    keys = response_keys(connection)

    assert keys["seed"].tolist() == [None, "1"]
    assert keys["turn_index"].tolist() == [1, pd.NA]
    assert str(keys["turn_index"].dtype) == "Int64"


def test_keys_are_refused_before_any_response_was_imported(connection: Connection) -> None:
    with pytest.raises(StoreError, match="Materialize model_responses first"):
        response_keys(connection)


def test_an_import_is_remembered_by_its_latest_fingerprint(connection: Connection) -> None:
    assert import_fingerprint(connection, "human_labels") is None
    record_import(connection, "human_labels", fingerprint="one", n_rows=1)
    record_import(connection, "human_labels", fingerprint="two", n_rows=2)

    assert is_imported(connection, "human_labels", fingerprint="two")
    assert not is_imported(connection, "human_labels", fingerprint="one")
    assert not is_imported(connection, "responses", fingerprint="two")
    assert count_rows(connection, "imports") == 1
