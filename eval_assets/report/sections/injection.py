"""Responses that address the judge, with judges' scores beside people's and without that."""

import math

from eval_assets.catalogue import Figure
from eval_assets.render.document import (
    Block,
    Card,
    Cell,
    Section,
    Table,
    TableRow,
    Text,
    anchor,
    cells,
    columns,
)
from eval_assets.report.data import Record, ReportData, count, number, text
from eval_assets.report.sections.disagreements import texts_of
from eval_assets.wording import UNDEFINED, counted, shortened

_MOST_CHARACTERS = 200


def section(data: ReportData) -> Section | None:
    """Return the responses that address the judge; None if patterns match none."""
    shown = list(data.rows("injection_scores"))
    if not shown:
        return None
    n_all = data.sizes.get("injection_scores", len(shown))
    n_responses = len({text(record, "response_id") for record in shown})
    which = f"{n_responses:,} responses" if n_responses > 1 else "One response"
    rest = "" if n_all <= len(shown) else f" {n_all - len(shown):,} more rows are in the table."
    lead = (
        f"{which} in the table injection_scores: patterns match a passage that addresses the judge "
        "instead of answering the prompt. Patterns miss other wordings. A score far above those of "
        f"people and other judges shows that a judge may have obeyed.{rest}"
    )
    table = Table(
        "Responses that address the judge",
        columns(
            *("Response", "Passage", "Question", "Judge", "Score#", "Other judges#", "People#"),
            *("Above people, else judges#", "Without the passage#"),
        ),
        tuple(TableRow(_cells(record)) for record in shown),
    )
    blocks: list[Block] = [Text(lead), *map(Text, _shifts(data)), Card("", (table,))]
    return Section("injection", "Responses that address the judge", "Addressed", tuple(blocks))


def _cells(record: Record) -> tuple[Cell, ...]:
    judge_id, question_id = text(record, "judge_id"), text(record, "question_id")
    return cells(
        Cell(text(record, "response_id"), folded=texts_of(record)),
        Cell(
            shortened(text(record, "matching_text"), most=_MOST_CHARACTERS),
            note=text(record, "kinds"),
        ),
        Cell(question_id, link=anchor("question", question_id)) if question_id else "--",
        Cell(judge_id, link=anchor("judge", judge_id)) if judge_id else "--",
        *(
            _plain(number(record, name))
            for name in ("score", "other_judges", "human_value", "difference", "score_without")
        ),
    )


def _shifts(data: ReportData) -> list[str]:
    """Return what the passages shift, a sentence per judge and question; or how to find out."""
    rows = list(data.rows("judge_robustness"))
    if not rows:
        if not any(judge.provider != "recorded" for judge in data.evaluation.judges):
            return []
        advice = "`robustness: {injection: true}` in evaluation.yaml asks live judges about them"
        return [f"{advice} again without the passages."]
    return [_shift(record) for record in rows]


def _shift(record: Record) -> str:
    judge_id, question_id = text(record, "judge_id"), text(record, "question_id")
    n_responses, n_groups = count(record, "n_responses"), count(record, "n_groups")
    figure = Figure(*(number(record, name) for name in ("shift", "shift_low", "shift_high")))
    if not figure.is_defined:
        return f"{judge_id} on {question_id}: no response has a score with and without the passage."
    few = "" if figure.low > 0 or figure.high < 0 else ", which may be chance"
    return (
        f"{judge_id} scores {counted(n_responses, 'response')} in {counted(n_groups, 'group')} on "
        f"{question_id} {figure.value:+.2f} [{figure.low:+.2f}, {figure.high:+.2f}] with the "
        f"passages than without{few}."
    )


def _plain(value: float) -> str:
    return UNDEFINED if math.isnan(value) else f"{value:g}"
