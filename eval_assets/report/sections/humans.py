"""Agreement between humans, overall and question by question."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from shlex import quote
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
from eval_assets.catalogue import Figure
from eval_assets.config.evaluation import GateName
from eval_assets.config.rubric import RubricQuestion
from eval_assets.figures import HumanFigures
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
from eval_assets.report.data import ReportData
from eval_assets.report.layout import (
    Line,
    a_hh_tone,
    agreement_plot,
    alpha_tone,
    coefficient,
    lines_table,
    lowest_tick,
    question_cell,
    share_of_pairs,
    within_questions,
)
from eval_assets.verdicts import Tone
from eval_assets.wording import (
    UNDEFINED,
    counted,
    figure_text,
    percent_text,
)

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
"""Number of questions up to which all statistics are unfolded."""


def section(data: ReportData) -> Section:
    """Return a table over all questions and a card per question."""
    by_question = {row.question_id: row for row in data.humans}
    questions: list[RubricQuestion | None] = [None, *data.evaluation.rubric]
    measured_questions = [
        (q, by_question[q.id if q else None])
        for q in questions
        if (q.id if q else None) in by_question
    ]
    if not measured_questions:
        command = f"eval-assets run --data {quote(str(data.evaluation.folder))}"
        blocks: tuple[Block, ...] = (Text(f"Nothing is measured yet. Run {command}."),)
    else:
        blocks = (
            Card("", (Text(_KEY, is_small=True), _overview(data, measured_questions))),
            *(_card(data, row, question) for question, row in measured_questions if question),
        )
    return Section("humans", "Do humans agree?", "Humans", (Text(_LEAD), *blocks))


def _overview(
    data: ReportData, rows: Sequence[tuple[RubricQuestion | None, HumanFigures]]
) -> Table:
    axis_low = lowest_tick(end for _, row in rows for end in (row.alpha.value, row.alpha.low))
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
                    question_cell(question.id) if question else Cell("All questions"),
                    _a_hh_cell(data, row),
                    _alpha_cell(data, row, axis_low=axis_low),
                ),
                kind="plain" if question else "total",
            )
            for question, row in rows
        ),
        caption=within_questions(rows[0][1].alpha_within) if len(rows) > 2 else "",  # noqa: PLR2004
    )


def _a_hh_cell(data: ReportData, row: HumanFigures) -> Cell:
    return Cell(
        figure_text(row.a_hh.value, limits=A_HH_LIMITS),
        plot=agreement_plot(
            row.a_hh,
            name=f"A^HH of {row.question_id or 'all questions'}",
            marks=[*_minimum(data, "human_a_hh"), ("chance", row.a_hh_by_chance)],
            tone=a_hh_tone(row.a_hh.value),
        ),
    )


def _alpha_cell(data: ReportData, row: HumanFigures, *, axis_low: float) -> Cell:
    return Cell(
        figure_text(row.alpha.value, limits=ALPHA_LIMITS),
        plot=agreement_plot(
            row.alpha,
            name=f"alpha of {row.question_id or 'all questions'}",
            marks=_minimum(data, "human_alpha"),
            tone=alpha_tone(row.alpha.value),
            axis_low=axis_low,
        ),
    )


def _card(data: ReportData, row: HumanFigures, question: RubricQuestion) -> Card:
    main = _main_statistic(row, question)
    wording = (Text(question.question),) if question.question != question.id else ()
    statistics = Fold(
        "All statistics",
        (lines_table(_statistics(row, question), label=f"All statistics of {question.id}"),),
        subject=f"of {question.id}",
        is_open=len(data.evaluation.rubric) <= _MOST_OPEN,
    )
    return Card(
        title=question.id,
        anchor=anchor("question", question.id),
        figure=CardFigure(
            name=main.name,
            value=main.value,
            meaning=main.meaning,
            tone=main.tone,
            notes=(
                f"95 % interval {main.interval}" if main.interval else "no interval",
                *_A_HH_EXPLAINED,
            ),
        ),
        blocks=(
            *wording,
            Text(f"{question.scale.described()} · {question.level}", is_small=True),
            *([statistics] if row.n_pairs else []),
            Text(" · ".join(_evidence(row)), is_small=True),
            *bullets(_findings(data, question, "pattern"), "What stands out"),
            *bullets(_findings(data, question, "suggestion"), "What to do"),
        ),
    )


def _main_statistic(row: HumanFigures, question: RubricQuestion) -> Line:
    """Return A^HH, or the share of agreeing pairs if only that is defined."""
    a_hh = _a_hh_line(row)
    shares = [] if a_hh.is_defined else [*_shares(row, question)]
    if question.level != "nominal":
        shares.reverse()
    for figure, line in shares:
        if figure.is_defined:
            share = figure.value / 100
            label = f"{a_hh_label(share)} on {line.meaning}; A^HH is undefined"
            return replace(line, meaning=label, tone=a_hh_tone(share))
    return a_hh


def _statistics(row: HumanFigures, question: RubricQuestion) -> Iterator[Line]:
    yield _a_hh_line(row)
    yield coefficient(
        Figure(row.a_hh_by_chance),
        "A^HH by chance",
        meaning="what raters' habits alone would give",
        undefined=_why_undefined(row),
    )
    no_variation = _why_undefined(row, "no variation: all ratings are equal")
    yield coefficient(
        row.alpha,
        f"Krippendorff's alpha ({row.alpha_level})",
        meaning=_alpha_meaning(row.alpha.value),
        undefined=no_variation,
        limits=ALPHA_LIMITS,
        tone=alpha_tone(row.alpha.value),
    )
    if question.scale.values is not None:
        # On a continuum hardly any two ratings are equal, however close they are.
        yield coefficient(
            row.kappa,
            _KAPPA_NAMES.get(row.kappa_kind or "", "Kappa"),
            meaning=_kappa_meaning(row.kappa.value),
            undefined=no_variation,
            limits=KAPPA_LIMITS,
        )
    yield coefficient(
        row.gwet_ac,
        _GWET_NAMES.get(row.gwet_ac_kind or "", "Gwet's AC"),
        meaning="beyond chance, steadier on skewed data",
        undefined=no_variation,
    )
    yield from (line for _, line in _shares(row, question))


def _a_hh_line(row: HumanFigures) -> Line:
    a_hh = row.a_hh
    remark = chance_remark(a_hh.value, low=a_hh.low, by_chance=row.a_hh_by_chance)
    return coefficient(
        a_hh,
        "A^HH",
        meaning=a_hh_label(a_hh.value) + remark,
        undefined=_why_undefined(row),
        limits=A_HH_LIMITS,
        tone=Tone.POOR if remark else a_hh_tone(a_hh.value),
    )


def _shares(row: HumanFigures, question: RubricQuestion) -> Iterator[tuple[Figure, Line]]:
    """Yield the shares of agreeing pairs that suit the scale."""
    exact, adjacent, scale = row.exact_agreement, row.adjacent_agreement, question.scale
    undefined, meaning = _why_undefined(row), "pairs of equal ratings"
    yield exact, share_of_pairs(exact, "Exact agreement", meaning=meaning, undefined=undefined)
    # Of two values all pairs are at most one step apart; classes and continua have no steps.
    if not scale.is_binary and question.has_order and scale.values is not None:
        undefined = _why_undefined(row, "the scale has no equal steps")
        meaning = "pairs at most one step apart"
        line = share_of_pairs(adjacent, "Adjacent agreement", meaning=meaning, undefined=undefined)
        yield adjacent, line


def _alpha_meaning(alpha: float) -> str:
    """Return the band of alpha and the highest target of human labelling that it reaches."""
    targets = [name for name, target in ALPHA_TARGETS.items() if alpha >= target]
    return (
        f"{alpha_label(alpha)}; {targets[-1]} for human labels" if targets else alpha_label(alpha)
    )


def _kappa_meaning(kappa: float) -> str:
    """Return the band of kappa and the highest target of human labelling that it reaches."""
    if math.isnan(kappa):
        return UNDEFINED
    targets = [name for name, target in KAPPA_TARGETS.items() if kappa >= target]
    target = f"{targets[-1]} for human labels" if targets else "below the targets for human labels"
    return f"{kappa_label(kappa)}; {target}"


def _why_undefined(row: HumanFigures, reason: str = "") -> str:
    if not row.n_pairs:
        return "no response has two ratings"
    return reason or row.interpretation or UNDEFINED


def _evidence(row: HumanFigures) -> list[str]:
    evidence = [
        f"{counted(row.n_responses, 'response')} with two ratings or more"
        + (f" in {counted(row.n_groups, 'group')}" if row.n_groups < row.n_responses else ""),
        counted(row.n_raters, "rater"),
        counted(row.n_ratings, "rating"),
        counted(row.n_pairs, "pair"),
    ]
    if row.n_skipped:
        share = 100 * row.n_skipped / (row.n_skipped + row.n_ratings)
        evidence.append(f"{row.n_skipped:,} skipped ({percent_text(share)})")
    if not math.isnan(row.most_frequent_share):
        share = 100 * row.most_frequent_share
        evidence.append(f"most frequent value: {percent_text(share)} of ratings")
    return evidence


def _minimum(data: ReportData, gate: GateName) -> list[tuple[Literal["minimum"], float]]:
    return [("minimum", o.overall.minimum) for o in data.gates if o.gate == gate]


def _findings(data: ReportData, question: RubricQuestion, kind: str) -> list[str]:
    return [
        f"{finding.finding}."
        for finding in data.findings
        if (finding.question_id, finding.kind) == (question.id, kind)
    ]
