"""`eval-assets why`: causes of disagreement between raters."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import click

from eval_assets.cli.exit_codes import DONE, nothing_measured
from eval_assets.cli.options import (
    data_option,
    database_option,
    json_option,
    print_json,
    question_of,
    resolve_database,
)

if TYPE_CHECKING:
    from pathlib import Path

    from eval_assets.agreement.causes import Cause


@click.command()
@click.argument("question")
@data_option
@database_option
@json_option
def why(question: str, data: Path, database: str | None, *, as_json: bool) -> int:
    """Test why raters disagree on QUESTION: raters, scale use, levels, responses, fatigue.

    Each cause is shown with the gain in alpha if it is fixed and the responses that show it best.
    It is tested by permutation: at most one question in twenty without a cause has one reported.
    """
    from eval_assets.agreement.cause_tests import causes_of_disagreement
    from eval_assets.cli.results import why_stale
    from eval_assets.readers.evaluation.read import read_evaluation
    from eval_assets.store.connection import connect, is_stored
    from eval_assets.store.ratings import human_ratings
    from eval_assets.store.response_features import rated_responses

    evaluation = read_evaluation(data)
    declared = question_of(evaluation, question)
    path = resolve_database(data, database)
    if not is_stored(path):
        return nothing_measured(data)
    with connect(path, folder=data, is_reading=True) as connection:
        ratings = human_ratings(connection, evaluation).ratings[question]
        responses = rated_responses(connection, question, ratings)
        stale = why_stale(connection, evaluation)
    causes = causes_of_disagreement(responses, declared)
    if stale:
        click.echo(stale, err=as_json)
    if as_json:
        print_json([cause.to_json() for cause in causes])
    else:
        _print(question, causes)
    return DONE


def _print(question: str, causes: tuple[Cause, ...]) -> None:
    from eval_assets.agreement.causes import NO_CAUSE, names_of_others
    from eval_assets.cli.terminal_tables import print_table
    from eval_assets.wording import figure_text, listed

    if not causes:
        click.echo(f"{question}: fewer than 10 responses have two ratings, which is too few.")
        return
    if math.isnan(causes[0].alpha):
        click.echo(f"{question}: all ratings are equal, so there is no disagreement.")
        return
    reported = [cause for cause in causes if cause.is_reported]
    cleared = names_of_others(causes)
    if not reported:
        click.echo(f"{question}: {NO_CAUSE}.")
    else:
        print_table(
            f"Why raters disagree on {question}: alpha {causes[0].alpha:z.3f} (interval level)",
            ["cause", "alpha without it", "p", "responses"],
            [
                [
                    str(cause),
                    figure_text(cause.alpha_fixed, limits=[]),
                    f"{cause.adjusted_p:.3f}",
                    " ".join(cause.examples),
                ]
                for cause in reported
            ],
            numbers=["alpha without it", "p"],
        )
        for cause in reported:
            click.echo(f"{cause}: {cause.kind.remedy}")
    if cleared:
        click.echo(f"Tested, and not more than chance: {listed(cleared)}.")
