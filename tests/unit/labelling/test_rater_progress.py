from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from eval_assets.labelling.assignments import Assignment
from eval_assets.labelling.rater_progress import RaterProgress, progress_csv, rater_progress
from eval_assets.labelling.rater_queue import RaterQueue
from eval_assets.labelling.sessions import Answer
from eval_assets.labelling.study import Study
from tests.unit.labelling.conftest import CLARITY, after, study_of


def answer(study: Study, rater: str, *places: int, seconds: float | None = 30) -> None:
    queue = study.queues[rater]
    for place in places:
        given = Answer(rating=4, seconds=seconds)
        queue.answer(queue.units[place], given, at=after(100 * place))


def progress(study: Study, rater: str, *, days: float = 1) -> RaterProgress:
    at = after(0) + timedelta(days=days)
    return next(one for one in rater_progress(study, at=at) if one.rater_id == rater)


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return study_of(tmp_path, [{}] * 10, rubric=(CLARITY,))


def test_hours_are_the_times_of_answers_without_breaks(study: Study) -> None:
    answer(study, "anna", 0, 1)
    answer(study, "anna", 2, seconds=9000)
    found = progress(study, "anna")

    assert found.hours == pytest.approx((30 + 30 + 600) / 3600)
    assert found.labels_per_hour == pytest.approx(3 * 3600 / 660)
    assert (found.n_done, found.n_units, found.n_skipped) == (3, 10, 0)
    assert (found.first_at, found.last_at) == (after(0), after(200))


def test_end_is_expected_at_the_pace_of_the_last_days(study: Study) -> None:
    answer(study, "anna", 0, 1)

    assert progress(study, "anna", days=0.1).expected_at == after(0) + timedelta(days=4.1)
    assert progress(study, "anna", days=2).expected_at == after(0) + timedelta(days=10)
    assert progress(study, "anna", days=8).expected_at is None
    assert progress(study, "ben").expected_at is None


def test_rater_who_is_done_has_no_expected_end(study: Study) -> None:
    answer(study, "anna", *range(10))

    assert progress(study, "anna").expected_at is None


def test_responses_that_wait_for_one_rater_are_counted(tmp_path: Path) -> None:
    pairs = [("a0", "anna"), ("a0", "ben"), ("a1", "anna"), ("a1", "ben"), ("a2", "anna")]
    assignments = [Assignment(response, rater) for response, rater in pairs]
    study = study_of(tmp_path, rubric=(CLARITY,), assignments=assignments)
    answer(study, "anna", 0, 1)

    assert progress(study, "ben").n_held_up == 2
    assert progress(study, "anna").n_held_up == 0


def test_answers_without_a_time_have_no_hours(study: Study) -> None:
    answer(study, "anna", 0, seconds=None)

    assert (progress(study, "anna").hours, progress(study, "anna").labels_per_hour) == (None, None)


def test_damaged_session_leaves_the_progress_of_others(study: Study) -> None:
    answer(study, "ben", 0)
    (study.sessions.path / "anna+clarity+r1.json").write_text("{")

    assert progress(study, "anna").n_done is None
    assert progress(study, "ben").n_done == 1


def test_hours_of_calibration_and_discussion_are_apart(study: Study) -> None:
    [unit] = [unit for unit in study.work("anna").units if unit.response.response_id == "a0"]
    for kind, number in (("calibration", 7), ("discussion", 1), ("discussion", 2)):
        key = replace(unit.key, kind=kind, round=number)
        queue = RaterQueue([replace(unit, key=key)], study.sessions)
        queue.answer(queue.units[0], Answer(rating=3, seconds=1800), at=after(0))

    anna = progress(study, "anna")
    assert (anna.hours, anna.further_hours, anna.n_done) == (None, 2 * 600 / 3600, 0)


def test_csv_has_no_formulas() -> None:
    name = "=1+1"
    text = progress_csv([RaterProgress(rater_id=name, n_done=0, n_units=1, n_skipped=0)])

    assert text.splitlines()[1] == "'=1+1,0,1,0,,,,,,0,"
