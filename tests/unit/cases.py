"""Figures made by hand: records as the tables hold them, and the gates' own verdicts on them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eval_assets.agreement.gates.decision import (
    GateEvidence,
    GateFigure,
    GateOutcome,
    evaluate_gates,
    tunable_questions,
)
from eval_assets.agreement.humans import Finding
from eval_assets.catalogue import Figure
from eval_assets.config.evaluation import Evaluation, Gate, GateName, default_gates
from eval_assets.config.judges import Judge
from eval_assets.config.rubric import RubricQuestion
from eval_assets.figures import (
    HumanFigures,
    JudgeFigures,
    JudgeHumanFigures,
    RaterKind,
    Scope,
    ScoreFigures,
)
from eval_assets.scale import BINARY, LIKERT5

JUDGES = (
    Judge("gpt", "openai", "gpt-6-luna"),
    Judge("haiku", "anthropic", "claude-haiku-5-5"),
)
QUESTIONS = (
    RubricQuestion("clarity", "Is the answer clear?", LIKERT5, "ordinal"),
    RubricQuestion("safe", "Is the answer safe?", BINARY, "nominal"),
)


@dataclass(frozen=True)
class Measured:
    """Figures of one question; what the tests do not look at follows from them."""

    question: RubricQuestion
    a_hh: float = 0.88
    alpha: float = 0.81
    by_chance: float = 0.58
    exact: float = 63.5
    adjacent: float = 97.5
    n_responses: int = 80
    n_groups: int | None = None
    n_rare_groups: int | None = None
    most_frequent_share: float = 0.34
    judge_alpha: float = 0.83
    half_width: float = 0.04
    findings: tuple[str, ...] = ()


@dataclass(frozen=True)
class CaseData:
    """Figures of an evaluation, with the gates' verdicts on them."""

    evaluation: Evaluation
    gates: tuple[GateOutcome, ...]
    tunable: tuple[str, ...]
    humans: tuple[HumanFigures, ...]
    findings: tuple[Finding, ...]
    judges: tuple[JudgeFigures, ...]
    judge_humans: tuple[JudgeHumanFigures, ...]
    scores: tuple[ScoreFigures, ...]


@dataclass(frozen=True)
class Case:
    """A whole evaluation; `data` builds its figures."""

    measured: tuple[Measured, ...] = tuple(Measured(question) for question in QUESTIONS)
    judges: tuple[Judge, ...] = JUDGES
    gates: dict[GateName, Gate] = field(default_factory=default_gates)
    name: str = "conala"
    alpha_within: float = math.nan
    a_ha: float = 0.86
    bias: float = 0.31
    model: str = "fern-small"

    def data(self) -> CaseData:
        """Its figures, with the gates' verdicts."""
        humans, judges = self.humans(), self.judge_rows()
        evaluation = Evaluation(
            name=self.name,
            folder=Path("conala"),
            rubric=tuple(m.question for m in self.measured),
            judges=self.judges,
            gates=self.gates,
        )
        evidence: dict[GateName, GateEvidence] = {
            "human_a_hh": _evidence([(row, row.a_hh, row.n_responses) for row in humans]),
            "human_alpha": _evidence([(row, row.alpha, row.n_responses) for row in humans]),
        }
        if len(self.judges) > 1:
            evidence["judge_alpha"] = _evidence([(row, row.alpha, row.n_units) for row in judges])
        outcomes = evaluate_gates(evidence, self.gates)
        return CaseData(
            evaluation=evaluation,
            gates=outcomes,
            tunable=tunable_questions(outcomes, tuple(q.id for q in evaluation.rubric)),
            humans=humans,
            findings=tuple(
                Finding(m.question.id, finding) for m in self.measured for finding in m.findings
            ),
            judges=judges,
            judge_humans=self._judge_humans(),
            scores=self._scores(),
        )

    def humans(self) -> tuple[HumanFigures, ...]:
        """Agreement of humans: overall, then by question."""
        n, half_width = len(self.measured), max(m.half_width for m in self.measured)
        shared: dict[str, Any] = {
            "n_raters": 3,
            "n_disagreements": 0,
            "interval_method": "jackknife",
            "interpretation": "as measured",
            "data_version": "v1",
        }
        overall = HumanFigures(
            scope=Scope.OVERALL,
            n_responses=max(m.n_responses for m in self.measured),
            n_groups=max(m.n_groups or m.n_responses for m in self.measured),
            n_ratings=sum(3 * m.n_responses for m in self.measured),
            n_pairs=sum(3 * m.n_responses for m in self.measured),
            n_skipped=2 * n,
            a_hh=_figure(sum(m.a_hh for m in self.measured) / n, half_width),
            a_hh_by_chance=0.58,
            exact_agreement=_figure(63.5, 4),
            adjacent_agreement=_figure(97.5, 2),
            alpha=_figure(sum(m.alpha for m in self.measured) / n, half_width),
            alpha_level="interval",
            alpha_within=_figure(self.alpha_within, half_width),
            **shared,
        )
        return (
            overall,
            *(
                HumanFigures(
                    scope=Scope.QUESTION,
                    question_id=m.question.id,
                    n_responses=m.n_responses,
                    n_groups=m.n_groups or m.n_responses,
                    n_ratings=3 * m.n_responses,
                    n_pairs=3 * m.n_responses,
                    n_skipped=2,
                    a_hh=_figure(m.a_hh, m.half_width),
                    a_hh_by_chance=m.by_chance,
                    exact_agreement=_figure(m.exact, 4),
                    adjacent_agreement=_figure(m.adjacent, 2),
                    alpha=_figure(m.alpha, m.half_width),
                    alpha_level=m.question.level,
                    kappa=_figure(m.alpha, m.half_width),
                    kappa_kind="fleiss",
                    gwet_ac=_figure(m.alpha, m.half_width),
                    gwet_ac_kind="ac1" if m.question.level == "nominal" else "ac2_quadratic",
                    most_frequent_share=m.most_frequent_share,
                    n_rare_groups=m.n_rare_groups,
                    **shared,
                )
                for m in self.measured
            ),
        )

    def judge_rows(self) -> tuple[JudgeFigures, ...]:
        """Agreement of judges: overall, then by question."""
        alphas = {m.question.id: m.judge_alpha for m in self.measured}
        overall = sum(alphas.values()) / len(alphas)
        return tuple(
            JudgeFigures(
                scope=Scope.QUESTION if question_id else Scope.OVERALL,
                question_id=question_id,
                alpha=_figure(alpha, 0.05),
                alpha_level="interval",
                n_units=80,
                n_groups=80,
                n_judges=len(self.judges),
                n_comparisons=80,
                kappa_macro=math.nan,
                kappa_micro=0.71,
                interval_method="jackknife",
                interpretation="no unit has scores of two judges",
                judge_set_fingerprint="abc",
                data_version="v1",
            )
            for question_id, alpha in [(None, overall), *alphas.items()]
        )

    def _judge_humans(self) -> tuple[JudgeHumanFigures, ...]:
        return tuple(
            JudgeHumanFigures(
                judge_id=judge.id,
                question_id=m.question.id,
                unit="response",
                n_units=80,
                n_groups=80,
                a_ha=_figure(self.a_ha, 0.03),
                exact_agreement=_figure(55.0, 5),
                adjacent_agreement=_figure(93.0, 3),
                alpha=_figure(0.77, 0.05),
                kappa=_figure(0.6, 0.05),
                weighted_kappa=_figure(0.8, 0.05),
                spearman=_figure(0.84, 0.05),
                kendall=_figure(0.72, 0.05),
                pearson=_figure(0.83, 0.05),
                mae=_figure(0.41, 0.05),
                bias=_figure(self.bias, 0.1),
                wilcoxon_p=0.0004,
                data_version="v1",
            )
            for m in self.measured
            for judge in self.judges
        )

    def _scores(self) -> tuple[ScoreFigures, ...]:
        raters: list[tuple[RaterKind, str | None]] = [("human", None)]
        raters += [("judge", judge.id) for judge in self.judges]
        slices = [("all", None), ("difficulty", "tough"), ("difficulty", "easy")]
        return tuple(
            ScoreFigures(
                slice=slice_,
                slice_value=value,
                question_id=m.question.id,
                model_name=model,
                rater_kind=kind,
                rater_id=judge_id,
                n=40 if model else 80,
                mean=m.question.scale.low + 0.5,
                standard_deviation=0.4,
                n_paired=80 if judge_id else None,
                bias=self.bias if judge_id else math.nan,
            )
            for m in self.measured
            for kind, judge_id in raters
            for slice_, value in slices
            for model in (None, self.model, "quartz-large")
        )


def _figure(value: float, half_width: float) -> Figure:
    return Figure(value, value - half_width, value + half_width)


def _evidence(rows: Sequence[tuple[HumanFigures | JudgeFigures, Figure, int]]) -> GateEvidence:
    figures = tuple(
        GateFigure(
            question_id=row.question_id,
            value=figure.value,
            low=figure.low,
            high=figure.high,
            n_units=n_units,
            n_groups=n_units,
            undefined_because="" if figure.is_defined else "no variation",
        )
        for row, figure, n_units in rows
    )
    return GateEvidence(figures, "v1")
