"""Disagreements that were settled, and what leaving responses out does to the judges' figures."""

from collections.abc import Iterator

from eval_assets.bands import A_HH_LIMITS
from eval_assets.figures import JudgeHumanFigures
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
from eval_assets.report.data import Record, ReportData, number, text
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
    with_excluded = {(r.judge_id, r.question_id): r for r in data.judge_humans_with_excluded}
    if not with_excluded:
        return
    rows = []
    for row in data.judge_humans:
        name = (row.judge_id, row.question_id)
        both = with_excluded.get(name, row)
        if row.n_units != both.n_units:
            rows.append(TableRow(cells(*name, *_figures(row), *_figures(both))))
    table = Table(
        "Judges without and with the responses left out",
        columns(
            *("Judge", "Question", "Responses#", "A^HA#", "Exact#", "MAE#"),
            *("With them#", "A^HA with them#", "Exact with them#", "MAE with them#"),
        ),
        tuple(rows),
    )
    yield Card("Without and with the responses left out", (Text(_WITH_EXCLUDED), table))


def _figures(row: JudgeHumanFigures) -> tuple[str, ...]:
    return (
        f"{row.n_units:,}",
        figure_text(row.a_ha.value, limits=A_HH_LIMITS),
        percent_text(row.exact_agreement.value),
        f"{row.mae.value:.2f}" if row.mae.is_defined else UNDEFINED,
    )
