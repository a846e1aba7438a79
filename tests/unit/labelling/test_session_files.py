import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from eval_assets.errors import InputError
from eval_assets.labelling.session_files import SessionFolder, session_json
from eval_assets.labelling.sessions import Close, Event, Label, Session, SessionKey, Undo
from tests.processes import processes
from tests.unit.labelling.conftest import KEY, after, label, session


def store(folder: Path, *events: Event, key: SessionKey = KEY) -> Session:
    """Store events one by one, and return the session."""
    sessions, fresh = SessionFolder(folder), replace(session(), key=key)
    return [sessions.append(fresh, event) for event in events][-1]


def read(folder: Path, key: SessionKey = KEY) -> Session:
    state = SessionFolder(folder).read(key)
    assert state is not None
    return state


def lines_of(folder: Path) -> list[dict[str, Any]]:
    [file] = SessionFolder(folder).files()
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_a_stored_session_is_read_back_unchanged(tmp_path: Path) -> None:
    state = store(
        tmp_path,
        replace(label("a", 3, at=0), notes="two\nlines", issues=("x", "y"), seconds=2.5),
        label("b", None, at=10),
        label("a", 5, at=100),
        label("c", 1, at=200),
        Undo(("c", False), after(210)),
        Close(after(220)),
    )

    assert read(tmp_path) == state
    assert SessionFolder(tmp_path).find("anna+clarity+r1") == state
    assert [one.response_id for one in state.labels] == ["a", "b"]


def test_an_event_is_one_more_line(tmp_path: Path) -> None:
    store(tmp_path, label("a", at=0))
    [file] = SessionFolder(tmp_path).files()
    before = file.read_bytes()
    store(tmp_path, label("b", at=1))

    assert file.read_bytes().startswith(before)
    assert len(lines_of(tmp_path)) == 3


def test_an_equal_answer_is_not_stored_again(tmp_path: Path) -> None:
    store(tmp_path, label(at=0), label(at=500))

    assert len(lines_of(tmp_path)) == 2


def test_the_last_answer_closes_a_session(tmp_path: Path) -> None:
    sessions = SessionFolder(tmp_path)
    for number, name in enumerate("ab"):
        sessions.append(session(), label(name, at=number), n_units=2, closes_if_complete=True)

    assert read(tmp_path).closed_at == after(1)
    assert read(tmp_path).n_units == 2


def test_a_session_counts_what_is_rated_and_what_is_skipped() -> None:
    inputs = session_json(session(label("a", 3, at=0), label("b", None, at=10)))

    assert (inputs["totalScenarios"], inputs["completedScenarios"], inputs["skippedScenarios"]) == (
        10,
        1,
        1,
    )


def test_labels_of_the_four_dimensions_have_their_own_fields(tmp_path: Path) -> None:
    key = SessionKey(rater_id="anna", question_id="trigger-accuracy")
    state = store(tmp_path, replace(label("a", 0, at=0), issues=("agent x",)), key=key)
    [inputs] = session_json(state)["labels"]

    assert inputs["triggerCorrect"] is False
    assert inputs["triggerComponentObserved"] == "agent x"
    assert "rating" not in inputs
    assert read(tmp_path, key) == state


@pytest.mark.parametrize(
    ("question", "rating"),
    [("code_validity", 1), ("code_validity", 0), ("technical_accuracy", 0), ("completeness", 4)],
)
def test_every_dimension_is_read_back_unchanged(
    tmp_path: Path, question: str, rating: float
) -> None:
    key = SessionKey(rater_id="anna", question_id=question)
    state = store(tmp_path, label("a", rating, at=0), label("b", None, at=5), key=key)

    assert read(tmp_path, key) == state


def test_code_that_parses_but_does_not_run_has_both_verdicts(tmp_path: Path) -> None:
    key = SessionKey(rater_id="anna", question_id="code-validity")
    verdicts = {"a": True, "b": False, "c": None}
    labels = [replace(label(name, 0), parses=parses) for name, parses in verdicts.items()]
    state = store(tmp_path, *labels, label("a", 1, at=500), key=key)
    entries = session_json(state)["labels"]

    assert [one["codeRuns"] for one in entries] == [False] * 3
    assert [one.get("codeParses") for one in entries] == [True, False, None]
    assert entries[0]["history"][0]["codeParses"] is True
    assert "parses" not in entries[0]
    assert read(tmp_path, key) == state


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace('"scenarioId": "b"', '"scenarioId": b'), "line 1"),
        (lambda text: text.replace('"labelerId": "anna"', '"labelerId": "ben"', 1), "labelerId"),
        (lambda text: text.replace('"skipped": false', '"skipped": true'), "both skipped"),
        (lambda text: text.replace('"rating": 3', '"rating": "much"'), "rating"),
        (lambda text: text.replace('"notes"', '"noets"'), "noets"),
        (lambda text: text.partition("\n")[2], "startedAt"),
    ],
)
def test_a_line_that_is_none_of_a_session_is_named_with_what_is_wrong(
    tmp_path: Path, change: Callable[[str], str], message: str
) -> None:
    store(tmp_path, label("a", at=0), label("b", at=1))
    [file] = SessionFolder(tmp_path).files()
    file.write_text(change(file.read_text()))

    with pytest.raises(InputError, match=r"sessions/anna\+clarity\+r1\.json:[123]: ") as raised:
        SessionFolder(tmp_path).read(KEY)
    assert message in str(raised.value)


def test_names_of_raters_cannot_leave_the_folder(tmp_path: Path) -> None:
    store(tmp_path, label(), key=SessionKey(rater_id="../../ben", question_id="a/b"))

    assert [path.parent for path in SessionFolder(tmp_path).files()] == [tmp_path / "sessions"]


def test_a_file_that_another_program_changed_is_read_again(tmp_path: Path) -> None:
    first, second = SessionFolder(tmp_path), SessionFolder(tmp_path)
    first.append(session(), label("a", at=0))
    second.append(session(), label("b", at=1))
    state = first.read(KEY)

    assert state is not None
    assert [one.response_id for one in state.labels] == ["a", "b"]
    [file] = first.files()
    file.write_text(file.read_text().replace('"rating": 3', '"rating": 4'))
    assert {one.rating for one in first.read(KEY).labels} == {4}  # type: ignore[union-attr]


@pytest.mark.parametrize("cut", [1, 2, 40, 150])
def test_line_that_a_crash_cut_short_is_replaced_by_the_next(tmp_path: Path, cut: int) -> None:
    store(tmp_path, label("y", at=1000), label("z", at=1001))
    [file] = SessionFolder(tmp_path).files()
    file.write_bytes(file.read_bytes()[:-cut])

    assert [one.response_id for one in read(tmp_path).labels] == ["y"]
    store(tmp_path, label("w", at=1002))
    assert [one.response_id for one in read(tmp_path).labels] == ["y", "w"]
    assert len(lines_of(tmp_path)) == 3


def test_session_of_an_earlier_version_keeps_its_labels(tmp_path: Path) -> None:
    """It was one object, with later changes in a journal, a line each."""
    state = session(label("a", 3, at=0), label("b", 2, at=10), label("c", 1, at=20))
    folder = tmp_path / "sessions"
    folder.mkdir()
    before = {**session_json(state), "withdrawn": [], "checksum": "0" * 16}
    (folder / "anna+clarity+r1.json").write_text(json.dumps(before, indent=1))
    change = {
        "updatedAt": "2026-11-21T05:00:00.000Z",
        "closedAt": None,
        "removed": [["c", False]],
        "labels": session_json(session(label("d", 5, at=30)))["labels"],
    }
    (folder / "anna+clarity+r1.journal").write_text(f"{json.dumps(change)}\n{{")

    expected = [("a", 3), ("b", 2), ("d", 5)]
    assert [(one.response_id, one.rating) for one in read(tmp_path).labels] == expected
    store(tmp_path, label("e", 4, at=9000))
    assert [one.response_id for one in read(tmp_path).labels] == ["a", "b", "d", "e"]
    assert len(lines_of(tmp_path)) == 5
    assert [path.name for path in folder.iterdir()] == ["anna+clarity+r1.json"]


def test_programs_that_label_at_once_lose_no_label(tmp_path: Path) -> None:
    context = processes(__name__)
    workers = [context.Process(target=_label_many, args=(tmp_path, n)) for n in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()

    assert len(read(tmp_path).labels) == 30


def _label_many(folder: Path, worker: int) -> None:
    sessions = SessionFolder(folder)
    for number in range(15):
        sessions.append(session(), label(f"{worker}-{number}", at=worker + number * 10))


@pytest.mark.slow
def test_kills_lose_no_label(tmp_path: Path) -> None:
    context = processes(__name__)
    reported: list[str] = []
    for number in range(25):
        receiver, sender = context.Pipe(duplex=False)
        worker = context.Process(target=_label_until_killed, args=(tmp_path, number, sender))
        worker.start()
        sender.close()
        reported += [receiver.recv() for _ in range(number % 7 + 1)]
        worker.kill()
        worker.join()
        with suppress(EOFError):
            while True:
                reported.append(receiver.recv())

    assert {*reported} <= {one.response_id for one in read(tmp_path).labels}
    assert len(reported) > 25


def _label_until_killed(folder: Path, worker: int, report: Connection) -> None:
    sessions = SessionFolder(folder)
    for number in range(10_000):
        name = f"{worker}-{number}"
        answer: Label = label(name, at=1000 + worker * 10_000 + number)
        sessions.append(session(), answer)
        report.send(name)
