"""From sessions and adjudications to agreement, gates and the comparison with judges."""

import json
from pathlib import Path

import pytest

from eval_assets.labelling.adjudication import Disagreement
from eval_assets.labelling.rater_queue import now
from eval_assets.labelling.rater_view import response_views
from eval_assets.labelling.sessions import Answer
from eval_assets.labelling.study import Study
from eval_assets.readers.evaluation.read import read_evaluation
from eval_assets.readers.responses import read_responses
from tests.e2e.conftest import AGREEING, BASE, NEAR, OPPOSING, Evaluated, make

INPUTS = ("rubric_questions", "model_responses", "human_labels", "label_disagreements")
MEASURED = (*INPUTS, "adjudicated_labels", "label_quality", "human_agreement")
COMPARED = (*MEASURED, "judge_scores", "judge_human_agreement")


def study_of(folder: Evaluated) -> Study:
    evaluation = read_evaluation(folder.path)
    return Study(evaluation, response_views(evaluation, read_responses(evaluation)))


@pytest.fixture
def labelled(tmp_path: Path) -> Evaluated:
    """A folder whose two raters labelled everything in sessions, and nothing in a file."""
    folder = make(tmp_path / "data", (BASE, NEAR))
    (folder.path / "labels.csv").unlink()
    declared = (folder.path / "evaluation.yaml").read_text()
    (folder.path / "evaluation.yaml").write_text(f"{declared}labelling: {{raters: [r1, r2]}}\n")
    study = study_of(folder)
    for rater, values in (("r1", BASE), ("r2", NEAR)):
        queue = study.queue(rater)
        for unit in queue.units:
            value = values[int(unit.response.response_id[1:])]
            queue.answer(unit, Answer(rating=value, seconds=5), at=now())
    return folder


def settle(folder: Evaluated, response_id: str, value: float | None) -> None:
    study = study_of(folder)
    result = Disagreement(response_id, "clarity", {"r1": 1.0, "r2": 2.0}, 0.25)
    queue = study.adjudication_queue(lambda: [result], by="lea")
    queue.rate(queue.cases()[0], 2.0, at=now())
    queue.settle(queue.cases()[0], value, reason="because", at=now())


def figures(folder: Evaluated) -> list[tuple[object, ...]]:
    return folder.rows(
        "SELECT question_id, a_hh, alpha, n_ratings FROM human_agreement ORDER BY question_id"
    )


def test_sessions_are_labels_like_any_others(labelled: Evaluated, tmp_path: Path) -> None:
    from_file = make(tmp_path / "file", (BASE, NEAR))
    for folder in (labelled, from_file):
        assert folder.materialize(*MEASURED, checks=False).success

    assert figures(labelled) == figures(from_file)
    [[n_advice]] = labelled.rows("SELECT count(*) FROM label_quality WHERE advice <> ''")
    assert n_advice == 0
    assert labelled.rows(
        "SELECT rater_id, value FROM label_quality WHERE measure = 'completeness' AND "
        "question_id = 'clarity' ORDER BY ALL"
    ) == [("r1", 1.0), ("r2", 1.0)]


@pytest.mark.slow
def test_what_is_settled_changes_what_judges_are_compared_with_and_no_agreement(
    labelled: Evaluated,
) -> None:
    assert labelled.materialize(*COMPARED, checks=False).success
    people = figures(labelled)
    query = "SELECT n_units, a_ha FROM judge_human_agreement WHERE judge_id = 'j1' AND question_id"
    [(n_before, a_ha_before)] = labelled.rows(f"{query} = 'clarity'")
    settle(labelled, "a00", 2.0)
    settle(labelled, "a06", None)
    assert labelled.materialize(*COMPARED, checks=False).success

    assert figures(labelled) == people
    [(n_after, a_ha_after)] = labelled.rows(f"{query} = 'clarity'")
    assert (n_before, n_after) == (24, 23)
    assert a_ha_after != a_ha_before
    with_excluded = query.replace("judge_human_agreement", "judge_human_agreement_with_excluded")
    [(n_with, _)] = labelled.rows(f"{with_excluded} = 'clarity'")
    assert n_with == 24
    assert labelled.rows(
        "SELECT response_id, value, excluded, decided_by, own_rating FROM adjudicated_labels "
        "ORDER BY response_id"
    ) == [("a00", 2.0, False, "lea", 2.0), ("a06", None, True, "lea", 2.0)]


@pytest.mark.slow
def test_a_gate_is_stale_once_something_was_settled(labelled: Evaluated) -> None:
    assert labelled.materialize().success
    settle(labelled, "a00", 2.0)

    assert not labelled.materialize("judge_splits", checks=False).success
    assert labelled.materialize("adjudicated_labels", checks=False).success
    assert not labelled.materialize("judge_splits", checks=False).success


def test_sheets_are_written_for_every_rater_and_kept_once_filled(labelled: Evaluated) -> None:
    assert labelled.materialize(*INPUTS[:2], "annotation_sheets", checks=False).success
    path = labelled.path / "out" / "sheets" / "r1.csv"
    empty = path.read_text("utf-8-sig")
    path.write_text(empty.replace(",r1,,", ",r1,4,", 1), encoding="utf-8-sig")
    filled = path.read_bytes()
    assert labelled.materialize(*INPUTS[:2], "annotation_sheets", checks=False).success

    assert empty.startswith("indicator_id,convo_id,turn_index,seed,prompt_text,response_text,model")
    assert path.read_bytes() == filled


@pytest.mark.slow
def test_changes_and_repeats_are_history(labelled: Evaluated) -> None:
    path = labelled.path / "sessions" / "r1+clarity+r1.json"
    lines = map(json.loads, path.read_text().splitlines())
    first, second, *_ = [line for line in lines if "rating" in line]
    later = {"timestamp": "2027-01-01T00:00:00Z"}
    with path.open("a") as file:
        for line in (first | later | {"rating": 5}, second | later | {"rating": 1, "repeat": True}):
            file.write(f"{json.dumps(line)}\n")
    assert labelled.materialize(*MEASURED, checks=False).success

    result = labelled.rows("SELECT kind, before, after FROM label_history ORDER BY kind")
    assert [(kind, after) for kind, _, after in result] == [("change", 5.0), ("repeat", 1.0)]
    assert [before for _, before, _ in result] == [first["rating"], second["rating"]]


def test_the_latest_round_decides(
    new_folder: Evaluated,
) -> None:
    """In round 1 the raters of clarity contradict each other, in round 2 they agree."""
    lines = ["response_id,rater_id,question_id,rating,round"]
    for number, values in ((1, OPPOSING), (2, AGREEING)):
        for rater, inputs in zip(("r1", "r2"), values, strict=True):
            lines += [f"a{k:02},{rater},clarity,{value},{number}" for k, value in enumerate(inputs)]
    (new_folder.path / "labels.csv").write_text("\n".join(lines) + "\n")

    assert new_folder.materialize(*MEASURED, checks=False).success
    decides = "SELECT alpha > 0.9 FROM human_agreement WHERE question_id = 'clarity'"
    assert new_folder.rows(decides) == [(True,)]
