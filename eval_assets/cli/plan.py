"""`eval-assets plan`: how many more responses decide each gate."""

from pathlib import Path

import click

from eval_assets.cli.exit_codes import DONE, nothing_measured
from eval_assets.cli.options import (
    data_option,
    database_option,
    json_option,
    print_json,
    resolve_database,
)


@click.command()
@data_option
@database_option
@json_option
def plan(*, data: Path, database: str | None, as_json: bool) -> int:
    """Print how many more responses would decide each gate.

    Each is to be rated by two raters or more, or scored by the judges. If the figure of now is the
    true value, four of five studies with that many responses more have an interval that leaves out
    the minimum. Draw them at random or stratified, as `eval-assets assign` does.
    """
    from eval_assets.cli.results import outcomes_now
    from eval_assets.readers.evaluation.read import read_evaluation
    from eval_assets.shown.gates import figures_of, plan_answer, plan_table
    from eval_assets.shown.terminal import table_lines, wrapped
    from eval_assets.store.connection import connect

    evaluation = read_evaluation(data)
    path = resolve_database(data, database)
    if not path.exists():
        return nothing_measured(data)
    with connect(path, folder=data, is_reading=True) as connection:
        outcomes = outcomes_now(connection, evaluation)
    for sentence in dict.fromkeys(o.overall.reason for o in outcomes if o.unusable):
        click.echo(f"{sentence}.", err=as_json)
    verdicts = [of for gate in outcomes if not gate.unusable for of in figures_of(gate)]
    if as_json:
        keys = ("gate", "question_id", "value", "low", "high", "minimum", "n_units")
        print_json(
            [
                {key: verdict.to_json()[key] for key in keys}
                | {"n_more": verdict.n_more(verdict.minimum)}
                for verdict in verdicts
            ]
        )
        return DONE
    table = plan_table(outcomes)
    lines = wrapped(plan_answer(outcomes), first="", rest="")
    click.echo("\n".join([*lines, *(["", *table_lines(table)] if table.rows else [])]))
    return DONE
