import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from eval_assets.cli.label import label
from eval_assets.labelling.rater_view import response_views
from eval_assets.labelling.sessions import Answer
from eval_assets.labelling.study import Study
from eval_assets.readers.evaluation.read import read_evaluation
from eval_assets.readers.responses import read_responses
from tests.unit.labelling.conftest import after

DECLARED = """\
name: made-up
rubric:
  - {id: clear, question: Is it clear?, scale: binary}
  - {id: code_validity, question: Does it run?, scale: binary}
"""
RESPONSES = "response_id,prompt_text,response_text,model_name,run_id\na,p,r,m,one\nb,p,r,m,two\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "evaluation.yaml").write_text(DECLARED)
    (tmp_path / "responses.csv").write_text(RESPONSES)
    return tmp_path


def run(folder: Path, *options: str) -> Result:
    return CliRunner().invoke(label, ["--data", str(folder), *options], standalone_mode=False)


def labelled(folder: Path) -> str:
    """One label of anna's, and the id of its session."""
    evaluation = read_evaluation(folder)
    study = Study(evaluation, response_views(evaluation, read_responses(evaluation)))
    queue = study.queue("anna", question_id="code_validity", run_id="two")
    queue.answer(queue.units[0], Answer(rating=1, notes="fine"), at=after(0))
    return queue.units[0].key.session_id


def test_without_a_terminal_it_says_what_to_use_instead(folder: Path) -> None:
    done = run(folder, "--rater", "anna", "--run-id", "one")

    assert done.return_value == 2
    assert "label needs a terminal" in done.stderr
    assert "serve --labels" in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "Say who labels: --rater NAME"),
        (["--rater", "anna"], "Name the run: --run-id (one of one, two)"),
        (["--rater", "anna", "--run-id", "7"], "There is no run 7 (one of one, two)"),
        (
            ["--rater", "anna", "--run-id", "one", "--dimension", "claer"],
            "There is no question claer (one of clear, code_validity)",
        ),
        (["--resume"], "Name the session: --session-id"),
        (["--export", "--session-id", "x"], "There is no session x. Sessions: none yet."),
    ],
)
def test_misuse_is_named_with_what_is_possible(
    folder: Path, options: list[str], message: str
) -> None:
    assert message in str(run(folder, *options).exception)


def test_a_session_is_exported_as_json_with_the_fields_of_its_dimension(folder: Path) -> None:
    exported = json.loads(run(folder, "--export", "--session-id", labelled(folder)).stdout)

    assert exported["exportedAt"].endswith("Z")
    assert (exported["dimension"], exported["runId"]) == ("code_validity", "two")
    [inputs] = exported["labels"]
    assert (inputs["scenarioId"], inputs["codeParses"], inputs["codeRuns"]) == ("b", True, True)


def test_an_export_spells_the_dimension_as_it_was_asked(folder: Path) -> None:
    session = ("--export", "--session-id", labelled(folder))

    done = run(folder, *session, "--dimension", "code-validity")
    other = run(folder, *session, "--dimension", "clear")

    assert json.loads(done.stdout)["dimension"] == "code-validity"
    assert "is about code_validity" in str(other.exception)


def test_a_session_is_exported_as_csv_in_the_long_form(folder: Path) -> None:
    done = run(folder, "--export", "--session-id", labelled(folder), "--format", "csv")

    header, row = done.stdout.splitlines()
    assert header == (
        "response_id,rater_id,question_id,round,rating,labelled_at,confidence,notes,skipped,"
        "skip_reason"
    )
    assert row == "b,anna,code_validity,1,1,2026-11-21T09:00:00.000Z,,fine,,"


def test_hyphens_stand_for_underscores_in_the_name_of_a_dimension(folder: Path) -> None:
    done = run(folder, "--rater", "anna", "--run-id", "one", "--dimension", "code-validity")

    assert "needs a terminal" in done.stderr
