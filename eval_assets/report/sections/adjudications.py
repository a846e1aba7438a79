"""Disagreements that were settled, and what leaving responses out does to the judges' figures."""

import math
from collections.abc import Iterator

from eval_assets.bands import A_HH_LIMITS
from eval_assets.render.document import (
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
from eval_assets.report.sections.disagreements import ratings_text, texts_of
from eval_assets.wording import UNDEFINED, counted, figure_text, percent_text

_LEAD = (
    "Judges are compared with what was settled; agreement between people is measured on the "
    "ratings as they were given."
)
_WITH_EXCLUDED = (
    "Responses on which people cannot agree are hard for judges too: leaving them out makes judges "
    "look better. With them, the raters' own ratings count."
)


def section(data: ReportData) -> Section | None:
    """Return what was settled and both sets of figures; None if nothing was settled."""
    shown = list(data.rows("adjudicated_labels"))
    if not shown:
        return None
    n_all = data.sizes.get("adjudicated_labels", len(shown))
    which = "" if n_all <= len(shown) else f" The latest {len(shown)} are listed."
    table = Table(
        "Settled disagreements",
        columns("Response", "Question", "Settled as", "Ratings before", "By", "Why"),
        tuple(TableRow(_cells(record)) for record in shown),
    )
    lead = Text(f"{counted(n_all, 'disagreement')} settled.{which} {_LEAD}")
    blocks = (Card("", (lead, table)), *_with_excluded(data))
    return Section("settled", "Which disagreements were settled?", "Settled", blocks)


def _cells(record: Record) -> tuple[Cell, ...]:
    question_id = text(record, "question_id")
    value = number(record, "value")
    return cells(
        Cell(text(record, "response_id"), folded=texts_of(record)),
        Cell(question_id, link=anchor("question", question_id)),
        Cell(
            "left out as ambiguous" if record.get("excluded") else f"{value:g}",
            note="overrides judges" if record.get("is_override") else "",
        ),
        ratings_text(text(record, "ratings")),
        text(record, "decided_by"),
        text(record, "reason"),
    )


def _with_excluded(data: ReportData) -> Iterator[Card]:
    """Yield a card with the judges' agreement without and with what was left out; none if alike."""
    both = {
        (text(record, "judge_id"), text(record, "question_id")): record
        for record in data.rows("judge_human_agreement_with_excluded")
    }
    if not both:
        return
    rows = []
    for row in data.judge_humans:
        name, without = (row.judge_id, row.question_id), row.columns()
        with_them = both.get(name, {})
        if count(without, "n_units") != count(with_them, "n_units"):
            rows.append(TableRow(cells(*name, *_figures(without), *_figures(with_them))))
    table = Table(
        "Judges without and with the responses left out",
        columns(
            *("Judge", "Question", "Responses#", "A^HA#", "Exact#", "MAE#"),
            *("With them#", "A^HA with them#", "Exact with them#", "MAE with them#"),
        ),
        tuple(rows),
    )
    yield Card("Without and with the responses left out", (Text(_WITH_EXCLUDED), table))


def _figures(record: Record) -> tuple[str, ...]:
    mae = number(record, "mae")
    return (
        f"{count(record, 'n_units'):,}",
        figure_text(number(record, "a_ha"), limits=A_HH_LIMITS),
        percent_text(number(record, "exact_agreement")),
        UNDEFINED if math.isnan(mae) else f"{mae:.2f}",
    )
