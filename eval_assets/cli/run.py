"""`eval-assets run`: materialize the assets and print the figures."""

from __future__ import annotations

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
from eval_assets.cli.options import data_option, database_option

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from eval_assets.cli.results import Output


class _Statuses(click.ParamType["str"]):
    """Statuses of replies without a score, separated by commas."""

    name = "statuses"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the statuses without spaces."""
        from eval_assets.judges.replies import UNREAD

        statuses = [status.strip() for status in value.split(",") if status.strip()]
        for status in statuses:
            if status not in UNREAD:
                self.fail(f"{status} is not one of {', '.join(UNREAD)}.", param, ctx)
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
@click.option("--force", is_flag=True, help="Run although nothing changed since the last run.")
@click.option(
    "--new-prompt",
    is_flag=True,
    help="Show the judges all columns of labelling.show, and ask again about what they scored "
    "without.",
)
@click.option(
    "--ask-again",
    type=_Statuses(),
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
    force: bool,
    new_prompt: bool,
    ask_again: str,
    verbose: bool,
    output: Literal["quiet", "json"] | None,
) -> int:
    """Materialize every asset of an evaluation folder and print the figures.

    If nothing changed since the last run, its results are printed and nothing runs. Files that did
    not change are not read again, and no judge is asked again for an answer that is stored. With
    live models, or the ledger on a server, every asset runs again also if nothing changed. If a
    gate is closed, the exit code is 3.

    Of a folder of evaluation folders, each is evaluated, one after the other, also if one of them
    fails; the exit code is 1 if one failed, else 3 if a gate of one is closed.
    """
    from eval_assets.readers.evaluation.read import evaluations_in, read_evaluation

    names = evaluations_in(data)
    if not names:
        read_evaluation(data)
    elif output == "json":
        raise click.UsageError(f"{data} holds several evaluations: name one of them for --json.")
    codes = set()
    for name in names or [""]:
        try:
            if new_prompt:
                _accept_prompt(data / name)
            code = _evaluate(
                data,
                name,
                database,
                select=select,
                force=force,
                ask_again=ask_again,
                verbose=verbose,
                output=output or "text",
            )
        except (*EXPECTED, ExceptionGroup) as error:
            if not names:
                raise
            click.echo(f"{data / name} could not be evaluated:", err=True)
            code = print_failure(error)
        codes.add(code)
    if len(names) > 1 and FAILED not in codes and output is None:
        _print_judges_over(data, names, database)
    return next(code for code in (FAILED, MISUSED, GATE_CLOSED, DONE) if code in codes)


def _evaluate(  # noqa: PLR0913 - one parameter per option
    data: Path,
    name: str,
    database: str | None,
    *,
    select: str | None,
    force: bool,
    ask_again: str,
    verbose: bool,
    output: Output,
) -> int:
    """Run one evaluation, or print its last results if nothing changed; return the exit code."""
    if not (select or force or ask_again):
        code = _unchanged(data / name, database, output=output, verbose=verbose)
        if code is not None:
            return code
    # Dagster takes seconds to import: an error in evaluation.yaml is reported before that.
    from eval_assets.assets.resources import EvaluationFolder
    from eval_assets.cli.materialize import materialize

    folder = EvaluationFolder.at(data, database=database)
    if name:
        folder = next(of for of in EvaluationFolder.all_in(data) if of.name == name)
    return materialize(folder, select=select, verbose=verbose, output=output, ask_again=ask_again)


def _accept_prompt(folder: Path) -> None:
    """Let the judges' prompt show what raters are shown, from this run on."""
    from datetime import UTC, datetime

    from eval_assets.cli.options import ledger_of
    from eval_assets.readers.evaluation.read import read_evaluation
    from eval_assets.store.ledger.histories import accept_columns

    evaluation = read_evaluation(folder)
    with ledger_of(folder, evaluation) as ledger:
        accept_columns(ledger, evaluation.labelling.show, at=datetime.now(tz=UTC))


def _print_judges_over(data: Path, names: Sequence[str], database: str | None) -> None:
    from eval_assets.agreement.pooled_coefficients import alpha_over_evaluations
    from eval_assets.cli.options import resolve_database
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


def _unchanged(folder: Path, database: str | None, *, output: Output, verbose: bool) -> int | None:
    """Print the last run's results if nothing changed since; return the exit code, else None."""
    from eval_assets.cli.options import resolve_database
    from eval_assets.cli.results import may_be_unchanged, print_run, unchanged_results
    from eval_assets.readers.evaluation.read import read_evaluation

    try:
        evaluation = read_evaluation(folder)
    except ExceptionGroup:
        return None  # the run reports it
    path = resolve_database(folder, database)
    results = unchanged_results(evaluation, path) if may_be_unchanged(evaluation) else None
    if results is None:
        return None
    if output != "quiet":
        message = f"Nothing changed in {folder} since the last run; --force runs it again."
        click.echo(message, err=output == "json")
    is_closed = print_run(
        evaluation, path, results, output, gates=evaluation.gates, verbose=verbose
    )
    return GATE_CLOSED if results.not_run or is_closed else DONE
