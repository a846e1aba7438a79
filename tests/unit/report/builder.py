"""Report data made by hand: frames as the tables hold them, and the gates' own verdicts on them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd

from eval_assets.agreement import JudgeVerdict
from eval_assets.evaluation import Evaluation, Gate, GateName, default_gates
from eval_assets.gates import Evidence, Figure, evaluate_gates, tunable_questions
from eval_assets.raters import Judge
from eval_assets.report import ReportData
from eval_assets.report.data import count, number, records, text
from eval_assets.rubric import RubricQuestion
from eval_assets.scale import BINARY, LIKERT5, Scale

WHEN = datetime(2026, 11, 21, 4, 30, tzinfo=UTC)
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
    most_frequent_share: float = 0.34
    judge_alpha: float = 0.83
    half_width: float = 0.04
    findings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Case:
    """A whole evaluation; `data` builds the report's input from it."""

    measured: tuple[Measured, ...] = tuple(Measured(question) for question in QUESTIONS)
    judges: tuple[Judge, ...] = JUDGES
    gates: dict[GateName, Gate] = field(default_factory=default_gates)
    name: str = "conala"
    statuses: tuple[tuple[str, str, int], ...] = (
        ("gpt", "ok", 158),
        ("gpt", "unparsable", 2),
        ("haiku", "ok", 160),
    )
    alpha_within: float = math.nan
    a_ha: float = 0.86
    a_ha_constant: float = 0.70
    a_ha_shuffled: float = 0.57
    bias: float = 0.31
    verdicts: Mapping[tuple[str, str], JudgeVerdict] = field(default_factory=dict)
    prompt_text: str = "Sort a list by two keys."
    response_text: str = "Use sorted with a key that returns a tuple."
    rater: str = "r1"
    model: str = "fern-small"

    def data(self) -> ReportData:
        """The report's input."""
        humans, judges = self._human_agreement(), self._judge_agreement()
        evaluation = Evaluation(
            name=self.name,
            folder=Path("conala"),
            rubric=tuple(m.question for m in self.measured),
            judges=self.judges,
            gates=self.gates,
        )
        evidence: dict[GateName, Evidence] = {
            "human_a_hh": _evidence(humans, "a_hh", "n_responses"),
            "human_alpha": _evidence(humans, "alpha", "n_responses"),
        }
        if len(self.judges) > 1:
            evidence["judge_alpha"] = _evidence(judges, "alpha", "n_units")
        outcomes = evaluate_gates(evidence, self.gates)
        return ReportData(
            evaluation=evaluation,
            gates=outcomes,
            tunable=tunable_questions(outcomes, tuple(q.id for q in evaluation.rubric)),
            tables={
                "human_agreement": humans,
                "judge_agreement": judges,
                "judge_human_agreement": self._judge_human_agreement(),
                "judge_confusion": self._judge_confusion(),
                "judge_statuses": pd.DataFrame(self.statuses, columns=["judge_id", "status", "n"]),
                "label_findings": pd.DataFrame(
                    [(m.question.id, *finding) for m in self.measured for finding in m.findings],
                    columns=["question_id", "kind", "finding"],
                ),
                "label_disagreements": self._label_disagreements(),
                "score_summary": self._score_summary(),
            },
            sizes={"responses": 80, "label_disagreements": 31},
            generated_at=WHEN,
        )

    def _human_agreement(self) -> pd.DataFrame:
        rows = [
            {
                "scope": "question",
                "question_id": m.question.id,
                "n_responses": m.n_responses,
                "n_groups": m.n_groups or m.n_responses,
                "n_raters": 3,
                "n_ratings": 3 * m.n_responses,
                "n_pairs": 3 * m.n_responses,
                "n_skipped": 2,
                **_figure("a_hh", m.a_hh, m.half_width),
                "a_hh_by_chance": m.by_chance,
                **_figure("exact_agreement", m.exact, 4),
                **_figure("adjacent_agreement", m.adjacent, 2),
                **_figure("alpha", m.alpha, m.half_width),
                "alpha_level": m.question.level,
                **_figure("kappa", m.alpha, m.half_width),
                "kappa_kind": "fleiss",
                **_figure("gwet_ac", m.alpha, m.half_width),
                "gwet_ac_kind": "ac1" if m.question.level == "nominal" else "ac2_quadratic",
                "most_frequent_share": m.most_frequent_share,
                "interpretation": "as measured",
            }
            for m in self.measured
        ]
        n, half_width = len(self.measured), max(m.half_width for m in self.measured)
        overall = {
            "scope": "overall",
            "question_id": None,
            "n_responses": max(m.n_responses for m in self.measured),
            "n_groups": max(m.n_groups or m.n_responses for m in self.measured),
            **_figure("alpha_within", self.alpha_within, half_width),
            "n_raters": 3,
            "n_ratings": sum(3 * m.n_responses for m in self.measured),
            "n_pairs": sum(3 * m.n_responses for m in self.measured),
            "n_skipped": 2 * n,
            **_figure("a_hh", sum(m.a_hh for m in self.measured) / n, half_width),
            "a_hh_by_chance": 0.58,
            **_figure("exact_agreement", 63.5, 4),
            **_figure("adjacent_agreement", 97.5, 2),
            **_figure("alpha", sum(m.alpha for m in self.measured) / n, half_width),
            "alpha_level": "interval",
            "interpretation": "as measured",
        }
        return pd.DataFrame([overall, *rows])

    def _judge_agreement(self) -> pd.DataFrame:
        alphas = {m.question.id: m.judge_alpha for m in self.measured}
        overall = sum(alphas.values()) / len(alphas)
        return pd.DataFrame(
            [
                {
                    "scope": "question" if question_id else "overall",
                    "question_id": question_id,
                    **_figure("alpha", alpha, 0.05),
                    "alpha_level": "interval",
                    "n_units": 80,
                    "n_groups": 80,
                    "n_judges": len(self.judges),
                    "n_comparisons": 80,
                    "kappa_macro": None,
                    "kappa_micro": 0.71,
                    "interpretation": "no unit has scores of two judges",
                }
                for question_id, alpha in [(None, overall), *alphas.items()]
            ]
        )

    def _judge_human_agreement(self) -> pd.DataFrame:
        coefficients = {
            "alpha": 0.77,
            "kappa": 0.6,
            "weighted_kappa": 0.8,
            "spearman": 0.84,
            "kendall": 0.72,
            "pearson": 0.83,
            "mae": 0.41,
        }
        rows = [
            {
                "judge_id": judge.id,
                "question_id": m.question.id,
                "unit": "response",
                "n_units": 80,
                "n_groups": 80,
                **_figure("a_ha", self.a_ha, 0.03),
                "a_ha_constant": self.a_ha_constant,
                "a_ha_shuffled": self.a_ha_shuffled,
                **_figure("a_ha_above_constant", self.a_ha - self.a_ha_constant, 0.03),
                **_figure("a_ha_above_shuffled", self.a_ha - self.a_ha_shuffled, 0.03),
                **_figure("a_ha_above_people", self.a_ha - m.a_hh, 0.02),
                "verdict": self.verdicts.get((judge.id, m.question.id), "as people do"),
                **_figure("exact_agreement", 55.0, 5),
                **_figure("adjacent_agreement", 93.0, 3),
                **{
                    column: figure
                    for name, value in coefficients.items()
                    for column, figure in _figure(name, value, 0.05).items()
                },
                **_figure("bias", self.bias, 0.1),
                "wilcoxon_p": 0.0004,
            }
            for m in self.measured
            for judge in self.judges
        ]
        return pd.DataFrame(rows, columns=[*rows[0]] if rows else ["judge_id", "question_id"])

    def _judge_confusion(self) -> pd.DataFrame:
        rows = [
            (judge.id, m.question.id, human, human if human != high else low, 7)
            for m in self.measured
            for judge in self.judges
            for low, high in [(m.question.scale.low, m.question.scale.high)]
            for human in (m.question.scale.values or ())
        ]
        columns = ["judge_id", "question_id", "human_value", "judge_value", "n_units"]
        return pd.DataFrame(rows, columns=columns)

    def _label_disagreements(self) -> pd.DataFrame:
        return pd.DataFrame(
            [
                {
                    "response_id": "resp-1",
                    "question_id": self.measured[0].question.id,
                    "n_ratings": 2,
                    "range": 4.0,
                    "standard_deviation": 2.0,
                    "ratings": pd.Series({self.rater: 1.0, "r2": 5.0}).to_json(),
                    "reason": "from one end of the scale to the other",
                    "model_name": self.model,
                    "prompt_text": self.prompt_text,
                    "response_text": self.response_text,
                }
            ]
        )

    def _score_summary(self) -> pd.DataFrame:
        raters: list[tuple[str, str | None]] = [("human", None)]
        raters += [("judge", judge.id) for judge in self.judges]
        return pd.DataFrame(
            [
                {
                    "slice": column,
                    "slice_value": value,
                    "question_id": m.question.id,
                    "model_name": model,
                    "rater_kind": kind,
                    "rater_id": judge_id,
                    "n": 40 if model else 80,
                    "mean": m.question.scale.low + 0.5,
                    "standard_deviation": 0.4,
                    "n_paired": 80 if judge_id else None,
                    "bias": self.bias if judge_id else None,
                }
                for m in self.measured
                for kind, judge_id in raters
                for column, value in [
                    ("all", None),
                    ("difficulty", "tough"),
                    ("difficulty", "easy"),
                ]
                for model in (None, self.model, "quartz-large")
            ]
        )


def twelve_questions() -> tuple[Measured, ...]:
    """Twelve questions of four scales, from good agreement to none."""
    scales = (LIKERT5, BINARY, Scale.from_steps(low=1, high=4), Scale(low=0, high=1))
    return tuple(
        Measured(
            RubricQuestion(
                f"question_{k}_of_the_rubric",
                f"Does the answer meet point {k}?",
                scales[k % 4],
                scales[k % 4].default_level(),
            ),
            a_hh=0.95 - 0.04 * k,
            alpha=0.9 - 0.09 * k,
        )
        for k in range(12)
    )


def _figure(name: str, value: float, half_width: float) -> dict[str, float | None]:
    if math.isnan(value):
        return {name: None, f"{name}_low": None, f"{name}_high": None}
    return {name: value, f"{name}_low": value - half_width, f"{name}_high": value + half_width}


def _evidence(frame: pd.DataFrame, column: str, n: str) -> Evidence:
    """Evidence as the store reads it: NULL is NaN."""
    figures = tuple(
        Figure(
            question_id=text(row, "question_id") or None,
            value=number(row, column),
            low=number(row, f"{column}_low"),
            high=number(row, f"{column}_high"),
            n_units=count(row, n),
            undefined_because="no variation" if math.isnan(number(row, column)) else "",
        )
        for row in records(frame)
    )
    return Evidence(figures, "v1")


ATTACK = (
    "\"><script>alert(1)</script><img src=x onerror=alert(1)>\n\n# Big|cell `code` {{ 7*7 }} 'x"
)
LONG = "A sentence that goes on. " * 400


def attacked() -> Case:
    """Return a case in which every text that comes from data tries to become markup."""
    question = RubricQuestion(ATTACK, ATTACK, LIKERT5, "ordinal")
    findings = (("pattern", ATTACK), ("suggestion", ATTACK))
    return Case(
        measured=(Measured(question, findings=findings),),
        name=ATTACK,
        prompt_text=ATTACK,
        response_text=ATTACK,
        rater=ATTACK,
        model=ATTACK,
        statuses=((ATTACK, ATTACK, 5), ("gpt", "ok", 3)),
    )


CASES = {
    "plain": Case(),
    "attacked": attacked(),
    "twelve questions": Case(measured=twelve_questions()),
    "no judges": Case(judges=(), statuses=()),
    "long text": Case(response_text=LONG),
    "undefined": Case(measured=(Measured(QUESTIONS[0], alpha=math.nan), Measured(QUESTIONS[1]))),
}


def many_disagreements(n: int) -> ReportData:
    """Return a case with `n` disagreements, whose ratings lie 1 to 4 points apart."""
    data = Case().data()
    [row] = data.tables["label_disagreements"].to_dict("records")
    rows = [
        {**row, "response_id": f"resp-{k}", "range": float(1 + k % 4), "prompt_text": f"Ask {k}."}
        for k in range(n)
    ]
    return with_tables(data, label_disagreements=pd.DataFrame(rows))


def with_tables(data: ReportData, **tables: pd.DataFrame) -> ReportData:
    """Return `data` with other tables in place of its own."""
    return replace(data, tables={**data.tables, **tables}, sizes={})
