"""A screen as JSON: docs/python.md describes it."""

from collections.abc import Mapping

from eval_assets.agreement.comparing import Assessment
from eval_assets.agreement.judge_comparison import JudgeComparison, Repeatability, TwoClasses
from eval_assets.agreement.label_agreement import LabelAgreement
from eval_assets.shown.blocks import Table, Texts, tables_of
from eval_assets.shown.report import Report
from eval_assets.shown.screen import ReadSummary, Screen
from eval_assets.stats import Interval
from eval_assets.wording import or_none

SCHEMA = 1

Json = dict[str, object]


def screen_document(screen: Screen, *, report: str | None) -> Json:
    """Return everything that a screen says, in the types of JSON; undefined figures are null."""
    step = screen.next
    return {
        "schema": SCHEMA,
        "read": _read(screen.reading, screen.assessment),
        "labels": {
            "verdict": screen.labels.verdict.value,
            "sentence": screen.labels.sentence,
            "questions": [_labels(of) for of in screen.assessment.labels],
        },
        "judges": [
            {
                "judge": judge,
                "verdict": answer.verdict.value,
                "sentence": answer.sentence,
                "questions": [_comparison(of) for of in comparisons],
            }
            for (judge, comparisons), answer in zip(
                screen.assessment.judges.items(), screen.judges, strict=True
            )
        ],
        "next": {
            "action": step.action.value,
            "sentence": step.text,
            "number": step.number,
            "command": step.command,
        },
        "report": report,
    }


def report_document(report: Report, *, path: str | None) -> Json:
    """Return a report as JSON: its screen, and the tables of its sections."""
    return {
        **screen_document(report.screen, report=path),
        "evaluation": report.screen.reading.title,
        "made_at": report.made_at.isoformat() if report.made_at else None,
        "sections": [
            {
                "section": section.name,
                "finding": section.finding,
                "sentences": [
                    sentence
                    for block in section.blocks
                    if isinstance(block, Texts)
                    for sentence in block.sentences
                ],
                "tables": [
                    {"table": table.name, "rows": table_rows(table)}
                    for table in tables_of(section.blocks)
                ],
            }
            for section in report.sections
        ],
    }


def table_rows(table: Table) -> list[Json]:
    """Return the rows of a table, with the values of its cells."""
    return [
        {column.name: cell.value for column, cell in zip(table.columns, row, strict=True)}
        for row in table.rows
    ]


def _read(reading: ReadSummary, assessment: Assessment) -> Json:
    questions = [of.question for of in assessment.labels]
    return {
        "files": list(reading.files),
        "n_ratings": reading.n_ratings,
        "n_items": reading.n_items,
        "raters": list(reading.raters),
        "n_raters": len(reading.raters),
        "judges": list(assessment.judges),
        "n_judges": len(assessment.judges),
        "n_scores": reading.n_scores,
        "questions": [
            {
                "id": of.id,
                "scale": [_whole(of.scale.low), _whole(of.scale.high)],
                "values": None
                if of.scale.values is None
                else [_whole(value) for value in of.scale.values],
                "words": None if of.scale.words is None else list(of.scale.words),
                "level": of.level,
                "scale_guessed": of.scale_guessed,
            }
            for of in questions
        ],
        "n_questions": len(questions),
        "n_double": max((of.n_double for of in assessment.labels), default=0),
        "n_held_out": reading.n_held_out,
        "groups": {"by": reading.groups_by or "each item", "n": reading.n_groups},
        "columns": {role: list(names) for role, names in reading.columns.items()},
        "not_read": dict(reading.not_read),
        "notes": list(reading.notes),
        "doubts": [
            {
                "columns": list(of.columns),
                "reading": of.choice,
                "verdict": of.verdict,
                "option": of.option,
            }
            for of in reading.doubts
        ],
    }


def _whole(value: float) -> float:
    return int(value) if value == int(value) else value


def _labels(labels: LabelAgreement) -> Json:
    return {
        "question": labels.question.id,
        "verdict": labels.verdict.value,
        "decided_by": labels.decided_by.column,
        "a_hh": _figure(labels.a_hh, minimum=labels.minimums["a_hh"]),
        "alpha": _figure(labels.alpha, minimum=labels.minimums["alpha"]),
        "exact_agreement": or_none(labels.exact_agreement.value),
        "adjacent_agreement": None
        if labels.adjacent_agreement is None
        else or_none(labels.adjacent_agreement.value),
        "n_ratings": labels.n_ratings,
        "n_items": labels.n_units,
        "n_double": labels.n_double,
        "n_groups": labels.n_groups,
    }


def _comparison(comparison: JudgeComparison) -> Json:
    compared = comparison.compared
    return {
        "question": comparison.question.id,
        "verdict": comparison.verdict.value,
        "finding": comparison.finding.value,
        "n_compared": comparison.n_compared,
        "n_scored": comparison.n_scored,
        "n_rated": comparison.n_rated,
        "selection": _figure(comparison.selection),
        "n_double": comparison.n_paired,
        "n_groups": comparison.n_paired_groups,
        "a_ha": _figure(comparison.a_ha),
        "a_hh": _figure(comparison.a_hh),
        "kappa": _figure(comparison.kappa),
        "kappa_people": _figure(comparison.kappa_people),
        "gap": _figure(comparison.gap, margin=comparison.margin),
        "p_value": None if compared is None else or_none(compared.shortfall.p_above),
        "bias": _figure(comparison.bias),
        "spearman": _figure(comparison.spearman),
        "confusion": [
            {"human": human, "judge": judge, "n": n} for human, judge, n in comparison.pairs
        ],
        **_two_classes(comparison.two_classes),
        **_repeatability(comparison.repeatability),
    }


def _two_classes(two: TwoClasses | None) -> Json:
    if two is None:
        return {"true_positive_rate": None, "true_negative_rate": None, "pass_rate": None}
    return {
        "true_positive_rate": _figure(two.true_positive, n=two.true_positive.n_units),
        "true_negative_rate": _figure(two.true_negative, n=two.true_negative.n_units),
        "accuracy": or_none(two.accuracy),
        "constant_accuracy": or_none(two.constant_accuracy),
        "f1": or_none(two.f1),
        "pass_rate": {
            "judge": or_none(two.judge_pass_rate),
            "people": or_none(two.people_pass_rate),
            "corrected": _figure(two.corrected),
        },
    }


def _repeatability(repeats: Repeatability | None) -> Json:
    if repeats is None:
        return {"flip_rate": None, "noise_share": None}
    return {
        "flip_rate": _figure(repeats.flip_rate),
        "noise_share": _figure(repeats.noise_share),
        "n_runs": repeats.n_runs,
    }


def _figure(interval: Interval | None, **further: float) -> Mapping[str, object] | None:
    if interval is None:
        return None
    return {
        "value": or_none(interval.value),
        "low": or_none(interval.low),
        "high": or_none(interval.high),
        **further,
    }
