"""Gates judged on what is stored, and the verdicts they came to."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

import duckdb
import pandas as pd

from eval_assets import agreement
from eval_assets.agreement import RaterKind, measures_version
from eval_assets.evaluation import Evaluation, GateName
from eval_assets.gates import GateOutcome
from eval_assets.store.ratings import data_version
from eval_assets.store.tables import insert_rows, read_table


def judge_gates(
    connection: duckdb.DuckDBPyConnection,
    evaluation: Evaluation,
    *,
    gates: Iterable[GateName] | None = None,
    measures: Mapping[str, pd.DataFrame] | None = None,
) -> tuple[GateOutcome, ...]:
    """Judge the stored figures by the thresholds declared now.

    Args:
        connection: The database.
        evaluation: What is declared now.
        gates: Gates to judge; None for all that apply.
        measures: Rows of `human_agreement` and `judge_agreement` to judge instead of the stored.
    """
    stored = ("human_agreement", "judge_agreement")
    return agreement.judge_gates(
        evaluation,
        measures=measures or {table: read_table(connection, table) for table in stored},
        versions={
            "human": data_version(connection, "human"),
            "judge": data_version(connection, "judge"),
        },
        gates=gates,
    )


def is_current(
    connection: duckdb.DuckDBPyConnection, evaluation: Evaluation, kind: RaterKind
) -> bool:
    """Return whether the stored agreement of humans, or of judges, is that of the data now."""
    stored = read_table(connection, f"{kind}_agreement")["data_version"]
    now = measures_version(evaluation, kind, data_version=data_version(connection, kind))
    return bool((stored == now).any())


def write_gate_verdicts(
    connection: duckdb.DuckDBPyConnection, outcomes: Iterable[GateOutcome]
) -> None:
    """Replace the verdicts of the gates judged; those of other gates stand."""
    now = datetime.now(tz=UTC)
    for outcome in outcomes:
        drop_verdicts(connection, outcome.gate)
        verdicts = [
            {
                "gate": verdict.gate,
                "question_id": verdict.question_id,
                "value": verdict.value,
                "low": verdict.low,
                "high": verdict.high,
                "minimum": verdict.minimum,
                "verdict": verdict.verdict,
                "reason": verdict.reason,
                "severity": outcome.severity,
                "evaluated_at": now,
                "data_version": outcome.data_version,
            }
            for verdict in (outcome.overall, *outcome.questions)
        ]
        insert_rows(connection, "gate_verdicts", pd.DataFrame(verdicts))


def drop_verdicts(connection: duckdb.DuckDBPyConnection, gate: GateName) -> None:
    """Take back what a gate said that applies no longer."""
    connection.execute("DELETE FROM gate_verdicts WHERE gate = ?", [gate])
