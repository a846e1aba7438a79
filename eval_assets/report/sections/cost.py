"""Cost by judge and model."""

import math

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
from eval_assets.wording import UNDEFINED

_LEAD = (
    "Every request that was ever made for this evaluation, whether it was answered or not. A cost "
    "is unknown if the model has no price."
)


def section(data: ReportData) -> Section | None:
    """Return the requests, tokens and dollars of each judge; None if no request was made."""
    rows = [TableRow(_cells(record)) for record in data.rows("judge_costs")]
    if not rows:
        return None
    table = Table(
        "Cost by judge and model",
        columns(
            *("Judge", "Model", "Requests#", "Failed#", "Tokens in#", "Tokens out#"),
            *("Cost (USD)#", "Per 1,000 scores#", "Latency (s)#"),
        ),
        tuple(rows),
    )
    return Section("cost", "What it cost", "Cost", (Card("", (Text(_LEAD), table)),))


def _cells(record: Record) -> tuple[Cell, ...]:
    judge_id = text(record, "judge_id")
    cost, latency = number(record, "cost_usd"), number(record, "latency_seconds")
    n_scores = count(record, "n_requests") - count(record, "n_failed")
    per_thousand = 1000 * cost / n_scores if n_scores else math.nan
    return cells(
        Cell(judge_id, link=anchor("judge", judge_id)),
        text(record, "model"),
        f"{count(record, 'n_requests'):,}",
        f"{count(record, 'n_failed'):,}",
        f"{count(record, 'input_tokens'):,}",
        f"{count(record, 'output_tokens'):,}",
        _usd(cost),
        _usd(per_thousand),
        UNDEFINED if math.isnan(latency) else f"{latency:.2f}",
    )


def _usd(cost: float) -> str:
    return UNDEFINED if math.isnan(cost) else f"{cost:,.4f}"
