"""`eval-assets agreement`: agreement of any file of ratings, without an evaluation folder."""

from __future__ import annotations

import json
from pathlib import Path
from shlex import join, quote
from typing import TYPE_CHECKING

import click

from eval_assets.cli.exit_codes import DONE, GATE_CLOSED, MISUSED
from eval_assets.cli.options import file_arguments, json_option, print_json, read_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eval_assets.file_agreement import Agreement
    from eval_assets.readers.rating_tables import ReadOptions

_MOST_DISAGREEMENTS = 5


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@read_options
@json_option
def agreement(file: Path, *, options: ReadOptions, as_json: bool) -> int:
    """Say whether the raters of any file agree: A^HH, alpha, the gates and the next step.

    FILE holds one rating per row (rater, item, rating), or a column for each rater or
    question; as CSV, TSV, Excel, JSON, JSONL or Parquet. Ratings are numbers, words, yes and no,
    4/5, stars, or a cross in one of the columns that are named by the values. How the file was read
    is printed first. Nothing is stored. If a gate is closed, the exit code is 3. If headers can be
    read in two ways whose verdicts differ, both are printed, and the exit code is 2.
    """
    from eval_assets.file_agreement import agreement_of_layouts

    agreements = agreement_of_layouts(file, options)
    if len(agreements) > 1:
        return _undecided(file, agreements, as_json=as_json)
    [measured] = agreements
    if as_json:
        print_json(measured.to_json())
    else:
        _print(measured, file)
        for doubt in measured.doubts:
            click.echo(doubt)
    return DONE if measured.is_open else GATE_CLOSED


def _undecided(file: Path, layouts: Sequence[Agreement], *, as_json: bool) -> int:
    from eval_assets.cli.terminal_tables import print_human_gates

    if as_json:
        documents = [{"option": of.option, **of.to_json()} for of in layouts]
        print_json({"layouts": documents})
        return MISUSED
    click.echo(f"{file.name} can be read in two ways, and their verdicts differ.")
    for measured in layouts:
        click.echo()
        for note in measured.notes:
            click.echo(f"{file.name}: {note}.")
        print_human_gates(measured.outcomes)
        if measured.option:
            command = f"eval-assets agreement {quote(str(file))} {measured.option}"
            click.echo(f"If that is right, run: {command}")
    return MISUSED


def _next_command(file: Path) -> str:
    """Return the command that evaluates the file's folder, or creates a folder from the file."""
    from eval_assets.file_agreement import folder_of

    folder = folder_of(file)
    if folder is not None:
        return f"eval-assets run --data {quote(str(folder))}"
    return join(["eval-assets", "init", *file_arguments()])


def _print(measured: Agreement, file: Path) -> None:
    from eval_assets.cli.terminal_tables import print_human_gates, print_humans, print_table

    for note in measured.notes:
        click.echo(f"{file.name}: {note}.")
    click.echo()
    print_humans(measured.figures)
    print_human_gates(measured.outcomes)
    if len(measured.disagreements):
        worst = measured.disagreements.head(_MOST_DISAGREEMENTS).to_dict("records")
        print_table(
            f"label_disagreements: the largest of {len(measured.disagreements)} (--json has all)"
            if len(measured.disagreements) > _MOST_DISAGREEMENTS
            else "label_disagreements",
            ("item", "question", "ratings"),
            [(row["response_id"], row["question_id"], _ratings(row["ratings"])) for row in worst],
        )
    for remark, questions in measured.remarks.items():
        click.echo(f"{', '.join(questions)}: {remark}.")
    if measured.is_open:
        click.echo(_open_gates(measured))
        click.echo(f"To compare judges with these raters, run: {_next_command(file)}")


def _open_gates(measured: Agreement) -> str:
    """Return how certain the open gates are, and whether they hold for every question."""
    from eval_assets.agreement.gates.decision import tunable_questions
    from eval_assets.verdicts import GateState
    from eval_assets.wording import listed

    question_ids = [question.id for question in measured.evaluation.rubric]
    n_passing = len(tunable_questions(measured.outcomes, question_ids))
    if n_passing < len(question_ids):
        verb = "passes" if n_passing == 1 else "pass"
        return f"{n_passing} of {len(question_ids)} questions {verb} every gate."
    if below := [o.gate for o in measured.outcomes if o.state is GateState.BELOW]:
        verb = "warns" if len(below) == 1 else "warn"
        return f"No gate is closed, since {listed(below)} only {verb}."
    undecided = [o.gate for o in measured.outcomes if o.state is GateState.UNDECIDED]
    if undecided:
        return f"No gate is closed, and {listed(undecided)} may be open by chance."
    return "The gates are open."


def _ratings(by_rater: str) -> str:
    return ", ".join(f"{rater} {value:g}" for rater, value in json.loads(by_rater).items())
