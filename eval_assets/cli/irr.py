"""`eval-assets irr`: inter-rater reliability of the stored labels, question by question."""

import json
from pathlib import Path
from shlex import quote
from typing import Literal

import click

from eval_assets.agreement import irr_result
from eval_assets.cli.exit_codes import DONE, FAILED
from eval_assets.cli.options import data_option, database_of, database_option
from eval_assets.cli.results import plain_records
from eval_assets.cli.tables import print_humans
from eval_assets.readers import read_evaluation, source_fingerprints
from eval_assets.store import connect, human_ratings, is_stored, judge_gates, read_table

Format = Literal["table", "json", "irr-result"]


@click.command(short_help="Show how far human raters agree.")
@data_option
@database_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "irr-result"]),
    default="table",
    show_default=True,
    help="json: the stored figures; irr-result: one object per evaluation, as `serve` answers.",
)
@click.option("--json", "form", flag_value="json", help="Short for --format json.")
def irr(data: Path, database: str | None, form: Format) -> int:
    """Show how far human raters agree: the figures measured last, and what they suggest.

    `eval-assets run` measures them. An undefined figure is null in JSON, never a number.
    """
    evaluation = read_evaluation(data)
    path = database_of(data, database)
    if not is_stored(path):
        return _nothing_yet(data)
    with connect(path, folder=data) as connection:
        agreement = read_table(connection, "human_agreement")
        findings = read_table(connection, "label_findings")
        if agreement.empty:
            return _nothing_yet(data)
        if form == "irr-result":
            humans = human_ratings(connection, evaluation)
            outcomes = judge_gates(connection, evaluation, sources=source_fingerprints(evaluation))
            result = irr_result(evaluation, humans, agreement, findings, outcomes)
            click.echo(json.dumps(result, indent=2, allow_nan=False))
            return DONE
    if form == "json":
        figures = {"agreement": plain_records(agreement), "findings": plain_records(findings)}
        click.echo(json.dumps(figures, indent=2))
        return DONE
    print_humans(agreement)
    for finding in findings.itertuples():
        click.echo(f"{finding.question_id}: {finding.finding}")
    return DONE


def _nothing_yet(data: Path) -> int:
    """Print what to run first; return the exit code."""
    click.echo(f"Nothing is measured yet. Run: eval-assets run --data {quote(str(data))}", err=True)
    return FAILED
