"""Evidence that gates judge, and the verdicts they came to."""

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

import duckdb
import pandas as pd

from eval_assets.evaluation import Evaluation, GateName
from eval_assets.gates import Evidence, Figure, GateOutcome, applicable_gates, evaluate_gates
from eval_assets.scale import Level
from eval_assets.store.ratings import RaterKind, data_version
from eval_assets.store.tables import insert_rows, read_table


@dataclass(frozen=True)
class _Measured:
    """Where the figures of a gate stand."""

    table: Literal["human_agreement", "judge_agreement"]
    kind: RaterKind
    figure: Literal["a_hh", "alpha"]
    n_units: Literal["n_responses", "n_units"]


_MEASURED: dict[GateName, _Measured] = {
    "human_a_hh": _Measured("human_agreement", "human", "a_hh", "n_responses"),
    "human_alpha": _Measured("human_agreement", "human", "alpha", "n_responses"),
    "judge_alpha": _Measured("judge_agreement", "judge", "alpha", "n_units"),
}


def judge_gates(
    connection: duckdb.DuckDBPyConnection,
    evaluation: Evaluation,
    *,
    gates: Iterable[GateName] | None = None,
    measures: Mapping[str, pd.DataFrame] | None = None,
) -> tuple[GateOutcome, ...]:
    """What gates say of the figures and data as they are now, by the thresholds declared now.

    Args:
        connection: The database.
        evaluation: What is declared now.
        gates: Gates to judge; None for all that apply.
        measures: Rows of `human_agreement` and `judge_agreement` to judge in place of the stored.
    """
    names = gates or applicable_gates(n_judges=len(evaluation.judges))
    evidence: dict[GateName, Evidence] = {}
    for gate in names:
        measured = _MEASURED[gate]
        rows = (measures or {}).get(measured.table)
        if rows is None:
            rows = read_table(connection, measured.table)
        evidence[gate] = Evidence(
            figures=_figures(rows, measured),
            measured_version=None if rows.empty else str(rows["data_version"].iloc[0]),
            current_version=measures_version(connection, evaluation, measured.kind),
        )
    return evaluate_gates(evidence, evaluation.gates)


def measures_version(
    connection: duckdb.DuckDBPyConnection, evaluation: Evaluation, kind: RaterKind
) -> str:
    """Version of all that agreement depends on: the ratings, their scales, the level of alpha.

    Scales, levels and judges are those declared now, which the stored ones may not be yet.
    """
    scales = sorted((q.id, q.scale.low, q.scale.high, q.scale.values) for q in evaluation.rubric)
    levels = sorted(alpha_levels(evaluation, kind).items())
    judges = sorted((j.id, j.provider, j.model or "") for j in evaluation.judges)
    parts = (data_version(connection, kind), scales, levels, judges if kind == "judge" else [])
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def is_current(
    connection: duckdb.DuckDBPyConnection, evaluation: Evaluation, kind: RaterKind
) -> bool:
    """Whether the stored agreement of humans, or of judges, is that of the data as it is now."""
    stored = read_table(connection, f"{kind}_agreement")["data_version"]
    return bool((stored == measures_version(connection, evaluation, kind)).any())


def alpha_levels(evaluation: Evaluation, kind: RaterKind) -> dict[str, Level]:
    """Level at which alpha of each question is to be measured.

    Humans' at the question's own level, judges' at the interval level, since their scores may lie
    between the steps; a gate that declares a level overrides both.
    """
    if kind == "human":
        declared = evaluation.gates["human_alpha"].level
        return {question.id: declared or question.level for question in evaluation.rubric}
    declared = evaluation.gates["judge_alpha"].level
    return {question.id: declared or "interval" for question in evaluation.rubric}


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


def _figures(rows: pd.DataFrame, measured: _Measured) -> tuple[Figure, ...]:
    """Overall and question figures; NULL is NaN, with which no comparison holds."""
    judged = rows[rows["scope"] != "response"]
    return tuple(
        Figure(
            question_id=None if row["scope"] == "overall" else str(row["question_id"]),
            value=_number(row[measured.figure]),
            low=_number(row[f"{measured.figure}_low"]),
            high=_number(row[f"{measured.figure}_high"]),
            n_units=int(row[measured.n_units]),
            undefined_because=str(row["interpretation"]),
        )
        for row in judged.to_dict("records")
    )


def _number(value: float | None) -> float:
    return math.nan if value is None or pd.isna(value) else float(value)
