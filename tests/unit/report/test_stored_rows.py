"""Rows of stored tables: every field is a column, and NULL has one meaning for each type."""

import math
from dataclasses import fields

import pandas as pd
import pytest

from eval_assets.report.stored_rows import JudgeHumanDistanceRow, StandInPartRow, StoredRow, rows_of
from eval_assets.store.connection import connect
from eval_assets.store.report_tables import read_report_tables


def row_types(parent: type[StoredRow] = StoredRow) -> list[type[StoredRow]]:
    children = [
        child for direct in parent.__subclasses__() for child in (direct, *row_types(direct))
    ]
    return [child for child in children if child.table]


@pytest.fixture(scope="module")
def columns(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """Columns of each table that the report reads."""
    with connect(tmp_path_factory.mktemp("empty") / "eval.duckdb") as connection:
        tables, _ = read_report_tables(connection)
    return {name: {str(column) for column in frame} for name, frame in tables.items()}


@pytest.mark.parametrize("row_type", row_types())
def test_every_field_is_a_column(row_type: type[StoredRow], columns: dict[str, set[str]]) -> None:
    names = {field.name for field in fields(row_type)}

    assert names
    assert names <= columns[row_type.table]


def test_every_table_that_the_report_reads_has_a_row_type(columns: dict[str, set[str]]) -> None:
    assert {row_type.table for row_type in row_types()} == set(columns)


def test_null_is_empty_zero_false_or_nan() -> None:
    frame = pd.DataFrame({"judge_id": [None], "share": [pd.NA], "is_chosen": [None]})

    [row] = rows_of(frame, StandInPartRow)

    assert (row.judge_id, row.question_id, row.is_chosen) == ("", "", False)
    assert math.isnan(row.share)
    assert math.isnan(row.kappa)


def test_names_that_look_like_null_are_texts() -> None:
    frame = pd.DataFrame({"judge_id": ["nan"], "model_name": ["None"], "score": [3]})

    [row] = rows_of(frame, JudgeHumanDistanceRow)

    assert (row.judge_id, row.model_name, row.score) == ("nan", "None", 3.0)


def test_an_empty_frame_has_no_rows() -> None:
    assert list(rows_of(pd.DataFrame(), StandInPartRow)) == []
