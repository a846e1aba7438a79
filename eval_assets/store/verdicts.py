"""Evidence that gates judge, and the verdicts they came to."""

import math
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

import duckdb
import pandas as pd

from eval_assets.evaluation import Gate, GateName
from eval_assets.gates import Evidence, Figure, GateOutcome, evaluate_gates
from eval_assets.store.ratings import RaterKind, data_version
from eval_assets.store.tables import insert_rows

_FIGURES_SQL: dict[GateName, str] = {
    "human_a_hh": """
        SELECT question_id, a_hh, a_hh_low, a_hh_high, n_responses,
               'no response has two ratings', data_version
        FROM human_agreement ORDER BY scope, question_id""",
    "human_alpha": """
        SELECT question_id, alpha, alpha_low, alpha_high, n_responses, interpretation, data_version
        FROM human_agreement ORDER BY scope, question_id""",
    "judge_alpha": """
        SELECT question_id, alpha, alpha_low, alpha_high, n_units, interpretation, data_version
        FROM judge_agreement WHERE scope <> 'response' ORDER BY scope, question_id""",
}
_RATER_KIND: dict[GateName, RaterKind] = {
    "human_a_hh": "human",
    "human_alpha": "human",
    "judge_alpha": "judge",
}


def judge_gates(
    connection: duckdb.DuckDBPyConnection,
    names: Iterable[GateName],
    thresholds: Mapping[GateName, Gate],
) -> tuple[GateOutcome, ...]:
    """What the named gates say of the figures and data stored now, by the given thresholds."""
    return evaluate_gates(gate_evidence(connection, names), thresholds)


def gate_evidence(
    connection: duckdb.DuckDBPyConnection, gates: Iterable[GateName]
) -> dict[GateName, Evidence]:
    """Stored figures for each gate, with the version of the data then and now."""
    versions: dict[RaterKind, str] = {}
    evidence: dict[GateName, Evidence] = {}
    for gate in gates:
        kind = _RATER_KIND[gate]
        if kind not in versions:
            versions[kind] = data_version(connection, kind)
        rows = connection.execute(_FIGURES_SQL[gate]).fetchall()
        evidence[gate] = Evidence(
            figures=tuple(
                Figure(question_id, _number(value), _number(low), _number(high), int(n), why)
                for question_id, value, low, high, n, why, _version in rows
            ),
            measured_version=rows[0][-1] if rows else None,
            current_version=versions[kind],
        )
    return evidence


def write_gate_verdicts(
    connection: duckdb.DuckDBPyConnection, outcomes: Iterable[GateOutcome]
) -> None:
    """Replace the verdicts of the gates judged; those of other gates stand."""
    now = datetime.now(tz=UTC)
    for outcome in outcomes:
        connection.execute("DELETE FROM gate_verdicts WHERE gate = ?", [outcome.gate])
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


def _number(value: float | None) -> float:
    """NULL is NaN in Python, where no comparison with it holds."""
    return math.nan if value is None else float(value)
