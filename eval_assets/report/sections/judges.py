"""Judges: what they scored, and how far they agree with each other."""

import math
from collections.abc import Mapping

from eval_assets.bands import ALPHA_LIMITS, alpha_label
from eval_assets.figures import JudgeFigures, Scope
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
    anchor,
    bullets,
    cells,
    columns,
)
from eval_assets.report._figures import (
    agreement_plot,
    alpha_tone,
    coefficient,
    lowest_tick,
    within_questions,
)
from eval_assets.report.data import Coverage, ReportData, number, text
from eval_assets.report.sections.disagreements import texts_of
from eval_assets.verdicts import Tone
from eval_assets.wording import UNDEFINED, figure_text, percent_text

_STATUS_TONES: Mapping[str, Tone] = {"pass": Tone.GOOD, "fail": Tone.POOR}
_REMARK = (
    "Judges that agree may still be wrong together: see below how they compare with humans. Kappa "
    "compares scores above the middle of the scale with the rest and is undefined if all fall on "
    "one side; micro is over all units, macro the mean over prompts."
)


def section(data: ReportData) -> Section | None:
    """Return who judged and how far judges agree; None without judges."""
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
    """Return every judge that is declared or has scores, with its units."""
    by_judge = {judge.id: Coverage(judge.id, {}) for judge in data.evaluation.judges}
    by_judge |= {coverage.judge_id: coverage for coverage in data.coverage}
    models = {
        judge.id: " · ".join(
            part for part in (judge.model, judge.provider, "backup" * judge.backup) if part
        )
        for judge in data.evaluation.judges
    }
    stopped = {text(row, "judge_id") for row in data.rows("judges") if text(row, "stopped")}
    return Table(
        "Judges",
        columns("Judge", "Model", "Scored#", "Share#", "Without a score"),
        tuple(
            TableRow(
                _coverage_cells(coverage, models.get(judge_id, ""), is_stopped=judge_id in stopped)
            )
            for judge_id, coverage in by_judge.items()
        ),
    )


def _coverage_cells(coverage: Coverage, model: str, *, is_stopped: bool) -> tuple[Cell, ...]:
    n_scored, n_units = coverage.n_scored, coverage.n_units
    others = [f"{n:,} {status.replace('_', ' ')}" for n, status in coverage.without_score]
    others += ["stopped early"] * is_stopped
    return cells(
        coverage.judge_id,
        model,
        f"{n_scored:,} of {n_units:,}",
        percent_text(100 * n_scored / n_units) if n_units else UNDEFINED,
        ", ".join(others) or "none",
    )


def _together(data: ReportData) -> Table:
    """Return agreement among judges, over all questions and by question."""
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
    tone = alpha_tone(row.alpha.value)
    alpha = coefficient(
        row.alpha,
        "alpha",
        limits=ALPHA_LIMITS,
        reading=alpha_label(row.alpha.value),
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
        Cell(question_id, link=anchor("question", question_id)) if question_id else "All questions",
        Cell(alpha.value, plot=plot),
        Cell(alpha.reading, note=alpha.interval or "no interval", tone=tone),
        figure_text(row.kappa_micro, limits=[]),
        figure_text(row.kappa_macro, limits=[]),
        f"{row.n_units:,}",
        f"{row.n_groups:,}",
        f"{row.n_comparisons:,}",
    )


def _advice(data: ReportData) -> list[str]:
    """Return what to do about each question on which judges do not reach their gate."""
    return [
        f"{verdict.question_id}: {verdict.reason}"
        for outcome in data.gates
        if outcome.gate == "judge_alpha"
        for verdict in outcome.questions
        if verdict.verdict != "pass"
    ]


def _without(data: ReportData) -> tuple[Table, ...]:
    """Return how alpha changes without each judge; nothing if two judges are all there are."""
    rows = [row for row in data.leave_one_judge_out if row.scope is Scope.OVERALL]
    if all(math.isnan(row.alpha_without) for row in rows):
        return ()
    return (
        Table(
            "Agreement without each judge",
            columns("Judge", "Alpha of all#", "Without it#", "Its score above the others'#"),
            tuple(
                TableRow(
                    cells(
                        row.judge_id,
                        figure_text(row.alpha, limits=ALPHA_LIMITS),
                        figure_text(row.alpha_without, limits=ALPHA_LIMITS),
                        f"{row.mean_difference:+.3f}",
                    )
                )
                for row in rows
            ),
            caption=(
                "A judge without which alpha rises is the one that differs. Scores are on [0, 1]."
            ),
        ),
    )


def _validation(data: ReportData) -> tuple[Table, ...]:
    """Return the history of kappa between the first two judges; nothing without one."""
    rows = tuple(
        TableRow(
            cells(
                text(record, "timestamp")[:16],
                f"{text(record, 'judge1_id')} and {text(record, 'judge2_id')}",
                figure_text(number(record, "kappa_micro"), limits=[]),
                figure_text(number(record, "kappa_macro"), limits=[]),
                Cell(
                    text(record, "status").replace("_", " "),
                    note=text(record, "notes"),
                    tone=_STATUS_TONES.get(text(record, "status"), Tone.NONE),
                ),
            )
        )
        for record in data.rows("dual_judge_validation")
    )
    if not rows:
        return ()
    names = columns("Measured", "Judges", "Kappa, micro#", "macro#", "Verdict")
    caption = "Kappa between the first two judges over the last runs, newest first."
    return (Table("Kappa of the first two judges by run", names, rows, caption=caption),)


def _far_apart(data: ReportData) -> tuple[Fold, ...]:
    """Return the responses whose scores by two judges differ most; nothing if none differs much."""
    rows = tuple(
        TableRow(
            cells(
                Cell(text(record, "response_id"), folded=texts_of(record)),
                Cell(question_id, link=anchor("question", question_id)),
                text(record, "model_name"),
                f"{text(record, 'judge1_id')}: {number(record, 'judge1_score'):.2f} · "
                f"{text(record, 'judge2_id')}: {number(record, 'judge2_score'):.2f}",
                f"{number(record, 'difference'):.2f}",
            )
        )
        for record in data.rows("judge_disagreements")
        for question_id in [text(record, "question_id")]
    )
    if not rows:
        return ()
    label = "Responses on which two judges are farthest apart"
    names = columns("Response", "Question", "Model", "Scores from 0 to 1", "Apart#")
    return (Fold(f"{label} ({len(rows)})", (Table(label, names, rows),)),)
