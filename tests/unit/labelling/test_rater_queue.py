from pathlib import Path

import pytest

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.labelling import Labelling
from eval_assets.labelling.assignments import Assignment
from eval_assets.labelling.rater_queue import RaterQueue, WorkUnit, work_of
from eval_assets.labelling.rater_view import response_views
from eval_assets.labelling.session_files import SessionFolder
from eval_assets.labelling.sessions import Answer
from tests.unit.labelling.conftest import CLARITY, after, evaluation_of, response_rows


def units_of(
    evaluation: Evaluation,
    assignments: list[Assignment] | None = None,
    rows: tuple[dict[str, object], ...] = ({}, {}, {}),
) -> list[WorkUnit]:
    shown = response_views(evaluation, response_rows(rows))
    return work_of("anna", evaluation, shown, assignments)


@pytest.fixture
def queue(tmp_path: Path) -> RaterQueue:
    evaluation = evaluation_of(tmp_path, rubric=(CLARITY,))
    return RaterQueue(units_of(evaluation), SessionFolder(tmp_path))


def test_an_answer_is_on_disk_when_it_is_given(queue: RaterQueue, tmp_path: Path) -> None:
    queue.answer(queue.units[0], Answer(rating=4, notes="good"), at=after(0))

    repeat = RaterQueue(queue.units, SessionFolder(tmp_path))
    assert {place: label.rating for place, label in repeat.labels().items()} == {0: 4}
    assert repeat.labels()[0].hashes == queue.units[0].response.hashes(CLARITY)


def test_a_value_off_the_scale_is_refused(queue: RaterQueue) -> None:
    with pytest.raises(ValueError, match=r"6 is not on the scale\. Use 1, 2, 3, 4, 5"):
        queue.answer(queue.units[0], Answer(rating=6), at=after(0))
    assert queue.labels() == {}


def test_labels_of_other_units_of_the_session_are_not_counted(queue: RaterQueue) -> None:
    for place, unit in enumerate(queue.units[:2]):
        queue.answer(unit, Answer(rating=4), at=after(place))

    assert queue.n_labels() == 2
    assert RaterQueue(queue.units[1:], queue.sessions).n_labels() == 1


def test_an_undone_answer_is_gone(queue: RaterQueue) -> None:
    queue.answer(queue.units[0], Answer(rating=4), at=after(0))
    queue.undo(queue.units[0], at=after(5))

    assert queue.labels() == {}


def test_a_session_closes_with_its_last_label_and_opens_when_one_is_undone(
    queue: RaterQueue,
) -> None:
    for place, unit in enumerate(queue.units):
        session = queue.answer(unit, Answer(rating=4), at=after(place))
        assert (session.closed_at is not None) == (place == 2)

    assert queue.undo(queue.units[2], at=after(10)).closed_at is None


def test_a_rater_who_stops_closes_the_session(queue: RaterQueue) -> None:
    queue.answer(queue.units[0], Answer(rating=4), at=after(0))
    queue.close(at=after(60))

    assert queue.answer(queue.units[1], Answer(rating=4), at=after(90)).closed_at is None


def test_questions_come_one_at_a_time_or_together(tmp_path: Path) -> None:
    def order(*, one_at_a_time: bool) -> list[str]:
        labelling = Labelling(one_question_at_a_time=one_at_a_time)
        units = units_of(evaluation_of(tmp_path, labelling=labelling))
        return [unit.question.id for unit in units]

    assert order(one_at_a_time=True) == ["clarity"] * 3 + ["correct"] * 3
    assert order(one_at_a_time=False) == ["clarity", "correct"] * 3


def test_assignments_decide_what_is_labelled_and_in_which_order(evaluation: Evaluation) -> None:
    assignments = [
        Assignment("a2", "anna"),
        Assignment("a0", "anna", question_id="correct"),
        Assignment("a1", "ben"),
        Assignment("a1", "anna", round=2),
        Assignment("a2", "anna", purpose="repeat"),
        Assignment("gone", "anna"),
    ]

    units = units_of(evaluation, assignments)

    assert [(u.question.id, u.response.response_id, u.is_repeat) for u in units] == [
        ("clarity", "a2", False),
        ("clarity", "a2", True),
        ("correct", "a2", False),
        ("correct", "a0", False),
        ("correct", "a2", True),
    ]


def test_each_run_has_a_session_of_its_own(evaluation: Evaluation) -> None:
    units = units_of(evaluation, rows=({"run_id": "one"}, {"run_id": "two"}))

    assert {unit.key.session_id for unit in units} == {
        f"anna+{question}+r1+{run}" for question in ("clarity", "correct") for run in ("one", "two")
    }


def test_raters_label_in_orders_of_their_own_that_never_change(evaluation: Evaluation) -> None:
    shown = response_views(evaluation, response_rows([{}] * 12))

    def order(rater: str, count: int) -> list[str]:
        some = dict(list(shown.items())[:count])
        units = work_of(rater, evaluation, some, None)
        return [u.response.response_id for u in units if u.question.id == "clarity"]

    assert order("anna", 12) != order("ben", 12)
    assert [r for r in order("anna", 12) if r in set(order("anna", 6))] == order("anna", 6)
