"""`eval-assets adjudicate` on a real pseudo-terminal."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from eval_assets.cli.adjudicate import adjudicate
from tests.e2e.conftest import Evaluated, clean_environment
from tests.terminal import Terminal


@pytest.fixture
def folder(tmp_path: Path) -> Evaluated:
    """Three responses; raters are four points apart on one of them and one point on another."""
    evaluated = Evaluated(tmp_path / "data")
    evaluated.path.mkdir()
    evaluated.declare(scales={"depth": "likert5"}, judges=())
    rows = [f"a{n},Prompt {n},Answer {n},m" for n in range(3)]
    header = "response_id,prompt_text,response_text,model_name"
    (evaluated.path / "responses.csv").write_text("\n".join([header, *rows]) + "\n")
    inputs = {"anna": (5, 3, 2), "ben": (1, 4, 2)}
    labels = ["response_id,rater_id,question_id,rating,notes"]
    for rater, values in inputs.items():
        labels += [f"a{n},{rater},depth,{v},note of {rater}" for n, v in enumerate(values)]
    (evaluated.path / "labels.csv").write_text("\n".join(labels) + "\n")
    return evaluated


def adjudicating(folder: Evaluated, programs: Path) -> Terminal:
    return Terminal(
        [programs / "eval-assets", "adjudicate", "--rater", "lea"],
        environment=clean_environment() | {"EVAL_DATA": str(folder.path)},
        folder=folder.path,
    )


def steps(folder: Evaluated) -> list[dict[str, object]]:
    path = folder.path / "adjudications.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.mark.slow
def test_the_worst_disagreement_comes_first_and_is_rated_blind(
    folder: Evaluated, program_folder: Path
) -> None:
    with adjudicating(folder, program_folder) as terminal:
        terminal.expect("Scenario 1/2")
        terminal.expect("Answer 0")
        terminal.expect("5  L Later  Q Quit and save")
        terminal.expect("Your own rating first")
        assert "note of" not in terminal.shown
        terminal.press("2")
        terminal.expect("You: 2")
        terminal.expect("anna: 5  note of anna")
        terminal.expect("Q Quit")
        terminal.press("d")
        terminal.expect("Note: ")
        terminal.press("irony\n")
        terminal.expect("Saved: the note")
        terminal.press("7")
        terminal.expect("No such key")
        terminal.press("1")
        terminal.expect("because .*: ")
        terminal.press("ben read it as it was meant\n")
        terminal.expect("Saved: 1")
        terminal.expect("Scenario 2/2")
        terminal.expect("Answer 1")
        terminal.expect("Your own rating first")
        assert "Undo" not in terminal.shown
        already = len(terminal.shown)
        terminal.press("q")
        terminal.expect("still open: 1")
        assert "No such key" not in terminal.shown[already:]
        assert terminal.exit_code() == 0

    assert [(step["step"], step.get("value")) for step in steps(folder)] == [
        ("rating", 2),
        ("comment", None),
        ("consensus", 1),
    ]
    assert steps(folder)[2]["reason"] == "ben read it as it was meant"
    assert steps(folder)[2]["ratings"] == {"anna": 5, "ben": 1}


@pytest.mark.slow
def test_a_killed_adjudication_goes_on_after_ones_own_rating(
    folder: Evaluated, program_folder: Path
) -> None:
    with adjudicating(folder, program_folder) as terminal:
        terminal.expect("Your own rating first")
        terminal.press("2")
        terminal.expect("You: 2")
        terminal.kill()
    with adjudicating(folder, program_folder) as terminal:
        terminal.expect("You: 2")
        terminal.expect("Q Quit")
        terminal.press("x")
        terminal.expect("because .*: ")
        terminal.press("two readings\n")
        terminal.expect("Saved: Left out as ambiguous")
        terminal.expect("Your own rating first")
        terminal.press("l")
        assert terminal.exit_code() == 0

    assert [step["step"] for step in steps(folder)] == ["rating", "excluded"]


def test_adjudication_needs_a_terminal_and_an_adjudicator(folder: Evaluated) -> None:
    data = ["--data", str(folder.path)]
    runner = CliRunner(env={"USER": ""})
    refused = runner.invoke(adjudicate, [*data, "--rater", "lea"], standalone_mode=False)
    assert refused.return_value == 2
    declared = (folder.path / "evaluation.yaml").read_text()
    (folder.path / "evaluation.yaml").write_text(f"{declared}labelling: {{adjudicators: [lea]}}\n")
    other = runner.invoke(adjudicate, [*data, "--rater", "max"], standalone_mode=False)
    assert "max is not an adjudicator here: lea." in str(other.exception)
    assert "serve --lead" in refused.stderr
