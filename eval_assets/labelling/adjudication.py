"""Discussion of disagreements by raters, and their blind adjudication.

Second ratings after a discussion are sessions of a separate kind. No reader of labels opens these,
so that a discussion cannot raise agreement.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import pandas as pd
from pydantic import AwareDatetime, ConfigDict, Field, TypeAdapter, ValidationError

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.labelling import ADJUDICATIONS, DISCUSSION
from eval_assets.errors import InputProblem, raise_all
from eval_assets.labelling.assignments import chance
from eval_assets.labelling.choices import value_name
from eval_assets.labelling.durable import append_lines, locked
from eval_assets.labelling.rater_queue import (
    FirstRating,
    RaterQueue,
    WorkUnit,
    label_of,
    work_unit,
)
from eval_assets.labelling.rater_view import ResponseView
from eval_assets.labelling.sessions import (
    SWAPPED_SIDES,
    Answer,
    Label,
    SessionKey,
    remark_of,
)
from eval_assets.scale import TOLERANCE

Step = Literal["rating", "comment", "consensus", "excluded", "reopened"]
"""Step of an adjudicator: rate before seeing the ratings, comment on the discussion, settle the
value, leave the response out as ambiguous, or withdraw a decision."""

Unit = tuple[str, str]
"""Response and question."""


@dataclass(frozen=True, kw_only=True)
class Adjudication:
    """One step in settling a disagreement; a line of adjudications.jsonl.

    `value` is the adjudicator's own rating or the consensus. `ratings` are those of the raters or
    judges at the time, by id; `between` says which of the two disagreed.
    """

    __pydantic_config__ = ConfigDict(extra="forbid", defer_build=True)

    response_id: Annotated[str, Field(min_length=1)]
    question_id: Annotated[str, Field(min_length=1)]
    step: Step
    by: Annotated[str, Field(min_length=1)]
    at: AwareDatetime
    value: float | None = None
    reason: str = ""
    ratings: Mapping[str, float] = field(default_factory=dict)
    between: Literal["raters", "judges"] = "raters"

    def __post_init__(self) -> None:
        if self.step in {"rating", "consensus"} and self.value is None:
            raise ValueError(f"a {self.step} needs a value")
        if self.step in {"consensus", "excluded", "reopened"} and not self.reason.strip():
            raise ValueError("say why: the reason is what others learn from")
        if self.step == "comment" and not self.reason.strip():
            raise ValueError("the comment is empty")

    @property
    def unit(self) -> Unit:
        """The unit that is adjudicated."""
        return self.response_id, self.question_id


@dataclass(frozen=True)
class Disagreement:
    """A response on which raters or judges disagree.

    `ratings` and `notes` are by id. `spread` is the highest less the lowest rating, as a share of
    the scale.
    """

    response_id: str
    question_id: str
    ratings: Mapping[str, float]
    spread: float
    notes: Mapping[str, str] = field(default_factory=dict)
    between: Literal["raters", "judges"] = "raters"

    @property
    def unit(self) -> Unit:
        """The unit on which raters disagree."""
        return self.response_id, self.question_id


_LINE = TypeAdapter(Adjudication)


def add_adjudication(folder: Path, adjudication: Adjudication) -> None:
    """Add one step to the file; once this returns, it is on disk."""
    line = json.dumps(
        _LINE.dump_python(adjudication, mode="json", exclude_defaults=True), ensure_ascii=False
    )
    with locked(folder):
        append_lines(folder / ADJUDICATIONS, [line])


def read_adjudications(evaluation: Evaluation) -> list[Adjudication]:
    """Return all steps of an evaluation in the order of the file.

    Steps on questions that are no longer in the rubric are left out. So is a last line that a crash
    cut short, because its writer was never told that it was saved.

    Raises:
        ExceptionGroup: Of an InputError for each line that is not a step, or whose value is not
            on the question's scale.
    """
    path = evaluation.folder / ADJUDICATIONS
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    scales = {question.id: question.scale for question in evaluation.rubric}
    steps: list[Adjudication] = []
    problems: list[InputProblem] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            step = _LINE.validate_json(line)
        except ValidationError as error:
            if _is_cut_short(line):
                continue
            fault = error.errors(include_url=False)[0]
            column = str(fault["loc"][0]) if fault["loc"] else None
            message = f"this is not an adjudication ({fault['msg']})"
            remedy = "Correct the line, or remove it"
            problems.append(InputProblem(ADJUDICATIONS, number, column, message, remedy))
            continue
        scale = scales.get(step.question_id)
        if scale is None:
            continue
        if step.value is not None and not scale.contains(step.value):
            message = f'{step.value:g} is not on the scale of "{step.question_id}"'
            remedy = f"Add a line with one of {scale.described()}, and remove this one"
            problems.append(InputProblem(ADJUDICATIONS, number, "value", message, remedy))
        steps.append(step)
    raise_all(problems, source=ADJUDICATIONS)
    return steps


def decisions(steps: Iterable[Adjudication]) -> dict[Unit, Adjudication]:
    """Return the last decision on each settled unit, consensus or exclusion."""
    adjudications: dict[Unit, Adjudication] = {}
    for step in steps:
        if step.step in {"consensus", "excluded"}:
            adjudications[step.unit] = step
        elif step.step == "reopened":
            adjudications.pop(step.unit, None)
    return adjudications


def disagreements(evaluation: Evaluation, labels: pd.DataFrame) -> list[Disagreement]:
    """Return every unit on which raters differ, the worst first."""
    rated = labels[~labels["skipped"].astype(bool)]
    units = []
    for question in evaluation.rubric:
        width = question.scale.high - question.scale.low
        question_labels = rated[rated["question_id"] == question.id]
        by_response: dict[str, list[tuple[str, float, str | None]]] = {}
        columns = (question_labels[name] for name in ("response_id", "rater_id", "value", "notes"))
        for response_id, *label in zip(*columns, strict=True):
            by_response.setdefault(response_id, []).append((label[0], label[1], label[2]))
        for response_id, ratings in by_response.items():
            values = [value for _, value, _ in ratings]
            spread = (max(values) - min(values)) / width
            if spread > TOLERANCE:
                units.append(
                    Disagreement(
                        response_id=response_id,
                        question_id=question.id,
                        ratings={rater: value for rater, value, _ in ratings},
                        notes={rater: note for rater, _, note in ratings if note},
                        spread=spread,
                    )
                )
    return worst_first(units)


def worst_first(items: Sequence[Disagreement]) -> list[Disagreement]:
    """Return disagreements by spread, of equal ones by name."""
    return sorted(items, key=lambda item: (-item.spread, item.question_id, item.response_id))


def own_rating(steps: Iterable[Adjudication], unit: Unit, by: str) -> Adjudication | None:
    """Return an adjudicator's blind rating of a unit; None if there is none."""
    ratings = (s for s in steps if (s.unit, s.by, s.step) == (unit, by, "rating"))
    return next(ratings, None)


def _is_cut_short(line: str) -> bool:
    try:
        json.loads(line)
    except json.JSONDecodeError:
        return line.startswith("{") and not line.rstrip().endswith("}")
    return False


@dataclass(frozen=True)
class Case:
    """A disagreement as an adjudicator sees it.

    `own_value` is the adjudicator's own rating. Until it is given, nothing else is shown.
    `second_ratings` are the raters' labels after a discussion.
    """

    disagreement: Disagreement
    unit: WorkUnit
    own_value: float | None
    comments: tuple[Adjudication, ...]
    decision: Adjudication | None
    second_ratings: Mapping[str, Label] = field(default_factory=dict)


@dataclass(frozen=True)
class AdjudicationQueue:
    """The disagreements for one adjudicator, without those that they labelled as a rater.

    `disagreements` returns all of them and `second_ratings` those after a discussion, as they are
    now.
    """

    evaluation: Evaluation
    responses: Mapping[str, ResponseView]
    disagreements: Callable[[], Sequence[Disagreement]]
    second_ratings: Callable[[], Mapping[Unit, Mapping[str, Label]]]
    by: str

    def cases(self) -> list[Case]:
        """Return all disagreements on responses that exist, open ones first, the worst first."""
        steps = read_adjudications(self.evaluation)
        adjudications = decisions(steps)
        second_ratings = self.second_ratings()
        cases = []
        for disagreement in self.disagreements():
            response = self.responses.get(disagreement.response_id)
            is_own = self.by.casefold() in map(str.casefold, disagreement.ratings)
            if response is None or is_own:
                continue
            question = self.evaluation.question(disagreement.question_id)
            key = SessionKey(rater_id=self.by, question_id=question.id)
            rating = own_rating(steps, disagreement.unit, self.by)
            comments = [s for s in steps if s.unit == disagreement.unit and s.step == "comment"]
            cases.append(
                Case(
                    disagreement=disagreement,
                    unit=WorkUnit(key, question, response),
                    own_value=rating.value if rating else None,
                    comments=tuple(comments),
                    decision=adjudications.get(disagreement.unit),
                    second_ratings=second_ratings.get(disagreement.unit, {}),
                )
            )
        return sorted(cases, key=lambda case: case.decision is not None)

    def rate(self, case: Case, value: float, *, at: datetime) -> None:
        """Store the adjudicator's own rating, given before seeing any other.

        Raises:
            ValueError: If the value is not on the scale.
        """
        label_of(case.unit, Answer(rating=value), at=at)
        self._add(case, "rating", value=value, reason="", at=at)

    def comment(self, case: Case, text: str, *, at: datetime) -> None:
        """Store a comment on the discussion. No label changes."""
        self._add(case, "comment", value=None, reason=text, at=at)

    def settle(self, case: Case, value: float | None, *, reason: str, at: datetime) -> None:
        """Settle the value; None leaves the response out as ambiguous.

        Raises:
            ValueError: If the adjudicator has not rated it, the value is not on the scale, or
                there is no reason.
        """
        if case.own_value is None:
            raise ValueError("rate the response yourself before you see and settle the others")
        if value is not None:
            label_of(case.unit, Answer(rating=value), at=at)
        step: Step = "excluded" if value is None else "consensus"
        self._add(case, step, value=value, reason=reason, at=at)

    def reopen(self, case: Case, *, reason: str, at: datetime) -> None:
        """Withdraw a decision, which stays in the file.

        Raises:
            ValueError: If nothing was settled, or there is no reason.
        """
        if case.decision is None:
            raise ValueError("this disagreement is open")
        self._add(case, "reopened", value=None, reason=reason, at=at)

    def _add(
        self, case: Case, step: Step, *, value: float | None, reason: str, at: datetime
    ) -> None:
        disagreement = case.disagreement
        add_adjudication(
            self.evaluation.folder,
            Adjudication(
                response_id=disagreement.response_id,
                question_id=disagreement.question_id,
                step=step,
                by=self.by,
                at=at,
                value=value,
                reason=reason.strip(),
                # Before their own rating adjudicators are shown none, and the record says so.
                ratings={} if step == "rating" else dict(disagreement.ratings),
                between=disagreement.between,
            ),
        )


NOTICE = (
    "Discussion: raters differ on these responses. Read the ratings below each, rate again and say "
    "why in the comment. Both of your ratings are kept; the first one counts."
)


def is_complete(
    labels: pd.DataFrame, queues: Mapping[str, RaterQueue], evaluation: Evaluation
) -> bool:
    """Return whether every rater has labelled the whole round, which may then be discussed."""
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
    """Return a disagreement for discussion, in which raters have random numbers as names."""
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


def _of_round(labels: pd.DataFrame, evaluation: Evaluation) -> pd.DataFrame:
    return labels[labels["round"] == evaluation.labelling.round]


def _from_sides_of(unit: WorkUnit, note: str) -> str:
    """Return a note with the sides that its writer saw, relative to those of the unit."""
    if not unit.is_swapped:
        return note
    plain = note.removesuffix(SWAPPED_SIDES)
    return remark_of(plain, is_swapped=plain == note)
