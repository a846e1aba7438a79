"""Session files: one JSON file for each session, and a journal of later changes."""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel

from eval_assets.config.labelling import SESSIONS, session_journal, session_paths
from eval_assets.errors import InputError, InputProblem
from eval_assets.labelling._durable import append_line, cut_end, locked, replace_file
from eval_assets.labelling.choices import with_fields, without_fields
from eval_assets.labelling.sessions import Label, Session, SessionKey, Time, Unit, Withdrawn

_LABEL = TypeAdapter(Label)
_LABELS = TypeAdapter(list[Label])
_WITHDRAWN = TypeAdapter(list[Withdrawn], config=ConfigDict(defer_build=True))
_KEY = TypeAdapter(SessionKey)
_SESSION = TypeAdapter(Session)

SHORT = 100
"""Number of labels up to which a session file is rewritten after each change."""

REMNANT = ".remnant"
"""Ending of the file of changes of a session that a crash cut short."""

_FileVersion = tuple[int, int, int]
"""Inode, time of the last change in nanoseconds, and size."""


@dataclass(frozen=True)
class _Stored:
    """A session read from its file and the beginning of its journal.

    Args:
        session: The session.
        version: Version of the session file.
        journal: Version of the journal; None if there is none.
        end: Length of the journal up to the last complete change, in bytes.
        n_changes: Changes in the journal.
        checksum: Checksum of the last of them.
    """

    session: Session
    version: _FileVersion
    journal: _FileVersion | None = None
    end: int = 0
    n_changes: int = 0
    checksum: str = ""


class SessionFolder:
    """The session files of an evaluation.

    A change is made while the folder is locked, so that two windows or programs of one rater add
    to each other's labels. A short session is rewritten. For a long one the change is a line at
    the end of its journal, until the rater stops or the journal is as long as the session; then
    the session is rewritten and the journal removed. A line holds the labels as they are after
    the change, so a journal that a crash left beside the rewritten session changes nothing.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / SESSIONS
        self._parsed: dict[Path, _Stored] = {}

    def read(self, key: SessionKey) -> Session | None:
        """Return the stored session; None if the rater has not started.

        Raises:
            InputError: If the file is not a session.
        """
        return self._read(self._file(key))

    def find(self, session_id: str) -> Session | None:
        """Return the session of that id; None if there is none."""
        paths = [path for path in self.files() if path.stem == session_id]
        return self._read(paths[0]) if paths else None

    def all(self) -> list[Session]:
        """Return all sessions of labels, by name."""
        sessions = (self._read(path) for path in self.files())
        return [session for session in sessions if session is not None]

    def readable(self, kind: str = "") -> tuple[list[Session], list[InputProblem]]:
        """Return the readable sessions of a kind, and the problems of the others."""
        sessions: list[Session] = []
        problems: list[InputProblem] = []
        for path in session_paths(self.path.parent, kind):
            try:
                session = self._read(path)
            except InputError as error:
                problems.append(error.problem)
            else:
                sessions += [session] if session else []
        return sessions, problems

    def files(self) -> list[Path]:
        """Return all session files of labels, by name."""
        return session_paths(self.path.parent)

    def remnants(self) -> list[Path]:
        """Return the files of changes that a crash cut short, which no rater was told are saved."""
        return sorted(self.path.glob(f"[!.]*{REMNANT}"))

    def change(self, key: SessionKey, change: Callable[[Session | None], Session]) -> Session:
        """Replace the stored session with `change(session)` and return it once it is on disk."""
        with locked(self.path):
            file = self._file(key)
            state = self._stored(file)
            before = state.session if state else None
            changed = change(before)
            if state is not None and before is not None and not _differs(before, changed):
                return before
            touched, changed = changed.touched, replace(changed, touched=frozenset())
            journal = session_journal(file)
            if state is not None and state.journal and state.journal[2] > state.end:
                _set_aside(journal, end=state.end)
            if state is None or _is_rewritten(state, changed):
                file.parent.mkdir(exist_ok=True)
                replace_file(file, session_text(changed).encode())
                journal.unlink(missing_ok=True)
                self._parsed[file] = _Stored(changed, _version(file))
            else:
                line = _change_line(state.session, changed, touched=touched, after=state.checksum)
                append_line(journal, line)
                self._parsed[file] = _appended(state, changed, line, _version(journal))
            return changed

    def _file(self, key: SessionKey) -> Path:
        return self.path / f"{key.session_id}.json"

    def _read(self, file: Path) -> Session | None:
        state = self._stored(file)
        return state.session if state else None

    def _stored(self, file: Path) -> _Stored | None:
        """Return the session with its journal, of which only new lines are read."""
        journal, name = session_journal(file), str(file.relative_to(self.path.parent))
        try:
            while True:
                version, journal_version = _version(file), _version_if_any(journal)
                state = self._parsed.get(file)
                if state is None or not _continues(state, version, journal_version):
                    text = file.read_text(encoding="utf-8")
                    state = _Stored(parse_session(text, file=name), version)
                if journal_version != state.journal:
                    state = _with_changes(state, journal, journal_version)
                # Another program may have rewritten the session meanwhile.
                if _version(file) == version:
                    self._parsed[file] = state
                    return state
        except FileNotFoundError:
            return None


@lru_cache(maxsize=8)
def session_folder(folder: Path) -> SessionFolder:
    """Return the session files of an evaluation, each of which is parsed once in a process."""
    return SessionFolder(folder)


def _continues(state: _Stored, version: _FileVersion, journal: _FileVersion | None) -> bool:
    """Return whether the files still have the content that was read, except for added changes."""
    if state.version != version:
        return False
    if state.journal is None or state.journal == journal:
        return True
    (inode, _, size) = state.journal
    return journal is not None and journal[0] == inode and journal[2] > size


def _differs(before: Session, changed: Session) -> bool:
    """Return whether a session was changed, without comparing all labels."""
    if changed.touched or changed is before:
        return changed is not before
    return replace(changed, by_unit={}) != replace(before, by_unit={})


def _is_rewritten(state: _Stored, changed: Session) -> bool:
    before, n_labels = state.session, len(changed.by_unit)
    return (
        n_labels <= SHORT
        or state.n_changes >= n_labels
        or (changed.closed_at is not None and before.closed_at is None)
        or changed.started_at != before.started_at
    )


@dataclass(frozen=True, kw_only=True)
class _Change:
    """A line of a journal: the new state of the units that a change touched.

    `removed` are units without any answer left.
    """

    __pydantic_config__ = ConfigDict(alias_generator=to_camel, extra="ignore", defer_build=True)

    updated_at: Time
    closed_at: Time | None
    n_units: int
    removed: tuple[Unit, ...]
    withdrawn: tuple[Withdrawn, ...]


_CHANGE = TypeAdapter(_Change)


def _change_line(before: Session, changed: Session, *, touched: Iterable[Unit], after: str) -> str:
    """Return a change as a line of a journal that follows the line with the checksum `after`."""
    units = sorted(touched)
    change = _Change(
        updated_at=changed.updated_at,
        closed_at=changed.closed_at,
        n_units=changed.n_units,
        removed=tuple(unit for unit in units if unit not in changed.by_unit),
        withdrawn=tuple(changed.withdrawn - before.withdrawn),
    )
    labels = [changed.by_unit[unit] for unit in units if unit in changed.by_unit]
    line = {
        **_CHANGE.dump_python(change, mode="json", by_alias=True),
        "labels": [_label_json(label, changed.key) for label in labels],
    }
    content = json.dumps(line, ensure_ascii=False)[:-1]
    return f'{content}{_LINE_CHECKSUM}{_checksum(after + content)}"}}'


_LINE_CHECKSUM = ', "checksum": "'


def _with_changes(state: _Stored, journal: Path, version: _FileVersion | None) -> _Stored:
    """Return a session with the new changes of its journal.

    Raises:
        InputError: If a line other than the last is not a change.
    """
    lines = _complete_lines(journal, start=state.end)
    session, checksum = state.session, state.checksum
    was_edited = session.was_edited
    labels, withdrawn = dict(session.by_unit), set(session.withdrawn)
    head: dict[str, Any] = {}
    for number, line in enumerate(lines, start=state.n_changes + 1):
        try:
            parsed = json.loads(line)
            change = _CHANGE.validate_python(parsed)
            changed = [_plain_label(label, session.key) for label in parsed["labels"]]
            labels |= {label.unit: label for label in map(_LABEL.validate_python, changed)}
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise InputError(_not_a_change(journal, number)) from error
        for unit in change.removed:
            labels.pop(unit, None)
        withdrawn |= {*change.withdrawn}
        content, line_checksum = _line_checksum(line.decode())
        was_edited |= line_checksum != _checksum(checksum + content)
        checksum = line_checksum
        head = {name: getattr(change, name) for name in ("updated_at", "closed_at", "n_units")}
    session = replace(
        session, by_unit=labels, withdrawn=frozenset(withdrawn), was_edited=was_edited, **head
    )
    return replace(
        state,
        session=session,
        journal=version,
        end=state.end + sum(len(line) + 1 for line in lines),
        n_changes=state.n_changes + len(lines),
        checksum=checksum,
    )


def _appended(state: _Stored, changed: Session, line: str, journal: _FileVersion) -> _Stored:
    return replace(
        state,
        session=changed,
        journal=journal,
        end=journal[2],
        n_changes=state.n_changes + 1,
        checksum=_line_checksum(line)[1],
    )


def _line_checksum(line: str) -> tuple[str, str]:
    """Return the content of a line of a journal, and the checksum at its end."""
    content, _, end = line.rpartition(_LINE_CHECKSUM)
    return content, end.partition('"')[0]


def _complete_lines(journal: Path, *, start: int) -> list[bytes]:
    """Return the lines of a journal from a byte on, without a last one that was cut short."""
    try:
        with journal.open("rb") as file:
            file.seek(start)
            *lines, _ = file.read().split(b"\n")
    except FileNotFoundError:
        return []
    return lines if not lines or _is_json(lines[-1]) else lines[:-1]


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def _set_aside(journal: Path, *, end: int) -> None:
    """Move the remnant after the last complete change of a journal to another file."""
    with journal.open("rb") as file:
        file.seek(end)
        remnant = file.read()
    append_line(journal.with_suffix(REMNANT), remnant.decode(errors="backslashreplace").strip())
    cut_end(journal, end)


def session_text(session: Session) -> str:
    """Return the session as JSON, a line for each label."""
    lines = ",\n".join(f"  {_label_line(label, session.key)}" for label in session.labels)
    head = json.dumps(_head(session), ensure_ascii=False, indent=1)
    content = f'{head[:-2]},\n "labels": [\n{lines}\n ]'
    return f'{content}{_CHECKSUM}{_checksum(content)}"\n}}\n'


_CHECKSUM = ',\n "checksum": "'


def _checksum(content: str) -> str:
    """Return a checksum that detects edits, but does not protect against forgery."""
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def _is_edited(text: str) -> bool:
    """Return whether the content of a session file does not match its checksum."""
    content, _, end = text.rpartition(_CHECKSUM)
    return end.partition('"')[0] != _checksum(content)


def session_json(session: Session) -> dict[str, Any]:
    """Return the session as the JSON object of its file."""
    labels = [_label_json(label, session.key) for label in session.labels]
    return {**_head(session), "labels": labels}


def _head(session: Session) -> dict[str, Any]:
    kind = session.key.kind
    withdrawn = sorted(session.withdrawn, key=lambda label: (label.labelled_at, label.response_id))
    n_rated = sum(label.rating is not None for label in session.labels)
    fields = _SESSION.dump_python(
        session, mode="json", by_alias=True, exclude={"key", "by_unit", "withdrawn", "touched"}
    )
    guideline_hash = fields.pop("guidelineHash")
    was_edited = {"wasEdited": True} if fields.pop("wasEdited") else {}
    return {
        "sessionId": session.key.session_id,
        **_KEY.dump_python(session.key, by_alias=True, exclude=None if kind else {"kind"}),
        **fields,
        "completedScenarios": n_rated,
        "skippedScenarios": len(session.labels) - n_rated,
        "guidelineHash": guideline_hash,
        **was_edited,
        "withdrawn": _WITHDRAWN.dump_python(withdrawn, mode="json", by_alias=True),
    }


def parse_session(text: str, *, file: str) -> Session:
    """Return the session of a file.

    Raises:
        InputError: If it is not the JSON of a session.
    """
    try:
        parsed = json.loads(text)
        key = _KEY.validate_python(parsed)
        labels = _LABELS.validate_python([_plain_label(label, key) for label in parsed["labels"]])
        session = _SESSION.validate_python({**parsed, "key": key, "byUnit": _by_unit(labels)})
        # Files of earlier versions have no checksum.
        was_edited = session.was_edited or ("checksum" in parsed and _is_edited(text))
        return replace(session, was_edited=was_edited)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        location = ".".join(str(part) for part in first["loc"])
        raise InputError(_not_a_session(file, f"{location}: {first['msg']}")) from error
    except json.JSONDecodeError as error:
        raise InputError(_not_a_session(file, f"line {error.lineno}: {error.msg}")) from error
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(_not_a_session(file, f"{type(error).__name__}: {error}")) from error


def _by_unit(labels: Sequence[Label]) -> dict[Unit, Label]:
    by_unit = {label.unit: label for label in labels}
    if len(by_unit) < len(labels):
        raise ValueError("two labels of one response")
    return by_unit


@lru_cache(maxsize=10_000)
def _label_line(label: Label, key: SessionKey) -> str:
    """Return one label as a line of JSON."""
    return json.dumps(_label_json(label, key), ensure_ascii=False)


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


def _version(file: Path) -> _FileVersion:
    """Return the version of a file. A replaced file has another inode."""
    status = file.stat()
    return status.st_ino, status.st_mtime_ns, status.st_size


def _version_if_any(file: Path) -> _FileVersion | None:
    try:
        return _version(file)
    except FileNotFoundError:
        return None


def _not_a_change(journal: Path, line: int) -> InputProblem:
    file, remedy = f"{SESSIONS}/{journal.name}", "Restore the line from a backup, or remove it"
    return InputProblem(file, line, None, "this is not a change of a session", remedy)


def _not_a_session(file: str, reason: str) -> InputProblem:
    remedy = "Restore the file from a backup, or move it elsewhere"
    return InputProblem(file, None, None, f"this is not a labelling session ({reason})", remedy)
