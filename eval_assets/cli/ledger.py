"""`eval-assets ledger`: spending, batches, and exports of the ledger."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, get_args

import click

from eval_assets.cli.exit_codes import DONE
from eval_assets.cli.options import (
    check_output,
    data_option,
    file_for,
    format_option,
    ledger_of,
    output_option,
    print_table,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from eval_assets.config.evaluation import Evaluation
    from eval_assets.store.ledger.engine import SqlLedger
    from eval_assets.store.schema import ExportFormat

Action = Literal["show", "export"]

_MOST_ROWS = 20
"""Days and runs shown, the latest first; an export holds all."""

_BATCHES = ("judge", "batch", "run", "since", "requests", "at most USD")
_SPENT = ("requests", "replies", "tokens in", "tokens out", "USD", "charged USD")


@click.command()
@click.argument("action", type=click.Choice(get_args(Action)), default="show")
@data_option
@format_option
@output_option
@click.option(
    "--forget-batch",
    metavar="ID",
    help="Give up a batch that the vendor lost: the next run submits its requests again and pays "
    "for them.",
)
def ledger(
    *,
    action: Action,
    data: Path,
    form: ExportFormat,
    output: Path | None,
    forget_batch: str | None,
) -> int:
    """Show the spending by judge, model, day and run, and open batches.

    "USD" sums the costs that are known; "charged USD" counts towards budgets: a cost that
    is not known is estimated from the replies before it.

    `export` writes every request with its prompt and reply, a row per attempt.
    """
    from eval_assets.readers.evaluation.read import read_evaluation

    if action == "export":
        check_output(form, output)
    evaluation = read_evaluation(data)
    with ledger_of(data, evaluation, is_reading=forget_batch is None) as opened:
        if forget_batch is not None:
            return _forget(opened, forget_batch)
        if action == "export":
            from eval_assets.store.ledger.copies import export_ledger

            with file_for(output) as temporary:
                export_ledger(opened, temporary, form=form)
        else:
            _show(opened, evaluation)
    return DONE


def _forget(ledger: SqlLedger, batch_id: str) -> int:
    from eval_assets.store.ledger.attempts import forget_batch
    from eval_assets.wording import counted

    n_requests = forget_batch(ledger, batch_id)
    if not n_requests:
        raise click.UsageError(f"--forget-batch {batch_id}: no such batch is open.")
    requests = counted(n_requests, "request")
    click.echo(f"{batch_id} is forgotten. The next run submits its {requests} again.")
    return DONE


def _show(ledger: SqlLedger, evaluation: Evaluation) -> None:
    from eval_assets.shown.blocks import text_table
    from eval_assets.store.ledger.attempts import (
        SpendingBy,
        batches_under_way,
        spending_table,
        spent_in_month,
    )

    click.echo(f"Ledger  {ledger.place}\n")
    for by in get_args(SpendingBy):
        spent = spending_table(ledger, by=by)[:_MOST_ROWS]
        if rows := [_spent(row, row[by]) for row in spent]:
            print_table(text_table(f"Spent by {by}", (by, *_SPENT), rows, numbers=_SPENT))
    cap = evaluation.month_cap_usd
    of = "" if cap is None else f" of {cap:g}"
    month_usd = spent_in_month(ledger, datetime.now(tz=UTC).date())
    click.echo(f"This month  {month_usd:.4f}{of} USD at most\n")
    submitted = [
        (
            *(row["judge_id"], row["batch"], row["run_id"] or "outside a run"),
            *(f"{row['since']:%Y-%m-%d %H:%M:%S}", f"{row['n_requests']:,}"),
            f"{row['most_usd']:.4f}",
        )
        for row in batches_under_way(ledger)
    ]
    if submitted:
        print_table(text_table("In batches", _BATCHES, submitted, numbers=_BATCHES[-2:]))


def _spent(row: Mapping[str, Any], key: object) -> tuple[str, ...]:
    unknown = f" + {row['n_unknown']} unknown" if row["n_unknown"] else ""
    return (
        "outside a run" if key is None else str(key),
        f"{row['n_attempts']:,}",
        f"{row['n_replies']:,}",
        f"{row['input_tokens'] or 0:,}",
        f"{row['output_tokens'] or 0:,}",
        f"{row['cost_usd'] or 0.0:.4f}{unknown}",
        f"{row['charged_usd']:.4f}",
    )
