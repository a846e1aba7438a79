import csv
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from eval_assets.cli.assign import assign

DECLARED = """\
name: made-up
rubric:
  - {id: clear, question: Is it clear?, scale: binary}
  - {id: deep, question: Is it deep?, scale: binary}
labelling: {raters: [anna, ben], overlap: 0.5}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "evaluation.yaml").write_text(DECLARED)
    respond(tmp_path, 40)
    return tmp_path


def respond(folder: Path, n: int) -> None:
    rows = [f"r{k},p{k},answer,m,{'easy' if k % 4 else 'hard'}" for k in range(n)]
    header = "response_id,prompt_text,response_text,model_name,difficulty"
    (folder / "responses.csv").write_text("\n".join([header, *rows]) + "\n")


def run(folder: Path, *options: str) -> Result:
    return CliRunner().invoke(assign, ["--data", str(folder), *options], standalone_mode=False)


def rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "assignments.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_share_declared_goes_to_everybody_and_the_rest_is_split(folder: Path) -> None:
    done = run(folder)

    counts = Counter((row["rater_id"], row["purpose"]) for row in rows(folder))
    assert counts == {
        ("anna", "shared"): 20,
        ("ben", "shared"): 20,
        ("anna", "single"): 10,
        ("ben", "single"): 10,
    }
    assert "anna" in done.stdout
    assert done.stdout.endswith("Responses are drawn at random.\n")


def test_strata_of_the_draw_are_named(folder: Path) -> None:
    done = run(folder, "--responses", "8", "--stratify", "difficulty,model_name")
    equal = run(folder, "--responses", "16", "--stratify", "difficulty", "--equal")

    assert "drawn at random within each difficulty and model_name.\n" in done.stdout
    assert "within each difficulty, the same number of each.\n" in equal.stdout


def test_calibration_is_labelled_by_everybody_on_the_first_question(folder: Path) -> None:
    run(
        folder, "--stage", "calibration", "--responses", "12", "--stratify", "difficulty", "--equal"
    )

    assert {row["question_id"] for row in rows(folder)} == {"clear"}
    assert {row["purpose"] for row in rows(folder)} == {"shared"}
    assert len(rows(folder)) == 24


def test_assignments_stay_byte_for_byte_when_responses_are_added(folder: Path) -> None:
    run(folder)
    before = (folder / "assignments.csv").read_bytes()
    respond(folder, 44)
    run(folder)

    after = (folder / "assignments.csv").read_bytes()
    assert after.startswith(before)
    added = rows(folder)[len(before.splitlines()) - 1 :]
    assert {row["response_id"] for row in added} == {"r40", "r41", "r42", "r43"}


def test_responses_that_a_rater_labelled_are_left_out(folder: Path) -> None:
    (folder / "labels.csv").write_text(
        "response_id,rater_id,question_id,rating\nr0,cleo,deep,1\nr1,anna,clear,1\n"
    )
    run(folder, "--question", "clear", "--unlabelled")

    assert {row["response_id"] for row in rows(folder)} == {f"r{k}" for k in range(2, 40)}
    assert {row["question_id"] for row in rows(folder)} == {"clear"}


def test_number_of_unlabelled_responses_leaves_out_those_with_labels(folder: Path) -> None:
    run(folder)
    (folder / "labels.csv").write_text(
        "response_id,rater_id,question_id,rating\n"
        + "".join(f"r{k},anna,clear,1\n" for k in range(30))
    )
    (folder / "assignments.csv").unlink()
    run(folder, "--unlabelled", "--responses", "4")
    assert len({row["response_id"] for row in rows(folder)}) == 4

    done = run(folder, "--unlabelled", "--responses", "25")

    assert {row["response_id"] for row in rows(folder)} == {f"r{k}" for k in range(30, 40)}
    assert done.stdout.startswith(
        "Add 15 responses, then run this again: so far 10 are without a label."
    )
    repeated = run(folder, "--unlabelled", "--responses", "25")
    assert "Nothing to add" not in repeated.stdout
    with (folder / "labels.csv").open("a") as labels:
        labels.writelines(f"r{k},anna,clear,1\n" for k in range(30, 40))
    assert run(folder, "--unlabelled").stdout == (
        "Add responses, then run this again: so far none are without a label.\n"
    )


def test_responses_go_to_teams_of_raters(folder: Path) -> None:
    declared = (folder / "evaluation.yaml").read_text()
    (folder / "evaluation.yaml").write_text(declared.replace("[anna, ben]", "[a, b, c, d, e]"))
    run(folder, "--raters-per-response", "3")

    assert set(Counter(row["response_id"] for row in rows(folder)).values()) == {3}
    assert set(Counter(row["rater_id"] for row in rows(folder)).values()) <= {23, 24, 25}


def test_open_responses_of_a_rater_go_to_a_new_one(folder: Path) -> None:
    run(folder)
    (folder / "labels.csv").write_text("response_id,rater_id,question_id,rating\n")
    response_ids = [row["response_id"] for row in rows(folder) if row["rater_id"] == "anna"]
    labels = [
        f"{name},anna,{question},1" for name in response_ids[:4] for question in ("clear", "deep")
    ]
    labels.append(f"{response_ids[4]},anna,clear,1")
    (folder / "labels.csv").write_text(
        "response_id,rater_id,question_id,rating\n" + "\n".join(labels)
    )
    declared = (folder / "evaluation.yaml").read_text() + "labels: labels.csv\n"
    (folder / "evaluation.yaml").write_text(declared.replace("[anna, ben]", "[ben, cleo]"))
    done = run(folder, "--reassign", "anna")

    assert "Reassigned from anna: 26" in done.stdout
    by_rater = {
        rater: [
            (row["response_id"], row["question_id"])
            for row in rows(folder)
            if row["rater_id"] == rater
        ]
        for rater in ("anna", "cleo")
    }
    assert by_rater["anna"] == [
        *((name, "") for name in response_ids[:4]),
        (response_ids[4], "clear"),
    ]
    assert (response_ids[4], "deep") in by_rater["cleo"]
    assert "Reassigned from anna: 0" in run(folder, "--reassign", "anna").stdout
    assert "max has no assignments" in str(run(folder, "--reassign", "max").exception)


def test_nothing_is_added_twice(folder: Path) -> None:
    run(folder)
    before = (folder / "assignments.csv").read_bytes()

    assert "Nothing to add" in run(folder).stdout
    assert (folder / "assignments.csv").read_bytes() == before


def test_a_file_that_another_program_saved_in_another_form_is_kept(folder: Path) -> None:
    (folder / "assignments.csv").write_text("rater_id,response_id\nanna,r1\n")

    assert "the header is 'rater_id,response_id'" in str(run(folder).exception)
    assert (folder / "assignments.csv").read_text() == "rater_id,response_id\nanna,r1\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--stratify", "mood"], "the responses have no column mood"),
        (["--question", "nice"], "There is no question nice (one of "),
    ],
)
def test_misuse_is_named(folder: Path, options: list[str], message: str) -> None:
    assert message in str(run(folder, *options).exception)
