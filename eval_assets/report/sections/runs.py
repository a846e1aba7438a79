"""Agreement and cost over runs."""

import math
from collections.abc import Iterable, Iterator

from eval_assets.bands import A_HH_LIMITS, ALPHA_LIMITS
from eval_assets.catalogue import Figure
from eval_assets.config.evaluation import GateName
from eval_assets.render.document import (
    Block,
    Bullets,
    Card,
    Cell,
    Column,
    Plot,
    Section,
    Table,
    TableRow,
    Text,
    cells,
)
from eval_assets.report.data import ReportData
from eval_assets.report.layout import Layout, judge_cell, laid_out, written
from eval_assets.report.stored_rows import CostRow, RunRow
from eval_assets.verdicts import Tone
from eval_assets.wording import figure_text, interval_text

_MOST_RUNS = 20
_FEWEST_RUNS = 2
_FIGURES: dict[GateName, tuple[str, tuple[float, ...]]] = {
    "human_a_hh": ("A^HH", A_HH_LIMITS),
    "human_alpha": ("alpha of people", ALPHA_LIMITS),
    "judge_alpha": ("alpha of judges", ALPHA_LIMITS),
}
_TREND = (
    "Overall figures of the last runs, newest first; runs on the same data are one. A figure is "
    "said to have fallen if the whole 95 % interval of the difference lies below 0."
)
_COST = (
    "Every request that was ever made for this evaluation, whether it was answered or not. A cost "
    "is unknown if the model has no price, or if a request failed and its vendor states no tokens; "
    "eval-assets ledger sums the costs that are known."
)


def trend(data: ReportData) -> Section | None:
    """Return the overall figures of the last runs; None until two runs differ in their data."""
    runs = _runs(data.rows(RunRow))
    if len(runs) < _FEWEST_RUNS:
        return None
    blocks: list[Block] = [Text(_TREND)]
    if fallen := falls(data):
        blocks.append(Bullets(fallen, heading="What fell"))
    blocks.append(_table(data, runs[:_MOST_RUNS]))
    return Section("trend", "Agreement over time", "Trend", (Card("", tuple(blocks)),))


def cost(data: ReportData) -> Section | None:
    """Return the requests, tokens and dollars of each judge; None if no request was made."""
    table = laid_out("Cost by judge and model", _COST_COLUMNS, data.rows(CostRow))
    if not table.rows:
        return None
    return Section("cost", "What it cost", "Cost", (Card("", (Text(_COST), table)),))


def _runs(history: Iterable[RunRow]) -> list[RunRow]:
    """Return the overall rows, newest first, one for each version of the data and the judges."""
    overall = [run for run in history if run.scope == "overall"]
    newest: dict[tuple[str, str], RunRow] = {}
    for run in sorted(overall, key=lambda run: run.measured_at, reverse=True):
        newest.setdefault((run.data_version, run.judge_set_fingerprint), run)
    return list(newest.values())


def falls(data: ReportData) -> tuple[Cell, ...]:
    """Return each figure that fell since the previous run by more than the noise of both."""
    runs = _runs(data.rows(RunRow))
    return tuple(_falls(*runs[:2])) if len(runs) >= _FEWEST_RUNS else ()


def _falls(latest: RunRow, previous: RunRow) -> Iterator[Cell]:
    for gate, (name, limits) in _FIGURES.items():
        now, before = latest.figures[gate], previous.figures[gate]
        if highest_difference(now, before) < 0:
            was, value = (figure_text(figure.value, limits=limits) for figure in (before, now))
            interval = interval_text(now.low, now.high, limits=limits)
            words = f"{name} fell from {was} to {value} ({interval})"
            yield Cell(words, tone=Tone.POOR, link=f"gate-{gate}")


def highest_difference(now: Figure, before: Figure) -> float:
    """Return the upper end of the 95 % interval of a figure's change between two runs.

    It follows from the intervals of both (Zou and Donner 2008, doi:10.1002/sim.3095), as if the
    runs shared no response. Shared responses would narrow the interval, so no fall is reported in
    error.
    """
    above, below = now.high - now.value, before.value - before.low
    return now.value - before.value + math.hypot(above, below)


def _table(data: ReportData, runs: list[RunRow]) -> Table:
    minimums = {outcome.gate: outcome.overall.minimum for outcome in data.gates}
    judge_sets = list(dict.fromkeys(run.judge_set_fingerprint for run in reversed(runs)))
    return Table(
        "Agreement by run",
        (
            Column("Measured"),
            *(Column(name, axis=(0.0, 1.0)) for name, _ in _FIGURES.values()),
            Column("Judges"),
        ),
        tuple(
            TableRow(
                cells(
                    run.measured_at[:16],
                    *(_cell(run, gate, minimums.get(gate, math.nan)) for gate in _FIGURES),
                    _judge_set(run, judge_sets),
                )
            )
            for run in runs
        ),
    )


def _cell(run: RunRow, gate: GateName, minimum: float) -> Cell:
    name, limits = _FIGURES[gate]
    value = run.figures[gate].value
    figure = figure_text(value, limits=limits)
    return Cell(
        figure,
        plot=Plot(
            low=0.0,
            high=1.0,
            label=f"{name} {figure} at {run.measured_at[:16]}",
            dots=(("circle", value),),
            marks=() if math.isnan(minimum) else (("minimum", minimum),),
        ),
    )


def _judge_set(run: RunRow, judge_sets: list[str]) -> str:
    """Return the number of a run's set of judges; the oldest set is the first."""
    fingerprint = run.judge_set_fingerprint
    return f"set {judge_sets.index(fingerprint) + 1} ({fingerprint})" if fingerprint else "none"


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
