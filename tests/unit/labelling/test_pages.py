import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from eval_assets.labelling.assignments import Assignment
from eval_assets.labelling.pages import PAGE_ACTION, page_answers, page_task
from eval_assets.labelling.rich_text import html_of
from tests.unit.labelling.conftest import after, study_of


@pytest.mark.parametrize("text", ["plain", "markdown"])
def test_a_page_holds_the_work_of_its_rater_and_no_ids_of_responses(
    tmp_path: Path, text: str
) -> None:
    rows: list[dict[str, object]] = [
        {"response_id": f"secret-model-{n}", "model_name": "secret-model", "judge": "said 5"}
        for n in range(3)
    ]
    assignments = [Assignment("secret-model-1", "anna"), Assignment("secret-model-2", "ben")]
    study = study_of(tmp_path, rows, assignments=assignments, text=text)
    task = page_task(study.queue("anna"), html_of(study.evaluation, str))

    [response] = task["responses"]
    html = {"text": "Prompt 1", "html": "<p>Prompt 1</p>\n"}
    assert response["prompt"] == ("Prompt 1" if text == "plain" else html)
    assert "secret-model" not in json.dumps(task)
    assert "said 5" not in json.dumps(task)


def test_repeats_look_like_any_other_unit(tmp_path: Path) -> None:
    assignments = [
        Assignment("a0", "anna"),
        Assignment("a1", "anna"),
        Assignment("a1", "anna", purpose="repeat"),
    ]
    task = page_task(study_of(tmp_path, assignments=assignments).queue("anna"), None)

    assert {frozenset(unit) for unit in task["units"]} == {
        frozenset({"code", "question", "response", "firstRatings"})
    }
    assert len({unit["code"] for unit in task["units"]}) == 6


def test_page_action_changes_the_queue(tmp_path: Path) -> None:
    queue = study_of(tmp_path).queue("anna")
    units = {unit.code: unit for unit in queue.units}
    message = {"unit": queue.units[0].code, "rating": 4, "ageMs": 5000, "confidence": "low"}

    PAGE_ACTION.validate_python(message).apply(queue, units, at=after(10))

    assert queue.labels()[0].labelled_at == after(5)
    assert page_answers(queue)[queue.units[0].code]["confidence"] == "low"
    undo = {"unit": queue.units[0].code, "undo": True}
    PAGE_ACTION.validate_python(undo).apply(queue, units, at=after(11))
    assert page_answers(queue) == {}


def test_units_of_others_cannot_be_answered(tmp_path: Path) -> None:
    study = study_of(tmp_path)
    anna, ben = study.queue("anna"), study.queue("ben")
    action = PAGE_ACTION.validate_python({"unit": ben.units[0].code, "rating": 4})

    with pytest.raises(ValueError, match="not among yours"):
        action.apply(anna, {unit.code: unit for unit in anna.units}, at=after(0))


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"unit": "u", "rating": "NaN"},
        {"unit": "u", "confidence": "sure"},
        {"unit": "u", "notes": "x" * 5001},
        {"unit": "u", "rating": True},
        {"unit": "u", "ageMs": "NaN"},
    ],
)
def test_actions_that_no_page_sends_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        PAGE_ACTION.validate_json(json.dumps(wrong))
