"""Gates judged on the stored figures, and their verdicts."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

import duckdb
import pandas as pd

from eval_assets import agreement
from eval_assets.agreement import RaterKind, measures_version
from eval_assets.evaluation import Evaluation
from eval_assets.gates import GateOutcome
from eval_assets.store.data_versions import rating_versions
from eval_assets.store.inputs import changed_tables
from eval_assets.store.tables import replace_rows


def judge_gates(
    connection: duckdb.DuckDBPyConnection,
    evaluation: Evaluation,
    *,
    sources: Mapping[str, str],
    measures: Mapping[str, pd.DataFrame] | None = None,
) -> tuple[GateOutcome, ...]:
    """Judge the stored figures by the thresholds declared now, with every gate that applies.

    Args:
        connection: The database.
        evaluation: The evaluation as declared now.
        sources: By table, the fingerprint of its files as they are now.
        measures: Rows of `human_agreement` and `judge_agreement` to judge instead of the stored.
    """
    stored = ("human_agreement", "judge_agreement")
    return agreement.judge_gates(
        evaluation,
        measures=measures or {table: _figures(connection, table) for table in stored},
        versions=rating_versions(connection),
        changed=changed_tables(connection, sources),
    )


def _figures(connection: duckdb.DuckDBPyConnection, table: str) -> pd.DataFrame:
    """Return the figures of all responses and of each question; those of single ones are many."""
    query = f"SELECT * FROM {table} WHERE scope <> 'response'"  # noqa: S608 - tables of ours
    return connection.execute(query).df()


def current_kinds(
    connection: duckdb.DuckDBPyConnection, evaluation: Evaluation
) -> frozenset[RaterKind]:
    """Return the kinds of rater whose stored agreement was measured on the data as they are now."""
    return frozenset(
        kind
        for kind, version in rating_versions(connection).items()
        if measures_version(evaluation, kind, data_version=version)
        in set(_figures(connection, f"{kind}_agreement")["data_version"])
    )


def write_gate_verdicts(
    connection: duckdb.DuckDBPyConnection, outcomes: Iterable[GateOutcome]
) -> None:
    """Replace `gate_verdicts` by the verdicts of all gates that apply.

    A row of a question is closed if the gate leaves that question out of tuning. While a gate is
    closed, the rows behind it say so in `stale_because`.
    """
    outcomes = tuple(outcomes)
    now = datetime.now(tz=UTC)
    rows = [
        {
            "gate": verdict.gate,
            "question_id": verdict.question_id,
            "value": verdict.value,
            "low": verdict.low,
            "high": verdict.high,
            "minimum": verdict.minimum,
            "verdict": verdict.verdict,
            "is_closed": outcome.is_closed
            or (outcome.severity == "error" and verdict.verdict != "pass"),
            "reason": outcome.reason if verdict is outcome.overall else verdict.reason,
            "severity": outcome.severity,
            "evaluated_at": now,
            "data_version": outcome.data_version,
        }
        for outcome in outcomes
        for verdict in (outcome.overall, *outcome.questions)
    ]
    replace_rows(connection, "gate_verdicts", pd.DataFrame(rows))
    closed = [f"{outcome.gate}: {outcome.reason}" for outcome in outcomes if outcome.is_closed]
    _mark_stale(connection, f"{_CLOSED}{'; '.join(closed)}" if closed else None)


_CLOSED = "gate closed: "


def _mark_stale(connection: duckdb.DuckDBPyConnection, because: str | None) -> None:
    """Set `stale_because` of all rows behind the gates; leave other reasons as they are."""
    tables = connection.execute(
        """SELECT table_name FROM duckdb_columns()
           WHERE database_name = current_database() AND schema_name = current_schema()
             AND column_name = 'stale_because'
           ORDER BY table_name"""
    ).fetchall()
    for (table,) in tables:
        connection.execute(
            f"""UPDATE "{table}" SET stale_because = $because
                WHERE stale_because IS DISTINCT FROM $because
                  AND (stale_because IS NULL OR starts_with(stale_because, $closed))""",  # noqa: S608
            {"because": because, "closed": _CLOSED},
        )
