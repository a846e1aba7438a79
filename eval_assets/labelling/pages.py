"""Data sent to a labelling page and back: the same online and offline."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any

from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.alias_generators import to_camel

from eval_assets.config.rubric import RubricQuestion
from eval_assets.labelling.choices import choices_of
from eval_assets.labelling.dimensions import dimension_of
from eval_assets.labelling.rater_queue import Answer, Desk
from eval_assets.labelling.rater_view import ShownResponse
from eval_assets.labelling.session_files import as_text
from eval_assets.labelling.sessions import UNDO, Confidence, Label
from eval_assets.labelling.work_items import WorkUnit


def page_task(desk: Desk) -> dict[str, Any]:
    """Return all that a page shows of a rater's work, as JSON: nothing else reaches the rater.

    Responses are named by their place, units by codes; whether a unit is a repeat or a control,
    and which model answered, is not said.
    """
    questions = list(dict.fromkeys(unit.question for unit in desk.units))
    responses = list({id(unit.response): unit.response for unit in desk.units}.values())
    question_at = {question.id: place for place, question in enumerate(questions)}
    response_at = {response.response_id: place for place, response in enumerate(responses)}
    return {
        "undoSeconds": UNDO.seconds,
        "questions": [_question(question) for question in questions],
        "responses": [_response(response) for response in responses],
        "units": [
            {
                "code": unit.code,
                "question": question_at[unit.question.id],
                "response": response_at[unit.response.response_id],
            }
            for unit in desk.units
        ],
        "answers": page_answers(desk),
    }


def page_answers(desk: Desk) -> dict[str, Any]:
    """Return the rater's own last answer about each unit that has one, by the unit's code."""
    return {desk.units[place].code: _answer(label) for place, label in desk.labels().items()}


_Text = Annotated[str, Field(max_length=5000)]


@dataclass(frozen=True, kw_only=True)
class PageAction:
    """One thing that a rater did on a page.

    Args:
        unit: Code of the unit.
        undo: Whether the last answer about it is taken back; otherwise the rest is the answer.
        age_ms: How long ago that was, in milliseconds, by the clock of the page.
    """

    __pydantic_config__ = ConfigDict(alias_generator=to_camel, extra="ignore")

    unit: Annotated[str, Field(max_length=64)]
    undo: bool = False
    age_ms: Annotated[float, Field(ge=0, le=1e11)] = 0
    rating: Annotated[float, Field(allow_inf_nan=False)] | None = None
    confidence: Confidence = "high"
    notes: _Text = ""
    issues: Annotated[tuple[_Text, ...], Field(max_length=100)] = ()
    skip_reason: Annotated[str, Field(max_length=500)] = ""
    seconds: Annotated[float, Field(ge=0, le=1e7)] | None = None

    def apply(self, desk: Desk, units: Mapping[str, WorkUnit], *, at: datetime) -> None:
        """Do on the desk what the rater did on the page.

        Raises:
            ValueError: If the unit is not the rater's, or the desk refuses.
        """
        if self.unit not in units:
            raise ValueError("this response is not among yours; reload the page")
        unit = units[self.unit]
        done_at = at - timedelta(milliseconds=self.age_ms)
        done_at = done_at.replace(microsecond=done_at.microsecond // 1000 * 1000)
        if self.undo:
            desk.undo(unit, at=done_at)
        else:
            desk.answer(unit, self.answer(), at=done_at)

    def answer(self) -> Answer:
        """Return what the rater said."""
        return Answer(
            rating=self.rating,
            confidence=self.confidence,
            notes=self.notes,
            issues=self.issues,
            skip_reason=self.skip_reason,
            seconds=self.seconds,
        )


PAGE_ACTION = TypeAdapter(PageAction)


def _question(question: RubricQuestion) -> dict[str, Any]:
    scale = question.scale
    return {
        "question": question.question,
        "guidelines": question.guidelines,
        "asksFor": dimension_of(question.id).asks_for,
        "choices": [vars(choice) for choice in choices_of(scale)],
        "scale": {
            "low": scale.low,
            "high": scale.high,
            "values": scale.values,
            "described": scale.described(),
        },
    }


def _response(response: ShownResponse) -> dict[str, Any]:
    return {
        "prompt": response.prompt,
        "response": response.response,
        "earlier": [vars(turn) for turn in response.earlier],
        "facts": response.facts,
    }


def _answer(label: Label) -> dict[str, Any]:
    last = label.events[-1]
    return {
        "rating": last.rating,
        "confidence": last.confidence,
        "notes": last.notes,
        "issues": last.issues,
        "skipReason": last.skip_reason,
        "at": as_text(last.labelled_at),
    }
