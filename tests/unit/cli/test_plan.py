"""Recommended numbers of further responses, and what `assign` can give out."""

import csv
import re
import shutil
from collections import Counter
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from eval_assets import agreement as measured_agreement
from eval_assets.cli.assign import assign
from eval_assets.cli.plan import plan
from eval_assets.cli.sheet import sheet
from eval_assets.store.connection import connect
from tests.e2e.conftest import Evaluated

N_RATED = 16


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An evaluation whose raters disagree on an eighth of the responses."""
    return declare(tmp_path)


def declare(folder: Path) -> Path:
    """Write that evaluation."""
    (folder / "evaluation.yaml").write_text(
        "name: e\nrubric:\n  - {id: clear, question: Is it clear?, scale: binary}\n"
        "labels: labels.csv\nlabelling: {raters: [anna, ben, cleo]}\n"
        "gates: {human_a_hh: {min: 0.5}, human_alpha: {min: 0.3}}\n"
    )
    rows = [
        f"r{k},{rater},clear,{int((k % 2 == 0) != (k % 8 == 0 and rater == 'ben'))}"
        for k in range(N_RATED)
        for rater in ("anna", "ben")
    ]
    (folder / "labels.csv").write_text(
        "\n".join(["response_id,rater_id,question_id,rating", *rows])
    )
    return folder


def run_inputs(folder: Path) -> None:
    """Store the rubric, which numbers its wordings, and the labels."""
    inputs = ("rubric_questions", "model_responses", "human_labels")
    assert Evaluated(folder).materialize(*inputs, checks=False).success


def respond(folder: Path, n: int) -> None:
    rows = [f"r{k},p{k},answer,m" for k in range(n)]
    header = "response_id,prompt_text,response_text,model_name"
    (folder / "responses.csv").write_text("\n".join([header, *rows]))


def recommendation(folder: Path) -> str:
    options = ["--data", str(folder), "--more", "300", "--simulations", "10"]
    output = CliRunner().invoke(plan, options, standalone_mode=False).stdout
    return next(line.strip() for line in output.splitlines() if "Recommended" in line)


def test_gate_over_an_only_question_names_the_number_of_its_plan(folder: Path) -> None:
    """Its alpha is at the interval level, that of the question at the ordinal level."""
    (folder / "evaluation.yaml").write_text(
        "name: e\nrubric:\n  - {id: clear, question: Is it clear?, scale: likert5}\n"
        "gates: {human_alpha: {min: 0.75}}\n"
    )
    ratings = [1 + (k % 5 if k % 4 else 0) for k in range(40)]
    pairs = [(v, min(5, v + (0, 1, 0, 2, 0, 0, 1)[k % 7])) for k, v in enumerate(ratings)]
    rows = [
        f"r{k},{rater},clear,{value}"
        for k, pair in enumerate(pairs)
        for rater, value in zip(("anna", "ben"), pair, strict=True)
    ]
    header = "response_id,rater_id,question_id,rating"
    (folder / "labels.csv").write_text("\n".join([header, *rows]))
    respond(folder, 40)

    options = ["--data", str(folder), "--more", "10", "--simulations", "10"]
    output = CliRunner().invoke(plan, options, standalone_mode=False).stdout

    overall, question = re.findall(
        r"(\w+ ?\w*): human_alpha.*\n.*\n(?:.*about (.*) would)?", output
    )
    [alpha] = [o for o in measured_agreement(folder / "labels.csv").outcomes if "alpha" in o.gate]
    assert (overall[0], question[0]) == ("all questions", "clear")
    assert overall[1]
    assert f"about {overall[1]} rated" in alpha.reason
    assert question[1] != overall[1]
    assert output.count("human_a_hh") == 1


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


def test_plan_and_gate_state_the_same_number(folder: Path) -> None:
    respond(folder, N_RATED)
    outcomes = measured_agreement(folder / "labels.csv").outcomes
    [numbers] = [
        re.findall(r"about [0-9,]+ more responses", of.questions[0].reason)
        for of in outcomes
        if of.gate == "human_alpha"
    ]

    options = ["--data", str(folder), "--more", "10", "--simulations", "10"]
    output = CliRunner().invoke(plan, options, standalone_mode=False).stdout

    assert len(numbers) == 1
    assert f"If the figure stays, {numbers[0]} would decide it." in output


def test_without_assignments_no_command_is_needed(folder: Path) -> None:
    respond(folder, 400)

    assert recommendation(folder) == "Recommended: 300 more, at random or stratified."


REWORDED = "Is every sentence clear?"


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text("utf-8-sig").splitlines()))


def draw(folder: Path, *options: str) -> Result:
    arguments = ["--data", str(folder), "--question", "clear", "--draw", *options]
    return CliRunner().invoke(plan, arguments, standalone_mode=False)


def reword(folder: Path) -> None:
    declared = (folder / "evaluation.yaml").read_text()
    (folder / "evaluation.yaml").write_text(declared.replace("Is it clear?", REWORDED))


@pytest.fixture(scope="module")
def reworded_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The evaluation with a third rater who disagrees, measured before it was reworded."""
    folder = declare(tmp_path_factory.mktemp("reworded"))
    path = folder / "labels.csv"
    path.write_text(
        path.read_text() + "".join(f"\nr{k},cleo,clear,{k % 3 == 0:d}" for k in range(16))
    )
    respond(folder, 400)
    run_inputs(folder)
    reword(folder)
    return folder


@pytest.fixture
def reworded(reworded_once: Path, tmp_path: Path) -> Path:
    """A copy of its own of the reworded evaluation."""
    return shutil.copytree(reworded_once, tmp_path / "reworded")


def test_new_responses_are_drawn_for_as_many_raters_as_before(reworded: Path) -> None:
    done = draw(reworded, "--gain", "0.9")
    rows = rows_of(reworded / "assignments.csv")

    assert "new responses show a gain of 0.9 in four of five studies" in done.stdout
    assert {row["question_id"] for row in rows} == {"clear"}
    assert {Counter(row["response_id"] for row in rows)[row["response_id"]] for row in rows} == {3}
    assert not {row["response_id"] for row in rows} & {f"r{k}" for k in range(N_RATED)}
    n_wanted = int(done.stdout.removeprefix("clear: ").partition(" ")[0])
    assert len({row["response_id"] for row in rows}) == n_wanted


def test_new_responses_are_drawn_for_a_multi_select_question(reworded: Path) -> None:
    declared = (reworded / "evaluation.yaml").read_text().replace(REWORDED, "Which faults?")
    declared = declared.replace("scale: binary", "options: [rude, vague]")
    (reworded / "evaluation.yaml").write_text(declared)
    header, *rows = (reworded / "labels.csv").read_text().splitlines()
    rows = [row.replace("clear", f"clear/{option}") for option in ("rude", "vague") for row in rows]
    (reworded / "labels.csv").write_text("\n".join([header, *rows]))
    run_inputs(reworded)
    (reworded / "evaluation.yaml").write_text(declared.replace("Which faults?", "Which are wrong?"))

    assert "clear: " in draw(reworded, "--gain", "0.9").stdout
    drawn = rows_of(reworded / "assignments.csv")
    assert {row["question_id"] for row in drawn} == {"clear"}
    assert set(Counter(row["response_id"] for row in drawn).values()) == {3}


def test_new_responses_are_drawn_once(reworded: Path) -> None:
    draw(reworded, "--gain", "0.9")
    before = (reworded / "assignments.csv").read_text()

    done = draw(reworded, "--gain", "0.9")

    assert "are assigned already" in done.stdout
    assert (reworded / "assignments.csv").read_text() == before


def test_responses_that_are_missing_are_counted(reworded: Path) -> None:
    respond(reworded, N_RATED + 2)

    assert (
        "more are missing: add responses, and run this again."
        in draw(reworded, "--gain", "0.9").stdout
    )


def test_a_question_that_was_not_reworded_draws_nothing(folder: Path) -> None:
    respond(folder, 400)
    run_inputs(folder)
    done = draw(folder)

    assert isinstance(done.exception, click.UsageError)
    assert "has no labels under an earlier wording" in str(done.exception)
    assert not (folder / "assignments.csv").exists()


def test_a_plan_goes_by_the_labels_that_count(reworded: Path) -> None:
    """After the rewording, three new labels count and the others do not."""
    path = reworded / "labels.csv"
    rows = "".join(f"\nr{k},{r},clear,1" for k in range(20, 23) for r in ("anna", "ben"))
    path.write_text(path.read_text() + rows)
    options = ["--data", str(reworded), "--more", "20", "--simulations", "10"]

    printed = CliRunner().invoke(plan, options, standalone_mode=False).stdout

    assert "on 3 responses" in printed


def test_a_filled_sheet_keeps_the_wording_that_it_was_written_for(reworded: Path) -> None:
    """Though the question is reworded again before the sheet is read."""
    draw(reworded, "--gain", "0.9")
    run_inputs(reworded)
    options = ["--data", str(reworded), "--rater", "anna"]
    CliRunner().invoke(sheet, options, standalone_mode=False)
    path = reworded / "labels" / "anna.csv"
    rows = rows_of(path)
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, fieldnames=list(rows[0]))
        table.writeheader()
        table.writerows(row | {"score": "1"} for row in rows)
    declared = (reworded / "evaluation.yaml").read_text()
    declared = declared.replace(REWORDED, "Clear?").replace("labels.csv", "[labels.csv, labels/*]")
    (reworded / "evaluation.yaml").write_text(declared)
    run_inputs(reworded)

    with connect(reworded / "out" / "eval.duckdb", folder=reworded) as connection:
        versions = connection.execute("SELECT DISTINCT rubric_version FROM human_labels").fetchall()
    assert versions == [(2,)]
