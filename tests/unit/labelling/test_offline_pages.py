"""Offline pages: their file is made here as label.js makes it."""

import hashlib
import hmac
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eval_assets.errors import InputError
from eval_assets.labelling.pages import merge_returned, offline_task, returned_labels
from eval_assets.labelling.study import Study
from tests.unit.labelling.conftest import after, study_of


def given_back(task: dict[str, Any], *actions: dict[str, Any]) -> str:
    """The file that the page of `task` saves after these actions."""
    head = {"format": "eval-assets labels", "page": task["page"], "rater": task["rater"]}
    text = "".join(f"{json.dumps(line)}\n" for line in [head, *actions])
    seal = hmac.new(task["key"].encode(), text.encode(), hashlib.sha256).hexdigest()
    return f"{text}{json.dumps({'seal': seal})}\n"


def said(task: dict[str, Any], place: int, *, at: float, **more: object) -> dict[str, Any]:
    unit = task["units"][place]
    return {
        "id": f"{place}-{at}",
        "unit": unit["code"],
        "at": after(at).isoformat(),
        "hashes": unit["hashes"],
        "rating": 4,
        "confidence": "low",
        "notes": "n",
        "issues": ["x"],
        "seconds": 2.5,
        **more,
    }


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return study_of(tmp_path)


def merge(text: str, study: Study) -> int:
    return merge_returned(returned_labels(text, study, file="l.jsonl"), study, file="l.jsonl")


def test_labels_from_a_page_become_labels_of_the_session(study: Study) -> None:
    task = offline_task(study, "anna")
    text = given_back(
        task, said(task, 0, at=0), said(task, 1, at=5, rating=None, skipReason="gone")
    )

    assert merge(text, study) == 2
    labels = study.queue("anna").labels()
    assert (labels[0].rating, labels[0].confidence, labels[0].issues) == (4, "low", ("x",))
    assert (labels[1].rating, labels[1].skip_reason) == (None, "gone")


def test_merging_the_same_file_again_changes_nothing(study: Study) -> None:
    task = offline_task(study, "anna")
    text = given_back(task, said(task, 0, at=0), said(task, 0, at=100, rating=2))
    merge(text, study)
    before = {path: path.read_bytes() for path in study.sessions.files()}

    assert merge(text, study) == 0
    assert {path: path.read_bytes() for path in study.sessions.files()} == before


def test_a_later_file_of_the_same_page_adds_what_came_since(study: Study) -> None:
    task = offline_task(study, "anna")
    first = said(task, 0, at=0)
    merge(given_back(task, first), study)

    assert merge(given_back(task, first, said(task, 1, at=50)), study) == 1


def test_what_was_undone_on_the_page_is_not_a_label(study: Study) -> None:
    task = offline_task(study, "anna")
    undo = {"id": "u", "unit": task["units"][0]["code"], "undo": True, "at": after(9).isoformat()}

    assert merge(given_back(task, said(task, 0, at=0), undo), study) == 0


def test_labels_that_anna_also_gave_online_are_kept(study: Study) -> None:
    task = offline_task(study, "anna")
    merge(given_back(task, said(task, 0, at=0)), study)
    other = offline_task(study, "anna")
    merge(given_back(other, said(other, 1, at=0)), study)

    assert set(study.queue("anna").labels()) == {0, 1}


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace('"rating": 4', '"rating": 5'),
        lambda text: text.replace('"anna"', '"ben"'),
        lambda text: "\n".join([text.split("\n")[0], *text.split("\n")[2:]]),
        lambda text: "\n".join(text.split("\n")[:-2]),
        lambda text: text[: len(text) // 2],
    ],
    ids=["a rating", "the rater", "a line less", "no seal", "half of it"],
)
def test_a_file_that_was_changed_is_noticed(study: Study, change: Any) -> None:
    task = offline_task(study, "anna")
    text = given_back(task, said(task, 0, at=0), said(task, 1, at=5))

    with pytest.raises(InputError, match=r"changed after the page wrote it|was not made from"):
        merge(change(text), study)
    assert study.sessions.files() == []


def test_line_ends_that_a_mail_program_changed_are_no_change(study: Study) -> None:
    task = offline_task(study, "anna")
    text = given_back(task, said(task, 0, at=0))

    assert merge("\ufeff" + text.replace("\n", "\r\n"), study) == 1


def test_a_page_of_another_evaluation_is_refused(study: Study, tmp_path: Path) -> None:
    other = study_of(tmp_path / "other")
    task = offline_task(other, "anna")

    with pytest.raises(InputError, match="the page was not made from this evaluation for anna"):
        merge(given_back(task, said(task, 0, at=0)), study)


@pytest.mark.parametrize("text", ["", "[]", "{}", "response_id,rating\n", '{"page": 1}\n{}'])
def test_any_other_file_is_refused(study: Study, text: str) -> None:
    with pytest.raises(InputError, match="not a file of labels from an offline page"):
        merge(text, study)


def test_answer_that_cannot_be_a_label_is_listed_and_the_rest_merged(study: Study) -> None:
    task = offline_task(study, "anna")
    undo = {"id": "u", "unit": task["units"][2]["code"], "undo": True, "at": after(9).isoformat()}
    text = given_back(
        task,
        said(task, 0, at=0, rating=9),
        undo,
        said(task, 1, at=20) | {"unit": "gone"},
        said(task, 1, at=30, rating=True),
        said(task, 2, at=40),
    )

    with pytest.raises(ExceptionGroup) as raised:
        merge(text, study)
    assert [str(error).partition(". ")[0] for error in raised.value.exceptions] == [
        "l.jsonl:2: 9 is not on the scale",
        "l.jsonl:3: there is no label to take back",
        "l.jsonl:4:unit: the response, question or option is no longer part of this evaluation",
        "l.jsonl:5: this is not an answer (Input should be a valid number)",
        "l.jsonl: all other answers were merged, 1 of them new",
    ]
    assert set(study.queue("anna").labels()) == {2}


def test_answers_count_in_the_order_of_the_file_if_the_clock_is_set_back(study: Study) -> None:
    task = offline_task(study, "anna")
    undo = {"id": "u", "unit": task["units"][0]["code"], "undo": True, "at": after(98).isoformat()}
    actions = [said(task, 0, at=100), undo, said(task, 0, at=99, rating=2)]
    actions += [said(task, 1, at=-9000)]

    assert merge(given_back(task, *actions), study) == 2
    labels = study.queue("anna").labels()
    assert [(label.rating, label.is_time_known) for label in labels.values()] == [
        (2, True),
        (4, False),
    ]
    assert labels[0].labelled_at < labels[1].labelled_at < after(101)
    assert merge(given_back(task, *actions, said(task, 2, at=200)), study) == 1


def test_the_page_of_an_earlier_round_is_merged_into_that_round(study: Study) -> None:
    task = offline_task(study, "anna")
    text = given_back(task, said(task, 0, at=0))
    labelling = replace(study.evaluation.labelling, round=2)
    later = replace(study, evaluation=replace(study.evaluation, labelling=labelling))

    assert merge(text, later) == 1
    assert [path.stem for path in later.sessions.files()] == ["anna+clarity+r1"]


def test_labels_carry_the_texts_that_the_page_showed(study: Study, tmp_path: Path) -> None:
    task = offline_task(study, "anna")
    text = given_back(task, said(task, 0, at=0))
    changed = study_of(tmp_path, [{"response_text": "new"}] * 3)
    merge(text, changed)

    label = changed.queue("anna").labels()[0]
    assert label.hashes != changed.queue("anna").units[0].response.hashes(
        study.evaluation.rubric[0]
    )
