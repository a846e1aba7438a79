"""How well each rater labels, and how far ratings of one response lie apart."""

import math
from collections.abc import Callable, Iterator

from eval_assets.render.document import (
    Block,
    Card,
    Cell,
    Section,
    Table,
    TableRow,
    Text,
    anchor,
    bullets,
    cells,
    columns,
)
from eval_assets.report.data import Record, ReportData, count, number, text
from eval_assets.wording import UNDEFINED, percent_text

_LEAD = (
    "Severity and agreement compare a rater with the others on the responses that they share. The "
    "table label_quality has every figure with the number of labels behind it."
)
_SPREAD = (
    "Responses by the standard deviation of their ratings, in bands relative to the scale. Perfect "
    "are equal ratings."
)
_BANDS = ("perfect", "close", "good", "moderate", "high", "very high")


def _share(value: float) -> str:
    return percent_text(100 * value)


def _signed_share(value: float) -> str:
    return f"{100 * value:+.1f} %"


def _plain(value: float) -> str:
    return f"{value:.2f}"


_SHOWN: dict[str, tuple[str, Callable[[float], str]]] = {
    "completeness": ("Done", _share),
    "mean": ("Mean", _plain),
    "most_frequent_share": ("Most frequent value", _share),
    "severity": ("Severity", _signed_share),
    "agreement": ("Agreement with others", _plain),
    "expert_agreement": ("With experts", _plain),
    "alpha_without": ("Alpha without", _plain),
    "self_agreement": ("With oneself", _plain),
    "control_agreement": ("On controls", _plain),
    "skipped_share": ("Skipped", _share),
    "seconds": ("Seconds", _plain),
    "too_fast_share": ("Too fast", _share),
}
"""Column and form of each figure that is shown."""


def section(data: ReportData) -> Section | None:
    """Return each rater's figures with advice, and the spread of ratings; None without labels."""
    by_rater: dict[tuple[str, str], dict[str, Record]] = {}
    for record in data.rows("label_quality"):
        name = (text(record, "question_id"), text(record, "rater_id"))
        by_rater.setdefault(name, {})[text(record, "measure")] = record
    if not by_rater:
        return None
    shown = [name for name in _SHOWN if any(name in figures for figures in by_rater.values())]
    table = Table(
        "Raters by question",
        columns("Rater", "Question", "Labels#", *(f"{_SHOWN[name][0]}#" for name in shown)),
        tuple(
            TableRow(
                cells(
                    rater,
                    Cell(question, link=anchor("question", question)),
                    f"{count(figures.get('skipped_share', {}), 'n'):,}",
                    *(_written(figures.get(name, {}), _SHOWN[name][1]) for name in shown),
                )
            )
            for (question, rater), figures in by_rater.items()
        ),
    )
    advice = [text(record, "advice") for record in data.rows("label_quality")]
    said = bullets([sentence for sentence in dict.fromkeys(advice) if sentence], "What to do")
    blocks: tuple[Block, ...] = (Card("", (Text(_LEAD), table, *said)), *_spread(data))
    return Section("raters", "How well does each rater label?", "Raters", blocks)


def _written(record: Record, form: Callable[[float], str]) -> str:
    value = number(record, "value")
    return UNDEFINED if math.isnan(value) else form(value)


def _spread(data: ReportData) -> Iterator[Card]:
    """Yield a card with the number of responses in each band; none if no response has two."""
    counts = {
        (text(record, "question_id"), text(record, "band")): count(record, "n_responses")
        for record in data.rows("label_spread")
    }
    ordered = [question for question in data.evaluation.rubric if question.has_order]
    if not counts or not ordered:
        return
    table = Table(
        "Responses by the spread of their ratings",
        columns("Question", *(f"{band.capitalize()}#" for band in _BANDS)),
        tuple(
            TableRow(cells(question.id, *(f"{counts.get((question.id, b), 0):,}" for b in _BANDS)))
            for question in ordered
        ),
    )
    yield Card("How far apart are ratings of one response?", (Text(_SPREAD, is_small=True), table))
