"""Session files: one JSON file for each session, rewritten after every label."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError

from eval_assets.config.labelling import SESSIONS, session_paths
from eval_assets.errors import InputError, InputProblem
from eval_assets.labelling._durable import locked, replace_file
from eval_assets.labelling.dimensions import with_fields, without_fields
from eval_assets.labelling.sessions import Label, Session, SessionKey, Withdrawn

_LABEL = TypeAdapter(Label)
_WITHDRAWN = TypeAdapter(list[Withdrawn], config=ConfigDict(defer_build=True))
_KEY = TypeAdapter(SessionKey)
_SESSION = TypeAdapter(Session)


class SessionFolder:
    """The session files of an evaluation.

    Every change reads the file, changes what it holds and replaces it while the folder is locked,
    so that two windows or programs of one rater add to each other's labels.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / SESSIONS
        self._parsed: dict[Path, tuple[tuple[int, int, int], Session]] = {}

    def read(self, key: SessionKey) -> Session | None:
        """Return the session as it is stored; None if the rater has not begun.

        Raises:
            InputError: If the file is not a session.
        """
        return self._read(self._file(key))

    def find(self, session_id: str) -> Session | None:
        """Return the session of that id; None if there is none."""
        paths = [path for path in self.files() if path.stem == session_id]
        return self._read(paths[0]) if paths else None

    def all(self) -> list[Session]:
        """Return all sessions, by name."""
        sessions = (self._read(path) for path in self.files())
        return [session for session in sessions if session is not None]

    def readable(self) -> tuple[list[Session], list[InputProblem]]:
        """Return the sessions that can be read, by name, and what is wrong with the others."""
        sessions: list[Session] = []
        problems: list[InputProblem] = []
        for path in self.files():
            try:
                session = self._read(path)
            except InputError as error:
                problems.append(error.problem)
            else:
                sessions += [session] if session else []
        return sessions, problems

    def files(self) -> list[Path]:
        """Return all session files, by name."""
        return session_paths(self.path.parent)

    def change(self, key: SessionKey, change: Callable[[Session | None], Session]) -> Session:
        """Put `change(session)` in place of the stored session and return it once it is on disk."""
        with locked(self.path):
            file = self._file(key)
            stored = self._read(file)
            changed = change(stored)
            if changed != stored:
                replace_file(file, session_text(changed).encode())
                self._parsed[file] = _version(file), changed
            return changed

    def _file(self, key: SessionKey) -> Path:
        return self.path / f"{key.session_id}.json"

    def _read(self, file: Path) -> Session | None:
        try:
            version = _version(file)
            version_parsed, session = self._parsed.get(file, (None, None))
            if session is None or version_parsed != version:
                text = file.read_text(encoding="utf-8")
                session = parse_session(text, file=f"{SESSIONS}/{file.name}")
                self._parsed[file] = version, session
        except FileNotFoundError:
            return None
        return session


def session_text(session: Session) -> str:
    """Return the session as JSON, a line for each label."""
    lines = ",\n".join(f"  {_label_line(label, session.key)}" for label in session.labels)
    head = json.dumps(_head(session), ensure_ascii=False, indent=1)
    content = f'{head[:-2]},\n "labels": [\n{lines}\n ]'
    return f'{content}{_CHECKSUM}{_checksum(content)}"\n}}\n'


_CHECKSUM = ',\n "checksum": "'


def _checksum(content: str) -> str:
    """Return what tells whether the file was edited; it is no protection against forgery."""
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def _is_edited(text: str) -> bool:
    """Return whether the content of a session file is not what was written with its checksum."""
    content, _, end = text.rpartition(_CHECKSUM)
    return end.partition('"')[0] != _checksum(content)


def session_json(session: Session) -> dict[str, Any]:
    """Return the session as the JSON object that its file holds."""
    labels = [_label_json(label, session.key) for label in session.labels]
    return {**_head(session), "labels": labels}


def _head(session: Session) -> dict[str, Any]:
    """Return all of the JSON object but the labels."""
    withdrawn = sorted(session.withdrawn, key=lambda label: (label.labelled_at, label.response_id))
    n_rated = sum(label.rating is not None for label in session.labels)
    fields = _SESSION.dump_python(
        session, mode="json", by_alias=True, exclude={"key", "labels", "withdrawn"}
    )
    guideline_hash = fields.pop("guidelineHash")
    was_edited = {"wasEdited": True} if fields.pop("wasEdited") else {}
    return {
        "sessionId": session.key.session_id,
        **_KEY.dump_python(session.key, by_alias=True),
        **fields,
        "completedScenarios": n_rated,
        "skippedScenarios": len(session.labels) - n_rated,
        "guidelineHash": guideline_hash,
        **was_edited,
        "withdrawn": _WITHDRAWN.dump_python(withdrawn, mode="json", by_alias=True),
    }


def parse_session(text: str, *, file: str) -> Session:
    """Return the session that a file holds.

    Raises:
        InputError: If it is not the JSON of a session.
    """
    try:
        parsed = json.loads(text)
        key = _KEY.validate_python(parsed)
        labels = [_plain_label(label, key) for label in parsed["labels"]]
        session = _SESSION.validate_python({**parsed, "key": key, "labels": labels})
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


@lru_cache(maxsize=10_000)
def _label_line(label: Label, key: SessionKey) -> str:
    """Return one label as a line of JSON: a session that grows by one writes one new line."""
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
    """Return the version of a file. A replaced file has another inode."""
    status = file.stat()
    return status.st_ino, status.st_mtime_ns, status.st_size


def _not_a_session(file: str, reason: str) -> InputProblem:
    remedy = "Restore the file from a backup, or move it elsewhere"
    return InputProblem(file, None, None, f"this is not a labelling session ({reason})", remedy)
