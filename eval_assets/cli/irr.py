"""`eval-assets irr`: inter-rater reliability of the stored labels, question by question."""

import json
from pathlib import Path
from shlex import quote

import click

from eval_assets.cli.measured import print_humans
from eval_assets.cli.options import data_option, database_of, database_option
from eval_assets.cli.problems import DONE, FAILED
from eval_assets.store import connect, read_table


@click.command(short_help="Show how far human raters agree.")
@data_option
@database_option
@click.option("--json", "as_json", is_flag=True, help="Print every figure as JSON.")
def irr(data: Path, database: Path | None, as_json: bool) -> int:  # noqa: FBT001
    """Show how far human raters agree: the figures that were last measured, with findings.

    Undefined figures are null, never a number. Run `eval-assets run` first.
    """
    path = database_of(data, database)
    if not path.exists():
        return _nothing_yet(data)
    with connect(path, folder=data) as connection:
        agreement = read_table(connection, "human_agreement")
        findings = read_table(connection, "label_findings")
    if agreement.empty:
        return _nothing_yet(data)
    if as_json:
        rows = agreement.astype(object).where(agreement.notna(), None).to_dict("records")
        click.echo(
            json.dumps({"agreement": rows, "findings": findings.to_dict("records")}, indent=2)
        )
        return DONE
    print_humans(agreement)
    for finding in findings.itertuples():
        click.echo(f"  {finding.question_id}: {finding.finding}")
    return DONE


def _nothing_yet(data: Path) -> int:
    """Say what to run first; the exit code of having nothing to show."""
    click.echo(f"Nothing is measured yet. Run: eval-assets run --data {quote(str(data))}", err=True)
    return FAILED
