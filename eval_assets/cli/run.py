"""`eval-assets run`: materialize the assets and print the figures."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

import click

from eval_assets.cli.exit_codes import (
    DONE,
    EXPECTED,
    FAILED,
    GATE_CLOSED,
    MISUSED,
    print_failure,
)
from eval_assets.cli.options import data_option, database_option, resolve_database

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def _statuses(_: click.Context, __: click.Parameter, value: str) -> str:
    """Return statuses of replies without a score, separated by commas alone."""
    statuses = [status.strip() for status in value.split(",") if status.strip()]
    if statuses:
        from eval_assets.judges.replies import UNREAD

        for status in statuses:
            if status not in UNREAD:
                raise click.BadParameter(f"{status} is not one of {', '.join(UNREAD)}.")
    return ",".join(statuses)


@click.command()
@data_option
@database_option
@click.option(
    "--select",
    default=None,
    help="Assets to materialize, separated by commas; a + in front includes everything upstream: "
    "judge_splits, or +human_agreement,judge_scores.  [default: all]",
)
@click.option(
    "--new-prompt",
    is_flag=True,
    help="Show the judges what raters are shown now, all columns of labelling.show and the present "
    "wording of questions, and ask again about what they scored by another prompt.",
)
@click.option(
    "--ask-again",
    callback=_statuses,
    default="",
    metavar="STATUS[,STATUS]",
    help="Ask the judges again where a reply has no score: unparsable, missing, out_of_range.",
)
@click.option("--verbose", is_flag=True, help="Print all figures, and Dagster's own log.")
@click.option(
    "--quiet", "output", flag_value="quiet", help="Print closed gates and failed checks only."
)
@click.option(
    "--json", "output", flag_value="json", help="Print one JSON object; progress goes to stderr."
)
def run(  # noqa: PLR0913 - one parameter per option
    *,
    data: Path,
    database: str | None,
    select: str | None,
    new_prompt: bool,
    ask_again: str,
    verbose: bool,
    output: Literal["quiet", "json"] | None,
) -> int:
    """Materialize every asset of an evaluation folder and print the figures.

    Files that did not change are not read again, and no judge is asked again for an answer that is
    stored. If a gate is closed, the exit code is 3.

    Of a folder of evaluation folders, each is evaluated, one after the other, also if one of them
    fails; the exit code is 1 if one failed, else 3 if a gate of one is closed.
    """
    from eval_assets.readers.evaluation.read import evaluations_in, read_evaluation

    names = evaluations_in(data)
    if not names:
        read_evaluation(data)
    elif output == "json":
        raise click.UsageError(f"{data} holds several evaluations: name one of them for --json.")
    # Dagster takes seconds to import: an error in evaluation.yaml is reported before that.
    from eval_assets.assets.judging import ASK_AGAIN_TAG
    from eval_assets.assets.resources import EvaluationFolder
    from eval_assets.cli.materialize import materialize
    from eval_assets.store.ledger.histories import accept_prompt

    tags = {ASK_AGAIN_TAG: ask_again} if ask_again else {}
    codes = set()
    for folder in EvaluationFolder.all_in(data, database=database):
        try:
            if new_prompt:
                evaluation = folder.evaluation()
                with folder.ledger(evaluation) as ledger:
                    columns = evaluation.labelling.show
                    accept_prompt(ledger, columns, evaluation.rubric, at=datetime.now(tz=UTC))
            code = materialize(
                folder, select=select, verbose=verbose, output=output or "text", tags=tags
            )
        except (*EXPECTED, ExceptionGroup) as error:
            if not names:
                raise
            click.echo(f"{folder.path} could not be evaluated:", err=True)
            code = print_failure(error)
        codes.add(code)
    if len(names) > 1 and FAILED not in codes and output is None:
        _print_judges_over(data, names, database)
    return next(code for code in (FAILED, MISUSED, GATE_CLOSED, DONE) if code in codes)


def _print_judges_over(data: Path, names: Sequence[str], database: str | None) -> None:
    from eval_assets.agreement.pairs import alpha_over_evaluations
    from eval_assets.readers.evaluation.read import read_evaluation
    from eval_assets.store.connection import connect
    from eval_assets.store.ratings import judge_ratings
    from eval_assets.wording import counted, figure_text

    parts = []
    for name in names:
        evaluation = read_evaluation(data / name)
        with connect(resolve_database(data / name, database), folder=data / name) as connection:
            parts.append((evaluation, judge_ratings(connection, evaluation).scores))
    alpha, n_units = alpha_over_evaluations(parts)
    if n_units:
        click.echo(
            f"Judges over all {len(names)} evaluations: alpha {figure_text(alpha, limits=[])} on "
            f"{counted(n_units, 'unit')}"
        )
