import json
import multiprocessing
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from eval_assets.errors import InputError
from eval_assets.labelling.session_files import (
    SessionFolder,
    parse_session,
    session_json,
    session_text,
)
from eval_assets.labelling.sessions import Session, SessionKey
from tests.unit.labelling.conftest import KEY, after, label, session


def test_a_stored_session_is_read_back_unchanged(tmp_path: Path) -> None:
    made = session(
        replace(label("a", 3, at=0), notes="two\nlines", issues=("x", "y"), seconds=2.5),
        label("b", None, at=10),
        label("a", 5, at=100),
        label("c", 1, at=200),
    ).without_latest(("c", False), at=after(210))
    folder = SessionFolder(tmp_path)

    assert folder.change(KEY, lambda _: made) == made
    assert SessionFolder(tmp_path).read(KEY) == made
    assert SessionFolder(tmp_path).find("anna+clarity+r1") == made


def test_a_session_counts_what_is_rated_and_what_is_skipped() -> None:
    given = session_json(session(label("a", 3, at=0), label("b", None, at=10)))

    assert (given["totalScenarios"], given["completedScenarios"], given["skippedScenarios"]) == (
        10,
        1,
        1,
    )


def test_labels_of_the_four_dimensions_have_their_own_fields() -> None:
    key = SessionKey(rater_id="anna", question_id="trigger-accuracy")
    made = replace(session(replace(label("a", 0, at=0), issues=("agent x",))), key=key)

    [given] = json.loads(session_text(made))["labels"]

    assert given["triggerCorrect"] is False
    assert given["triggerComponentObserved"] == "agent x"
    assert "rating" not in given
    assert parse_session(session_text(made), file="s.json") == made


@pytest.mark.parametrize(
    ("question", "rating"),
    [("code_validity", 1), ("code_validity", 0), ("technical_accuracy", 0), ("completeness", 4)],
)
def test_every_dimension_is_read_back_unchanged(question: str, rating: float) -> None:
    key = SessionKey(rater_id="anna", question_id=question)
    made = replace(session(label("a", rating, at=0), label("b", None, at=5)), key=key)

    assert parse_session(session_text(made), file="s.json") == made


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text[: len(text) // 2], "line"),
        (lambda _: "[]", "dictionary"),
        (lambda text: text.replace('"anna"', '"ben"', 1), "labelerId is not that of the session"),
        (
            lambda text: text.replace('"skipped": false', '"skipped": true'),
            "both skipped and rated",
        ),
        (lambda text: text.replace('"rating": 3', '"rating": "much"'), "rating"),
        (lambda text: text.replace('"notes"', '"noets"'), "noets"),
    ],
)
def test_a_file_that_is_not_a_session_is_named_with_what_is_wrong(
    change: Callable[[str], str], said: str
) -> None:
    text = change(session_text(session(label())))

    with pytest.raises(InputError, match=r"sessions/x.json: this is not a labelling session") as e:
        parse_session(text, file="sessions/x.json")
    assert said in str(e.value)


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: text.replace('"rating": 3', '"rating": 4'),
        lambda text: text.replace("a comment", "another"),
        lambda text: json.dumps(json.loads(text)),
    ],
    ids=["rating", "notes", "layout"],
)
def test_edit_of_a_session_file_is_detected_and_stays_on_record(
    tmp_path: Path, edit: Callable[[str], str]
) -> None:
    folder = SessionFolder(tmp_path)
    folder.change(KEY, lambda _: session(replace(label("a", 3), notes="a comment")))
    [path] = folder.files()
    path.write_text(edit(path.read_text()))
    folder.change(KEY, lambda stored: stored.with_label(label("b", at=9)))  # type: ignore[union-attr]

    assert SessionFolder(tmp_path).read(KEY).was_edited  # type: ignore[union-attr]


def test_session_file_without_a_checksum_is_not_taken_for_edited() -> None:
    text = session_text(session(label()))
    earlier = {key: value for key, value in json.loads(text).items() if key != "checksum"}

    assert not parse_session(text, file="s.json").was_edited
    assert not parse_session(json.dumps(earlier), file="s.json").was_edited


def test_names_of_raters_cannot_leave_the_folder(tmp_path: Path) -> None:
    key = SessionKey(rater_id="../../ben", question_id="a/b")
    folder = SessionFolder(tmp_path)
    folder.change(key, lambda _: replace(session(), key=key))

    assert [path.parent for path in folder.files()] == [tmp_path / "sessions"]


def test_a_file_that_another_program_changed_is_read_again(tmp_path: Path) -> None:
    here, there = SessionFolder(tmp_path), SessionFolder(tmp_path)
    here.change(KEY, lambda _: session(label("a", at=0)))
    there.change(KEY, lambda stored: stored.with_label(label("b", at=1)))  # type: ignore[union-attr]

    assert [one.response_id for one in here.read(KEY).labels] == ["a", "b"]  # type: ignore[union-attr]


def test_programs_that_label_at_once_lose_no_label(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_label_many, args=(tmp_path, n)) for n in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()

    stored = SessionFolder(tmp_path).read(KEY)

    assert stored is not None
    assert len(stored.labels) == 30


def _label_many(folder: Path, worker: int) -> None:
    sessions = SessionFolder(folder)
    for number in range(15):
        given = label(f"{worker}-{number}", at=worker + number * 10)

        def add(stored: Session | None, given: object = given) -> Session:
            return (stored or session()).with_label(given)  # type: ignore[arg-type]

        sessions.change(KEY, add)
