"""Recommended numbers of further responses, and what `assign` can give out."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from eval_assets.cli.assign import assign
from eval_assets.cli.plan import plan

N_RATED = 16


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An evaluation whose raters disagree on an eighth of the responses."""
    (tmp_path / "evaluation.yaml").write_text(
        "name: e\nrubric:\n  - {id: clear, question: Is it clear?, scale: binary}\n"
        "labels: labels.csv\nlabelling: {raters: [anna, ben, cleo]}\n"
    )
    rows = [
        f"r{k},{rater},clear,{int((k % 2 == 0) != (k % 8 == 0 and rater == 'ben'))}"
        for k in range(N_RATED)
        for rater in ("anna", "ben")
    ]
    (tmp_path / "labels.csv").write_text(
        "\n".join(["response_id,rater_id,question_id,rating", *rows])
    )
    return tmp_path


def respond(folder: Path, n: int) -> None:
    rows = [f"r{k},p{k},answer,m" for k in range(n)]
    header = "response_id,prompt_text,response_text,model_name"
    (folder / "responses.csv").write_text("\n".join([header, *rows]))


def recommendation(folder: Path) -> str:
    options = ["--data", str(folder), "--more", "300", "--simulations", "10"]
    output = CliRunner().invoke(plan, options, standalone_mode=False).stdout
    return next(line.strip() for line in output.splitlines() if "Recommended" in line)


def test_recommended_number_is_given_as_a_command_that_works(folder: Path) -> None:
    respond(folder, N_RATED)
    CliRunner().invoke(assign, ["--data", str(folder)], standalone_mode=False)
    respond(folder, 400)
    advice, _, command = recommendation(folder).partition(" Run: eval-assets assign ")
    options = ["--data", str(folder), *command.split()]
    done = CliRunner().invoke(assign, options, standalone_mode=False)

    assert advice == "Recommended: 300 more, at random or stratified."
    assert done.exit_code == 0
    assert len((folder / "assignments.csv").read_text().splitlines()) == 1 + 3 * 16 + 2 * 300


def test_number_beyond_the_responses_is_not_given_as_a_command(folder: Path) -> None:
    respond(folder, 20)

    assert recommendation(folder) == (
        "Recommended: 300 more, at random or stratified. Only 4 responses are left. "
        "Add responses first."
    )


def test_without_assignments_no_command_is_needed(folder: Path) -> None:
    respond(folder, 400)

    assert recommendation(folder) == "Recommended: 300 more, at random or stratified."
