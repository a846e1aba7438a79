"""Sessions that people labelled in are read as labels, beside whatever label files there are."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from eval_assets.labelling.assignments import Assignment
from eval_assets.labelling.rater_queue import RaterQueue
from eval_assets.labelling.rater_view import response_views
from eval_assets.labelling.session_files import SessionFolder
from eval_assets.labelling.sessions import Answer
from eval_assets.labelling.study import Study
from eval_assets.readers.evaluation.input_files import source_fingerprints
from eval_assets.readers.evaluation.read import read_evaluation
from eval_assets.readers.labels.read import read_labels
from eval_assets.readers.responses import read_responses
from tests.unit.labelling.conftest import after, label, session

DECLARED = """\
name: made-up
rubric:
  - {id: clarity, question: How clear is it?, scale: likert5}
  - {id: trigger-accuracy, question: Did the right one fire?, scale: binary}
labels: labels.csv
labelling: {raters: [anna, ben]}
"""
HEADER = "response_id,rater_id,question_id,rating"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "evaluation.yaml").write_text(DECLARED)
    (tmp_path / "labels.csv").write_text(
        "response_id,rater_id,question_id,rating\na,cleo,clarity,2\n"
    )
    (tmp_path / "responses.csv").write_text(
        "response_id,prompt_text,response_text,model_name\na,p,r,m\nb,p,r,m\n"
    )
    return tmp_path


def queue(folder: Path, *, round_: int = 1, repeat: bool = False) -> RaterQueue:
    evaluation = read_evaluation(folder)
    labelling = replace(evaluation.labelling, round=round_)
    evaluation = replace(evaluation, labelling=labelling)
    purposes = ["shared", "repeat"] if repeat else ["shared"]
    assignments = [
        Assignment(response, "anna", round=round_, purpose=purpose)  # type: ignore[arg-type]
        for response in ("a", "b")
        for purpose in purposes
    ]
    shown = response_views(evaluation, read_responses(evaluation))
    return Study(evaluation, shown, assignments).queue("anna")


def ratings(folder: Path) -> dict[tuple[str, str, str], "pd.Series"]:
    """All ratings, by response, question and rater."""
    evaluation = read_evaluation(folder)
    result = read_labels(evaluation, read_responses(evaluation)).ratings
    unit = ["response_id", "question_id", "rater_id"]
    return {tuple(row[unit]): row for _, row in result.iterrows()}


def test_ratings_of_every_dimension_are_labels(folder: Path) -> None:
    rater_queue = queue(folder)
    for place, unit in enumerate(rater_queue.units):
        answer = Answer(rating=1, confidence="low", notes="n")
        rater_queue.answer(unit, answer, at=after(place))
    result = ratings(folder)

    assert len(result) == 5
    row = result["b", "trigger-accuracy", "anna"]
    assert (row["value"], row["confidence"], row["notes"]) == (1, "low", "n")
    assert row["labelled_at"] == "2026-11-21T09:00:03Z"
    assert (row["file"], row["line"]) == ("sessions/anna+trigger-accuracy+r1.json", 2)
    assert len(row["guideline_hash"]) == 12


def test_unknown_time_of_a_label_is_null(folder: Path) -> None:
    rater_queue = queue(folder)
    answer = Answer(rating=4)
    rater_queue.answer(rater_queue.units[0], answer, at=after(0), is_time_known=False)
    row = ratings(folder)["a", "clarity", "anna"]

    assert row["value"] == 4
    assert pd.isna(row["labelled_at"])


def test_the_first_label_decides_whatever_the_rater_said_later(folder: Path) -> None:
    rater_queue = queue(folder)
    rater_queue.answer(rater_queue.units[0], Answer(rating=4), at=after(0))
    rater_queue.answer(rater_queue.units[0], Answer(rating=1), at=after(300))

    assert ratings(folder)["a", "clarity", "anna"]["value"] == 4


def test_what_came_back_to_its_rater_is_no_second_label(folder: Path) -> None:
    rater_queue = queue(folder, repeat=True)
    for place, unit in enumerate(rater_queue.units):
        rater_queue.answer(unit, Answer(rating=1), at=after(place))

    result = ratings(folder)
    assert [rater for _, _, rater in result].count("anna") == 4


def test_a_skipped_response_is_no_rating(folder: Path) -> None:
    rater_queue = queue(folder)
    rater_queue.answer(rater_queue.units[0], Answer(rating=None, skip_reason="broken"), at=after(0))
    row = ratings(folder)["a", "clarity", "anna"]

    assert row["skipped"]
    assert pd.isna(row["value"])
    assert row["skip_reason"] == "broken"


def test_the_latest_round_decides(folder: Path) -> None:
    for number, rating in ((1, 5), (2, 3)):
        rater_queue = queue(folder, round_=number)
        rater_queue.answer(rater_queue.units[0], Answer(rating=rating), at=after(number))
    result = ratings(folder)

    assert result["a", "clarity", "anna"]["value"] == 3
    assert result["a", "clarity", "anna"]["round"] == 2


def test_label_that_is_added_to_a_session_is_read(folder: Path) -> None:
    sessions = SessionFolder(folder)
    sessions.append(session(), label("b", 2, at=0))
    before = source_fingerprints(read_evaluation(folder))["human_labels"]
    sessions.append(session(), label("a", 5, at=1000))
    result = ratings(folder)

    assert result["a", "clarity", "anna"]["value"] == 5
    assert result["a", "clarity", "anna"]["file"] == "sessions/anna+clarity+r1.json"
    assert source_fingerprints(read_evaluation(folder))["human_labels"] != before


def test_one_who_labelled_in_a_file_and_in_a_session_is_named(folder: Path) -> None:
    (folder / "labels.csv").write_text(
        "response_id,rater_id,question_id,rating\na,anna,clarity,2\n"
    )
    rater_queue = queue(folder)
    rater_queue.answer(rater_queue.units[0], Answer(rating=5), at=after(0))

    with pytest.raises(ExceptionGroup) as raised:
        ratings(folder)
    assert "a second rating" in str(raised.value.exceptions[0])


def test_a_damaged_session_is_named(folder: Path) -> None:
    (folder / "sessions").mkdir()
    (folder / "sessions" / "x.json").write_text('{"labels": [')

    with pytest.raises(ExceptionGroup) as raised:
        ratings(folder)
    assert "sessions/x.json" in str(raised.value.exceptions[0])
