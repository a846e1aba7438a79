"""Agreement between humans, question by question."""

import math
from dataclasses import dataclass

from eval_assets.gates import GateOutcome
from eval_assets.interpretation import (
    A_HH_LIMITS,
    ALPHA_LIMITS,
    KAPPA_LIMITS,
    UNDEFINED,
    a_hh_label,
    alpha_label,
    figure_text,
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
    lowest_tick,
)
from eval_assets.report.rows import Row, count, number, rows_of, text
from eval_assets.report.writing import counted, interval_text, percent_text
from eval_assets.rubric import RubricQuestion

A_HH_EXPLAINED = (
    "1.0: raters always agree",
    "0.0: raters are as far apart as the scale allows, on every response",
    "Ratings are normalised to [0, 1] on the declared scale first",
)

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
    main = _main_measure(measures, question)
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
        measures=measures,
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


def _main_measure(measures: tuple[Measure, ...], question: RubricQuestion | None) -> Measure:
    """A^HH; where it is undefined, the share of agreeing pairs; where that is too, A^HH."""
    a_hh, *_ = measures
    if a_hh.is_defined:
        return a_hh
    in_classes = question is not None and (question.scale.is_binary or question.level == "nominal")
    preferred = ("Exact agreement",) if in_classes else ("Adjacent agreement", "Exact agreement")
    return next(
        (m for name in preferred for m in measures if m.name == name and m.is_defined), a_hh
    )


def _measures(row: Row, question: RubricQuestion | None) -> tuple[Measure, ...]:
    a_hh, alpha = number(row, "a_hh"), number(row, "alpha")
    measures = [
        _measure(row, "a_hh", "A^HH", a_hh_label(a_hh), limits=A_HH_LIMITS, tone=a_hh_tone(a_hh)),
        _measure(row, "a_hh_by_chance", "A^HH by chance", "what raters' habits alone would give"),
        _measure(
            row,
            "alpha",
            f"Krippendorff's alpha ({text(row, 'alpha_level')})",
            alpha_label(alpha),
            limits=ALPHA_LIMITS,
            tone=alpha_tone(alpha),
        ),
    ]
    if question is not None:
        kappa = number(row, "kappa")
        measures += [
            _measure(
                row,
                "kappa",
                _KAPPA_NAMES.get(text(row, "kappa_kind"), "Kappa"),
                kappa_label(kappa),
                limits=KAPPA_LIMITS,
            ),
            _measure(
                row,
                "gwet_ac",
                _GWET_NAMES.get(text(row, "gwet_ac_kind"), "Gwet's AC"),
                "agreement beyond chance, steadier on skewed data",
            ),
        ]
    measures += [
        _share(row, "exact_agreement", "Exact agreement", "pairs of equal ratings"),
        _share(row, "adjacent_agreement", "Adjacent agreement", "pairs at most one step apart"),
    ]
    return tuple(measures)


def _measure(  # noqa: PLR0913 - where it stands, what it is, how it reads
    row: Row,
    column: str,
    name: str,
    reading: str,
    *,
    limits: tuple[float, ...] = (),
    tone: Tone = "none",
) -> Measure:
    value = number(row, column)
    return Measure(
        name=name,
        value=figure_text(value, limits=limits),
        interval=interval_text(
            number(row, f"{column}_low"), number(row, f"{column}_high"), limits=limits
        ),
        reading=_why_undefined(row, column) if math.isnan(value) else reading,
        tone=tone,
    )


def _share(row: Row, column: str, name: str, reading: str) -> Measure:
    """A share of rater pairs; the tables hold percentages."""
    value, low, high = (number(row, f"{column}{end}") for end in ("", "_low", "_high"))
    undefined = math.isnan(value)
    return Measure(
        name=name,
        value=percent_text(value),
        interval="" if math.isnan(low + high) else f"{percent_text(low)} to {percent_text(high)}",
        reading=_why_undefined(row, column) if undefined else reading,
        tone=a_hh_tone(value / 100),
    )


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
