"""Multi-select questions: one screen, a binary question for each option."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.rubric import RubricQuestion
from eval_assets.errors import DeclarationError
from eval_assets.labelling.assignments import Assignment
from eval_assets.labelling.pages import PAGE_ACTION, page_answers, page_task
from eval_assets.labelling.rater_queue import FirstRating, RaterQueue
from eval_assets.labelling.study import Study
from eval_assets.scale import BINARY
from eval_assets.server.app import make_app, rater_links
from tests.unit.labelling.conftest import CLARITY, after, study_of

FAULTS = RubricQuestion(
    "faults", "Which faults?", BINARY, "nominal", options=("wrong facts", "rude", "vague")
)
IDS = ["faults/wrong facts", "faults/rude", "faults/vague"]


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return study_of(tmp_path, rubric=(FAULTS, CLARITY))


def select(queue: RaterQueue, *options: str, at: float = 0, **more: object) -> None:
    """Answer the first screen as a page does."""
    task = page_task(queue, None)
    screen = task["units"][0]
    ratings = {code: int(option in options) for code, option in screen["options"]}
    action = {"unit": screen["code"], "ratings": ratings, **more}
    PAGE_ACTION.validate_json(json.dumps(action)).apply(queue, queue.by_code, at=after(at))


def test_each_option_is_measured_as_a_binary_question(tmp_path: Path) -> None:
    rubric = Evaluation("e", tmp_path, (FAULTS, CLARITY)).rubric

    assert [question.id for question in rubric] == [*IDS, "clarity"]
    assert {(q.scale.values, q.level) for q in rubric[:3]} == {((0.0, 1.0), "nominal")}
    assert rubric[1].question == "Which faults? Does this option apply: rude?"


def test_options_of_a_response_share_a_screen(study: Study) -> None:
    queue = study.queue("anna")

    assert [len(screen) for screen in queue.screens] == [3, 3, 3, 1, 1, 1]
    for screen in range(3):
        units = queue.of_screen(screen)
        assert [unit.question.id for unit in units] == IDS
        assert len({unit.response.response_id for unit in units}) == 1


def test_page_shows_the_options_of_a_question_once(study: Study) -> None:
    task = page_task(study.queue("anna"), None)

    assert [question["question"] for question in task["questions"]] == [
        "Which faults?",
        "How clear is it?",
    ]
    names = [name for _, name in task["units"][0]["options"]]
    assert names == ["wrong facts", "rude", "vague"]
    assert len(task["units"]) == 6


def test_selection_is_a_label_of_every_option(study: Study) -> None:
    queue = study.queue("anna")
    select(queue, "rude", notes="line 3", confidence="low", seconds=7.5)

    labels = [queue.labels()[place] for place in queue.screens[0]]
    assert [label.rating for label in labels] == [0, 1, 0]
    assert {(label.notes, label.confidence) for label in labels} == {("line 3", "low")}
    # Hours are a sum of seconds, so the time of a screen counts once.
    assert [label.seconds for label in labels] == [7.5, None, None]
    assert queue.n_screens_done() == 1
    assert len(study.sessions.files()) == 3


def test_selecting_nothing_is_an_answer(study: Study) -> None:
    queue = study.queue("anna")
    select(queue)

    assert [label.rating for label in queue.labels().values()] == [0, 0, 0]


def test_own_selection_is_shown_again(study: Study) -> None:
    queue = study.queue("anna")
    select(queue, "vague")

    [answer] = page_answers(queue).values()
    assert list(answer["ratings"].values()) == [0, 0, 1]


def test_undo_takes_back_every_option(study: Study) -> None:
    queue = study.queue("anna")
    select(queue, "vague")
    select(queue, at=5, undo=True)

    assert queue.labels() == {}


def test_skip_is_one_of_every_option(study: Study) -> None:
    queue = study.queue("anna")
    screen = page_task(queue, None)["units"][0]
    ratings = {code: None for code, _ in screen["options"]}
    action = {"unit": screen["code"], "ratings": ratings, "skipReason": "gone"}
    PAGE_ACTION.validate_python(action).apply(queue, queue.by_code, at=after(0))

    labels = queue.labels().values()
    assert [(label.rating, label.skip_reason) for label in labels] == [(None, "gone")] * 3


def test_options_of_others_cannot_be_answered(study: Study) -> None:
    anna, ben = study.queue("anna"), study.queue("ben")
    action = PAGE_ACTION.validate_python(
        {"unit": anna.units[0].code, "ratings": {anna.units[0].code: 1, ben.units[0].code: 1}}
    )

    with pytest.raises(ValueError, match="1 of 2 options changed; the others are saved"):
        action.apply(anna, anna.by_code, at=after(0))
    assert len(anna.labels()) == 1
    assert ben.labels() == {}


def test_added_option_opens_the_screen_with_the_stored_selection(
    study: Study, tmp_path: Path
) -> None:
    select(study.queue("anna"), "rude")
    options = ("new", *FAULTS.options)
    queue = study_of(tmp_path, rubric=(renamed(*options), CLARITY)).queue("anna")

    [(code, answer)] = page_answers(queue).items()
    units = queue.of_screen(0)
    assert code == units[0].code
    assert answer["ratings"] == {
        unit.code: rating for unit, rating in zip(units[1:], (0, 1, 0), strict=True)
    }
    assert queue.done_screens() == set()


def renamed(*options: str) -> RubricQuestion:
    return replace(FAULTS, options=options)


def test_assignment_may_name_the_multi_select_question(tmp_path: Path) -> None:
    assignments = [Assignment("a1", "anna", "faults"), Assignment("a2", "anna", "faults/rude")]
    study = study_of(tmp_path, rubric=(FAULTS, CLARITY), assignments=assignments)
    queue = study.queue("anna")

    assert [len(screen) for screen in queue.screens] == [3, 1]
    assert {unit.question.multi_select is None for unit in queue.units} == {False}
    select(queue, "rude")
    assert queue.n_screens_done() == 1


def test_overlapping_assignments_ask_for_every_option_once(tmp_path: Path) -> None:
    assignments = [
        Assignment("a0", "anna", "faults/rude"),
        *(Assignment(response_id, "anna", "faults") for response_id in ("a0", "a1")),
        Assignment("a0", "anna"),
    ]
    queue = study_of(tmp_path, rubric=(FAULTS,), assignments=assignments).queue("anna")
    select(queue, "rude")

    assert [[u.question.id for u in queue.of_screen(n)] for n in (0, 1)] == [IDS, IDS]
    labels = queue.labels()
    assert [labels[place].rating for place in queue.screens[0]] == [0, 1, 0]
    assert (queue.n_labels(), len(queue.units), queue.n_screens_done()) == (3, 6, 1)


def test_responses_come_back_with_all_options(tmp_path: Path) -> None:
    assignments = [Assignment("a0", "anna"), Assignment("a0", "anna", purpose="repeat")]
    queue = study_of(tmp_path, rubric=(FAULTS,), assignments=assignments).queue("anna")

    assert [len(screen) for screen in queue.screens] == [3, 3]
    assert queue.repeats == {0: 1}


def test_option_that_is_discussed_has_its_own_screen(study: Study) -> None:
    queue = study.queue("anna")
    first = (FirstRating("Rater A", "Yes", "line 3"),)
    units = [replace(unit, first_ratings=first) for unit in queue.of_screen(0)]

    assert RaterQueue(units, study.sessions).screens == ((0,), (1,), (2,))


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"options": ("a", "A")}, "A is repeated"),
        ({"options": tuple("abcdefghij")}, "there are 10 options, and keys for 9"),
        ({"options": ("a",), "type": "pairwise"}, "an option is selected or not"),
    ],
)
def test_options_that_cannot_be_asked_are_refused(
    declared: dict[str, object], message: str
) -> None:
    with pytest.raises(DeclarationError, match=message):
        RubricQuestion("q", "q", BINARY, "nominal", **declared)  # type: ignore[arg-type]


def test_server_saves_the_options_that_still_exist(study: Study, tmp_path: Path) -> None:
    screen = page_task(study.queue("anna"), None)["units"][0]
    ratings = {code: 1 for code, _ in screen["options"]}
    now = study_of(tmp_path, rubric=(renamed("wrong", "rude", "vague"), CLARITY))
    with TestClient(make_app(now, hosts=["testserver"])) as client:
        address = f"{rater_links(now, address='')['anna']}/labels"
        reply = client.post(address, json={"unit": screen["code"], "ratings": ratings})

    assert reply.status_code == 422
    assert reply.json()["refused"].startswith("1 of 3 options changed; the others are saved")
    assert [label.rating for label in now.queue("anna").labels().values()] == [1, 1]
