"""Disagreements and how they were settled: a queue, and a file that is only ever added to."""

from __future__ import annotations

import json
from collections.abc import Mapping  # noqa: TC003 - pydantic reads it
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AwareDatetime, ConfigDict, Field, TypeAdapter, ValidationError

from eval_assets.errors import InputProblem, raise_all
from eval_assets.labelling._durable import append_line, locked
from eval_assets.scale import TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import pandas as pd

    from eval_assets.config.evaluation import Evaluation

ADJUDICATIONS = "adjudications.jsonl"

Step = Literal["rating", "comment", "consensus", "excluded", "reopened"]
"""Step of an adjudicator: rate before seeing the ratings, note what the discussion brought,
settle the value, leave the response out as ambiguous, or take back what was settled."""

Unit = tuple[str, str]
"""Response and question."""


@dataclass(frozen=True, kw_only=True)
class Adjudication:
    """One step in settling a disagreement; a line of adjudications.jsonl.

    Args:
        response_id: The response.
        question_id: The question.
        step: What was done.
        by: Who did it.
        at: When, in UTC.
        value: The adjudicator's own rating, or the consensus.
        reason: Why; the comment.
        ratings: What raters, or judges, had given at the time, by their ids.
        between: Who disagreed.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

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
    """A response on whose value raters, or judges, disagree.

    Args:
        response_id: The response.
        question_id: The question.
        ratings: What each gave, by id.
        spread: Highest less lowest, in share of the scale.
        notes: What each noted, by id.
        between: Who disagrees.
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
        append_line(folder / ADJUDICATIONS, line)


def read_adjudications(evaluation: Evaluation) -> list[Adjudication]:
    """Return all steps of an evaluation, in the order in which they were taken.

    Steps on questions that are not in the rubric any more are left out. So is a last line that a
    crash cut short: its writer was never told that it was saved.

    Raises:
        ExceptionGroup: Of an InputError for each line that is not a step, or whose value is not
            on the question's scale.
    """
    path = evaluation.folder / ADJUDICATIONS
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    scales = {question.id: question.scale for question in evaluation.rubric}
    found: list[Adjudication] = []
    problems: list[InputProblem] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            step = _LINE.validate_json(line)
        except ValidationError as error:
            if _is_cut_short(line):
                continue
            problems.append(_bad_line(number, error))
            continue
        scale = scales.get(step.question_id)
        if scale is None:
            continue
        if step.value is not None and not scale.contains(step.value):
            what = f'{step.value:g} is not on the scale of "{step.question_id}"'
            remedy = f"Add a line with one of {scale.described()}, and remove this one"
            problems.append(InputProblem(ADJUDICATIONS, number, "value", what, remedy))
        found.append(step)
    raise_all(problems, source=ADJUDICATIONS)
    return found


def decisions(steps: Iterable[Adjudication]) -> dict[Unit, Adjudication]:
    """Return what was settled last about each unit that is settled, consensus or exclusion."""
    settled: dict[Unit, Adjudication] = {}
    for step in steps:
        if step.step in {"consensus", "excluded"}:
            settled[step.unit] = step
        elif step.step == "reopened":
            settled.pop(step.unit, None)
    return settled


def disagreements(evaluation: Evaluation, labels: pd.DataFrame) -> list[Disagreement]:
    """Return every unit whose raters differ, the worst first.

    Args:
        evaluation: The questions.
        labels: The human ratings, in `LABEL_COLUMNS`.
    """
    rated = labels[~labels["skipped"].astype(bool)]
    found = []
    for question in evaluation.rubric:
        width = question.scale.high - question.scale.low
        given = rated[rated["question_id"] == question.id]
        for response_id, rows in given.groupby("response_id", sort=True):
            spread = float(rows["value"].max() - rows["value"].min()) / width
            if spread > TOLERANCE:
                found.append(
                    Disagreement(
                        response_id=str(response_id),
                        question_id=question.id,
                        ratings=dict(zip(rows["rater_id"], rows["value"], strict=True)),
                        notes={
                            rater: note
                            for rater, note in zip(rows["rater_id"], rows["notes"], strict=True)
                            if note
                        },
                        spread=spread,
                    )
                )
    return worst_first(found)


def worst_first(found: Sequence[Disagreement]) -> list[Disagreement]:
    """Return disagreements by spread, of equal ones by name."""
    return sorted(found, key=lambda one: (-one.spread, one.question_id, one.response_id))


def own_rating(steps: Iterable[Adjudication], unit: Unit, by: str) -> Adjudication | None:
    """Return how an adjudicator rated a unit before seeing what others gave; None if not yet."""
    mine = (s for s in steps if (s.unit, s.by, s.step) == (unit, by, "rating"))
    return next(mine, None)


def _is_cut_short(line: str) -> bool:
    """Return whether the line is the beginning of a JSON object that was never finished."""
    try:
        json.loads(line)
    except json.JSONDecodeError:
        return line.startswith("{") and not line.rstrip().endswith("}")
    return False


def _bad_line(number: int, error: ValidationError) -> InputProblem:
    first = error.errors(include_url=False)[0]
    column = str(first["loc"][0]) if first["loc"] else None
    what = f"this is not an adjudication ({first['msg']})"
    return InputProblem(ADJUDICATIONS, number, column, what, "Correct the line, or remove it")
