"""Labels and judges of all questions, assessed: what every screen shows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from eval_assets.agreement.comparing import JudgeScores, compare_judge
from eval_assets.agreement.judge_comparison import JudgeComparison, JudgeFinding
from eval_assets.agreement.label_agreement import (
    LabelAgreement,
    WideDisagreement,
    label_agreement,
    widest_disagreements,
)
from eval_assets.agreement.ratings import LongRatings
from eval_assets.config.evaluation import Gate, GateName
from eval_assets.config.rubric import RubricQuestion
from eval_assets.verdicts import Verdict

_MOST_DISAGREEMENTS = 5


@dataclass(frozen=True)
class QuestionRatings:
    """Ratings of one question, by people and by judges.

    Args:
        is_held_out: Whether each unit is kept for the judges' test; None if none is.
    """

    question: RubricQuestion
    people: LongRatings
    judges: Mapping[str, JudgeScores]
    is_held_out: NDArray[np.bool_] | None = None


@dataclass(frozen=True)
class Assessment:
    """Labels by question, judges by name and question, and what people disagree on most.

    `outdated_because` says why the labels have no verdict: their files changed, for instance.
    """

    labels: tuple[LabelAgreement, ...]
    judges: Mapping[str, tuple[JudgeComparison, ...]]
    disagreements: tuple[WideDisagreement, ...]
    outdated_because: str = ""

    def outdated(self, reason: str) -> "Assessment":
        """Return the assessment without verdicts, of the labels only with a reason."""
        judges = {
            judge: tuple(replace(of, finding=JudgeFinding.OUTDATED) for of in comparisons)
            for judge, comparisons in self.judges.items()
        }
        labels = self.labels
        if reason:
            labels = tuple(replace(of, verdict=Verdict.NOT_MEASURED) for of in labels)
        return Assessment(labels, judges, self.disagreements, reason)

    @property
    def labels_verdict(self) -> Verdict:
        """The worst verdict on the labels of a question."""
        return Verdict.worst(of.verdict for of in self.labels)

    @property
    def deciding_labels(self) -> LabelAgreement:
        """The question whose labels have that verdict, of several the one with the lowest alpha."""
        worst = [of for of in self.labels if of.verdict is self.labels_verdict]
        return min(worst, key=lambda of: np.nan_to_num(of.alpha.value, nan=np.inf))


def assess(
    questions: Sequence[QuestionRatings],
    *,
    gates: Mapping[GateName, Gate],
    margin: float,
    may_pass: bool,
) -> Assessment:
    """Measure the labels of each question, and compare each judge with them.

    A judge's agreement may lie `margin` below people's. `may_pass` is whether this comparison
    decides; if not, the held-out test does.
    """
    labels = tuple(label_agreement(of.question, of.people, gates) for of in questions)
    judges: dict[str, list[JudgeComparison]] = {}
    for of, agreement in zip(questions, labels, strict=True):
        people = of.people
        if of.is_held_out is not None and of.is_held_out.any():
            people = people.where(~of.is_held_out[people.unit])
        for judge, scores in of.judges.items():
            comparison = compare_judge(
                judge,
                agreement,
                people,
                scores,
                margin=margin,
                n_judges=len(of.judges),
                may_pass=may_pass,
            )
            judges.setdefault(judge, []).append(comparison)
    disagreements = widest_disagreements(
        {
            of.question: (of.people, agreement.unit_agreement)
            for of, agreement in zip(questions, labels, strict=True)
        },
        most=_MOST_DISAGREEMENTS,
    )
    return Assessment(
        labels, {judge: tuple(of) for judge, of in judges.items()}, tuple(disagreements)
    )
