"""The work of a rater: what is to be labelled, and in which order."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.rubric import RubricQuestion
from eval_assets.labelling.assignments import Assignment
from eval_assets.labelling.rater_view import ShownResponse
from eval_assets.labelling.sampling import chance
from eval_assets.labelling.sessions import SessionKey, Unit


@dataclass(frozen=True)
class WorkUnit:
    """One response and question that a rater is to answer.

    Args:
        key: Session that the label belongs to.
        question: The question.
        response: The response as the rater sees it.
        is_repeat: Whether the rater answered it before and is asked again.
    """

    key: SessionKey
    question: RubricQuestion
    response: ShownResponse
    is_repeat: bool = False

    @property
    def name(self) -> Unit:
        """Name of the unit in its session."""
        return self.response.response_id, self.is_repeat

    @property
    def code(self) -> str:
        """A name of the unit that says nothing of the response's id, which may name the model."""
        text = "\x1f".join([self.key.session_id, self.response.response_id, str(self.is_repeat)])
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def work_of(
    rater_id: str,
    evaluation: Evaluation,
    responses: Mapping[str, ShownResponse],
    assignments: Sequence[Assignment] | None,
) -> list[WorkUnit]:
    """Return all that a rater is to label in the current round, in order.

    Args:
        rater_id: The rater.
        evaluation: Declares the round and whether questions are asked one at a time.
        responses: What raters see, by response id.
        assignments: Who labels what; None if everybody labels everything, each in an order of
            their own.

    Examples:
        >>> from pathlib import Path
        >>> from eval_assets.scale import BINARY
        >>> clear, short = (RubricQuestion(q, q, BINARY, "nominal") for q in ("clear", "short"))
        >>> evaluation = Evaluation("e", Path(), (clear, short))
        >>> responses = {r: ShownResponse(r, "p", "a", (clear, short)) for r in ("r1", "r2")}
        >>> work = work_of("anna", evaluation, responses, [Assignment("r2", "anna")])
        >>> [(unit.response.response_id, unit.question.id) for unit in work]
        [('r2', 'clear'), ('r2', 'short')]
    """
    labelling = evaluation.labelling
    if assignments is None:
        mine = [Assignment(response_id, rater_id) for response_id in responses]
        mine.sort(key=lambda one: chance(0, rater_id, str(labelling.round), one.response_id))
    else:
        mine = [
            one for one in assignments if (one.rater_id, one.round) == (rater_id, labelling.round)
        ]
    by_response = [
        _unit(rater_id, labelling.round, responses[one.response_id], question, one.purpose)
        for one in mine
        if one.response_id in responses
        for question in responses[one.response_id].questions
        if one.question_id in {None, question.id}
    ]
    if not labelling.one_question_at_a_time:
        return by_response
    place = {question.id: number for number, question in enumerate(evaluation.rubric)}
    return sorted(by_response, key=lambda unit: place[unit.question.id])


def possible_units(
    rater_id: str, number: int, responses: Mapping[str, ShownResponse]
) -> dict[str, WorkUnit]:
    """Return every unit that a rater could be given in a round, by its code."""
    units = [
        _unit(rater_id, number, response, question, purpose)
        for response in responses.values()
        for question in response.questions
        for purpose in ("shared", "repeat")
    ]
    return {unit.code: unit for unit in units}


def _unit(
    rater_id: str, number: int, response: ShownResponse, question: RubricQuestion, purpose: str
) -> WorkUnit:
    key = SessionKey(
        rater_id=rater_id, question_id=question.id, round=number, run_id=response.run_id
    )
    return WorkUnit(key, question, response, is_repeat=purpose == "repeat")
