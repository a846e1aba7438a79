"""Offline pages: what such a page is given, and how the file it gives back becomes sessions."""

import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from pydantic import AwareDatetime, TypeAdapter, ValidationError

from eval_assets.errors import InputError, InputProblem
from eval_assets.labelling.pages import PageAction, page_task
from eval_assets.labelling.rater_queue import label_of
from eval_assets.labelling.rater_view import guideline_hash
from eval_assets.labelling.sessions import Session, SessionKey, TextHashes
from eval_assets.labelling.study import Study
from eval_assets.labelling.work_items import WorkUnit, possible_units

_FORMAT = "eval-assets labels"
_FEWEST_LINES = 2
_AGAIN = "Ask the rater to save the file again from the page"


@dataclass(frozen=True, kw_only=True)
class ReturnedAction(PageAction):
    """One thing that a rater did on an offline page, with when it was and what the page showed."""

    at: AwareDatetime
    hashes: TextHashes | None = None


_ACTION = TypeAdapter(ReturnedAction)


def offline_task(study: Study, rater_id: str) -> dict[str, Any]:
    """Return all that an offline page of a rater holds, as JSON."""
    desk = study.desk(rater_id)
    number = study.evaluation.labelling.round
    page = _page(study, rater_id, number)
    task = page_task(desk)
    for unit, described in zip(desk.units, task["units"], strict=True):
        described["hashes"] = vars(unit.response.hashes(unit.question))
    return {
        **task,
        "isOffline": True,
        "page": page,
        "key": study.secret_for("seal", page),
        "rater": rater_id,
        "file": f"labels-{page}.jsonl",
    }


def returned_sessions(text: str, study: Study, *, file: str) -> list[Session]:
    """Return the sessions that a file given back by an offline page holds.

    Raises:
        InputError: If the file is not from a page of this study, was changed since the page
            wrote it, or answers what nobody asked.
    """
    head, lines, page_key, (rater_id, number) = _opened(text, study, file=file)
    if not hmac.compare_digest(_seal(page_key, [head, *lines[:-1]]), _sealed_with(lines[-1])):
        what = "the file was changed after the page wrote it, or is not complete"
        raise InputError(InputProblem(file, None, None, what, _AGAIN))
    units = possible_units(rater_id, number, study.responses)
    actions = [_action(line, file=file, at=at) for at, line in enumerate(lines[:-1], start=2)]
    sessions: dict[SessionKey, Session] = {}
    for place, action in enumerate(sorted(actions, key=lambda action: action.at), start=2):
        unit = units.get(action.unit)
        if unit is None:
            what = "the response or the question is not part of this evaluation any more"
            raise InputError(InputProblem(file, place, "unit", what, "Restore it, then merge"))
        session = sessions.get(unit.key) or _begun(study, unit, action)
        try:
            sessions[unit.key] = _replayed(session, unit, action)
        except ValueError as error:
            raise InputError(InputProblem(file, place, None, str(error), _AGAIN)) from error
    return [replace(session, closed_at=session.updated_at) for session in sessions.values()]


def merge_returned(sessions: Sequence[Session], study: Study, *, file: str) -> int:
    """Add sessions to those stored; return how many answers were new.

    Raises:
        InputError: If stored labels say something else about the same instant.
    """
    n_new = 0
    for session in sessions:
        before = study.sessions.read(session.key)
        try:
            after = study.sessions.change(session.key, partial(_merged, returned=session))
        except ValueError as error:
            raise InputError(InputProblem(file, None, None, str(error), _AGAIN)) from error
        n_new += _n_answers(after) - (_n_answers(before) if before else 0)
    return n_new


def _merged(stored: Session | None, *, returned: Session) -> Session:
    return stored.merged(returned) if stored else returned


def _n_answers(session: Session) -> int:
    return sum(len(label.events) for label in session.labels)


def _opened(text: str, study: Study, *, file: str) -> tuple[str, list[str], str, tuple[str, int]]:
    """Return first line, further lines, key of the page, and whose page of which round it is."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").strip("\n").split("\n")
    try:
        head = json.loads(lines[0])
        page, rater_id = head["page"], head["rater"]
        is_ours = head["format"] == _FORMAT and len(lines) >= _FEWEST_LINES
    except (json.JSONDecodeError, KeyError, TypeError):
        is_ours = False
    if not is_ours:
        what = "this is not a file of labels from an offline page"
        raise InputError(InputProblem(file, 1, None, what, "Give the file that the page saved"))
    for number in range(1, study.evaluation.labelling.round + 1):
        if page == _page(study, rater_id, number):
            return lines[0], lines[1:], study.secret_for("seal", page), (rater_id, number)
    what = f"the page was not made from this evaluation for {rater_id}"
    remedy = "Merge it in the evaluation folder that made the page"
    raise InputError(InputProblem(file, 1, "page", what, remedy))


def _page(study: Study, rater_id: str, number: int) -> str:
    return study.secret_for("page", rater_id, str(number))[:12]


def _seal(key: str, lines: Sequence[str]) -> str:
    text = "".join(f"{line}\n" for line in lines)
    return hmac.new(key.encode(), text.encode(), hashlib.sha256).hexdigest()


def _sealed_with(line: str) -> str:
    try:
        return str(json.loads(line)["seal"])
    except (json.JSONDecodeError, KeyError, TypeError):
        return ""


def _action(line: str, *, file: str, at: int) -> ReturnedAction:
    try:
        return _ACTION.validate_json(line)
    except ValidationError as error:
        what = f"this is not an answer ({error.errors(include_url=False)[0]['msg']})"
        raise InputError(InputProblem(file, at, None, what, _AGAIN)) from error


def _begun(study: Study, unit: WorkUnit, action: ReturnedAction) -> Session:
    n_units = sum(one.key == unit.key for one in study.desk(unit.key.rater_id).units)
    return Session(
        key=unit.key,
        started_at=action.at,
        updated_at=action.at,
        n_units=n_units,
        guideline_hash=guideline_hash(unit.question),
    )


def _replayed(session: Session, unit: WorkUnit, action: ReturnedAction) -> Session:
    if action.undo:
        return session.without_latest(unit.name, at=action.at)
    label = label_of(unit, action.answer(), at=action.at, hashes=action.hashes)
    return session.with_label(label)
