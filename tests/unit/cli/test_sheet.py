"""Sheets keep the wording that they were written for."""

import csv
from pathlib import Path

from click.testing import CliRunner

from eval_assets.cli.assign import assign
from eval_assets.cli.sheet import sheet
from eval_assets.cli.study_files import read_study
from eval_assets.labelling.rater_queue import now
from eval_assets.labelling.sessions import Answer
from eval_assets.store.connection import connect
from tests.e2e.conftest import Evaluated

DECLARED = """\
name: e
rubric:
  - {id: clear, question: Is it clear?, scale: binary}
labels: labels.csv
labelling: {raters: [anna, ben]}
"""


def run_inputs(folder: Path) -> None:
    """Store the rubric, which numbers its wordings, and the labels."""
    inputs = ("rubric_questions", "model_responses", "human_labels")
    assert Evaluated(folder).materialize(*inputs, checks=False).success


def test_a_filled_sheet_keeps_the_wording_that_it_was_written_for(tmp_path: Path) -> None:
    """Though the question is reworded again before the sheet is read."""
    declaration = tmp_path / "evaluation.yaml"
    declaration.write_text(DECLARED)
    header = "response_id,prompt_text,response_text,model_name"
    responses = [f"r{k},p{k},answer,m" for k in range(20)]
    (tmp_path / "responses.csv").write_text("\n".join([header, *responses]))
    labels = [f"r{k},{rater},clear,1" for k in range(10) for rater in ("anna", "ben")]
    (tmp_path / "labels.csv").write_text(
        "\n".join(["response_id,rater_id,question_id,rating", *labels])
    )
    run_inputs(tmp_path)
    declaration.write_text(DECLARED.replace("Is it clear?", "Is every sentence clear?"))
    run_inputs(tmp_path)
    options = ["--data", str(tmp_path)]
    CliRunner().invoke(assign, [*options, "--unlabelled"], standalone_mode=False)
    CliRunner().invoke(sheet, [*options, "--rater", "anna"], standalone_mode=False)
    path = tmp_path / "labels" / "anna.csv"
    rows = list(csv.DictReader(path.read_text("utf-8-sig").splitlines()))
    assert len(rows) == 10
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, fieldnames=list(rows[0]))
        table.writeheader()
        table.writerows(row | {"score": "1"} for row in rows)
    declaration.write_text(
        DECLARED.replace("Is it clear?", "Clear?").replace("labels.csv", "[labels.csv, labels/*]")
    )
    run_inputs(tmp_path)

    with connect(tmp_path / "out" / "eval.duckdb", folder=tmp_path) as connection:
        versions = connection.execute("SELECT DISTINCT rubric_version FROM human_labels").fetchall()
    assert versions == [(2,)]


def test_a_sheet_leaves_out_what_its_rater_has_labelled(tmp_path: Path) -> None:
    """In a label file or in the browser: a second rating of a unit is refused."""
    (tmp_path / "evaluation.yaml").write_text(DECLARED.replace("labels: labels.csv", ""))
    (tmp_path / "responses.csv").write_text(
        "response_id,prompt_text,response_text,model_name\na1,Ask,One,m\na2,Ask,Two,m\n"
    )
    (tmp_path / "labels.csv").write_text(
        "response_id,rater_id,question_id,rating\na1,anna,clear,1\n"
    )
    queue = read_study(tmp_path).study.queue("ben")
    queue.answer(queue.units[0], Answer(rating=1), at=now())

    result = CliRunner().invoke(sheet, ["--data", str(tmp_path)], standalone_mode=False)
    numbers = [line.rpartition("/")[2] for line in result.stdout.splitlines()]
    assert numbers == ["anna.csv, 1 to label", "ben.csv, 1 to label"]

    with (tmp_path / "labels.csv").open("a") as file:
        file.writelines(f"{r},{x},clear,1\n" for r, x in (("a2", "anna"), ("a1", "ben")))
        file.write("a2,ben,clear,1\n")
    (tmp_path / "labels" / "anna.csv").unlink()
    (tmp_path / "labels" / "ben.csv").unlink()
    result = CliRunner().invoke(sheet, ["--data", str(tmp_path)], standalone_mode=False)
    assert result.stdout == "nothing to label for anna\nnothing to label for ben\n"
