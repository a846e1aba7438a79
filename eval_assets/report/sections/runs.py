"""Agreement and cost over runs."""

import math
from collections.abc import Iterable, Iterator

from eval_assets.bands import A_HH_LIMITS, ALPHA_LIMITS
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
from eval_assets.report.data import Record, ReportData, count, number, text
from eval_assets.report.layout import (
    Layout,
    count_of,
    judge_cell,
    laid_out,
    number_of,
    text_of,
    written,
)
from eval_assets.verdicts import Tone
from eval_assets.wording import figure_text, interval_text

_MOST_RUNS = 20
_FEWEST_RUNS = 2
_FIGURES: dict[str, tuple[str, GateName, tuple[float, ...]]] = {
    "a_hh": ("A^HH", "human_a_hh", A_HH_LIMITS),
    "alpha": ("alpha of people", "human_alpha", ALPHA_LIMITS),
    "judge_alpha": ("alpha of judges", "judge_alpha", ALPHA_LIMITS),
}
_TREND = (
    "Overall figures of the last runs, newest first; runs on the same data are one. A figure is "
    "said to have fallen if the whole 95 % interval of the difference lies below 0."
)
_COST = (
    "Every request that was ever made for this evaluation, whether it was answered or not. A cost "
    "is unknown if the model has no price."
)


def trend(data: ReportData) -> Section | None:
    """Return the overall figures of the last runs; None until two runs differ in their data."""
    runs = _runs(data.rows("agreement_history"))
    if len(runs) < _FEWEST_RUNS:
        return None
    blocks: list[Block] = [Text(_TREND)]
    if fallen := falls(data):
        blocks.append(Bullets(fallen, heading="What fell"))
    blocks.append(_table(data, runs[:_MOST_RUNS]))
    return Section("trend", "Agreement over time", "Trend", (Card("", tuple(blocks)),))


def cost(data: ReportData) -> Section | None:
    """Return the requests, tokens and dollars of each judge; None if no request was made."""
    table = laid_out("Cost by judge and model", _COST_COLUMNS, data.rows("judge_costs"))
    if not table.rows:
        return None
    return Section("cost", "What it cost", "Cost", (Card("", (Text(_COST), table)),))


def _runs(history: Iterable[Record]) -> list[Record]:
    """Return the overall rows, newest first, one for each version of the data and the judges."""
    overall = [record for record in history if text(record, "scope") == "overall"]
    overall.sort(key=lambda record: text(record, "measured_at"), reverse=True)
    newest: dict[tuple[str, str], Record] = {}
    for record in overall:
        key = (text(record, "data_version"), text(record, "judge_set_fingerprint"))
        newest.setdefault(key, record)
    return list(newest.values())


def falls(data: ReportData) -> tuple[Cell, ...]:
    """Return each figure that fell since the previous run by more than the noise of both."""
    runs = _runs(data.rows("agreement_history"))
    return tuple(_falls(*runs[:2])) if len(runs) >= _FEWEST_RUNS else ()


def _falls(now: Record, before: Record) -> Iterator[Cell]:
    for column, (name, gate, limits) in _FIGURES.items():
        if highest_difference(now, before, column) < 0:
            was, value = (figure_text(number(run, column), limits=limits) for run in (before, now))
            ends = (number(now, f"{column}_low"), number(now, f"{column}_high"))
            interval = interval_text(*ends, limits=limits)
            words = f"{name} fell from {was} to {value} ({interval})"
            yield Cell(words, tone=Tone.POOR, link=f"gate-{gate}")


def highest_difference(now: Record, before: Record, column: str) -> float:
    """Return the upper end of the 95 % interval of a figure's change between two runs.

    It follows from the intervals of both (Zou and Donner 2008, doi:10.1002/sim.3095), as if the
    runs shared no response. Shared responses would narrow the interval, so no fall is reported in
    error.
    """
    above = number(now, f"{column}_high") - number(now, column)
    below = number(before, column) - number(before, f"{column}_low")
    return number(now, column) - number(before, column) + math.hypot(above, below)


def _table(data: ReportData, runs: list[Record]) -> Table:
    minimums = {outcome.gate: outcome.overall.minimum for outcome in data.gates}
    judge_sets = list(dict.fromkeys(text(run, "judge_set_fingerprint") for run in reversed(runs)))
    return Table(
        "Agreement by run",
        (
            Column("Measured"),
            *(Column(name, axis=(0.0, 1.0)) for name, _, _ in _FIGURES.values()),
            Column("Judges"),
        ),
        tuple(
            TableRow(
                cells(
                    text(run, "measured_at")[:16],
                    *(
                        _cell(run, column, minimums.get(gate, math.nan), limits)
                        for column, (_, gate, limits) in _FIGURES.items()
                    ),
                    _judge_set(run, judge_sets),
                )
            )
            for run in runs
        ),
    )


def _cell(run: Record, column: str, minimum: float, limits: tuple[float, ...]) -> Cell:
    value = number(run, column)
    figure = figure_text(value, limits=limits)
    return Cell(
        figure,
        plot=Plot(
            low=0.0,
            high=1.0,
            label=f"{_FIGURES[column][0]} {figure} at {text(run, 'measured_at')[:16]}",
            dots=(("circle", value),),
            marks=() if math.isnan(minimum) else (("minimum", minimum),),
        ),
    )


def _judge_set(run: Record, judge_sets: list[str]) -> str:
    """Return the number of a run's set of judges; the oldest set is the first."""
    fingerprint = text(run, "judge_set_fingerprint")
    return f"set {judge_sets.index(fingerprint) + 1} ({fingerprint})" if fingerprint else "none"


def _cost_per_thousand(record: Record) -> str:
    n_scores = count(record, "n_requests") - count(record, "n_failed")
    return written(1000 * number(record, "cost_usd") / n_scores if n_scores else math.nan, ",.4f")


_COST_COLUMNS: Layout[Record] = {
    "Judge": lambda record: judge_cell(text(record, "judge_id")),
    "Model": text_of("model"),
    "Requests#": count_of("n_requests"),
    "Failed#": count_of("n_failed"),
    "Tokens in#": count_of("input_tokens"),
    "Tokens out#": count_of("output_tokens"),
    "Cost (USD)#": number_of("cost_usd", ",.4f"),
    "Per 1,000 scores#": _cost_per_thousand,
    "Latency (s)#": number_of("latency_seconds", ".2f"),
}
