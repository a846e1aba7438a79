"""`eval-assets irr`: inter-rater reliability of the stored labels by question."""

from pathlib import Path

import click

from eval_assets.cli.exit_codes import DONE, nothing_measured
from eval_assets.cli.options import (
    data_option,
    database_option,
    json_option,
    print_json,
    print_table,
    resolve_database,
)


@click.command()
@data_option
@database_option
@json_option
def irr(data: Path, database: str | None, *, as_json: bool) -> int:
    """Show the agreement of human raters: the latest figures and the next step.

    `eval-assets run` measures them. An undefined figure is null in JSON, never a number.
    """
    from eval_assets.cli.results import stored_irr, why_stale
    from eval_assets.figures import HumanFigures
    from eval_assets.readers.evaluation.read import read_evaluation
    from eval_assets.shown.blocks import humans_table
    from eval_assets.shown.terminal import wrapped
    from eval_assets.store.connection import connect
    from eval_assets.store.figures import read_figures
    from eval_assets.store.gates import stored_findings

    evaluation = read_evaluation(data)
    path = resolve_database(data, database)
    result = stored_irr(data, path)
    if result is None:
        return nothing_measured(data)
    with connect(path, folder=data, is_reading=True) as connection:
        agreement = read_figures(connection, HumanFigures)
        findings = stored_findings(connection)
        stale = why_stale(connection, evaluation)
    if as_json:
        all_figures = {
            "agreement": [row.columns() for row in agreement],
            "findings": [vars(of) for of in findings],
            "stale_because": stale or None,
        }
        print_json(result | all_figures)
        return DONE
    if stale:
        click.echo(f"{stale}\n")
    print_table(humans_table(agreement))
    for finding in findings:
        click.echo(f"{finding.question_id}: {finding.finding}.")
    for step in () if stale else result["suggestions"]:
        click.echo("\n".join(wrapped(f"Do next: {step}", first="", rest="")))
    return DONE
