"""Agreement between humans, question by question."""

import math
from dataclasses import dataclass, replace

from eval_assets.evaluation import RubricQuestion
from eval_assets.gates import GateOutcome
from eval_assets.interpretation import (
    A_HH_LIMITS,
    ALPHA_LIMITS,
    KAPPA_LIMITS,
    UNDEFINED,
    a_hh_label,
    alpha_label,
    kappa_label,
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
    coefficient,
    lowest_tick,
    share_of_pairs,
)
from eval_assets.report.rows import Row, count, number, rows_of, text
from eval_assets.report.writing import counted, percent_text

A_HH_EXPLAINED = (
    "1.0: raters always agree",
    "0.0: raters are as far apart as the scale allows, on every response",
    "Ratings are normalised to [0, 1] on the declared scale first",
)

Measures = dict[str, Measure]
"""Figures by the column of the table that holds them."""

_KAPPA_NAMES = {"cohen": "Cohen's kappa", "fleiss": "Fleiss' kappa"}
_GWET_NAMES = {"ac1": "Gwet's AC1", "ac2_quadratic": "Gwet's AC2 (quadratic weights)"}


@dataclass(frozen=True)
class Agreement:
    """What humans agree on, of one question or of all together.

    Args:
        question_id: The question; empty over all questions.
        question: What raters were asked; empty over all.
        scale: Allowed values and level of measurement, in words; empty over all.
        name: What `value` is: A^HH, or the share of agreeing pairs where A^HH is undefined.
        value: The figure to go by, as written.
        interval: Its 95 % interval; empty where undefined.
        label: What it is called, or why it is undefined.
        tone: How good it is.
        measures: Every figure.
        evidence: What the figures rest on, in words.
        a_hh: A^HH against its minimum and chance.
        alpha: Alpha against its minimum.
        patterns: What stands out in single raters.
        suggestions: What to do.
    """

    question_id: str
    question: str
    scale: str
    name: str
    value: str
    interval: str
    label: str
    tone: Tone
    measures: tuple[Measure, ...]
    evidence: tuple[str, ...]
    a_hh: Track
    alpha: Track
    patterns: tuple[str, ...]
    suggestions: tuple[str, ...]


@dataclass(frozen=True)
class _Line:
    """One coefficient of the table and how it reads."""

    column: str
    name: str
    reading: str
    limits: tuple[float, ...] = ()
    tone: Tone = "none"


def human_agreements(data: ReportData) -> tuple[Agreement, ...]:
    """All questions together first, then one by one in the rubric's order."""
    rows = {text(row, "question_id"): row for row in rows_of(data.human_agreement)}
    asked: dict[str, RubricQuestion | None] = {"": None}
    asked |= {question.id: question for question in data.evaluation.rubric}
    return tuple(
        _agreement(data, rows[question_id], question)
        for question_id, question in asked.items()
        if question_id in rows
    )


def _agreement(data: ReportData, row: Row, question: RubricQuestion | None) -> Agreement:
    measures = _measures(row, question)
    main = _main_measure(row, question, measures)
    minima = {outcome.gate: outcome for outcome in data.gates}
    named = question.id if question else "all questions"
    all_alphas = [
        number(r, c) for r in rows_of(data.human_agreement) for c in ("alpha", "alpha_low")
    ]
    return Agreement(
        question_id=question.id if question else "",
        question=question.question if question else "",
        scale=f"{question.scale.described()} · {question.level}" if question else "",
        name=main.name,
        value=main.value,
        interval=main.interval,
        label=main.reading,
        tone=main.tone,
        measures=tuple(measures.values()),
        evidence=_evidence(row),
        a_hh=agreement_track(
            number(row, "a_hh"),
            number(row, "a_hh_low"),
            number(row, "a_hh_high"),
            name=f"A^HH of {named}",
            marks=[
                *_minimum(minima.get("human_a_hh")),
                Mark("chance", number(row, "a_hh_by_chance")),
            ],
            tone=a_hh_tone(number(row, "a_hh")),
        ),
        alpha=agreement_track(
            number(row, "alpha"),
            number(row, "alpha_low"),
            number(row, "alpha_high"),
            name=f"alpha of {named}",
            marks=_minimum(minima.get("human_alpha")),
            tone=alpha_tone(number(row, "alpha")),
            axis_low=lowest_tick(all_alphas),
        ),
        patterns=_findings(data, question, "pattern"),
        suggestions=_findings(data, question, "suggestion"),
    )


def _main_measure(row: Row, question: RubricQuestion | None, measures: Measures) -> Measure:
    """A^HH; where it is undefined, the share of agreeing pairs; where that is too, A^HH."""
    in_classes = question is not None and (question.scale.is_binary or question.level == "nominal")
    preferred = ("exact_agreement",) if in_classes else ("adjacent_agreement", "exact_agreement")
    for column in ("a_hh", *preferred):
        measure = measures[column]
        if measure.is_defined and column != "a_hh":
            share = number(row, column) / 100
            label = f"{a_hh_label(share)} on {measure.reading}; A^HH is undefined"
            return replace(measure, reading=label, tone=a_hh_tone(share))
        if measure.is_defined:
            return measure
    return measures["a_hh"]


def _measures(row: Row, question: RubricQuestion | None) -> Measures:
    """Every figure by its column; kappa and AC belong to one question."""
    a_hh, alpha, kappa = (number(row, column) for column in ("a_hh", "alpha", "kappa"))
    measures = [
        _Line("a_hh", "A^HH", a_hh_label(a_hh), A_HH_LIMITS, a_hh_tone(a_hh)),
        _Line("a_hh_by_chance", "A^HH by chance", "what raters' habits alone would give"),
        _Line(
            "alpha",
            f"Krippendorff's alpha ({text(row, 'alpha_level')})",
            alpha_label(alpha),
            ALPHA_LIMITS,
            alpha_tone(alpha),
        ),
    ]
    if question is not None:
        kappa_name = _KAPPA_NAMES.get(text(row, "kappa_kind"), "Kappa")
        gwet_name = _GWET_NAMES.get(text(row, "gwet_ac_kind"), "Gwet's AC")
        measures += [
            _Line("kappa", kappa_name, kappa_label(kappa), KAPPA_LIMITS),
            _Line("gwet_ac", gwet_name, "beyond chance, steadier on skewed data"),
        ]
    shares = {
        "exact_agreement": ("Exact agreement", "pairs of equal ratings"),
        "adjacent_agreement": ("Adjacent agreement", "pairs at most one step apart"),
    }
    return {
        line.column: coefficient(
            row,
            line.column,
            line.name,
            reading=line.reading,
            undefined=_why_undefined(row, line.column),
            limits=line.limits,
            tone=line.tone,
        )
        for line in measures
    } | {
        column: share_of_pairs(
            row, column, name, reading=reading, undefined=_why_undefined(row, column)
        )
        for column, (name, reading) in shares.items()
    }


def _why_undefined(row: Row, column: str) -> str:
    """Why a figure of a row is NULL."""
    if not count(row, "n_pairs"):
        return "no response has two ratings"
    if column == "adjacent_agreement":
        return "the scale has no equal steps"
    if column in {"alpha", "kappa", "gwet_ac"}:
        return "no variation: all ratings are equal"
    return text(row, "interpretation") or UNDEFINED


def _evidence(row: Row) -> tuple[str, ...]:
    evidence = [
        f"{counted(count(row, 'n_responses'), 'response')} with two ratings or more",
        counted(count(row, "n_raters"), "rater"),
        counted(count(row, "n_ratings"), "rating"),
        counted(count(row, "n_pairs"), "pair"),
    ]
    n_skipped = count(row, "n_skipped")
    if n_skipped:
        share = 100 * n_skipped / (n_skipped + count(row, "n_ratings"))
        evidence.append(f"{n_skipped:,} skipped ({percent_text(share)})")
    most_frequent = number(row, "most_frequent_share")
    if not math.isnan(most_frequent):
        evidence.append(f"most frequent value: {percent_text(100 * most_frequent)} of ratings")
    return tuple(evidence)


def _minimum(outcome: GateOutcome | None) -> tuple[Mark, ...]:
    return () if outcome is None else (Mark("minimum", outcome.overall.minimum),)


def _findings(data: ReportData, question: RubricQuestion | None, kind: str) -> tuple[str, ...]:
    return tuple(
        text(row, "finding")
        for row in rows_of(data.label_findings)
        if question is not None
        and text(row, "question_id") == question.id
        and text(row, "kind") == kind
    )
