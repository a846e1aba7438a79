"""`eval-assets plan`: how many more responses decide each gate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from eval_assets.cli.exit_codes import DONE, nothing_measured
from eval_assets.cli.options import (
    data_option,
    database_option,
    json_option,
    print_json,
    resolve_database,
)

if TYPE_CHECKING:
    from pathlib import Path

    from eval_assets.agreement.gates.decision import GateVerdict


@click.command()
@data_option
@database_option
@json_option
def plan(*, data: Path, database: str | None, as_json: bool) -> int:
    """Print how many more responses would decide each gate.

    Each is to be rated by two raters or more, or scored by the judges. If the figure of now is the
    true value, four of five studies with that many responses more have an interval that leaves out
    the minimum. Draw them at random or stratified, as `eval-assets assign` does.
    """
    from eval_assets.cli.results import outcomes_now
    from eval_assets.cli.terminal_tables import print_groups_wanted, print_table
    from eval_assets.figures import JudgeHumanFigures
    from eval_assets.readers.evaluation.read import read_evaluation
    from eval_assets.store.connection import connect, is_stored
    from eval_assets.store.figures import read_figures

    evaluation = read_evaluation(data)
    path = resolve_database(data, database)
    if not is_stored(path):
        return nothing_measured(data)
    with connect(path, folder=data, is_reading=True) as connection:
        outcomes = outcomes_now(connection, evaluation)
        judged = read_figures(connection, JudgeHumanFigures)
    for sentence in dict.fromkeys(o.overall.reason for o in outcomes if o.unusable):
        click.echo(f"{sentence}.", err=as_json)
    # An only question has the figures of all questions, which the gates compare.
    verdicts = [
        verdict
        for outcome in outcomes
        for verdict in (outcome.overall, *outcome.questions)
        if not outcome.unusable and (verdict.question_id is None or len(outcome.questions) > 1)
    ]
    if as_json:
        keys = ("gate", "question_id", "value", "low", "high", "minimum", "n_units")
        print_json(
            [
                {key: verdict.to_json()[key] for key in keys}
                | {"n_more": verdict.n_more(verdict.minimum)}
                for verdict in verdicts
            ]
        )
        return DONE
    print_table(
        "More responses for a clear verdict in four of five studies",
        ["gate", "question", "now", "95 % interval", "minimum", "more responses"],
        [_row(verdict) for verdict in verdicts],
        numbers=["now", "95 % interval", "minimum"],
    )
    print_groups_wanted(judged)
    return DONE


def _row(verdict: GateVerdict) -> list[str]:
    from eval_assets.bands import FEWEST_GROUPS
    from eval_assets.wording import figure_text, interval_text

    limits = [verdict.minimum]
    n_groups = verdict.n_units if verdict.n_groups is None else verdict.n_groups
    n_more = verdict.n_more(verdict.minimum)
    if n_more:
        words = f"about {n_more:,}"
    elif n_more == 0:
        is_pass = verdict.low >= verdict.minimum
        words = f"none: it is {'above' if is_pass else 'below'} the minimum"
    elif n_groups < FEWEST_GROUPS:
        words = f"first at least {FEWEST_GROUPS} response groups, now {n_groups}"
    else:
        words = "no number would decide"
    return [
        verdict.gate,
        verdict.question_id or "all questions",
        figure_text(verdict.value, limits=limits),
        interval_text(verdict.low, verdict.high, limits=limits),
        f"{verdict.minimum:g}",
        words,
    ]
