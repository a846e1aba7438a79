"""Data sent to a labelling page and back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Annotated, Any

from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.alias_generators import to_camel

from eval_assets.config.rubric import RubricQuestion
from eval_assets.labelling.choices import anchors_of, dimension_of, question_choices
from eval_assets.labelling.rater_queue import RaterQueue, WorkUnit
from eval_assets.labelling.rater_view import ResponseView
from eval_assets.labelling.rich_text import Html
from eval_assets.labelling.sessions import (
    UNDO,
    Answer,
    Label,
    Rating,
    time_text,
)


def page_task(queue: RaterQueue, html: Html | None) -> dict[str, Any]:
    """Return the content of a rater's page as JSON; nothing else reaches the rater.

    Responses are named by their position, units by codes. Repeats and models are not
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
        "askedOfNo": dimension_of(question.id).asked_of_no,
        "asksConfidence": question.confidence == "required",
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
            (
                name,
                [_passage(line, html if len(lines) == 1 else None) for line in lines],
                name in response.brief,
            )
            for name, lines in response.facts
        ],
    }


def _passage(text: str, html: Html | None) -> str | dict[str, str]:
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
