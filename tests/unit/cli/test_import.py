"""`eval-assets import` makes an evaluation folder of another tool's export."""

from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from eval_assets.cli.import_ import import_
from eval_assets.readers.evaluation.read import read_evaluation
from eval_assets.readers.labels.read import read_labels
from eval_assets.readers.responses import read_responses
from tests.unit.readers.importers.exports import EXPORTS, written


@pytest.fixture
def export(tmp_path: Path) -> Path:
    path = tmp_path / "export.json"
    path.write_text(written("label-studio"))
    return path


def invoke(*arguments: str | Path) -> Result:
    given = [str(argument) for argument in arguments]
    return CliRunner().invoke(import_, given, standalone_mode=False)


def test_a_folder_is_written_and_what_was_not_understood_is_listed(
    tmp_path: Path, export: Path
) -> None:
    result = invoke(export, "--data", tmp_path / "mine")

    assert result.return_value == 0
    assert result.stdout == (
        "label-studio: 2 responses, 8 ratings by 2 raters, 2 scores by 1 judge\n"
        "not understood: 4 results of type textarea are not ratings\n"
        "not understood: 2 annotations were skipped or cancelled\n"
        f"wrote {tmp_path}/mine/evaluation.yaml\n"
        f"wrote {tmp_path}/mine/responses.csv\n"
        f"wrote {tmp_path}/mine/labels.csv\n"
        f"wrote {tmp_path}/mine/judge_scores.csv\n"
        f"\nRead the rubric, then run: eval-assets run --data {tmp_path}/mine\n"
    )
    evaluation = read_evaluation(tmp_path / "mine")
    assert len(read_labels(evaluation, read_responses(evaluation)).ratings) == 8


def test_an_export_without_ratings_is_drafted_with_an_example_of_a_question(
    tmp_path: Path,
) -> None:
    (tmp_path / f"chat.{EXPORTS['chat'][0]}").write_text(written("chat"))

    result = invoke(tmp_path / "chat.jsonl", "--data", tmp_path / "mine")

    assert result.stdout.startswith("chat: 2 responses\nwrote ")
    assert [q.id for q in read_evaluation(tmp_path / "mine").rubric] == ["helpfulness"]
    assert "only an example" in (tmp_path / "mine" / "evaluation.yaml").read_text()


def test_the_tool_may_be_named_first(tmp_path: Path, export: Path) -> None:
    result = invoke("label-studio", export, "--data", tmp_path / "mine")

    assert result.stdout.startswith("label-studio: ")


def test_a_tool_without_files_is_misuse(tmp_path: Path) -> None:
    result = invoke("argilla", "--data", tmp_path / "mine")

    assert isinstance(result.exception, click.UsageError)
    assert str(result.exception) == "Name the files that argilla exported."
