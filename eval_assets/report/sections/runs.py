"""Agreement and cost over runs."""

import math

from eval_assets.bands import A_HH_LIMITS, ALPHA_LIMITS
from eval_assets.render.document import Card, Section, Text
from eval_assets.report.data import ReportData
from eval_assets.report.layout import Layout, judge_cell, laid_out, written
from eval_assets.report.stored_rows import CostRow, RunRow
from eval_assets.wording import figure_text

_MOST_RUNS = 20
_FEWEST_RUNS = 2
_TREND = "Overall figures of the last runs, newest first; runs on the same data are one."
_COST = (
    "Every request that was ever made for this evaluation, whether it was answered or not. A cost "
    "is unknown if the model has no price, or if a request failed and its vendor states no tokens; "
    "eval-assets ledger sums the costs that are known."
)


def trend(data: ReportData) -> Section | None:
    """Return the overall figures of the last runs; None until two runs differ in their data."""
    newest: dict[tuple[str, str], RunRow] = {}
    for run in sorted(data.rows(RunRow), key=lambda run: run.measured_at, reverse=True):
        newest.setdefault((run.data_version, run.judge_set_fingerprint), run)
    runs = list(newest.values())
    if len(runs) < _FEWEST_RUNS:
        return None
    # The oldest set of judges is the first.
    judge_sets = list(dict.fromkeys(run.judge_set_fingerprint for run in reversed(runs)))

    def judge_set(run: RunRow) -> str:
        fingerprint = run.judge_set_fingerprint
        return f"set {judge_sets.index(fingerprint) + 1} ({fingerprint})" if fingerprint else "none"

    columns: Layout[RunRow] = {
        "Measured": lambda run: run.measured_at[:16],
        "A^HH#": lambda run: figure_text(run.a_hh, limits=A_HH_LIMITS),
        "alpha of people#": lambda run: figure_text(run.alpha, limits=ALPHA_LIMITS),
        "alpha of judges#": lambda run: figure_text(run.judge_alpha, limits=ALPHA_LIMITS),
        "Judges": judge_set,
    }
    table = laid_out("Agreement by run", columns, runs[:_MOST_RUNS])
    return Section("trend", "Agreement over time", "Trend", (Card("", (Text(_TREND), table)),))


def cost(data: ReportData) -> Section | None:
    """Return the requests, tokens and dollars of each judge; None if no request was made."""
    table = laid_out("Cost by judge and model", _COST_COLUMNS, data.rows(CostRow))
    if not table.rows:
        return None
    return Section("cost", "What it cost", "Cost", (Card("", (Text(_COST), table)),))


def _cost_per_thousand(row: CostRow) -> str:
    n_scores = row.n_requests - row.n_failed
    return written(1000 * row.cost_usd / n_scores if n_scores else math.nan, ",.4f")


_COST_COLUMNS: Layout[CostRow] = {
    "Judge": lambda row: judge_cell(row.judge_id),
    "Model": lambda row: row.model,
    "Requests#": lambda row: f"{row.n_requests:,}",
    "Failed#": lambda row: f"{row.n_failed:,}",
    "Tokens in#": lambda row: f"{row.input_tokens:,}",
    "Tokens out#": lambda row: f"{row.output_tokens:,}",
    "Cost (USD)#": lambda row: written(row.cost_usd, ",.4f"),
    "Per 1,000 scores#": _cost_per_thousand,
    "Latency (s)#": lambda row: written(row.latency_seconds, ".2f"),
}
