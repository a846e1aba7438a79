"""What a running tool holds is stored once; edits replace ratings, and deletions are reported."""

from pathlib import Path

import pytest

from eval_assets.readers.evaluation.read import read_evaluation
from eval_assets.readers.importers.export_content import Export
from eval_assets.readers.labels.read import read_labels
from eval_assets.readers.responses import read_responses
from eval_assets.readers.updates import ToolFiles, update_folder

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
    result = ToolFiles(tmp_path / "folder", "mlflow", "My project")
    update_folder(export(RATINGS), result, drops_deleted=False)
    return result


def values(files: ToolFiles) -> dict[tuple[str, str], str]:
    rows = files.rows("labels.csv")
    return {(name, rater): cells["rating"] for (name, _, rater), cells in rows.items()}


def test_the_first_time_a_folder_is_drafted_that_can_be_read(files: ToolFiles) -> None:
    evaluation = read_evaluation(files.folder)
    labels = read_labels(evaluation, read_responses(evaluation))

    assert len(labels.ratings) == len(RATINGS)
    assert files.name("labels.csv") == "labels/mlflow-My-project.csv"
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

    assert "labels/mlflow-My-project.csv: 1 new, 1 changed" in lines
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

    scores = "judge_scores/mlflow-My-project.csv"
    judge = f"{{id: other, provider: recorded, scores: {scores}, model: other}}"
    assert lines[3:] == [
        "evaluation.yaml: add labels/mlflow-My-project.csv to labels",
        "evaluation.yaml: add length to the rubric",
        f"evaluation.yaml: add {judge} to judges",
    ]
    assert "labels: mine.csv" in path.read_text()
