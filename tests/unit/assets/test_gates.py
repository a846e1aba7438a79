"""The guard that every asset behind the gates calls first."""

from dataclasses import replace
from pathlib import Path

import dagster as dg
import pandas as pd
import pytest

from eval_assets.assets.gates import questions_past_the_gates
from eval_assets.config.evaluation import Evaluation, Gate
from eval_assets.config.rubric import RubricQuestion
from eval_assets.scale import LIKERT5
from eval_assets.store.connection import connect
from eval_assets.store.schema import read_table, replace_rows

SPLIT_COLUMNS = [
    "response_id",
    "question_id",
    "split",
    "group_id",
    "data_version",
    "stale_because",
]


def evaluation(folder: Path) -> Evaluation:
    return Evaluation(
        name="test",
        folder=folder,
        rubric=(RubricQuestion("clarity", "Is it clear?", LIKERT5, "ordinal"),),
    )


def test_an_empty_database_is_refused_without_retry_and_names_what_to_do(tmp_path: Path) -> None:
    with connect(tmp_path / "eval.duckdb") as connection, pytest.raises(dg.Failure) as raised:
        questions_past_the_gates(connection, evaluation(tmp_path))

    assert raised.value.allow_retries is False
    assert raised.value.description == (
        f"Gate human_a_hh of {tmp_path.name} is closed: not measured yet. "
        f"Run eval-assets run --data {tmp_path}, or materialize human_agreement in the UI.\n"
        f"Gate human_alpha of {tmp_path.name} is closed: not measured yet. "
        f"Run eval-assets run --data {tmp_path}, or materialize human_agreement in the UI."
    )
    assert raised.value.metadata["closed_gates"].value == ["human_a_hh", "human_alpha"]


def test_a_refusal_stores_its_verdicts_and_marks_the_rows_behind_the_gates(tmp_path: Path) -> None:
    split = pd.DataFrame([("a1", "clarity", "train", "g1", "v0", None)], columns=SPLIT_COLUMNS)
    with connect(tmp_path / "eval.duckdb") as connection:
        replace_rows(connection, "judge_splits", split)
        with pytest.raises(dg.Failure):
            questions_past_the_gates(connection, evaluation(tmp_path))
        verdicts = read_table(connection, "gate_verdicts")
        [marked] = read_table(connection, "judge_splits")["stale_because"]

    assert verdicts[["gate", "verdict", "is_closed"]].to_numpy().tolist() == [
        ["human_a_hh", "not_evaluable", True],
        ["human_alpha", "not_evaluable", True],
    ]
    assert marked.startswith("gate closed: human_a_hh: not measured yet")


def test_gates_that_only_warn_let_every_question_through(tmp_path: Path) -> None:
    declared = evaluation(tmp_path)
    warning = {name: Gate(gate.minimum, "warn") for name, gate in declared.gates.items()}
    with connect(tmp_path / "eval.duckdb") as connection:
        assert questions_past_the_gates(connection, replace(declared, gates=warning)) == (
            "clarity",
        )
