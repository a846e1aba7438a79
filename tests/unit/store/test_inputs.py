"""Given data in their tables, and the record of what they were read from."""

import math

import duckdb
import numpy as np
import pandas as pd
import pytest

from eval_assets.problems import InputProblem
from eval_assets.store.connection import StoreError
from eval_assets.store.inputs import (
    changed_tables,
    import_fingerprint,
    is_imported,
    record_import,
    response_keys,
    write_labels,
)
from eval_assets.store.tables import count_rows, read_table, replace_rows
from tests.unit.store.conftest import labels, responses

Connection = duckdb.DuckDBPyConnection


def test_skipped_labels_and_rejected_rows_have_tables_of_their_own(connection: Connection) -> None:
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


def test_a_missing_key_of_a_response_is_none_and_not_a_text(connection: Connection) -> None:
    rows = responses("c1", "c2").assign(
        turn_index=np.array([1, None], dtype=object), seed=np.array([None, "1"], dtype=object)
    )
    replace_rows(connection, "responses", rows)
    record_import(connection, "responses", fingerprint="one", sources="a", n_rows=2)
    keys = response_keys(connection)

    assert keys["seed"].tolist() == [None, "1"]
    assert keys["turn_index"].tolist() == [1, pd.NA]
    assert str(keys["turn_index"].dtype) == "Int64"


def test_keys_are_refused_before_any_response_was_imported(connection: Connection) -> None:
    with pytest.raises(StoreError, match="Materialize model_responses first"):
        response_keys(connection)


def test_an_import_is_remembered_by_its_latest_fingerprint(connection: Connection) -> None:
    assert import_fingerprint(connection, "human_labels") is None
    record_import(connection, "human_labels", fingerprint="one", sources="a", n_rows=1)
    record_import(connection, "human_labels", fingerprint="two", sources="b", n_rows=2)

    assert is_imported(connection, "human_labels", fingerprint="two")
    assert not is_imported(connection, "human_labels", fingerprint="one")
    assert not is_imported(connection, "responses", fingerprint="two")
    assert count_rows(connection, "imports") == 1


def test_a_table_is_changed_if_its_files_are_no_longer_those_it_was_read_from(
    connection: Connection,
) -> None:
    record_import(connection, "human_labels", fingerprint="one", sources="a", n_rows=1)
    record_import(connection, "generated_responses", fingerprint="one", sources="", n_rows=1)

    assert changed_tables(connection, {"human_labels": "a", "responses": "x"}) == ()
    assert changed_tables(connection, {"human_labels": "b"}) == ("human_labels",)
