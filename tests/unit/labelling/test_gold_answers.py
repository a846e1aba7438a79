"""Calibration: answers with right ones, which never count as labels."""

from pathlib import Path

import pytest

from eval_assets.cli.study_files import StudyFiles, quality_now, read_study
from eval_assets.labelling.rater_queue import RaterQueue, now
from eval_assets.labelling.sessions import UNDO, Answer
from eval_assets.readers.evaluation.read import read_evaluation
from eval_assets.readers.labels.read import read_labels

HEADER = "response_id,prompt_text,response_text"


@pytest.fixture
def files(tmp_path: Path) -> StudyFiles:
    """Four responses, and a calibration of two rounds with two responses each."""
    (tmp_path / "evaluation.yaml").write_text(
        "name: e\nrubric:\n  - {id: clarity, question: Is it clear?, scale: likert5}\n"
        "labelling: {raters: [anna, ben], calibration: gold.csv}\n"
    )
    rows = [f"a{number},Ask,Text {number},m" for number in range(4)]
    (tmp_path / "responses.csv").write_text("\n".join([f"{HEADER},model_name", *rows, ""]))
    gold = ["g1,Ask,One,4,1", "g2,Ask,Two,2|3,1", "g3,Ask,Three,5,2", "g4,Ask,Four,1,2"]
    (tmp_path / "gold.csv").write_text("\n".join([f"{HEADER},clarity,round", *gold, ""]))
    return read_study(tmp_path)


def answer(queue: RaterQueue, **ratings: float) -> None:
    for unit in queue.units:
        if unit.response.response_id in ratings:
            queue.answer(unit, Answer(rating=ratings[unit.response.response_id]), at=now())
    queue.close(at=now())


def names(queue: RaterQueue) -> set[str]:
    return {unit.response.response_id for unit in queue.units}


def test_work_opens_once_a_round_of_the_calibration_is_passed(files: StudyFiles) -> None:
    study = files.study
    first = study.queue("anna")
    assert (names(first), first.has_sequel) == ({"g1", "g2"}, True)
    assert "2 responses with known answers" in first.notice
    answer(first, g1=5)
    assert "matched" in first.notice
    assert " of 2 matched" not in study.queue("anna").notice
    answer(first, g2=2)

    second = study.queue("anna")
    assert names(second) == {"g3", "g4"}
    assert second.notice.startswith("Calibration, round 1: 1 of 2 matched, 80% are required.")
    answer(second, g3=5, g4=1)

    work = study.queue("anna")
    assert names(work) == {"a0", "a1", "a2", "a3"}
    assert work.notice == "Calibration, round 2: 2 of 2 matched. The other responses are open."
    assert names(study.queue("ben")) == {"g1", "g2"}
    answer(work, a0=3)
    assert study.queue("anna").notice == ""


def test_slip_in_a_calibration_is_corrected_before_its_result_is_told(files: StudyFiles) -> None:
    study, at = files.study, now()
    queue = study.queue("anna")
    for unit in queue.units:
        queue.answer(unit, Answer(rating=1), at=at)

    held = study.queue("anna")
    assert (names(held), held.n_labels()) == ({"g1", "g2"}, 2)
    assert "of 2 matched" not in held.notice
    held.undo(held.units[0], at=at)
    answer(held, g1=4, g2=2)
    assert "2 of 2 matched" in study.queue("anna").notice


def test_result_of_a_calibration_is_final_after_the_time_to_undo(files: StudyFiles) -> None:
    queue = files.study.queue("anna")
    for unit in queue.units:
        queue.answer(unit, Answer(rating=1), at=now() - 2 * UNDO)

    assert "0 of 2 matched" in files.study.queue("anna").notice


def test_answer_to_an_earlier_text_of_a_gold_response_is_asked_again(files: StudyFiles) -> None:
    answer(files.study.queue("anna"), g1=1, g2=1)
    gold = files.evaluation.folder / "gold.csv"
    gold.write_text(gold.read_text().replace("One", "Another"))
    study = read_study(files.evaluation.folder).study

    queue = study.queue("anna")
    assert [queue.units[n].response.response_id for n in queue.labels()] == ["g2"]
    assert queue.n_screens_done() == 1
    answer(queue, g1=4)
    assert "1 of 2 matched" in study.queue("anna").notice


def test_rater_who_fails_every_round_has_no_work_and_is_told_why(files: StudyFiles) -> None:
    study = files.study
    answer(study.queue("anna"), g1=1, g2=1)
    answer(study.queue("anna"), g3=5, g4=2)

    queue = study.queue("anna")
    assert (queue.units, queue.has_sequel) == ((), False)
    assert queue.notice.endswith("1 of 2 matched, 80% are required. Tell whoever sent you here.")
    assert study.sheet_units("anna") == []


def test_lead_lets_a_rater_in_with_a_lower_pass_mark(files: StudyFiles) -> None:
    answer(files.study.queue("anna"), g1=4, g2=1)
    declared = files.evaluation.folder / "evaluation.yaml"
    declared.write_text(declared.read_text().replace("gold.csv", "gold.csv, pass_mark: 0.5"))

    study = read_study(files.evaluation.folder).study
    assert "a0" in names(study.queue("anna"))


def test_answers_of_a_calibration_are_no_labels(files: StudyFiles) -> None:
    study = files.study
    answer(study.queue("anna"), g1=4, g2=3)
    answer(study.queue("anna"), a0=3, a1=4)

    labels = read_labels(read_evaluation(files.evaluation.folder), files.responses).ratings
    assert set(labels["response_id"]) == {"a0", "a1"}
    assert {unit.response.response_id for unit in study.sheet_units("anna")} == {
        *("a0", "a1", "a2", "a3")
    }


def test_share_of_matches_is_a_figure_of_the_rater(files: StudyFiles) -> None:
    answer(files.study.queue("anna"), g1=4, g2=3)
    answer(files.study.queue("ben"), g1=1)

    measures = {(f.rater_id, f.measure): (f.value, f.n) for f in quality_now(files)}
    assert measures["anna", "calibration"] == (1, 2)
    assert measures["ben", "calibration"] == (0, 1)
    assert measures["anna", "completeness"] == (0, 4)


def test_damaged_check_session_spares_the_figures_of_others(files: StudyFiles) -> None:
    study = files.study
    answer(study.queue("anna"), g1=4)
    answer(study.queue("ben"), g1=4)
    (study.sessions.path / "calibration" / "anna+clarity+r1.json").write_text("{")

    results = read_study(files.evaluation.folder).study.calibration_results()
    assert ("anna", "clarity") not in results
    assert results["ben", "clarity"].n_right == 1
    [problem] = study.sessions.readable("calibration")[1]
    assert problem.file == "sessions/calibration/anna+clarity+r1.json"


def test_possible_units_hold_every_check(files: StudyFiles) -> None:
    study = files.study
    codes = study.possible_units("anna")

    answer(study.queue("anna"), g1=4, g2=3)
    assert {unit.code for unit in study.queue("anna").units} <= set(codes)
    assert {unit.response.response_id for unit in codes.values()} == {
        *("g1", "g2", "g3", "g4", "a0", "a1", "a2", "a3")
    }
