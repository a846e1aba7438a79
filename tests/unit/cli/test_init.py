"""`eval-assets init` writes a folder that can be used as it is."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from eval_assets.cli.init import init
from eval_assets.labelling import Study, shown_responses
from eval_assets.readers.evaluation import read_evaluation
from eval_assets.readers.labels import read_labels
from eval_assets.readers.responses import read_responses


def test_folder_can_be_read_as_it_is(tmp_path: Path) -> None:
    outcome = CliRunner().invoke(init, [str(tmp_path / "mine")])
    assert outcome.exit_code == 0, outcome.output
    evaluation = read_evaluation(tmp_path / "mine")
    responses = read_responses(evaluation)
    labels = read_labels(evaluation, responses)
    assert len(responses) == 16
    assert len(labels.ratings) == 16 * 2 * 2
    assert labels.rejected.empty


def test_the_command_to_run_next_can_be_copied_as_it_stands(tmp_path: Path) -> None:
    outcome = CliRunner().invoke(init, [str(tmp_path / "of mine")])
    assert outcome.output.endswith(f"\nNow run: eval-assets run --data '{tmp_path}/of mine'\n")


def test_existing_file_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("mine", encoding="utf-8")
    outcome = CliRunner().invoke(init, [str(tmp_path)])
    assert outcome.exit_code == 2
    assert "labels.csv already" in outcome.output
    assert [path.name for path in tmp_path.iterdir()] == ["labels.csv"]
    assert (tmp_path / "labels.csv").read_text("utf-8") == "mine"


DIMENSIONS = ["trigger_accuracy", "code_validity", "technical_accuracy", "completeness"]


@pytest.mark.parametrize(
    ("template", "questions", "n_responses"),
    [
        (
            "labelling",
            ["trigger_accuracy", "code_validity", "technical_accuracy", "completeness"],
            8,
        ),
        ("relevance", ["relevance"], 8),
        ("pairwise", ["preference"], 6),
    ],
)
def test_every_template_can_be_labelled_as_it_is(
    tmp_path: Path, template: str, questions: list[str], n_responses: int
) -> None:
    outcome = CliRunner().invoke(init, [str(tmp_path), "--template", template])
    evaluation = read_evaluation(tmp_path)
    responses = read_responses(evaluation)
    study = Study(evaluation, shown_responses(evaluation, responses))

    assert "Now run: eval-assets serve --labels" in outcome.output
    assert [question.id for question in evaluation.rubric] == questions
    assert all(question.guidelines for question in evaluation.rubric)
    assert study.raters == ("anna", "ben")
    assert len(study.desk("anna").units) == n_responses * len(questions)
