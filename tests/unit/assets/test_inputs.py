"""The values by which responses are partitioned, as Dagster is told them."""

import json
from collections.abc import Sequence
from pathlib import Path

import dagster as dg
import pytest

from eval_assets.assets.inputs import declare_partitions
from eval_assets.assets.resources import EvaluationFolder
from eval_assets.errors import InputError, leaves
from eval_assets.store.schema import replace_rows
from tests.instances import empty_instance
from tests.unit.store.conftest import responses


@pytest.fixture
def instance() -> dg.DagsterInstance:
    return empty_instance()


def declare(
    root: Path, instance: dg.DagsterInstance, months: Sequence[str | None], *, name: str = ""
) -> Sequence[str]:
    """Store a response of each month; return the partitions that Dagster knows of the folder."""
    folder = EvaluationFolder(data=str(root), name=name)
    folder.path.mkdir(exist_ok=True)
    (folder.path / "evaluation.yaml").write_text(
        "name: made-up\nrubric: [{id: clarity, question: Is it clear?, scale: likert5}]\n"
        "judging: {partition_by: month}\n"
    )
    (folder.path / "responses.csv").touch()
    inputs = responses(*(f"a{k}" for k in range(len(months))))
    inputs["attributes"] = [json.dumps({"month": month} if month else {}) for month in months]
    with folder.connect() as connection:
        replace_rows(connection, "responses", inputs)
        declare_partitions(connection, folder, instance)
    return instance.get_dynamic_partitions("/".join(filter(None, (name, "month"))))


def test_dagster_knows_the_values_that_responses_have_now(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    assert declare(tmp_path, instance, ["2", "1", "2"]) == ["1", "2"]
    assert declare(tmp_path, instance, ["3", "2", None]) == ["2", "(no value)", "3"]
    assert declare(tmp_path, instance, ["3"]) == ["3"]


def test_each_evaluation_of_a_folder_has_partitions_of_its_own(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    assert declare(tmp_path, instance, ["1"], name="one") == ["1"]
    assert declare(tmp_path, instance, ["2"], name="other") == ["2"]
    assert instance.get_dynamic_partitions("one/month") == ["1"]


@pytest.mark.parametrize(
    ("months", "message"),
    [
        (
            ["a...b"],
            (
                "'a...b' cannot be the name of a partition. "
                "Use a column with few, short values, such as a month"
            ),
        ),
        (
            ["fine", "line\nbreak"],
            (
                "'line\\nbreak' cannot be the name of a partition. "
                "Use a column with few, short values, such as a month"
            ),
        ),
        (
            [str(k) for k in range(10_001)],
            (
                "responses have 10,001 different values of month, over 10,000. "
                "Use a column with few, short values, such as a month"
            ),
        ),
        ([None], "no response has a month. Name a column of the responses, or add it"),
    ],
)
def test_values_that_cannot_be_partitions_are_one_clear_line(
    tmp_path: Path, instance: dg.DagsterInstance, months: Sequence[str | None], message: str
) -> None:
    with pytest.raises(ExceptionGroup) as caught:
        declare(tmp_path, instance, months)

    [error] = leaves(caught.value)
    assert isinstance(error, InputError)
    assert str(error) == f"evaluation.yaml:judging.partition_by: {message}."
    assert instance.get_dynamic_partitions("month") == []
