"""Judges: what they scored, and how far they agree with each other."""

from dataclasses import dataclass

from eval_assets.interpretation import ALPHA_LIMITS, UNDEFINED, alpha_label, figure_text
from eval_assets.report.data import ReportData
from eval_assets.report.figures import (
    Mark,
    Measure,
    Track,
    agreement_track,
    alpha_tone,
    coefficient,
    lowest_tick,
)
from eval_assets.report.rows import Row, count, number, rows_of, text
from eval_assets.report.writing import percent_text


@dataclass(frozen=True)
class JudgeView:
    """A judge and what became of its units.

    Args:
        judge_id: The judge.
        model: Model and provider, as declared.
        coverage: Share of its units with a score.
        n_ok: Units with a score.
        n_units: Units it was to score.
        statuses: What became of the others, in words; empty where all have a score.
    """

    judge_id: str
    model: str
    coverage: str
    n_ok: int
    n_units: int
    statuses: tuple[str, ...]


@dataclass(frozen=True)
class JudgesTogether:
    """How far judges agree with each other, on one question or on all.

    Args:
        question_id: The question; empty over all questions.
        alpha: Krippendorff's alpha.
        track: Alpha against the gate's minimum.
        kappa_micro: Kappa of all units pooled, as written.
        kappa_macro: Mean kappa over prompts, as written.
        n_units: Units with scores of two judges or more.
        n_judges: Judges.
        n_comparisons: Pairs of scores compared.
    """

    question_id: str
    alpha: Measure
    track: Track
    kappa_micro: str
    kappa_macro: str
    n_units: int
    n_judges: int
    n_comparisons: int


def judge_views(data: ReportData) -> tuple[JudgeView, ...]:
    """Every judge that is declared, in that order."""
    statuses: dict[str, dict[str, int]] = {judge.id: {} for judge in data.evaluation.judges}
    for row in rows_of(data.judge_statuses):
        of_judge = statuses.setdefault(text(row, "judge_id"), {})
        of_judge[text(row, "status")] = count(row, "n")
    models = {
        judge.id: " · ".join(part for part in (judge.model, judge.provider) if part)
        for judge in data.evaluation.judges
    }
    return tuple(
        _judge_view(judge_id, models.get(judge_id, ""), counts)
        for judge_id, counts in statuses.items()
    )


def judges_together(data: ReportData) -> tuple[JudgesTogether, ...]:
    """All questions together first, then one by one in the rubric's order."""
    rows = {
        text(row, "question_id"): row
        for row in rows_of(data.judge_agreement)
        if text(row, "scope") != "response"
    }
    ends = [number(row, c) for row in rows.values() for c in ("alpha", "alpha_low")]
    return tuple(
        _together(data, rows[question_id], axis_low=lowest_tick(ends))
        for question_id in ("", *(q.id for q in data.evaluation.rubric))
        if question_id in rows
    )


def _judge_view(judge_id: str, model: str, counts: dict[str, int]) -> JudgeView:
    n_units, n_ok = sum(counts.values()), counts.get("ok", 0)
    return JudgeView(
        judge_id=judge_id,
        model=model,
        coverage=percent_text(100 * n_ok / n_units) if n_units else UNDEFINED,
        n_ok=n_ok,
        n_units=n_units,
        statuses=tuple(
            f"{n:,} {status.replace('_', ' ')}"
            for status, n in sorted(counts.items(), key=lambda item: -item[1])
            if status != "ok"
        ),
    )


def _together(data: ReportData, row: Row, *, axis_low: float) -> JudgesTogether:
    alpha = number(row, "alpha")
    question_id = text(row, "question_id")
    return JudgesTogether(
        question_id=question_id,
        alpha=coefficient(
            row,
            "alpha",
            f"Krippendorff's alpha ({text(row, 'alpha_level')})",
            limits=ALPHA_LIMITS,
            reading=alpha_label(alpha),
            undefined=text(row, "interpretation"),
            tone=alpha_tone(alpha),
        ),
        track=agreement_track(
            alpha,
            number(row, "alpha_low"),
            number(row, "alpha_high"),
            name=f"alpha of the judges on {question_id or 'all questions'}",
            marks=[
                Mark("minimum", o.overall.minimum) for o in data.gates if o.gate == "judge_alpha"
            ],
            tone=alpha_tone(alpha),
            axis_low=axis_low,
        ),
        kappa_micro=figure_text(number(row, "kappa_micro"), limits=[]),
        kappa_macro=figure_text(number(row, "kappa_macro"), limits=[]),
        n_units=count(row, "n_units"),
        n_judges=count(row, "n_judges"),
        n_comparisons=count(row, "n_comparisons"),
    )
