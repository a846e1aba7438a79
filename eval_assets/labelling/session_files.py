"""Session files: a line of JSON for each thing that a rater did, only ever added to."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from eval_assets.config.labelling import SESSIONS, session_paths
from eval_assets.errors import InputError, InputProblem
from eval_assets.labelling.choices import with_fields, without_fields
from eval_assets.labelling.durable import append_lines, locked, replace_file
from eval_assets.labelling.sessions import (
    Close,
    Event,
    Label,
    Session,
    SessionKey,
    Total,
    Undo,
    Unit,
    time_text,
)

_LABEL = TypeAdapter(Label)
_LABELS = TypeAdapter(list[Label])
_KEY = TypeAdapter(SessionKey)
_SESSION = TypeAdapter(Session)
_TIME = TypeAdapter(datetime)


@dataclass(frozen=True)
class _FileState:
    """A session with the extent to which its file was read.

    Args:
        inode: Number of the file, which another one that replaces it does not have.
        size: Bytes up to the end of the last complete line.
        n_lines: Number of these lines; 0 if an earlier version wrote the file as one object.
    """

    session: Session
    inode: int
    changed_ns: int
    size: int
    n_lines: int


class SessionFolder:
    """The session files of an evaluation.

    A line is on disk before the rater is told that the answer is saved. It is appended while the
    folder is locked, so that two windows or programs of one rater add to each other's labels.
    A last line that a crash cut short was never confirmed, and is not read.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / SESSIONS
        self._parsed: dict[Path, _FileState] = {}

    def read(self, key: SessionKey) -> Session | None:
        """Return the stored session; None if the rater has not started.

        Raises:
            InputError: If the file is not a session.
        """
        return self._session(self._file(key))

    def find(self, session_id: str) -> Session | None:
        """Return the session of that id; None if there is none."""
        sessions = (self._session(path) for path in self.files() if path.stem == session_id)
        return next(sessions, None)

    def all(self) -> list[Session]:
        """Return all sessions of labels, by name."""
        sessions = map(self._session, self.files())
        return [session for session in sessions if session is not None]

    def readable(self, kind: str = "") -> tuple[list[Session], list[InputProblem]]:
        """Return the readable sessions of a kind, and the problems of the others."""
        sessions: list[Session] = []
        problems: list[InputProblem] = []
        for path in session_paths(self.path.parent, kind):
            try:
                session = self._session(path)
            except InputError as error:
                problems.append(error.problem)
            else:
                sessions += [session] if session else []
        return sessions, problems

    def files(self) -> list[Path]:
        """Return all session files of labels, by name."""
        return session_paths(self.path.parent)

    def append(
        self,
        fresh: Session,
        event: Event,
        *,
        n_units: int = 0,
        closes_if_complete: bool = False,
    ) -> Session:
        """Store an event and return the session once it is on disk.

        Args:
            fresh: The session if there is none stored under its key.
            event: What the rater did.
            n_units: Number of units to label; labels of units that are assigned no more count too.
            closes_if_complete: Whether an answer to the last unit closes the session.

        Raises:
            ValueError: If there is no answer to undo, or it is older than a minute.
        """
        file = self._file(fresh.key)
        with locked(self.path):
            state = self._read(file)
            before = state.session if state else None
            session = (before or fresh).after([event])
            if before is not None and session is before:
                return before
            events: list[Event] = [event]
            total = max(n_units or session.n_units, len(session.by_unit))
            if total != session.n_units:
                events.append(Total(total))
            if closes_if_complete and len(session.by_unit) == total:
                events.append(Close(session.updated_at))
            if events[1:]:
                session = session.after(events[1:])
            if state is None or not state.n_lines:
                lines = _lines(session)
                file.parent.mkdir(exist_ok=True)
                replace_file(file, "".join(f"{line}\n" for line in lines).encode())
                _journal(file).unlink(missing_ok=True)
            else:
                lines = [_line(item, session.key) for item in events]
                append_lines(file, lines, at=state.size)
            inode, changed_ns, size = _version(file)
            n_lines = (state.n_lines if state else 0) + len(lines)
            self._parsed[file] = _FileState(session, inode, changed_ns, size, n_lines)
        return session

    def _file(self, key: SessionKey) -> Path:
        return self.path / f"{key.session_id}.json"

    def _session(self, file: Path) -> Session | None:
        state = self._read(file)
        return state.session if state else None

    def _read(self, file: Path) -> _FileState | None:
        """Return the session of a file, of which only what was added is parsed."""
        state = self._parsed.get(file)
        try:
            inode, changed_ns, size = _version(file)
            if state and (state.inode, state.changed_ns, state.size) == (
                inode,
                changed_ns,
                size,
            ):
                return state
            if state and (state.inode != inode or state.size >= size):  # another, or edited
                state = None
            with file.open("rb") as stream:
                stream.seek(state.size if state else 0)
                *lines, _ = stream.read().split(b"\n")
        except FileNotFoundError:
            return None
        name = str(file.relative_to(self.path.parent))
        if state is None and not _is_head(lines):
            session = _earlier_session(file, name)
            return _FileState(session, inode, changed_ns, size, n_lines=0)
        before, n_lines = (state.session, state.n_lines) if state else (None, 0)
        session = _with_lines(before, lines, file=name, n_before=n_lines)
        n_bytes = (state.size if state else 0) + sum(len(line) + 1 for line in lines)
        state = _FileState(session, inode, changed_ns, n_bytes, n_lines + len(lines))
        self._parsed[file] = state
        return state


@lru_cache(maxsize=8)
def session_folder(folder: Path) -> SessionFolder:
    """Return the session files of an evaluation, each of which is parsed once in a process."""
    return SessionFolder(folder)


def _is_head(lines: Sequence[bytes]) -> bool:
    """Return whether the first line names a session, and does not hold all of it."""
    try:
        return "labels" not in json.loads(lines[0])
    except (IndexError, TypeError, ValueError):
        return False


def _with_lines(
    session: Session | None, lines: Sequence[bytes], *, file: str, n_before: int
) -> Session:
    """Return the session after further lines of its file, of which the first names it.

    Raises:
        InputError: If a line is none of a session.
    """
    number = n_before

    def events(key: SessionKey, start: int) -> Iterator[Event]:
        nonlocal number
        for number in range(n_before + start + 1, n_before + len(lines) + 1):
            yield _event(json.loads(lines[number - n_before - 1]), key)

    try:
        if session is not None:
            return session.after(events(session.key, 0))
        number = 1
        session = _session_of(json.loads(lines[0]), by_unit={})
        return session.after(events(session.key, 1))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        message = f"this is not a line of a labelling session ({_reason(error)})"
        remedy = "Restore the line from a backup, or remove it"
        raise InputError(InputProblem(file, number, None, message, remedy)) from error


def _event(parsed: dict[str, Any], key: SessionKey) -> Event:
    if "totalScenarios" in parsed:
        return Total(int(parsed["totalScenarios"]))
    if "closedAt" in parsed:
        return Close(_TIME.validate_python(parsed["closedAt"]))
    if "undoneAt" in parsed:
        unit = (str(parsed["scenarioId"]), bool(parsed["repeat"]))
        return Undo(unit, _TIME.validate_python(parsed["undoneAt"]))
    return _LABEL.validate_python(_plain_label(parsed, key))


def _lines(session: Session) -> list[str]:
    head = _head(replace(session, updated_at=session.started_at, closed_at=None))
    labels = chain.from_iterable(label.events for label in session.labels)
    events: list[Event] = [*labels]
    if session.closed_at is not None:
        events.append(Close(session.closed_at))
    lines = [_line(event, session.key) for event in events]
    return [json.dumps(head, ensure_ascii=False), *lines]


def _line(event: Event, key: SessionKey) -> str:
    match event:
        case Label():
            content = _label_json(event, key)
        case Undo((response_id, is_repeat), undone_at):
            content = {"scenarioId": response_id, "repeat": is_repeat}
            content |= {"undoneAt": time_text(undone_at)}
        case Close(closed_at):
            content = {"closedAt": time_text(closed_at)}
        case Total(n_units):
            content = {"totalScenarios": n_units}
    return json.dumps(content, ensure_ascii=False)


def session_json(session: Session) -> dict[str, Any]:
    """Return the session as one JSON object, as `label --export` prints it."""
    n_rated = sum(label.rating is not None for label in session.labels)
    counts = {
        "completedScenarios": n_rated,
        "skippedScenarios": len(session.labels) - n_rated,
    }
    labels = [_label_json(label, session.key) for label in session.labels]
    return {**_head(session), **counts, "labels": labels}


def _head(session: Session) -> dict[str, Any]:
    unused = set[str]() if session.key.kind else {"kind"}
    return {
        "sessionId": session.key.session_id,
        **_KEY.dump_python(session.key, by_alias=True, exclude=unused),
        **_SESSION.dump_python(session, mode="json", by_alias=True, exclude={"key", "by_unit"}),
    }


def _session_of(head: dict[str, Any], *, by_unit: object) -> Session:
    return _SESSION.validate_python({**head, "key": _KEY.validate_python(head), "byUnit": by_unit})


def _journal(file: Path) -> Path:
    return file.with_suffix(".journal")


def _earlier_session(file: Path, name: str) -> Session:
    """Return a session as earlier versions stored it: one object, and a journal of later changes.

    Raises:
        InputError: If it is not the JSON of a session.
    """
    journal = _journal(file)
    try:
        parsed = json.loads(file.read_text(encoding="utf-8"))
        key = _KEY.validate_python(parsed)
        by_unit = _by_unit(parsed["labels"], key)
        lines = journal.read_bytes().split(b"\n")[:-1] if journal.exists() else []
        for line in map(json.loads, lines):
            for unit in line["removed"]:
                by_unit.pop((unit[0], unit[1]), None)
            by_unit |= _by_unit(line["labels"], key)
            parsed["lastUpdatedAt"], parsed["closedAt"] = line["updatedAt"], line["closedAt"]
        return _session_of(parsed, by_unit=by_unit)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        message = f"this is not a labelling session ({_reason(error)})"
        remedy = "Restore the file from a backup, or move it elsewhere"
        raise InputError(InputProblem(name, None, None, message, remedy)) from error


def _reason(error: Exception) -> str:
    match error:
        case ValidationError():
            first = error.errors(include_url=False)[0]
            return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        case json.JSONDecodeError():
            return f"line {error.lineno}: {error.msg}"
    return f"{type(error).__name__}: {error}"


def _by_unit(labels: Sequence[dict[str, Any]], key: SessionKey) -> dict[Unit, Label]:
    parsed = _LABELS.validate_python([_plain_label(label, key) for label in labels])
    by_unit = {label.unit: label for label in parsed}
    if len(by_unit) < len(labels):
        raise ValueError("two labels of one response")
    return by_unit


def _label_json(label: Label, key: SessionKey) -> dict[str, Any]:
    """Return one label with its rater and question, its rating under the dimension's names."""
    plain = _in_file_order(_LABEL.dump_python(label, mode="json", by_alias=True))
    if not plain["history"]:
        del plain["history"]
    named = {
        "scenarioId": plain["scenarioId"],
        "dimension": key.question_id,
        "labelerId": key.rater_id,
        "skipped": label.rating is None,
        **plain,
    }
    return with_fields(named, key.question_id)


def _in_file_order(plain: dict[str, Any]) -> dict[str, Any]:
    first = {name: plain[name] for name in ("scenarioId", "timestamp", "rating", "repeat")}
    if plain["timeKnown"]:
        del plain["timeKnown"]
    for name in ("parses", "swapped"):
        if plain[name] is None:
            del plain[name]
    return {**first, **plain, "history": list(map(_in_file_order, plain["history"]))}


def _plain_label(label: dict[str, Any], key: SessionKey) -> dict[str, Any]:
    plain = without_fields(label, key.question_id)
    for name, value in {"dimension": key.question_id, "labelerId": key.rater_id}.items():
        if plain.pop(name, value) != value:
            raise ValueError(f"a label whose {name} is not that of the session")
    if plain.pop("skipped", plain["rating"] is None) != (plain["rating"] is None):
        raise ValueError("a label that is both skipped and rated, or neither")
    return plain


def _version(file: Path) -> tuple[int, int, int]:
    status = file.stat()
    return status.st_ino, status.st_mtime_ns, status.st_size
