"""What was measured, as tables on the terminal."""

import math

import click
import duckdb
import pandas as pd

from eval_assets.evaluation import Evaluation
from eval_assets.gates import GateOutcome
from eval_assets.store import read_table


def print_measured(
    connection: duckdb.DuckDBPyConnection, evaluation: Evaluation, outcomes: tuple[GateOutcome, ...]
) -> None:
    """Print human agreement, judges against humans, and each gate's verdict."""
    print_humans(read_table(connection, "human_agreement"))
    print_judges(read_table(connection, "judge_human_agreement"))
    print_gates(evaluation, outcomes)


def print_humans(agreement: pd.DataFrame) -> None:
    """Print how far human raters agree, overall and by question."""
    if agreement.empty:
        return
    overall = agreement.iloc[0]
    click.echo(f"\nHuman agreement: {overall.n_ratings:,} ratings by {overall.n_raters} raters")
    click.echo(
        f"  {'question':24} {'A^HH':>6} {'95 % interval':>15} {'chance':>7} "
        f"{'alpha':>7} {'95 % interval':>17} {'n':>8}"
    )
    for _, row in agreement.iterrows():
        name = "overall" if row.scope == "overall" else row.question_id
        click.echo(
            f"  {name[:24]:24} {_figure(row.a_hh)} {_range(row.a_hh_low, row.a_hh_high)} "
            f"{_figure(row.a_hh_by_chance):>7} {_figure(row.alpha):>7} "
            f"{_range(row.alpha_low, row.alpha_high):>17} {row.n_responses:>8,}"
        )


def print_judges(agreement: pd.DataFrame) -> None:
    """Print how near each judge is to the humans, beside its controls."""
    if agreement.empty:
        return
    click.echo("\nJudges against humans")
    click.echo(
        f"  {'judge':16} {'question':24} {'A^HA':>6} {'constant':>9} {'shuffled':>9} "
        f"{'Spearman':>9} {'bias':>7} {'n':>8}"
    )
    for _, row in agreement.iterrows():
        click.echo(
            f"  {row.judge_id[:16]:16} {row.question_id[:24]:24} "
            f"{_figure(row.a_ha)} {_figure(row.a_ha_constant):>9} "
            f"{_figure(row.a_ha_shuffled):>9} {_figure(row.spearman):>9} "
            f"{_signed(row.bias):>7} {row.n_units:>8,}"
        )


def print_gates(evaluation: Evaluation, outcomes: tuple[GateOutcome, ...]) -> None:
    """Print each gate's verdict and what it leaves out."""
    click.echo("\nGates")
    for outcome in outcomes:
        overall = outcome.overall
        state, colour = _state(outcome)
        interval = _range(overall.low, overall.high)
        click.echo(
            f"  {outcome.gate:12} {click.style(f'{state:6}', fg=colour)} {interval:>17}  "
            f"{outcome.reason}"
        )
    if len(evaluation.judges) < 2:  # noqa: PLR2004 - two judges can agree
        n_judges = "one judge" if evaluation.judges else "no judge"
        click.echo(f"  judge_alpha  does not apply: it takes two judges, and there is {n_judges}")
    click.echo("")


def _state(outcome: GateOutcome) -> tuple[str, str]:
    """Whether a gate blocks, and its colour; one that would block but for its severity warns."""
    if outcome.is_closed:
        return "CLOSED", "red"
    if outcome.passed:
        return "open", "green"
    return ("open" if outcome.overall.verdict == "pass" else "warns"), "yellow"


def _figure(value: float) -> str:
    """Three decimals; undefined says so."""
    return f"{'--' if math.isnan(value) else f'{value:.3f}':>6}"


def _signed(value: float) -> str:
    return "--" if math.isnan(value) else f"{value:+.2f}"


def _range(low: float, high: float) -> str:
    return f"{'--' if math.isnan(low) else f'[{low:.3f}, {high:.3f}]':>15}"
