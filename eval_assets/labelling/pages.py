"""Data sent to a labelling page and back, online and offline."""

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Annotated, Any

from pydantic import AwareDatetime, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel

from eval_assets.config.rubric import RubricQuestion
from eval_assets.errors import InputError, InputProblem, raise_all
from eval_assets.labelling.choices import anchors_of, dimension_of, question_choices
from eval_assets.labelling.rater_queue import RaterQueue, WorkUnit, label_of
from eval_assets.labelling.rater_view import ResponseView, guideline_hash
from eval_assets.labelling.rich_text import Html, data_uri, html_of
from eval_assets.labelling.sessions import (
    UNDO,
    Answer,
    Label,
    Rating,
    Session,
    SessionKey,
    TextHashes,
    time_text,
)
from eval_assets.labelling.study import Study


def page_task(queue: RaterQueue, html: Html | None) -> dict[str, Any]:
    """Return the content of a rater's page as JSON; nothing else reaches the rater.

    Responses are named by their position, units by codes. Repeats, controls and models are not
    marked. `html` renders the texts; None leaves them unchanged.
    """
    return {**page_texts(queue, html), "answers": page_answers(queue)}


def page_texts(queue: RaterQueue, html: Html | None) -> dict[str, Any]:
    """Return the part of `page_task` that does not depend on labels."""
    screens = [[queue.units[place] for place in screen] for screen in queue.screens]
    questions = list(dict.fromkeys(units[0].question for units in screens))
    responses = list({id(unit.response): unit.response for unit in queue.units}.values())
    question_at = {question.id: index for index, question in enumerate(questions)}
    response_at = {id(response): index for index, response in enumerate(responses)}
    return {
        "notice": queue.notice,
        "hasSequel": queue.has_sequel,
        "undoSeconds": UNDO.seconds,
        "isMarkdown": html is not None,
        "questions": [_question(question, html) for question in questions],
        "responses": [_response(response, html) for response in responses],
        "units": [
            {
                "code": units[0].code,
                "question": question_at[units[0].question.id],
                "response": response_at[id(units[0].response)],
                "firstRatings": [tuple(vars(first).values()) for first in units[0].first_ratings],
                **_parts(units, html),
            }
            for units in screens
        ],
    }


def _parts(units: Sequence[WorkUnit], html: Html | None) -> dict[str, Any]:
    """Return the texts that a screen compares, or the options that it shows."""
    if units[0].sides:
        return {"sides": [_passage(side, html) for side in units[0].sides]}
    options = [(u.code, u.question.multi_select.option) for u in units if u.question.multi_select]
    return {"options": options} if options else {}


def page_answers(queue: RaterQueue) -> dict[str, Any]:
    """Return the rater's own last answer on each screen that has one, by its first unit's code.

    Options without a label, which were added since, have no rating.
    """
    labels, units = queue.labels(), queue.units
    return {
        units[screen[0]].code: _answer([(units[index], labels[index]) for index in answered])
        for screen in queue.screens
        if (answered := [index for index in screen if index in labels])
    }


@dataclass(frozen=True, kw_only=True)
class PageAction(Answer):
    """An answer on a page, or its withdrawal.

    Args:
        unit: Code of the unit, or of the first on the screen.
        ratings: Of a screen with several units, the rating of each by its code.
        undo: Whether the last answer about the unit is withdrawn.
        age_ms: Age of the action in milliseconds, by the clock of the page, which may have been
            set since.
    """

    __pydantic_config__ = ConfigDict(alias_generator=to_camel, extra="ignore")

    unit: Annotated[str, Field(max_length=64)]
    ratings: Mapping[str, Rating | None] = field(default_factory=dict)
    undo: bool = False
    age_ms: Annotated[float, Field(allow_inf_nan=False)] = 0

    def apply(self, queue: RaterQueue, units: Mapping[str, WorkUnit], *, at: datetime) -> None:
        """Apply the action to the rater's queue.

        Raises:
            ValueError: If a unit is not the rater's, or the queue refuses. The other options of
                the screen are stored.
        """
        # The undo of an answer must not lie before the answer, whose own age was clipped too.
        is_time_known = -UNDO.seconds * 1000 <= self.age_ms <= _OLDEST_MS
        age_ms = max(0, int(self.age_ms)) if is_time_known else 0
        done_at = at - timedelta(milliseconds=age_ms)
        for code, answer in self.by_unit.items():
            if code not in units:
                continue
            if self.undo:
                queue.undo(units[code], at=done_at)
            else:
                queue.answer(units[code], answer, at=done_at, is_time_known=is_time_known)
        n_missing = len(self.by_unit.keys() - units.keys())
        if n_missing == len(self.by_unit):
            raise ValueError("this response is not among yours; reload the page")
        if n_missing:
            message = f"{n_missing} of {len(self.by_unit)} options changed; the others are saved"
            raise ValueError(f"{message}. Reload the page")

    @property
    def by_unit(self) -> dict[str, Answer]:
        """The answer about each unit of the screen; the first has the time that all took."""
        answer = Answer(**self.answer_fields())
        return {
            code: replace(answer, rating=rating, seconds=None if index else self.seconds)
            for index, (code, rating) in enumerate(
                (self.ratings or {self.unit: self.rating}).items()
            )
        }


PAGE_ACTION = TypeAdapter(PageAction)

_OLDEST_MS = timedelta(days=366) / timedelta(milliseconds=1)
"""Age of an action above which the clock of the page must have been wrong."""


def _question(question: RubricQuestion, html: Html | None) -> dict[str, Any]:
    scale = question.scale
    anchors = anchors_of(scale, question.guidelines)
    return {
        "question": question.displayed_text,
        "option": question.multi_select.option if question.multi_select else "",
        "note": question.note,
        "guidelines": _passage(question.guidelines, html),
        "asksFor": dimension_of(question.id).asks_for,
        "choices": [
            {**vars(choice), "anchor": anchors.get(choice.value, "")}
            for choice in question_choices(question)
        ],
        "scale": {
            "low": scale.low,
            "high": scale.high,
            "values": scale.values,
            "described": scale.described(),
        },
    }


def _response(response: ResponseView, html: Html | None) -> dict[str, Any]:
    return {
        "prompt": _passage(response.prompt, html),
        # Comparisons show the texts by side, so the order of the columns is not needed.
        "response": _passage("" if response.is_pair else response.response, html),
        "earlier": [
            {name: _passage(text, html) for name, text in vars(turn).items()}
            for turn in response.earlier
        ],
        "facts": [
            (name, [_passage(line, html if len(lines) == 1 else None) for line in lines])
            for name, lines in response.facts
        ],
    }


def _passage(text: str, html: Html | None) -> str | dict[str, str]:
    """Return a text for the page, with its HTML if it is rendered."""
    return {"text": text, "html": html(text)} if html and text else text


def _answer(labels: Sequence[tuple[WorkUnit, Label]]) -> dict[str, Any]:
    ratings = {unit.code: unit.across_sides(label.events[-1].rating) for unit, label in labels}
    unit, last = labels[0][0], labels[0][1].events[-1]
    fields = {**last.answer_fields(), "rating": ratings[unit.code]}
    return {
        **_ANSWER.dump_python(Answer(**fields), by_alias=True),
        **({"ratings": ratings} if unit.question.multi_select else {}),
        "at": time_text(last.labelled_at),
    }


_ANSWER = TypeAdapter(Answer)

_FORMAT = "eval-assets labels"
_FEWEST_LINES = 2
_AGAIN = "Ask the rater to save the file again from the page"
_REMOVED = "the response, question or option is no longer part of this evaluation"
_RESTORE = "Restore it, then merge the file again"
_ASK = "Ask the rater what was meant"


@dataclass(frozen=True, kw_only=True)
class ReturnedAction(PageAction):
    """An action on an offline page, with its time and the texts on the page."""

    at: AwareDatetime
    hashes: TextHashes | None = None
    option_hashes: Mapping[str, TextHashes] = field(default_factory=dict)


_ACTION = TypeAdapter(ReturnedAction)


def offline_task(study: Study, rater_id: str) -> dict[str, Any]:
    """Return the content of a rater's offline page as JSON."""
    queue = study.queue(rater_id)
    number = study.evaluation.labelling.round
    page = _page(study, rater_id, number)
    task = page_task(queue, html_of(study.evaluation, data_uri))
    for screen, described in zip(queue.screens, task["units"], strict=True):
        units = [queue.units[index] for index in screen]
        hashes = {unit.code: vars(unit.response.hashes(unit.question)) for unit in units}
        described |= {"hashes": hashes[units[0].code], "optionHashes": hashes}
        if len(units) == 1:
            del described["optionHashes"]
    return {
        **task,
        "isOffline": True,
        "page": page,
        "key": study.secret_for("seal", page),
        "rater": rater_id,
        "file": f"labels-{page}.jsonl",
    }


@dataclass(frozen=True)
class ReturnedLabels:
    """Content of a file saved by an offline page.

    Args:
        sessions: The labels.
        problems: Answers that cannot be labels.
    """

    sessions: Sequence[Session]
    problems: Sequence[InputProblem]


def returned_labels(text: str, study: Study, *, file: str) -> ReturnedLabels:
    """Return the labels of a file saved by an offline page.

    Answers count in the order of the file. Their times follow it: the clock of a page may be set
    back between two answers.

    Raises:
        InputError: If the file is not from a page of this study, or was changed since the page
            wrote it.
    """
    head, lines, page_key, (rater_id, number) = _opened(text, study, file=file)
    if not hmac.compare_digest(_seal(page_key, [head, *lines[:-1]]), _sealed_with(lines[-1])):
        raise _refusal(file, None, "the file was changed after the page wrote it, or is incomplete")
    units = study.at_round(number).possible_units(rater_id)
    sessions: dict[SessionKey, Session] = {}
    problems: list[InputProblem] = []
    latest = datetime.min.replace(tzinfo=UTC)
    for line_number, line in enumerate(lines[:-1], start=2):
        try:
            action = _ACTION.validate_json(line)
            latest = max(action.at, latest + timedelta(milliseconds=1))
            for code, answer in action.by_unit.items():
                if code not in units:
                    problems.append(InputProblem(file, line_number, "unit", _REMOVED, _RESTORE))
                    continue
                unit = units[code]
                session = sessions.get(unit.key) or _begun(study, unit, latest)
                sessions[unit.key] = _replayed(session, unit, action, answer, at=latest)
        except ValidationError as error:
            message = f"this is not an answer ({error.errors(include_url=False)[0]['msg']})"
            problems.append(InputProblem(file, line_number, None, message, _AGAIN))
        except ValueError as error:
            problems.append(InputProblem(file, line_number, None, str(error), _ASK))
    closed = [replace(session, closed_at=session.updated_at) for session in sessions.values()]
    return ReturnedLabels(closed, problems)


def merge_returned(returned: ReturnedLabels, study: Study, *, file: str) -> int:
    """Add the labels to those stored; return the number of new answers.

    Raises:
        ExceptionGroup: Of an InputError for each answer that cannot be a label, and for each
            session whose stored labels differ at the same instant. All others
            are stored.
    """
    n_new = 0
    problems = [*returned.problems]
    for session in returned.sessions:
        before = study.sessions.read(session.key)
        try:
            after = study.sessions.change(session.key, partial(_merged, returned=session))
        except InputError:
            raise
        except ValueError as error:
            message = f"{session.key.session_id}: {error}"
            problems.append(InputProblem(file, None, None, message, _AGAIN))
        else:
            n_new += _n_answers(after) - (_n_answers(before) if before else 0)
    if problems:
        message = f"all other answers were merged, {n_new} of them new"
        problems.append(InputProblem(file, None, None, message, "Keep the file"))
    raise_all(problems, source=file)
    return n_new


def _merged(session: Session | None, *, returned: Session) -> Session:
    return session.merged(returned) if session else returned


def _n_answers(session: Session) -> int:
    return sum(len(label.events) for label in session.labels)


def _opened(text: str, study: Study, *, file: str) -> tuple[str, list[str], str, tuple[str, int]]:
    """Return the first line, the further lines, and the key, rater and round of the page."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").strip("\n").split("\n")
    try:
        head = json.loads(lines[0])
        page, rater_id = head["page"], head["rater"]
        is_ours = head["format"] == _FORMAT and len(lines) >= _FEWEST_LINES
    except (json.JSONDecodeError, KeyError, TypeError):
        is_ours = False
    if not is_ours:
        message = "this is not a file of labels from an offline page"
        raise InputError(InputProblem(file, 1, None, message, "Give the file that the page saved"))
    for number in range(1, study.evaluation.labelling.round + 1):
        if page == _page(study, rater_id, number):
            return lines[0], lines[1:], study.secret_for("seal", page), (rater_id, number)
    message = f"the page was not made from this evaluation for {rater_id}"
    remedy = "Merge it in the evaluation folder that made the page"
    raise InputError(InputProblem(file, 1, "page", message, remedy))


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


def _refusal(file: str, line: int | None, message: str) -> InputError:
    return InputError(InputProblem(file, line, None, message, _AGAIN))


def _begun(study: Study, unit: WorkUnit, at: datetime) -> Session:
    n_units = sum(item.key == unit.key for item in study.queue(unit.key.rater_id).units)
    return Session(
        key=unit.key,
        started_at=at,
        updated_at=at,
        n_units=n_units,
        guideline_hash=guideline_hash(unit.question),
    )


def _replayed(
    session: Session, unit: WorkUnit, action: ReturnedAction, answer: Answer, *, at: datetime
) -> Session:
    if action.undo:
        return session.without_latest(unit.name, at=at)
    hashes = action.option_hashes.get(unit.code, action.hashes)
    label = label_of(unit, answer, at=at, hashes=hashes)
    return session.with_label(replace(label, is_time_known=at - action.at <= UNDO))
