"""Discussion of disagreements: raters see the first ratings with reasons, and rate once more.

The second ratings are sessions of a kind of their own. No reader of labels opens these, so that a
discussion cannot raise agreement.
"""

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.labelling import DISCUSSION
from eval_assets.labelling.adjudication import (
    Disagreement,
    Unit,
    decisions,
    disagreements,
    read_adjudications,
)
from eval_assets.labelling.assignments import chance
from eval_assets.labelling.choices import value_name
from eval_assets.labelling.rater_queue import FirstRating, RaterQueue, WorkUnit, work_unit
from eval_assets.labelling.rater_view import ResponseView
from eval_assets.labelling.session_files import SessionFolder
from eval_assets.labelling.sessions import SWAPPED_SIDES, Label, remark_of

NOTICE = (
    "Discussion: raters differ on these responses. Read the ratings below each, rate again and say "
    "why in the comment. Both of your ratings are kept; the first one counts."
)


def is_complete(
    labels: pd.DataFrame, queues: Mapping[str, RaterQueue], evaluation: Evaluation
) -> bool:
    """Return whether every rater has labelled all of the round: only then is it discussed."""
    of_round = _of_round(labels, evaluation)
    names = (of_round[name] for name in ("rater_id", "question_id", "response_id"))
    labelled = set(zip(*names, strict=True))
    return all(
        (rater, unit.question.id, unit.response.response_id) in labelled
        for rater, queue in queues.items()
        for unit in queue.units
        if unit.is_counted
    )


def discussion_units(
    rater_id: str,
    labels: pd.DataFrame,
    evaluation: Evaluation,
    responses: Mapping[str, ResponseView],
) -> list[WorkUnit]:
    """Return the open disagreements of the round on responses that a rater rated."""
    adjudicated = decisions(read_adjudications(evaluation))
    units = [
        discussion_unit(rater_id, disagreement, evaluation, responses[disagreement.response_id])
        for disagreement in disagreements(evaluation, _of_round(labels, evaluation))
        if rater_id in disagreement.ratings
        and disagreement.unit not in adjudicated
        and disagreement.response_id in responses
    ]
    order = {question.id: number for number, question in enumerate(evaluation.rubric)}
    return sorted(units, key=lambda unit: order[unit.question.id])


def discussion_unit(
    rater_id: str, disagreement: Disagreement, evaluation: Evaluation, response: ResponseView
) -> WorkUnit:
    """Return a disagreement as a rater discusses it: raters are numbers, drawn anew each time."""
    ratings = disagreement.ratings
    drawn = sorted(ratings, key=lambda name: chance(0, *disagreement.unit, name))
    names = {name: f"Rater {number}" for number, name in enumerate(drawn, start=1)}
    question = evaluation.question(disagreement.question_id)
    unit = work_unit(rater_id, evaluation.labelling.round, response, question, kind=DISCUSSION)
    first_ratings = tuple(
        FirstRating(
            f"You ({names[name]})" if name == rater_id else names[name],
            value_name(rating, question.scale),
            _from_sides_of(unit, disagreement.notes.get(name, "")),
        )
        for name in drawn
        if (rating := unit.across_sides(ratings[name])) is not None
    )
    return replace(unit, first_ratings=first_ratings)


def second_ratings(sessions: SessionFolder, number: int) -> dict[Unit, dict[str, Label]]:
    """Return the raters' labels after the discussion of a round, by response and question."""
    labels: dict[Unit, dict[str, Label]] = {}
    for session in sessions.readable(DISCUSSION)[0]:
        if session.key.round == number:
            for label in session.labels:
                unit = (label.response_id, session.key.question_id)
                labels.setdefault(unit, {})[session.key.rater_id] = label
    return labels


def _of_round(labels: pd.DataFrame, evaluation: Evaluation) -> pd.DataFrame:
    return labels[labels["round"] == evaluation.labelling.round]


def _from_sides_of(unit: WorkUnit, note: str) -> str:
    """Return a note with the sides that its writer saw, relative to those of the unit."""
    if not unit.is_swapped:
        return note
    plain = note.removesuffix(SWAPPED_SIDES)
    return remark_of(plain, is_swapped=plain == note)
