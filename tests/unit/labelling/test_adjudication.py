from typing import Any

import pandas as pd
import pytest

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.labelling import ADJUDICATIONS
from eval_assets.labelling.adjudication import (
    Adjudication,
    add_adjudication,
    decisions,
    disagreements,
    own_rating,
    read_adjudications,
)
from tests.unit.labelling.conftest import after


def step(kind: str, *, response: str = "a1", **more: Any) -> Adjudication:
    given = {"question_id": "clarity", "by": "lea", "at": after(0), "reason": "why"} | more
    return Adjudication(response_id=response, step=kind, **given)  # type: ignore[arg-type]


def labels(*rows: tuple[str, str, str, float]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["response_id", "question_id", "rater_id", "value"])
    return frame.assign(notes=None, skipped=False)


def test_steps_are_read_back_in_their_order(evaluation: Evaluation) -> None:
    steps = [
        step("rating", value=3.0, reason=""),
        step("comment", reason='two lines\nand a quote "'),
        step("consensus", value=4.0, ratings={"anna": 1.0, "ben": 5.0}),
    ]
    for one in steps:
        add_adjudication(evaluation.folder, one)

    assert read_adjudications(evaluation) == steps


def test_an_evaluation_without_the_file_has_no_steps(evaluation: Evaluation) -> None:
    assert read_adjudications(evaluation) == []


def test_the_file_is_only_ever_added_to(evaluation: Evaluation) -> None:
    add_adjudication(evaluation.folder, step("consensus", value=4.0))
    before = (evaluation.folder / ADJUDICATIONS).read_bytes()
    add_adjudication(evaluation.folder, step("reopened"))

    assert (evaluation.folder / ADJUDICATIONS).read_bytes().startswith(before)


def test_the_last_decision_stands_and_a_reopened_one_is_none() -> None:
    steps = [
        step("consensus", value=4.0),
        step("excluded"),
        step("consensus", response="a2", value=1.0),
        step("reopened", response="a2"),
        step("comment", response="a3"),
    ]

    assert {unit: one.step for unit, one in decisions(steps).items()} == {
        ("a1", "clarity"): "excluded"
    }


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("consensus", {"value": None}),
        ("rating", {"value": None}),
        ("consensus", {"value": 3.0, "reason": " "}),
        ("excluded", {"reason": ""}),
        ("comment", {"reason": ""}),
    ],
)
def test_a_decision_needs_a_value_and_a_reason(kind: str, more: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"needs a value|say why|comment is empty"):
        step(kind, **more)


def test_a_line_that_a_crash_cut_short_was_never_saved(evaluation: Evaluation) -> None:
    add_adjudication(evaluation.folder, step("consensus", value=4.0))
    with (evaluation.folder / ADJUDICATIONS).open("a") as file:
        file.write('{"response_id": "a2", "ques')
    add_adjudication(evaluation.folder, step("excluded", response="a3"))

    assert [one.response_id for one in read_adjudications(evaluation)] == ["a1", "a3"]


def test_every_bad_line_is_named(evaluation: Evaluation) -> None:
    add_adjudication(evaluation.folder, step("consensus", value=9.0))
    with (evaluation.folder / ADJUDICATIONS).open("a") as file:
        file.write('{"response_id": "a2"}\n')

    with pytest.raises(ExceptionGroup) as raised:
        read_adjudications(evaluation)

    said = [str(error) for error in raised.value.exceptions]
    assert said[0].startswith('adjudications.jsonl:1:value: 9 is not on the scale of "clarity"')
    assert said[1].startswith("adjudications.jsonl:2:question_id: this is not an adjudication")


def test_steps_on_a_removed_question_are_kept_and_left_out(evaluation: Evaluation) -> None:
    add_adjudication(evaluation.folder, step("excluded", question_id="gone"))

    assert read_adjudications(evaluation) == []


def test_the_queue_holds_all_that_differ_the_worst_first(evaluation: Evaluation) -> None:
    given = labels(
        ("a1", "clarity", "anna", 3),
        ("a1", "clarity", "ben", 4),
        ("a2", "clarity", "anna", 5),
        ("a2", "clarity", "ben", 1),
        ("a3", "clarity", "anna", 2),
        ("a3", "clarity", "ben", 2),
        ("a1", "correct", "anna", 1),
        ("a1", "correct", "ben", 0),
        ("a4", "clarity", "anna", 1),
    )
    found = disagreements(evaluation, given)

    assert [(one.unit, one.spread) for one in found] == [
        (("a2", "clarity"), 1.0),
        (("a1", "correct"), 1.0),
        (("a1", "clarity"), 0.25),
    ]
    assert found[0].ratings == {"anna": 5, "ben": 1}


def test_an_adjudicators_own_rating_is_found_by_name() -> None:
    steps = [step("rating", value=2.0, by="max"), step("rating", value=3.0)]

    mine = own_rating(steps, ("a1", "clarity"), "lea")
    assert mine is not None
    assert mine.value == 3
    assert own_rating(steps, ("a2", "clarity"), "lea") is None
