"""Judges: what they scored, how far they agree with each other and with humans."""

import math
from dataclasses import dataclass

from eval_assets.interpretation import (
    A_HH_LIMITS,
    ALPHA_LIMITS,
    UNDEFINED,
    a_hh_label,
    alpha_label,
    figure_text,
)
from eval_assets.report.data import ReportData
from eval_assets.report.figures import (
    Mark,
    Measure,
    Tone,
    Track,
    a_hh_tone,
    agreement_track,
    alpha_tone,
    lowest_tick,
)
from eval_assets.report.rows import Row, count, number, rows_of, text
from eval_assets.report.writing import interval_text, percent_text, points_text


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
        kappa_macro: Mean kappa of response groups, as written.
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


@dataclass(frozen=True)
class JudgeAgainstHumans:
    """One judge against the human raters of one question.

    Args:
        judge_id: The judge.
        n_units: Units with a score and a human rating.
        a_ha: Agreement with humans.
        constant: What the best constant score would reach, as written.
        shuffled: What its own scores would reach, dealt out at random, as written.
        track: Agreement against both controls.
        lenience: Whether it is stricter or more lenient than humans, in words.
        measures: Every figure.
    """

    judge_id: str
    n_units: int
    a_ha: Measure
    constant: str
    shuffled: str
    track: Track
    lenience: str
    measures: tuple[Measure, ...]


_COEFFICIENTS = {
    "alpha": "Krippendorff's alpha",
    "kappa": "Cohen's kappa",
    "weighted_kappa": "Cohen's kappa (quadratic weights)",
    "spearman": "Spearman's rho",
    "kendall": "Kendall's tau-b",
    "pearson": "Pearson's r",
}


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


def judges_against_humans(data: ReportData) -> dict[str, tuple[JudgeAgainstHumans, ...]]:
    """Every judge against humans, by question in the rubric's order."""
    by_question: dict[str, list[JudgeAgainstHumans]] = {q.id: [] for q in data.evaluation.rubric}
    for row in rows_of(data.judge_human_agreement):
        if text(row, "question_id") in by_question:
            by_question[text(row, "question_id")].append(_against_humans(row))
    return {question_id: tuple(found) for question_id, found in by_question.items() if found}


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
        alpha=_measure(
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


def _against_humans(row: Row) -> JudgeAgainstHumans:
    a_ha, constant, shuffled = (number(row, c) for c in ("a_ha", "a_ha_constant", "a_ha_shuffled"))
    agreement = _measure(
        row,
        "a_ha",
        "A^HA",
        limits=(*A_HH_LIMITS, constant),
        reading=a_hh_label(a_ha),
        tone=a_hh_tone(a_ha),
        undefined=_why_undefined(row),
    )
    return JudgeAgainstHumans(
        judge_id=text(row, "judge_id"),
        n_units=count(row, "n_units"),
        a_ha=agreement,
        constant=figure_text(constant, limits=[a_ha]),
        shuffled=figure_text(shuffled, limits=[a_ha]),
        track=agreement_track(
            a_ha,
            number(row, "a_ha_low"),
            number(row, "a_ha_high"),
            name=f"A^HA of {text(row, 'judge_id')}",
            marks=[Mark("constant", constant), Mark("shuffled", shuffled)],
            tone=a_hh_tone(a_ha),
        ),
        lenience=lenience(number(row, "bias"), number(row, "bias_low"), number(row, "bias_high")),
        measures=(
            agreement,
            _control(row, "a_ha_constant", "A^HA of the best constant score"),
            _control(row, "a_ha_shuffled", "A^HA of its own scores, shuffled"),
            _share(row, "exact_agreement", "Exact agreement"),
            _share(row, "adjacent_agreement", "Adjacent agreement"),
            *(
                _measure(row, column, name, limits=(), undefined=_why_undefined(row))
                for column, name in _COEFFICIENTS.items()
            ),
            _measure(
                row,
                "mae",
                "Mean absolute error (points)",
                limits=(),
                undefined=_why_undefined(row),
            ),
            _measure(
                row, "bias", "Judge minus humans (points)", limits=(), undefined=_why_undefined(row)
            ),
            _wilcoxon(row),
        ),
    )


def lenience(bias: float, low: float, high: float) -> str:
    """Whether a judge is stricter or more lenient than humans.

    Args:
        bias: Mean of judge minus humans, in scale points; NaN where undefined.
        low: Lower end of its 95 % interval; NaN where undefined.
        high: Upper end.

    Examples:
        >>> lenience(-0.4, -0.6, -0.2)
        '0.40 points stricter'
        >>> lenience(0.1, -0.1, 0.3)
        'no clear difference (0.10 points more lenient)'
    """
    if math.isnan(bias):
        return UNDEFINED
    if f"{bias:.2f}" in {"0.00", "-0.00"}:
        return "neither stricter nor more lenient"
    leaning = f"{points_text(bias)} {'more lenient' if bias > 0 else 'stricter'}"
    return f"no clear difference ({leaning})" if low <= 0 <= high else leaning


def _measure(  # noqa: PLR0913 - where it stands, what it is, how it reads
    row: Row,
    column: str,
    name: str,
    *,
    limits: tuple[float, ...],
    undefined: str,
    reading: str = "",
    tone: Tone = "none",
) -> Measure:
    value = number(row, column)
    limits = tuple(limit for limit in limits if not math.isnan(limit))
    return Measure(
        name=name,
        value=figure_text(value, limits=limits),
        interval=interval_text(
            number(row, f"{column}_low"), number(row, f"{column}_high"), limits=limits
        ),
        reading=undefined if math.isnan(value) else reading,
        tone=tone,
    )


def _control(row: Row, column: str, name: str) -> Measure:
    return _measure(row, column, name, limits=(), undefined=_why_undefined(row))


def _share(row: Row, column: str, name: str) -> Measure:
    """A share of pairs of judge and rater; the tables hold percentages."""
    value, low, high = (number(row, f"{column}{end}") for end in ("", "_low", "_high"))
    return Measure(
        name=name,
        value=percent_text(value),
        interval="" if math.isnan(low + high) else f"{percent_text(low)} to {percent_text(high)}",
        reading=_why_undefined(row) if math.isnan(value) else "",
    )


def _wilcoxon(row: Row) -> Measure:
    p = number(row, "wilcoxon_p")
    return Measure(
        name="Wilcoxon signed-rank test (p)",
        value=UNDEFINED if math.isnan(p) else "below 0.001" if p < 0.001 else f"{p:.3f}",  # noqa: PLR2004
        interval="",
        reading="too few differences" if math.isnan(p) else "",
    )


def _why_undefined(row: Row) -> str:
    if not count(row, "n_units"):
        return "no unit has both a score and a human rating"
    return "no variation, or the scale does not allow it"
