"""Agreement between humans, overall and question by question."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from eval_assets.bands import (
    A_HH_LIMITS,
    ALPHA_LIMITS,
    ALPHA_TARGETS,
    KAPPA_LIMITS,
    KAPPA_TARGETS,
    a_hh_label,
    alpha_label,
    chance_remark,
    kappa_label,
)
from eval_assets.config.evaluation import GateName
from eval_assets.config.rubric import RubricQuestion
from eval_assets.render.document import (
    Block,
    Card,
    CardFigure,
    Cell,
    Column,
    Fold,
    Section,
    Table,
    TableRow,
    Text,
    anchor,
    bullets,
)
from eval_assets.report._figures import (
    Line,
    a_hh_tone,
    agreement_plot,
    alpha_tone,
    coefficient,
    lines_table,
    lowest_tick,
    share_of_pairs,
    within_questions,
)
from eval_assets.report.data import Record, ReportData, count, number, text
from eval_assets.verdicts import Tone
from eval_assets.wording import UNDEFINED, counted, figure_text, percent_text

_LEAD = (
    "A judge can only be compared with humans who mean the same thing. A^HH says how close their "
    "ratings are; alpha says how much of that is more than chance."
)
_A_HH_EXPLAINED = (
    "1.0: raters always agree",
    "0.0: raters are as far apart as the scale allows, on every response",
    "Ratings are normalised to [0, 1] on the declared scale first",
)
_KEY = "● value with 95 % interval   │ minimum of the gate   ┊ what chance alone gives"
_KAPPA_NAMES = {"cohen": "Cohen's kappa", "fleiss": "Fleiss' kappa"}
_GWET_NAMES = {"ac1": "Gwet's AC1", "ac2_quadratic": "Gwet's AC2 (quadratic weights)"}
_MOST_OPEN = 4
"""Questions up to which all statistics are shown; with more a reader opens them."""


def section(data: ReportData) -> Section:
    """Return a table over all questions and a card per question."""
    by_question = {text(record, "question_id"): record for record in data.rows("human_agreement")}
    asked: list[RubricQuestion | None] = [None, *data.evaluation.rubric]
    shown = [
        (q, by_question[q.id if q else ""]) for q in asked if (q.id if q else "") in by_question
    ]
    if not shown:
        blocks: tuple[Block, ...] = (Text("Nothing is measured yet. Materialize human_agreement."),)
    else:
        blocks = (
            Card("", (Text(_KEY, is_small=True), _overview(data, shown))),
            *(_card(data, record, question) for question, record in shown if question),
        )
    return Section("humans", "Do humans agree?", "Humans", (Text(_LEAD), *blocks))


def _overview(data: ReportData, shown: Sequence[tuple[RubricQuestion | None, Record]]) -> Table:
    alphas = [number(record, c) for _, record in shown for c in ("alpha", "alpha_low")]
    axis_low = lowest_tick(alphas)
    return Table(
        "Agreement between humans by question",
        (
            Column("Question"),
            Column("A^HH", axis=(0.0, 1.0)),
            Column("Krippendorff's alpha", axis=(axis_low, 1.0)),
        ),
        tuple(
            TableRow(
                (
                    Cell(question.id, link=anchor("question", question.id))
                    if question
                    else Cell("All questions"),
                    _a_hh_cell(data, record),
                    _alpha_cell(data, record, axis_low=axis_low),
                ),
                kind="plain" if question else "total",
            )
            for question, record in shown
        ),
        caption=within_questions(shown[0][1]) if len(shown) > 2 else "",  # noqa: PLR2004
    )


def _a_hh_cell(data: ReportData, record: Record) -> Cell:
    value = number(record, "a_hh")
    return Cell(
        figure_text(value, limits=A_HH_LIMITS),
        plot=agreement_plot(
            record,
            "a_hh",
            name=f"A^HH of {text(record, 'question_id') or 'all questions'}",
            marks=[*_minimum(data, "human_a_hh"), ("chance", number(record, "a_hh_by_chance"))],
            tone=a_hh_tone(value),
        ),
    )


def _alpha_cell(data: ReportData, record: Record, *, axis_low: float) -> Cell:
    value = number(record, "alpha")
    return Cell(
        figure_text(value, limits=ALPHA_LIMITS),
        plot=agreement_plot(
            record,
            "alpha",
            name=f"alpha of {text(record, 'question_id') or 'all questions'}",
            marks=_minimum(data, "human_alpha"),
            tone=alpha_tone(value),
            axis_low=axis_low,
        ),
    )


def _card(data: ReportData, record: Record, question: RubricQuestion) -> Card:
    statistics = _statistics(record)
    if question.scale.is_binary or not question.has_order or question.scale.values is None:
        # Of two values all pairs are at most one step apart; classes and continua have no steps.
        del statistics["adjacent_agreement"]
    if question.scale.values is None:
        # Hardly any two ratings are equal, however close they are.
        del statistics["kappa"]
    main = _main_statistic(record, question, statistics)
    asked = (Text(question.question),) if question.question != question.id else ()
    everything = Fold(
        "All statistics",
        (lines_table(statistics.values(), label=f"All statistics of {question.id}"),),
        subject=f"of {question.id}",
        is_open=len(data.evaluation.rubric) <= _MOST_OPEN,
    )
    return Card(
        title=question.id,
        anchor=anchor("question", question.id),
        figure=CardFigure(
            name=main.name,
            value=main.value,
            reading=main.reading,
            tone=main.tone,
            notes=(
                f"95 % interval {main.interval}" if main.interval else "no interval",
                *_A_HH_EXPLAINED,
            ),
        ),
        blocks=(
            *asked,
            Text(f"{question.scale.described()} · {question.level}", is_small=True),
            *([everything] if count(record, "n_pairs") else []),
            Text(" · ".join(_evidence(record)), is_small=True),
            *bullets(_findings(data, question, "pattern"), "What stands out"),
            *bullets(_findings(data, question, "suggestion"), "What to do"),
        ),
    )


def _main_statistic(record: Record, question: RubricQuestion, statistics: dict[str, Line]) -> Line:
    """Return A^HH; if it is undefined, the share of agreeing pairs; if that is too, A^HH."""
    in_classes = question.scale.is_binary or question.level == "nominal"
    preferred = ("exact_agreement",) if in_classes else ("adjacent_agreement", "exact_agreement")
    if not statistics["a_hh"].is_defined:
        for column in preferred:
            statistic = statistics.get(column)
            if statistic and statistic.is_defined:
                share = number(record, column) / 100
                label = f"{a_hh_label(share)} on {statistic.reading}; A^HH is undefined"
                return replace(statistic, reading=label, tone=a_hh_tone(share))
    return statistics["a_hh"]


def _statistics(record: Record) -> dict[str, Line]:
    """Return the statistics of one question by their columns."""
    alpha, kappa = number(record, "alpha"), number(record, "kappa")

    kappa_name = _KAPPA_NAMES.get(text(record, "kappa_kind"), "Kappa")
    gwet_name = _GWET_NAMES.get(text(record, "gwet_ac_kind"), "Gwet's AC")
    named: list[tuple[str, str, str, Sequence[float], Tone]] = [
        ("a_hh", "A^HH", *_a_hh_reading(record)),
        ("a_hh_by_chance", "A^HH by chance", "what raters' habits alone would give", (), Tone.NONE),
        (
            "alpha",
            f"Krippendorff's alpha ({text(record, 'alpha_level')})",
            _alpha_reading(alpha),
            ALPHA_LIMITS,
            alpha_tone(alpha),
        ),
        ("kappa", kappa_name, _kappa_reading(kappa), KAPPA_LIMITS, Tone.NONE),
        ("gwet_ac", gwet_name, "beyond chance, steadier on skewed data", (), Tone.NONE),
    ]
    shares = [
        ("exact_agreement", "Exact agreement", "pairs of equal ratings"),
        ("adjacent_agreement", "Adjacent agreement", "pairs at most one step apart"),
    ]
    return {
        column: coefficient(
            record,
            column,
            name,
            reading=reading,
            undefined=_why_undefined(record, column),
            limits=limits,
            tone=tone,
        )
        for column, name, reading, limits, tone in named
    } | {
        column: share_of_pairs(
            record, column, name, reading=reading, undefined=_why_undefined(record, column)
        )
        for column, name, reading in shares
    }


def _a_hh_reading(record: Record) -> tuple[str, Sequence[float], Tone]:
    """Return what A^HH is called, the ends of its bands, and how good it is."""
    a_hh = number(record, "a_hh")
    remark = chance_remark(
        a_hh, low=number(record, "a_hh_low"), by_chance=number(record, "a_hh_by_chance")
    )
    return a_hh_label(a_hh) + remark, A_HH_LIMITS, Tone.POOR if remark else a_hh_tone(a_hh)


def _alpha_reading(alpha: float) -> str:
    """Return what alpha is called, and how far it reaches the targets of human labelling."""
    reached = [name for name, target in ALPHA_TARGETS.items() if alpha >= target]
    return (
        f"{alpha_label(alpha)}; {reached[-1]} for human labels" if reached else alpha_label(alpha)
    )


def _kappa_reading(kappa: float) -> str:
    """Return what kappa is called, and how far it reaches the targets of human labelling."""
    if math.isnan(kappa):
        return UNDEFINED
    reached = [name for name, target in KAPPA_TARGETS.items() if kappa >= target]
    target = f"{reached[-1]} for human labels" if reached else "below the targets for human labels"
    return f"{kappa_label(kappa)}; {target}"


def _why_undefined(record: Record, column: str) -> str:
    """Return why a statistic is NULL, if it is."""
    if not count(record, "n_pairs"):
        return "no response has two ratings"
    if column == "adjacent_agreement":
        return "the scale has no equal steps"
    if column in {"alpha", "kappa", "gwet_ac"}:
        return "no variation: all ratings are equal"
    return text(record, "interpretation") or UNDEFINED


def _evidence(record: Record) -> list[str]:
    """Return what the statistics rest on."""
    n_groups = count(record, "n_groups")
    evidence = [
        f"{counted(count(record, 'n_responses'), 'response')} with two ratings or more"
        + (f" in {counted(n_groups, 'group')}" if n_groups < count(record, "n_responses") else ""),
        counted(count(record, "n_raters"), "rater"),
        counted(count(record, "n_ratings"), "rating"),
        counted(count(record, "n_pairs"), "pair"),
    ]
    if n_skipped := count(record, "n_skipped"):
        share = 100 * n_skipped / (n_skipped + count(record, "n_ratings"))
        evidence.append(f"{n_skipped:,} skipped ({percent_text(share)})")
    most_frequent = number(record, "most_frequent_share")
    if not math.isnan(most_frequent):
        evidence.append(f"most frequent value: {percent_text(100 * most_frequent)} of ratings")
    return evidence


def _minimum(data: ReportData, gate: GateName) -> list[tuple[Literal["minimum"], float]]:
    return [("minimum", o.overall.minimum) for o in data.gates if o.gate == gate]


def _findings(data: ReportData, question: RubricQuestion, kind: str) -> list[str]:
    return [
        text(record, "finding")
        for record in data.rows("label_findings")
        if text(record, "question_id") == question.id and text(record, "kind") == kind
    ]
