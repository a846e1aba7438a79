"""`eval-assets irr`: inter-rater reliability of the stored labels by question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import click

from eval_assets.cli.exit_codes import DONE, nothing_measured
from eval_assets.cli.options import (
    data_option,
    database_option,
    print_json,
    print_table,
    resolve_database,
)

if TYPE_CHECKING:
    from pathlib import Path

Format = Literal["table", "json"]


@click.command()
@data_option
@database_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
)
@click.option("--json", "form", flag_value="json", help="As `serve` answers, with all figures.")
def irr(data: Path, database: str | None, form: Format) -> int:
    """Show the agreement of human raters: the latest figures and the next step.

    `eval-assets run` measures them. An undefined figure is null in JSON, never a number.
    """
    from eval_assets.assets.stored_screen import stored_screen
    from eval_assets.cli.results import stored_irr, why_stale
    from eval_assets.figures import HumanFigures
    from eval_assets.readers.evaluation.read import read_evaluation
    from eval_assets.shown.records import humans_table
    from eval_assets.shown.terminal import wrapped
    from eval_assets.store.connection import connect
    from eval_assets.store.figures import read_figures
    from eval_assets.store.gates import stored_findings

    evaluation = read_evaluation(data)
    path = resolve_database(data, database)
    if not path.exists():
        return nothing_measured(data)
    with connect(path, folder=data, is_reading=True) as connection:
        agreement = read_figures(connection, HumanFigures)
        findings = stored_findings(connection)
        stale = why_stale(connection, evaluation)
        screen = stored_screen(connection, evaluation, certificates=[], notes=[])
    if not agreement:
        return nothing_measured(data)
    match form:
        case "json":
            all_figures = {
                "agreement": [row.columns() for row in agreement],
                "findings": [vars(of) for of in findings],
                "stale_because": stale or None,
            }
            print_json({**(stored_irr(data, path) or {}), **all_figures})
        case "table":
            if stale:
                click.echo(f"{stale}\n")
            print_table(humans_table(agreement))
            for finding in findings:
                click.echo(f"{finding.question_id}: {finding.finding}.")
            if not stale and (step := screen.label_steps().get(None)):
                click.echo("\n".join(wrapped(f"Do next: {step}", first="", rest="")))
    return DONE
