"""Given data in their tables, and the record of what they were read from."""

import json
import math
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.rubric import RubricQuestion
from eval_assets.errors import SheetLine, StoreError
from eval_assets.frame_columns import REJECTED_COLUMNS, RESPONSE_COLUMNS
from eval_assets.scale import BINARY, Scale
from eval_assets.store.inputs import (
    are_stored_scales,
    changed_tables,
    check_imported,
    import_fingerprint,
    is_imported,
    labels_by_file,
    n_changed_labels,
    record_import,
    rejected_labels,
    response_keys,
    write_labels,
    write_rubric,
)
from eval_assets.store.schema import count_rows, read_table, replace_rows
from tests.unit.store.conftest import CLARITY, labels, responses

Connection = duckdb.DuckDBPyConnection


def test_rows_of_several_sheets_name_the_sheet(connection: Connection) -> None:
    inputs = labels(("a1", "clarity", "r1", 4))
    inputs = inputs.assign(file="labels.xlsx", line=pd.Series([SheetLine(2, "may")], dtype=object))
    rows = [
        ("labels.xlsx", 3, "rating", "6 is not on the scale", "Use 1 to 5", "r1", "clarity", sheet)
        for sheet in ("may", "june")
    ]
    rejected = pd.DataFrame(rows, columns=list(REJECTED_COLUMNS))
    write_labels(connection, inputs, rejected=rejected)

    assert read_table(connection, "human_labels")["source"].tolist() == ["labels.xlsx:may!2"]
    assert labels_by_file(connection) == {"labels.xlsx": 1}
    assert rejected_labels(connection).to_numpy().tolist() == [["r1", "clarity", 2]]


def test_skipped_labels_and_rejected_rows_have_tables_of_their_own(connection: Connection) -> None:
    inputs = labels(("a1", "clarity", "r1", 4), ("a2", "clarity", "r1", math.nan))
    inputs["skipped"] = [False, True]
    inputs["skip_reason"] = [None, "cut off"]
    earlier = labels(("a1", "clarity", "r1", 2))
    row = ("labels.csv", 3, "rating", "6 is not on the scale", "Use 1 to 5", "r2", "clarity", None)
    rejected = pd.DataFrame([row], columns=list(REJECTED_COLUMNS))
    write_labels(connection, inputs.assign(round=2), earlier=earlier, rejected=rejected)

    current = read_table(connection, "human_labels")
    assert current[["response_id", "value"]].to_numpy().tolist() == [["a1", 4.0]]
    skipped = read_table(connection, "skipped_labels")
    assert skipped[["response_id", "skip_reason"]].to_numpy().tolist() == [["a2", "cut off"]]
    assert [tuple(item) for item in read_table(connection, "rejected_rows").to_numpy()] == [row]
    assert rejected_labels(connection).to_numpy().tolist() == [["r2", "clarity", 1]]
    frame = read_table(connection, "earlier_labels")
    assert frame[["value", "round"]].to_numpy().tolist() == [[2.0, 1]]
    assert current["round"].tolist() == [2]


def test_labels_with_another_value_are_counted(connection: Connection) -> None:
    rows = labels(("a1", "clarity", "r1", 4), ("a2", "clarity", "r1", 2))
    now = labels(("a1", "clarity", "r1", 5), ("a2", "clarity", "r1", 2), ("a2", "clarity", "r2", 1))
    assert n_changed_labels(connection, now) == 0
    write_labels(connection, rows)

    assert n_changed_labels(connection, now) == 1
    assert n_changed_labels(connection, rows) == 0


def test_a_missing_key_of_a_response_is_none_and_not_a_text(connection: Connection) -> None:
    rows = responses("c1", "c2").assign(
        turn_index=np.array([1, None], dtype=object), seed=np.array([None, "1"], dtype=object)
    )
    replace_rows(connection, "responses", rows)
    record_import(connection, "responses", fingerprint="one", sources="a")
    keys = response_keys(connection)

    assert keys["seed"].tolist() == [None, "1"]
    assert keys["turn_index"].tolist() == [1, pd.NA]
    assert str(keys["turn_index"].dtype) == "Int64"


def test_an_asset_that_was_never_read_is_named_with_the_command(connection: Connection) -> None:
    message = "model_responses: not materialized yet. Run eval-assets run --data 'my data'"
    with pytest.raises(StoreError, match=message):
        check_imported(connection, "model_responses", Path("my data"))

    record_import(connection, "responses", fingerprint="one", sources="a")
    check_imported(connection, "model_responses", Path("my data"))


def test_an_import_is_remembered_by_its_latest_fingerprint(connection: Connection) -> None:
    assert import_fingerprint(connection, "human_labels") is None
    record_import(connection, "human_labels", fingerprint="one", sources="a")
    record_import(connection, "human_labels", fingerprint="two", sources="b")

    assert is_imported(connection, "human_labels", fingerprint="two")
    assert not is_imported(connection, "human_labels", fingerprint="one")
    assert not is_imported(connection, "responses", fingerprint="two")
    assert count_rows(connection, "imports") == 1


def test_what_is_asked_is_the_same_in_the_database_and_in_the_evaluation(
    connection: Connection,
) -> None:
    """Limits by columns and by attributes, alone and together, and an indicator beside them."""
    rubric = (
        CLARITY,
        RubricQuestion("fact", "Is it there?", BINARY, "nominal", applies_to={"topic": ("x", "y")}),
        RubricQuestion(
            "hard",
            "Is it?",
            BINARY,
            "nominal",
            applies_to={"difficulty": ("tough",), "topic": ("x",)},
        ),
    )
    rows = [
        {"response_id": f"{topic}{difficulty}{indicator}", "difficulty": difficulty}
        | {"indicator_id": indicator, "attributes": json.dumps({"topic": topic})}
        for topic in ("x", "y", None)
        for difficulty in ("tough", "easy", None)
        for indicator in ("fact", "hard", "other", None)
    ]
    frame = pd.DataFrame(rows).reindex(columns=list(RESPONSE_COLUMNS)).astype(object)
    replace_rows(connection, "responses", frame)
    write_rubric(connection, rubric)

    units = connection.execute("SELECT response_id, question_id FROM asked_units").fetchall()

    evaluation = Evaluation("t", Path(), rubric)
    requested = {
        (row["response_id"], question.id)
        for row in rows
        for question in evaluation.asked({**row, **json.loads(str(row["attributes"]))})
    }
    assert set(units) == requested
    assert len(units) == len(requested) > len(rows)


def test_attributes_are_returned_beside_the_keys_of_responses(connection: Connection) -> None:
    rows = responses("a1", difficulty="easy", attributes='{"topic": "x", "n": 1}')
    replace_rows(connection, "responses", rows)
    record_import(connection, "responses", fingerprint="f", sources="s")

    keys = response_keys(connection, further=("difficulty", "topic", "n", "none"))

    [row] = keys[["response_id", "difficulty", "topic", "n", "none"]].to_dict("records")
    assert row == {
        "response_id": "a1",
        "difficulty": "easy",
        "topic": "x",
        "n": "1",
        "none": None,
    }


def test_a_table_is_changed_if_its_files_are_no_longer_those_it_was_read_from(
    connection: Connection,
) -> None:
    record_import(connection, "human_labels", fingerprint="one", sources="a")
    record_import(connection, "generated_responses", fingerprint="one", sources="")

    assert changed_tables(connection, {"human_labels": "a", "responses": "x"}) == ()
    assert changed_tables(connection, {"human_labels": "b"}) == ("human_labels",)


def test_other_values_between_the_same_ends_are_another_scale(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    questions = [
        replace(CLARITY, scale=scale)
        for scale in (Scale(low=1, high=5), Scale(low=1, high=5, values=(1, 3, 5)))
    ]
    results = []
    for question in questions:
        write_rubric(connection, [question])
        results.append([are_stored_scales(connection, [declared]) for declared in questions])

    assert results == [[True, False], [False, True]]
