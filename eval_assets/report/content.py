"""All that the report says, in words and written numbers, whatever the format."""

from dataclasses import dataclass

from eval_assets.report.against_humans import JudgeAgainstHumans, judges_against_humans
from eval_assets.report.cautions import Caution, cautions
from eval_assets.report.confusion import Confusion, confusions
from eval_assets.report.data import ReportData
from eval_assets.report.disagreements import Disagreement, worst_disagreements
from eval_assets.report.glossary import GLOSSARY, Term
from eval_assets.report.humans import A_HH_EXPLAINED, Agreement, human_agreements
from eval_assets.report.judging import (
    JudgesTogether,
    JudgeView,
    judge_views,
    judges_together,
)
from eval_assets.report.scores import MeanScores, mean_scores
from eval_assets.report.verdict import (
    GateView,
    QuestionGates,
    gate_views,
    headline,
    is_blocked,
    question_gates,
)
from eval_assets.report.writing import counted


@dataclass(frozen=True)
class AgainstHumans:
    """How far judges agree with humans on one question.

    Args:
        question_id: The question.
        judges: Every judge with scores.
        confusions: Every judge's confusion table; empty where the scale has too many values.
    """

    question_id: str
    judges: tuple[JudgeAgainstHumans, ...]
    confusions: tuple[Confusion, ...]


@dataclass(frozen=True)
class Content:
    """The report, section by section, in the order in which it is read."""

    name: str
    headline: str
    is_blocked: bool
    facts: tuple[str, ...]
    gates: tuple[GateView, ...]
    question_gates: tuple[QuestionGates, ...]
    cautions: tuple[Caution, ...]
    a_hh_explained: tuple[str, ...]
    humans: tuple[Agreement, ...]
    judges: tuple[JudgeView, ...]
    judges_together: tuple[JudgesTogether, ...]
    against_humans: tuple[AgainstHumans, ...]
    disagreements: tuple[Disagreement, ...]
    n_disagreements: int
    scores: tuple[MeanScores, ...]
    glossary: tuple[Term, ...]
    generated_at: str


def report_content(data: ReportData) -> Content:
    """Put everything into words."""
    against_humans = judges_against_humans(data)
    return Content(
        name=data.evaluation.name,
        headline=headline(data),
        is_blocked=is_blocked(data),
        facts=(
            counted(len(data.evaluation.rubric), "question"),
            counted(data.n_responses, "response"),
            counted(data.n_raters, "human rater"),
            counted(data.n_labels, "human rating"),
            counted(len(data.evaluation.judges), "judge"),
        ),
        gates=gate_views(data),
        question_gates=question_gates(data),
        cautions=cautions(data),
        a_hh_explained=A_HH_EXPLAINED,
        humans=human_agreements(data),
        judges=judge_views(data),
        judges_together=judges_together(data),
        against_humans=tuple(
            AgainstHumans(
                question_id=question.id,
                judges=against_humans[question.id],
                confusions=confusions(data, question),
            )
            for question in data.evaluation.rubric
            if question.id in against_humans
        ),
        disagreements=worst_disagreements(data),
        n_disagreements=data.n_disagreements,
        scores=mean_scores(data),
        glossary=GLOSSARY,
        generated_at=f"{data.generated_at:%Y-%m-%d %H:%M %Z}".strip(),
    )
