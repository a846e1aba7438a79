"""New responses for a reworded question: how many, which, and who rates them."""

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass

import pandas as pd

from eval_assets.labelling.assignments import Assignment, AssignmentPlan, assign
from eval_assets.labelling.planning import GatePlan, responses_to_show
from eval_assets.labelling.study import Study


@dataclass(frozen=True)
class NewResponses:
    """Responses that show whether a reworded question is rated better.

    Args:
        n_wanted: Responses that show the gain in four of five studies; infinity if no number does.
        n_assigned: Those that raters have under the new wording already.
        assignments: Further ones, drawn at random from those that no rater knows.
    """

    n_wanted: float
    n_assigned: int
    assignments: tuple[Assignment, ...]

    @property
    def n_missing(self) -> float:
        """Return how many responses must be added to the evaluation."""
        drawn = {assignment.response_id for assignment in self.assignments}
        return max(0.0, self.n_wanted - self.n_assigned - len(drawn))


def responses_wanted(plans: Iterable[GatePlan], *, gain: float) -> float:
    """Return how many new responses show a gain of every figure that is below its minimum.

    It is 0 if none is, and infinity if a figure is too uncertain.

    Args:
        plans: The gates on human agreement, on the labels under the earlier wording.
        gain: True gain of each figure.
    """
    return max(
        (
            math.inf
            if math.isnan(plan.now.low)
            else responses_to_show(gain, now=plan.now, n_responses=plan.n_responses)
            for plan in plans
            if not plan.now.value >= plan.minimum
        ),
        default=0.0,
    )


def draw_new_responses(  # noqa: PLR0913 - the study, its labels, and how to draw
    study: Study,
    question_id: str,
    *,
    before: pd.DataFrame,
    known: Collection[str],
    n_wanted: float,
    seed: int,
) -> NewResponses:
    """Draw responses that no rater knows, for as many raters each as before.

    Args:
        study: The study.
        question_id: The reworded question, which may be multi-select.
        before: Its labels under the earlier wording.
        known: Responses that a rater has labelled on any question.
        n_wanted: How many responses show the gain, a finite number.
        seed: Source of chance.
    """
    number = study.evaluation.labelling.round
    raters = study.raters or tuple(sorted(before["rater_id"].unique()))
    n_raters = before.groupby("response_id")["rater_id"].nunique()
    per_response = min(round(n_raters[n_raters > 1].mean()), len(raters))
    existing = study.assignments or ()
    names = {
        name for one in study.evaluation.rubric if question_id in one.names for name in one.names
    }
    taken = {
        one.response_id
        for one in existing
        if one.round == number and one.question_id in {None, *names}
    }
    own = {one.response_id for one in existing if one.question_id == question_id} & taken
    free = {
        name: ""
        for name, response in study.responses.items()
        if name not in known
        and name not in taken
        and any(question_id in one.names for one in response.questions)
    }
    plan = AssignmentPlan(
        raters=raters,
        n_responses=max(1, int(n_wanted)),
        overlap=float(per_response == len(raters)),
        raters_per_response=per_response,
        question_id=question_id,
        round=number,
        seed=seed,
    )
    assignments = assign(free, plan, existing=existing) if n_wanted > len(own) else []
    return NewResponses(n_wanted, len(own), tuple(assignments))
