import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from eval_assets.config.labelling import session_journal
from eval_assets.errors import InputError
from eval_assets.labelling.session_files import (
    SHORT,
    SessionFolder,
    parse_session,
    session_json,
    session_text,
)
from eval_assets.labelling.sessions import Label, Session, SessionKey
from tests.processes import PROCESSES
from tests.unit.labelling.conftest import KEY, after, label, session


def test_a_stored_session_is_read_back_unchanged(tmp_path: Path) -> None:
    state = session(
        replace(label("a", 3, at=0), notes="two\nlines", issues=("x", "y"), seconds=2.5),
        label("b", None, at=10),
        label("a", 5, at=100),
        label("c", 1, at=200),
    ).without_latest(("c", False), at=after(210))
    folder = SessionFolder(tmp_path)

    assert folder.change(KEY, lambda _: state) == state
    assert SessionFolder(tmp_path).read(KEY) == state
    assert SessionFolder(tmp_path).find("anna+clarity+r1") == state


def test_a_session_counts_what_is_rated_and_what_is_skipped() -> None:
    inputs = session_json(session(label("a", 3, at=0), label("b", None, at=10)))

    assert (inputs["totalScenarios"], inputs["completedScenarios"], inputs["skippedScenarios"]) == (
        10,
        1,
        1,
    )


def test_labels_of_the_four_dimensions_have_their_own_fields() -> None:
    key = SessionKey(rater_id="anna", question_id="trigger-accuracy")
    state = replace(session(replace(label("a", 0, at=0), issues=("agent x",))), key=key)

    [inputs] = json.loads(session_text(state))["labels"]

    assert inputs["triggerCorrect"] is False
    assert inputs["triggerComponentObserved"] == "agent x"
    assert "rating" not in inputs
    assert parse_session(session_text(state), file="s.json") == state


@pytest.mark.parametrize(
    ("question", "rating"),
    [("code_validity", 1), ("code_validity", 0), ("technical_accuracy", 0), ("completeness", 4)],
)
def test_every_dimension_is_read_back_unchanged(question: str, rating: float) -> None:
    key = SessionKey(rater_id="anna", question_id=question)
    state = replace(session(label("a", rating, at=0), label("b", None, at=5)), key=key)

    assert parse_session(session_text(state), file="s.json") == state


def test_code_that_parses_but_does_not_run_has_both_verdicts() -> None:
    key = SessionKey(rater_id="anna", question_id="code-validity")
    verdicts = {"a": True, "b": False, "c": None}
    labels = [replace(label(name, 0), parses=parses) for name, parses in verdicts.items()]
    state = replace(session(*labels), key=key).with_label(label("a", 1, at=500))
    entries = json.loads(session_text(state))["labels"]

    assert [one["codeRuns"] for one in entries] == [False] * 3
    assert [one.get("codeParses") for one in entries] == [True, False, None]
    assert entries[0]["history"][0]["codeParses"] is True
    assert "parses" not in entries[0]
    assert parse_session(session_text(state), file="s.json") == state


@pytest.mark.parametrize(
    ("change", "message"),
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
    change: Callable[[str], str], message: str
) -> None:
    text = change(session_text(session(label())))

    with pytest.raises(InputError, match=r"sessions/x.json: this is not a labelling session") as e:
        parse_session(text, file="sessions/x.json")
    assert message in str(e.value)


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
    folder.change(KEY, lambda before: before.with_label(label("b", at=9)))  # type: ignore[union-attr]

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
    first, second = SessionFolder(tmp_path), SessionFolder(tmp_path)
    first.change(KEY, lambda _: session(label("a", at=0)))
    second.change(KEY, lambda before: before.with_label(label("b", at=1)))  # type: ignore[union-attr]

    assert [one.response_id for one in first.read(KEY).labels] == ["a", "b"]  # type: ignore[union-attr]


def test_programs_that_label_at_once_lose_no_label(tmp_path: Path) -> None:
    workers = [PROCESSES.Process(target=_label_many, args=(tmp_path, n)) for n in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()

    result = SessionFolder(tmp_path).read(KEY)

    assert result is not None
    assert len(result.labels) == 30


def _label_many(folder: Path, worker: int) -> None:
    sessions = SessionFolder(folder)
    for number in range(15):
        inputs = label(f"{worker}-{number}", at=worker + number * 10)

        def add(before: Session | None, inputs: object = inputs) -> Session:
            return (before or session()).with_label(inputs)  # type: ignore[arg-type]

        sessions.change(KEY, add)


def close(before: Session | None) -> Session:
    return replace(before or session(), closed_at=after(2000))


def long_session(n_labels: int = SHORT + 1) -> Session:
    return replace(session(*(label(f"x{n}", at=n) for n in range(n_labels))), n_units=10_000)


def journalled(folder: Path, *labels: Label) -> tuple[Path, Path]:
    """Store a long session and more labels; return its file and its journal."""
    sessions = SessionFolder(folder)
    sessions.change(KEY, lambda _: long_session())
    for one in labels:
        sessions.change(KEY, _with(one))
    [file] = sessions.files()
    return file, session_journal(file)


def _with(added: Label) -> Callable[[Session | None], Session]:
    return lambda before: (before or session()).with_label(added)


def test_label_of_a_long_session_is_one_line_of_its_journal(tmp_path: Path) -> None:
    file, journal = journalled(tmp_path)
    written = file.read_bytes()
    sessions = SessionFolder(tmp_path)
    for number in range(3):
        sessions.change(KEY, _with(label(f"y{number}", at=1000 + number)))

    assert file.read_bytes() == written
    assert len(journal.read_text().splitlines()) == 3
    assert SessionFolder(tmp_path).read(KEY) == sessions.read(KEY)
    assert len(sessions.read(KEY).labels) == SHORT + 4  # type: ignore[union-attr]


def test_closing_a_session_puts_its_journal_into_the_file(tmp_path: Path) -> None:
    file, journal = journalled(tmp_path, label("y", at=1000))
    left_by_a_crash = journal.read_bytes()
    sessions = SessionFolder(tmp_path)
    closed = sessions.change(KEY, close)

    assert not journal.exists()
    assert parse_session(file.read_text(), file="x.json") == closed
    journal.write_bytes(left_by_a_crash)
    repeat = SessionFolder(tmp_path).read(KEY)
    assert repeat is not None
    assert repeat.labels == closed.labels
    assert not repeat.was_edited


def test_journal_as_long_as_its_session_is_put_into_the_file(tmp_path: Path) -> None:
    changes = [label("x0", n % 5 + 1, at=1000 + 100 * n) for n in range(SHORT + 3)]
    file, journal = journalled(tmp_path, *changes)

    assert len(journal.read_text().splitlines()) == 1
    assert len(parse_session(file.read_text(), file="x.json").by_unit) == SHORT + 1


@pytest.mark.parametrize("cut", [1, 2, 40, 150])
def test_change_that_a_crash_cut_short_is_set_aside(tmp_path: Path, cut: int) -> None:
    _, journal = journalled(tmp_path, label("y", at=1000), label("z", at=1001))
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(lines[0] + lines[1][:-cut])
    sessions = SessionFolder(tmp_path)

    assert "z" not in {one.response_id for one in sessions.read(KEY).labels}  # type: ignore[union-attr]
    sessions.change(KEY, _with(label("w", at=1002)))
    result = SessionFolder(tmp_path).read(KEY)
    assert result is not None
    assert [one.response_id for one in result.labels][-2:] == ["y", "w"]
    assert not result.was_edited
    [remnant] = sessions.remnants()
    assert remnant.read_bytes().strip() == lines[1][:-cut].strip()


@pytest.mark.parametrize(
    "edit",
    [
        lambda lines: [lines[0].replace('"rating": 3', '"rating": 4'), *lines[1:]],
        lambda lines: lines[1:],
        lambda lines: [lines[1], lines[0], lines[2]],
    ],
    ids=["rating", "removed line", "order"],
)
def test_edit_of_a_journal_is_detected_and_stays_on_record(
    tmp_path: Path, edit: Callable[[list[str]], list[str]]
) -> None:
    _, journal = journalled(tmp_path, *(label(f"y{n}", 3, at=1000 + n) for n in range(3)))
    sessions = SessionFolder(tmp_path)
    assert not sessions.read(KEY).was_edited  # type: ignore[union-attr]
    journal.write_text("".join(edit(journal.read_text().splitlines(keepends=True))))

    assert SessionFolder(tmp_path).read(KEY).was_edited  # type: ignore[union-attr]
    assert sessions.read(KEY).was_edited  # type: ignore[union-attr]
    sessions.change(KEY, close)
    assert SessionFolder(tmp_path).read(KEY).was_edited  # type: ignore[union-attr]


def test_line_of_a_journal_that_is_no_change_is_named(tmp_path: Path) -> None:
    _, journal = journalled(tmp_path, label("y", at=1000), label("z", at=1001))
    journal.write_text("\n".join(["nothing", *journal.read_text().splitlines()[1:], ""]))

    with pytest.raises(InputError, match=r"sessions/anna\+clarity\+r1\.journal:1: this is not a"):
        SessionFolder(tmp_path).read(KEY)


def test_two_labels_of_one_response_are_no_session() -> None:
    parsed = json.loads(session_text(session(label())))
    twice = json.dumps({**parsed, "labels": 2 * parsed["labels"]})

    with pytest.raises(InputError, match="two labels of one response"):
        parse_session(twice, file="x.json")


def test_programs_that_label_a_long_session_at_once_lose_no_label(tmp_path: Path) -> None:
    journalled(tmp_path)
    workers = [PROCESSES.Process(target=_label_many, args=(tmp_path, n)) for n in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()

    result = SessionFolder(tmp_path).read(KEY)

    assert result is not None
    assert len(result.labels) == SHORT + 1 + 30
    assert not result.was_edited


@pytest.mark.slow
def test_kills_lose_no_label_of_a_long_session(tmp_path: Path) -> None:
    journalled(tmp_path)
    reported: list[str] = []
    for number in range(25):
        receiver, sender = PROCESSES.Pipe(duplex=False)
        worker = PROCESSES.Process(target=_label_until_killed, args=(tmp_path, number, sender))
        worker.start()
        sender.close()
        reported += [receiver.recv() for _ in range(number % 7 + 1)]
        worker.kill()
        worker.join()
        with suppress(EOFError):
            while True:
                reported.append(receiver.recv())

    result = SessionFolder(tmp_path).read(KEY)

    assert result is not None
    assert {*reported} <= {one.response_id for one in result.labels}
    assert len(reported) > 25
    assert not result.was_edited


def _label_until_killed(folder: Path, worker: int, report: Connection) -> None:
    sessions = SessionFolder(folder)
    for number in range(10_000):
        name = f"{worker}-{number}"
        sessions.change(KEY, _with(label(name, at=1000 + worker * 10_000 + number)))
        report.send(name)
