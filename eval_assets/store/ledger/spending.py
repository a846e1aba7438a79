"""What was spent, by whom and when, and what is in flight."""

from datetime import date
from typing import Literal, assert_never

import pandas as pd
import sqlalchemy as sa

from eval_assets.evaluation import Evaluation
from eval_assets.store.ledger._engine import SqlLedger
from eval_assets.store.ledger._tables import attempts, batches, claims, workers

SpendingBy = Literal["judge", "model", "day", "run"]


def spent_in_run(ledger: SqlLedger, run_id: str) -> float:
    """Return what counts towards the budget of a run so far, in USD.

    A batch counts when it is submitted, with the most that it can cost; not when it is collected.
    """
    its = sa.select(workers.c.worker).where(workers.c.run_id == run_id)
    live = _sum(attempts.c.charged_usd).where(
        attempts.c.worker.in_(its) & attempts.c.in_batch.is_(False)
    )
    submitted = _sum(batches.c.most_usd).where(batches.c.worker.in_(its))
    with ledger.reading() as connection:
        return connection.scalars(live).one() + connection.scalars(submitted).one()


def spent_in_month(ledger: SqlLedger, day: date) -> float:
    """Return what counts towards the budget of a day's month (UTC) so far, in USD.

    A batch counts with the most that it can cost until it is closed.
    """
    first = day.replace(day=1)
    next_first = date(day.year + day.month // 12, day.month % 12 + 1, 1)

    def of_month(table: sa.Table) -> sa.ColumnElement[bool]:
        is_ours = table.c.evaluation == ledger.evaluation
        return is_ours & (table.c.day >= first) & (table.c.day < next_first)

    paid = _sum(attempts.c.charged_usd).where(of_month(attempts))
    open_ = _sum(batches.c.most_usd).where(of_month(batches) & batches.c.closed_at.is_(None))
    with ledger.reading() as connection:
        return connection.scalars(paid).one() + connection.scalars(open_).one()


def left_to_spend(
    ledger: SqlLedger, evaluation: Evaluation, *, run_id: str | None, today: date
) -> float | None:
    """Return what may still be spent, in USD: the least that a declared cap has left.

    Args:
        ledger: The ledger.
        evaluation: Declares the caps of a run and of a month.
        run_id: The run; None for a command, which is a run of its own.
        today: Day whose month counts, in UTC.

    Returns:
        0 if a cap is used up; None without a cap.
    """
    left = []
    if evaluation.budget_usd is not None:
        spent = 0.0 if run_id is None else spent_in_run(ledger, run_id)
        left.append(evaluation.budget_usd - spent)
    if evaluation.budget_usd_per_month is not None:
        left.append(evaluation.budget_usd_per_month - spent_in_month(ledger, today))
    return max(0.0, min(left)) if left else None


def spending(ledger: SqlLedger, *, by: SpendingBy) -> pd.DataFrame:
    """Return what was spent, a row for each judge, model, day or run.

    Returns:
        The column that it is by; n_attempts, n_replies, input_tokens, output_tokens; cost_usd, as
        far as it is known; n_unknown, the attempts whose cost is not known though they may be
        billed; charged_usd, which counts these at the most they can cost.
    """
    joined = attempts.outerjoin(workers, attempts.c.worker == workers.c.worker)
    is_unknown = attempts.c.cost_usd.is_(None) & (attempts.c.charged_usd > 0)
    key = _column(by).label(by)
    query = (
        sa.select(
            key,
            sa.func.count().label("n_attempts"),
            _count(attempts.c.raw_output.is_not(None)).label("n_replies"),
            sa.func.sum(attempts.c.input_tokens).label("input_tokens"),
            sa.func.sum(attempts.c.output_tokens).label("output_tokens"),
            sa.func.sum(attempts.c.cost_usd).label("cost_usd"),
            _count(is_unknown).label("n_unknown"),
            sa.func.sum(attempts.c.charged_usd).label("charged_usd"),
        )
        .select_from(joined)
        .where(attempts.c.evaluation == ledger.evaluation)
        .group_by(key)
        .order_by(sa.func.max(attempts.c.started_at).desc(), key)
    )
    return _rows_of(ledger, query)


def in_flight(ledger: SqlLedger) -> pd.DataFrame:
    """Return what workers and vendors are at work on: judge_id, model, worker, batch and counts."""
    query = (
        sa.select(
            claims.c.judge_id,
            claims.c.model,
            claims.c.worker,
            workers.c.asset,
            workers.c.run_id,
            workers.c.lease_until,
            claims.c.batch,
            batches.c.batch_id,
            sa.func.count().label("n_requests"),
            sa.func.min(claims.c.claimed_at).label("since"),
            sa.func.sum(claims.c.most_usd).label("most_usd"),
        )
        .select_from(
            claims.join(workers, claims.c.worker == workers.c.worker).outerjoin(
                batches, claims.c.batch == batches.c.intent_id
            )
        )
        .where(workers.c.evaluation == ledger.evaluation)
        .group_by(
            claims.c.judge_id,
            claims.c.model,
            claims.c.worker,
            workers.c.asset,
            workers.c.run_id,
            workers.c.lease_until,
            claims.c.batch,
            batches.c.batch_id,
        )
        .order_by(sa.text("since"))
    )
    return _rows_of(ledger, query)


def _rows_of(ledger: SqlLedger, query: sa.Executable) -> pd.DataFrame:
    """Return the rows of a query, NULL as None."""
    with ledger.reading() as connection:
        found = connection.execute(query)
        return pd.DataFrame(found.all(), columns=list(found.keys()), dtype=object)


def _column(by: SpendingBy) -> sa.ColumnElement[object]:
    match by:
        case "judge":
            return attempts.c.judge_id
        case "model":
            return attempts.c.model_requested
        case "day":
            return attempts.c.day
        case "run":
            return workers.c.run_id
        case _ as unreachable:
            assert_never(unreachable)


def _sum(column: sa.Column[float]) -> sa.Select[float]:
    return sa.select(sa.func.coalesce(sa.func.sum(column), 0.0))


def _count(condition: sa.ColumnElement[bool]) -> sa.ColumnElement[int]:
    return sa.func.count(sa.case((condition, 1)))
