"""`eval-assets import` makes an evaluation folder of another tool's export."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from eval_assets.cli.import_ import import_
from eval_assets.readers.evaluation.read import read_evaluation
from eval_assets.readers.labels.read import read_labels
from eval_assets.readers.responses import read_responses
from tests.unit.readers.importers.exports import written


@pytest.fixture
def export(tmp_path: Path) -> Path:
    path = tmp_path / "export.json"
    path.write_text(written("label-studio"))
    return path


def invoke(*arguments: str | Path) -> Result:
    inputs = [str(argument) for argument in arguments]
    return CliRunner().invoke(import_, inputs, standalone_mode=False)


def test_a_folder_is_written_and_what_was_not_understood_is_listed(
    tmp_path: Path, export: Path
) -> None:
    result = invoke(export, "--data", tmp_path / "mine")

    assert result.return_value == 0
    assert result.stdout == (
        f"wrote {tmp_path}/mine/evaluation.yaml\n"
        f"wrote {tmp_path}/mine/responses.csv\n"
        f"wrote {tmp_path}/mine/labels.csv\n"
        f"wrote {tmp_path}/mine/judge_scores.csv\n"
        "read 8 ratings by r1@example.org, r2@example.org and 2 scores by judge-1.\n"
        "scale guessed from the ratings: 1, 2, 3, 4, 5 (quality); 0, 1 (correct). "
        "Correct it in evaluation.yaml.\n"
        "label-studio: 2 records read\n"
        "stored: 2 responses, 8 ratings by 2 raters, 2 scores by 1 judge\n"
        "not used: 4 results of type textarea are not ratings\n"
        "not used: 2 annotations were skipped or cancelled\n"
        "not used: fields that no file of an evaluation holds: project (2), annotations[].id (6), "
        "annotations[].completed_by.id (4), annotations[].result[].to_name (8), "
        "annotations[].result[].type (8), annotations[].result[].from_name (4), "
        "annotations[].result[].value.text (4), annotations[].completed_by (2), "
        "predictions[].result[].type (2)\n"
        f"\nRead the rubric, then run: eval-assets run --data {tmp_path}/mine\n"
    )
    evaluation = read_evaluation(tmp_path / "mine")
    assert len(read_labels(evaluation, read_responses(evaluation)).ratings) == 8


def test_an_export_without_ratings_is_drafted_with_an_example_of_a_question(
    tmp_path: Path,
) -> None:
    tasks: list[object] = [
        {"id": k, "data": {"response": f"text {k}"}, "annotations": []} for k in (1, 2)
    ]
    (tmp_path / "tasks.json").write_text(json.dumps(tasks))

    result = invoke(tmp_path / "tasks.json", "--data", tmp_path / "mine")

    assert "label-studio: 2 records read\nstored: 2 responses\n" in result.stdout
    assert [q.id for q in read_evaluation(tmp_path / "mine").rubric] == ["helpfulness"]
    assert "only an example" in (tmp_path / "mine" / "evaluation.yaml").read_text()


def test_nothing_is_written_if_ratings_would_be_lost(tmp_path: Path) -> None:
    path = tmp_path / "export.jsonl"
    rows = [{"text": f"t{k}", "_input_hash": k, "answer": "accept"} for k in range(3)]
    raters = [{"_session_id": "anna"}, {"_session_id": "ben"}, {}]
    lines = [json.dumps(row | rater) for row, rater in zip(rows, raters, strict=True)]
    path.write_text("\n".join(lines))

    result = invoke(path, "--data", tmp_path / "mine")

    assert result.return_value == 1
    assert "read: 3 responses, 2 ratings by 2 raters\n" in result.stdout
    assert "not stored: 1 ratings of accept do not say who gave them\n" in result.stdout
    assert result.stderr == (
        "Nothing was written, as ratings or scores would be lost.\n"
        "To import the rest, add --allow-loss.\n"
    )
    assert not (tmp_path / "mine").exists()
    assert invoke(path, "--data", tmp_path / "mine", "--allow-loss").return_value == 0
    assert (tmp_path / "mine" / "labels.csv").exists()
