"""`eval-assets why`: what the ratings show about disagreement between raters."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from eval_assets.cli.exit_codes import DONE, nothing_measured
from eval_assets.cli.options import (
    data_option,
    database_option,
    json_option,
    print_json,
    print_table,
    question_of,
    resolve_database,
)

if TYPE_CHECKING:
    from pathlib import Path

    from eval_assets.agreement.diagnosis import Diagnosis

_MOST_CHARACTERS = 100


@click.command()
@click.argument("question", required=False)
@data_option
@database_option
@json_option
def why(question: str | None, data: Path, database: str | None, *, as_json: bool) -> int:
    """Show where raters disagree on QUESTION, or the only one: values, raters and responses.

    Prints which values raters mix up, how severe each rater is and how they use the scale, and the
    responses whose ratings lie farthest apart.
    """
    from eval_assets.agreement.diagnosis import DeviatingRater
    from eval_assets.agreement.label_agreement import label_agreement
    from eval_assets.cli.results import why_stale
    from eval_assets.readers.evaluation.read import read_evaluation
    from eval_assets.store.connection import connect
    from eval_assets.store.labelling import diagnosis
    from eval_assets.store.ratings import human_ratings

    evaluation = read_evaluation(data)
    declared = question_of(evaluation, question)
    path = resolve_database(data, database)
    if not path.exists():
        return nothing_measured(data)
    with connect(path, folder=data, is_reading=True) as connection:
        ratings = human_ratings(connection, evaluation).ratings[declared.id]
        cause = label_agreement(declared, ratings, evaluation.gates).cause
        deviating = cause if isinstance(cause, DeviatingRater) else None
        result = replace(diagnosis(connection, declared), deviating=deviating)
        stale = why_stale(connection, evaluation)
    if stale:
        click.echo(stale, err=as_json)
    if as_json:
        print_json(result.to_json())
    else:
        _print(result)
    return DONE


def _print(result: Diagnosis) -> None:
    from eval_assets.shown.blocks import text_table
    from eval_assets.shown.terminal import wrapped
    from eval_assets.wording import percent_text, shortened, signed_text

    remedies = dict.fromkeys(of.remedy for of in result.observations() if result.n_shared)
    for sentence in (f"{result.question.id}: {result.summary()}", *remedies):
        click.echo("\n".join(wrapped(f"{sentence}.", first="", rest="  ")))
    if not result.n_shared:
        return
    click.echo()
    values = result.values
    print_table(
        text_table(
            "Ratings beside each value, by other raters of the same response",
            ["value", *values],
            [
                [value, *(percent_text(share) for share in row)]
                for value, row in zip(values, result.shares, strict=True)
            ],
            numbers=values,
        )
    )
    print_table(
        text_table(
            "Use of the scale (severity: mean difference from the others, in scale points)",
            ["rater", "shared", "severity", *values],
            [
                [
                    rater.rater_id,
                    f"{rater.n_shared:,}",
                    signed_text(rater.severity),
                    *(percent_text(count / sum(rater.counts)) for count in rater.counts),
                ]
                for rater in result.raters
            ],
            numbers=["shared", "severity", *values],
        )
    )
    if result.responses:
        print_table(
            text_table(
                "Responses with the largest spread",
                ["response", "ratings", "text"],
                [
                    [
                        response.response_id,
                        response.ratings_text,
                        shortened(" ".join(response.text.split()), most=_MOST_CHARACTERS),
                    ]
                    for response in result.responses
                ],
            )
        )
