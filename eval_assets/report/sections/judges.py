"""Scores of judges and their agreement with each other."""

import math
from collections.abc import Mapping

from eval_assets.bands import ALPHA_LIMITS, REPEATED, alpha_label
from eval_assets.figures import JudgeFigures, LeaveOneJudgeOutFigures, Scope
from eval_assets.render.document import (
    Block,
    Card,
    Cell,
    Column,
    Fold,
    Section,
    Table,
    TableRow,
    Text,
    bullets,
    cells,
    columns,
)
from eval_assets.report.data import Coverage, ReportData
from eval_assets.report.layout import (
    Layout,
    agreement_plot,
    alpha_tone,
    coefficient,
    laid_out,
    lowest_tick,
    question_cell,
    response_cell,
    within_questions,
    written,
)
from eval_assets.report.stored_rows import JudgeDistanceRow, JudgePairRow, JudgeStateRow
from eval_assets.verdicts import Tone
from eval_assets.wording import UNDEFINED, figure_text, percent_text

_STATUS_TONES: Mapping[str, Tone] = {"pass": Tone.GOOD, "fail": Tone.POOR}
_REMARK = (
    "Judges that agree may still be wrong together: see below how they compare with humans. Kappa "
    "compares scores above the middle of the scale with the rest and is undefined if all fall on "
    "one side; micro is over all units, macro the mean over prompts."
)


def section(data: ReportData) -> Section | None:
    """Return the judges, their coverage and their agreement; None without judges."""
    coverage = _coverage(data)
    if not coverage.rows:
        return None
    overall = next((row for row in data.judges if row.scope is Scope.OVERALL), None)
    judge_set = f"Judge set {overall.judge_set_fingerprint}" if overall else ""
    blocks = [Card("Who judged", (coverage, Text(judge_set, is_small=True)))]
    together = _together(data)
    if together.rows and len(coverage.rows) > 1:
        remark = Text(_REMARK, is_small=True)
        parts: tuple[Block, ...] = (
            *(remark, together),
            *bullets(_advice(data), "What to do"),
            *_without(data),
            *_validation(data),
            *_far_apart(data),
        )
        blocks.append(Card("Do they agree with each other?", parts))
    return Section("judges", "Do the judges agree?", "Judges", tuple(blocks))


def _coverage(data: ReportData) -> Table:
    by_judge = {judge.id: Coverage(judge.id, {}) for judge in data.evaluation.judges}
    by_judge |= {coverage.judge_id: coverage for coverage in data.coverage}
    models = {
        judge.id: " · ".join(
            part for part in (judge.model, judge.provider, "backup" * judge.backup) if part
        )
        for judge in data.evaluation.judges
    }
    stopped = {row.judge_id for row in data.rows(JudgeStateRow) if row.stopped}
    layout: Layout[Coverage] = {
        "Judge": lambda row: row.judge_id,
        "Model": lambda row: models.get(row.judge_id, ""),
        "Scored#": lambda row: f"{row.n_scored:,} of {row.n_units:,}",
        "Share#": lambda row: (
            percent_text(100 * row.n_scored / row.n_units) if row.n_units else UNDEFINED
        ),
        "Without a score": lambda row: (
            ", ".join(
                [
                    *(f"{n:,} {status.replace('_', ' ')}" for n, status in row.without_score),
                    *["stopped early"] * (row.judge_id in stopped),
                ]
            )
            or "none"
        ),
    }
    return laid_out("Judges", layout, by_judge.values())


def _together(data: ReportData) -> Table:
    by_question = {row.question_id: row for row in data.judges if row.scope is not Scope.RESPONSE}
    axis_low = lowest_tick(
        end for row in by_question.values() for end in (row.alpha.value, row.alpha.low)
    )
    return Table(
        "Agreement among judges",
        (
            Column("Question"),
            Column("Krippendorff's alpha", axis=(axis_low, 1.0)),
            *columns("Meaning", "Kappa, micro#", "macro#", "Units#", "Groups#", "Pairs#"),
        ),
        tuple(
            TableRow(
                _together_cells(data, by_question[question_id], axis_low=axis_low),
                kind="plain" if question_id else "total",
            )
            for question_id in (None, *(q.id for q in data.evaluation.rubric))
            if question_id in by_question
        ),
        caption=within_questions(by_question[None].alpha_within) if len(by_question) > 2 else "",  # noqa: PLR2004
    )


def _together_cells(data: ReportData, row: JudgeFigures, *, axis_low: float) -> tuple[Cell, ...]:
    question_id = row.question_id
    is_repeated = REPEATED in row.interpretation.split("; ")
    tone = alpha_tone(row.alpha.value)
    if is_repeated and tone is Tone.GOOD:
        tone = Tone.FAIR
    alpha = coefficient(
        row.alpha,
        "alpha",
        limits=ALPHA_LIMITS,
        meaning=row.interpretation if is_repeated else alpha_label(row.alpha.value),
        undefined=row.interpretation,
        tone=tone,
    )
    plot = agreement_plot(
        row.alpha,
        name=f"alpha of the judges on {question_id or 'all questions'}",
        marks=[("minimum", o.overall.minimum) for o in data.gates if o.gate == "judge_alpha"],
        tone=tone,
        axis_low=axis_low,
    )
    return cells(
        question_cell(question_id) if question_id else "All questions",
        Cell(alpha.value, plot=plot),
        Cell(alpha.meaning, note=alpha.interval or "no interval", tone=tone),
        figure_text(row.kappa_micro, limits=[]),
        figure_text(row.kappa_macro, limits=[]),
        f"{row.n_units:,}",
        f"{row.n_groups:,}",
        f"{row.n_comparisons:,}",
    )


def _advice(data: ReportData) -> list[str]:
    return [
        f"{verdict.question_id}: {verdict.reason}"
        for outcome in data.gates
        if outcome.gate == "judge_alpha"
        for verdict in outcome.questions
        if verdict.verdict != "pass"
    ]


def _without(data: ReportData) -> tuple[Table, ...]:
    """Return alpha without each judge; nothing if there are only two judges."""
    rows = [row for row in data.leave_one_judge_out if row.scope is Scope.OVERALL]
    if all(math.isnan(row.alpha_without) for row in rows):
        return ()
    layout: Layout[LeaveOneJudgeOutFigures] = {
        "Judge": lambda row: row.judge_id,
        "Alpha of all#": lambda row: figure_text(row.alpha, limits=ALPHA_LIMITS),
        "Without it#": lambda row: figure_text(row.alpha_without, limits=ALPHA_LIMITS),
        "Its score above the others'#": lambda row: f"{row.mean_difference:+z.3f}",
    }
    caption = "A judge without which alpha rises is the one that differs. Scores are on [0, 1]."
    return (laid_out("Agreement without each judge", layout, rows, caption=caption),)


def _validation(data: ReportData) -> tuple[Table, ...]:
    """Return the history of kappa between the first two judges; nothing without one."""
    layout: Layout[JudgePairRow] = {
        "Measured": lambda row: row.timestamp[:16],
        "Judges": lambda row: f"{row.judge1_id} and {row.judge2_id}",
        "Kappa, micro#": lambda row: figure_text(row.kappa_micro, limits=[]),
        "macro#": lambda row: figure_text(row.kappa_macro, limits=[]),
        "Verdict": lambda row: Cell(
            row.status.replace("_", " "),
            note=row.notes,
            tone=_STATUS_TONES.get(row.status, Tone.NONE),
        ),
    }
    caption = "Kappa between the first two judges over the last runs, newest first."
    label = "Kappa of the first two judges by run"
    table = laid_out(label, layout, data.rows(JudgePairRow), caption=caption)
    return (table,) if table.rows else ()


def _far_apart(data: ReportData) -> tuple[Fold, ...]:
    """Return the responses whose scores by two judges differ most; nothing if none differs much."""
    layout: Layout[JudgeDistanceRow] = {
        "Response": response_cell,
        "Question": lambda row: question_cell(row.question_id),
        "Model": lambda row: row.model_name,
        "Scores from 0 to 1": lambda row: (
            f"{row.judge1_id}: {row.judge1_score:.2f} · {row.judge2_id}: {row.judge2_score:.2f}"
        ),
        "Apart#": lambda row: written(row.difference, ".2f"),
    }
    label = "Responses on which two judges are farthest apart"
    table = laid_out(label, layout, data.rows(JudgeDistanceRow))
    return (Fold(f"{label} ({len(table.rows)})", (table,)),) if table.rows else ()
