"""What a running tool holds is stored once; edits replace ratings, and deletions are reported."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from eval_assets.cli.tool_updates import ToolFiles, update_folder
from eval_assets.errors import leaves
from eval_assets.readers.evaluation.read import read_evaluation
from eval_assets.readers.importers.export_content import Export
from eval_assets.readers.labels.read import read_labels
from eval_assets.readers.responses import read_responses

RATINGS = {(f"r{k}", rater): 1 + k % 5 for k in range(6) for rater in ("anna", "ben")}


def export(ratings: dict[tuple[str, str], int], *, texts: bool = True) -> Export:
    result = Export()
    for response_id in dict.fromkeys(name for name, _ in ratings):
        text = f"text of {response_id}" if texts else None
        result.add_response(response_id, prompt=text, response=text, model="m1" if texts else None)
        result.add_score(response_id, "tone", "gpt", 3)
    for (response_id, rater), value in ratings.items():
        result.add_rating(response_id, "tone", rater, value)
    return result


@pytest.fixture
def files(tmp_path: Path) -> ToolFiles:
    """Files of a project that were written once."""
    result = ToolFiles(tmp_path / "folder", "mlflow", "http://127.0.0.1:5000", "My project")
    update_folder(export(RATINGS), result, drops_deleted=False)
    return result


def values(files: ToolFiles) -> dict[tuple[str, str], str]:
    rows = files.rows("labels.csv")
    return {(name, rater): cells["rating"] for (name, _, rater), cells in rows.items()}


def test_the_first_time_a_folder_is_drafted_that_can_be_read(files: ToolFiles) -> None:
    evaluation = read_evaluation(files.folder)
    labels = read_labels(evaluation, read_responses(evaluation))

    assert len(labels.ratings) == len(RATINGS)
    assert re.fullmatch("labels/mlflow-My-project-[0-9a-f]{8}.csv", files.name("labels.csv"))
    assert [judge.model for judge in evaluation.judges] == ["gpt"]


def test_the_same_content_writes_nothing(files: ToolFiles) -> None:
    written, lines = update_folder(export(RATINGS), files, drops_deleted=False)

    assert written == []
    assert [line.partition(": ")[2] for line in lines] == ["nothing new"] * 3


def test_texts_left_out_keep_those_that_are_stored(files: ToolFiles) -> None:
    assert files.known_responses() == {f"r{k}" for k in range(6)}

    written, _ = update_folder(export(RATINGS, texts=False), files, drops_deleted=False)

    assert written == []


def test_edited_ratings_are_replaced_and_new_ones_added(files: ToolFiles) -> None:
    later = RATINGS | {("r0", "anna"): 5, ("r9", "anna"): 2}

    _, lines = update_folder(export(later), files, drops_deleted=False)

    assert f"{files.name('labels.csv')}: 1 new, 1 changed" in lines
    assert values(files) == {key: str(value) for key, value in later.items()}


def test_deleted_ratings_are_reported_and_kept_unless_they_are_to_go(files: ToolFiles) -> None:
    later = {key: value for key, value in RATINGS.items() if key != ("r1", "ben")}

    _, lines = update_folder(export(later), files, drops_deleted=False)
    assert lines[1].endswith(": 1 deleted in mlflow and kept here (r1 tone ben)")
    assert len(values(files)) == len(RATINGS)

    _, lines = update_folder(export(later), files, drops_deleted=True)
    assert lines[1].endswith(": 1 deleted in mlflow and removed (r1 tone ben)")
    assert values(files) == {key: str(value) for key, value in later.items()}


def test_what_evaluation_yaml_lacks_is_said(files: ToolFiles) -> None:
    (files.folder / "mine.csv").write_text("response_id,rater_id,question_id,rating\n")
    path = files.folder / "evaluation.yaml"
    path.write_text(path.read_text() + "labels: mine.csv\n")
    later = export(RATINGS)
    later.add_score("r0", "tone", "other", 3)
    later.add_score("r0", "length", "gpt", 3)

    _, lines = update_folder(later, files, drops_deleted=False)

    scores = files.name("judge_scores.csv")
    judge = f"{{id: other, provider: recorded, scores: {scores}, model: other}}"
    assert lines[3:] == [
        f"evaluation.yaml: add {files.name('labels.csv')} to labels",
        "evaluation.yaml: add length to the rubric",
        f"evaluation.yaml: add {judge} to judges",
    ]
    assert "labels: mine.csv" in path.read_text()


def saved(files: ToolFiles, table: str, text: str, encoding: str) -> Path:
    path = files.folder / files.name(table)
    path.write_text(text, encoding)
    return path


@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp1252"])
def test_a_file_saved_by_a_spreadsheet_is_updated(files: ToolFiles, encoding: str) -> None:
    lines = (files.folder / files.name("labels.csv")).read_text().splitlines()
    header, *rows = (line.split(",") for line in lines)
    rotated = [[*row[1:], row[0], "Jürgen"] for row in rows]
    table = [[*header[1:], header[0], "reviewed_by"], *rotated]
    saved(files, "labels.csv", "\n".join(map(";".join, table)), encoding)

    written, changes = update_folder(export(RATINGS), files, drops_deleted=False)
    assert (written, changes[1].partition(": ")[2]) == ([], "nothing new")

    later = RATINGS | {("r9", "anna"): 2}
    _, changes = update_folder(export(later), files, drops_deleted=False)
    assert changes[1].endswith(": 1 new")
    text = (files.folder / files.name("labels.csv")).read_text()
    assert text.startswith("question_id,rater_id,rating,labelled_at,notes,response_id,reviewed_by")
    assert text.count("Jürgen") == len(RATINGS)
    assert values(files) == {key: str(value) for key, value in later.items()}


def test_notes_that_the_tool_has_not_are_kept(files: ToolFiles) -> None:
    path = files.folder / files.name("labels.csv")
    saved(files, "labels.csv", path.read_text().replace(",1,,\n", ",1,,why?\n"), "utf-8")

    written, _ = update_folder(export(RATINGS), files, drops_deleted=True)

    assert written == []
    assert path.read_text().count("why?") == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("response_id,rater_id,rating\nr0,anna,1\n", "there is no column question_id"),
        ("response_id,question_id,rater_id\nr0,tone\n", "2 cells"),
        ("response_id,question_id,rater_id\n" + "r0,tone,anna\n" * 2, "rows have the same"),
    ],
)
def test_a_file_that_cannot_be_updated_is_refused(
    files: ToolFiles, text: str, message: str
) -> None:
    labels = saved(files, "labels.csv", text, "utf-8")
    evaluation = files.folder / "evaluation.yaml"
    evaluation.write_text("name: [")
    later = export(RATINGS | {("r9", "anna"): 2})
    responses = (files.folder / files.name("responses.csv")).read_bytes()

    with pytest.raises(ExceptionGroup) as refusal:
        update_folder(later, files, drops_deleted=True)

    lines = [str(error) for error in leaves(refusal.value)]
    assert len(lines) == 2
    assert message in lines[0]
    assert lines[1].startswith("evaluation.yaml:")
    assert labels.read_text() == text
    assert (files.folder / files.name("responses.csv")).read_bytes() == responses


def test_projects_with_similar_names_have_files_of_their_own(files: ToolFiles) -> None:
    variants = [
        replace(files, project="My-project"),
        replace(files, server="http://127.0.0.1:5001"),
    ]

    assert len({of.name("labels.csv") for of in [files, *variants]}) == 3
    assert replace(files, server=f"{files.server}/").name("labels.csv") == files.name("labels.csv")


@pytest.mark.parametrize("folder", ["folder", "new"])
def test_an_empty_project_writes_nothing(files: ToolFiles, folder: str) -> None:
    target = replace(files, folder=files.folder.parent / folder)

    written, lines = update_folder(Export(), target, drops_deleted=True)

    assert written == []
    assert all("kept here" in line for line in lines)
    assert (target.folder / "evaluation.yaml").exists() == (folder == "folder")


def test_evaluation_yaml_may_name_files_that_are_not_written_yet(files: ToolFiles) -> None:
    path = files.folder / "evaluation.yaml"
    path.write_text(path.read_text() + f"labels: {files.name('labels.csv')}\n")
    for table in ("responses.csv", "labels.csv", "judge_scores.csv"):
        (files.folder / files.name(table)).unlink()

    written, _ = update_folder(export(RATINGS), files, drops_deleted=False)

    assert len(written) == 3
