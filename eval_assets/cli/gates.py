"""`eval-assets gates`: verdict of each gate on the current data and minimums."""

from pathlib import Path
from typing import Literal, assert_never

import click

from eval_assets.cli.exit_codes import DONE, GATE_CLOSED, nothing_measured
from eval_assets.cli.options import data_option, database_option, print_json, resolve_database

Format = Literal["table", "json", "markdown"]


@click.command()
@data_option
@database_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "markdown"]),
    default="table",
    show_default=True,
    help="markdown for the summary of a build, with certificates.",
)
@click.option("--json", "form", flag_value="json", help="Short for --format json.")
def gates(data: Path, database: str | None, form: Format) -> int:
    """Say whether judges may be tuned, with each figure, its minimum and the next step.

    Nothing is materialized: stored figures are compared with the minimums declared now. The exit
    code is 3 if a gate is closed, stale or was never measured.
    """
    from eval_assets.assets.stored_screen import gate_steps
    from eval_assets.cli.results import outcomes_now, stored_certificates
    from eval_assets.readers.evaluation.read import read_evaluation
    from eval_assets.shown.certificates import certificates_notes, certificates_table
    from eval_assets.shown.gates import gates_answer, gates_notes, gates_table
    from eval_assets.shown.markdown import escape_markdown, table_markdown
    from eval_assets.shown.terminal import table_lines, wrapped
    from eval_assets.store.connection import connect

    evaluation = read_evaluation(data)
    path = resolve_database(data, database)
    if not path.exists():
        nothing_measured(data)
    with connect(path, folder=data, is_reading=True) as connection:
        outcomes = outcomes_now(connection, evaluation)
        steps = gate_steps(connection, evaluation, outcomes)
    step = next(iter(steps.values()), "")
    answer, table = gates_answer(outcomes), gates_table(outcomes)
    notes = list(gates_notes(outcomes))
    match form:
        case "table":
            lines = [*wrapped(answer, first="", rest=""), "", *table_lines(table)]
            for note in notes:
                lines += ["", *wrapped(note, first="", rest="")]
            if step:
                lines += ["", *wrapped(step, first="Do next  ", rest=" " * 9)]
            click.echo("\n".join(lines))
        case "json":
            print_json([of.to_json(next_step=steps.get(of.gate, "")) for of in outcomes])
        case "markdown":
            parts = [
                f"### {escape_markdown(evaluation.name)}: {escape_markdown(answer)}",
                table_markdown(table),
                *map(escape_markdown, notes),
                *([f"**Do next:** {escape_markdown(step)}"] if step else []),
            ]
            if certificates := stored_certificates(data, path):
                parts += ["#### Certificates", table_markdown(certificates_table(certificates))]
                parts += map(escape_markdown, certificates_notes(certificates, {}))
            click.echo("\n\n".join(parts))
        case _:
            assert_never(form)
    return GATE_CLOSED if any(outcome.is_closed for outcome in outcomes) else DONE
