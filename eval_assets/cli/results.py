"""Results in the types of JSON."""

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from eval_assets.agreement import irr_result
from eval_assets.gates import GateOutcome
from eval_assets.readers import read_evaluation, source_fingerprints
from eval_assets.store import (
    Database,
    connect,
    human_ratings,
    is_stored,
    judge_gates,
    read_table,
)

WAIT_SECONDS = 20
"""How long a request waits for a run that holds the database."""


def stored_irr(data: Path, database: Database) -> dict[str, Any] | None:
    """Return the agreement of humans as measured last; None if nothing is measured yet."""
    if not is_stored(database):
        return None
    evaluation = read_evaluation(data)
    with connect(database, folder=data, wait_seconds=WAIT_SECONDS) as connection:
        agreement = read_table(connection, "human_agreement")
        if agreement.empty:
            return None
        outcomes = judge_gates(connection, evaluation, sources=source_fingerprints(evaluation))
        return irr_result(
            evaluation,
            human_ratings(connection, evaluation),
            agreement,
            read_table(connection, "label_findings"),
            outcomes,
        )


def stored_gates(data: Path, database: Database) -> list[dict[str, Any]]:
    """Return each gate's verdict on the data and minimums as they are now."""
    evaluation = read_evaluation(data)
    with connect(database, folder=data, wait_seconds=WAIT_SECONDS) as connection:
        outcomes = judge_gates(connection, evaluation, sources=source_fingerprints(evaluation))
    return [gate_json(outcome) for outcome in outcomes]


def stored_certificates(data: Path, database: Database) -> list[dict[str, Any]]:
    """Return what was shown of judges, and whether it still holds; empty if nothing was."""
    if not is_stored(database):
        return []
    with connect(database, folder=data, wait_seconds=WAIT_SECONDS) as connection:
        rows = read_table(connection, "judge_certificates", order_by="judge_id, question_id")
    return [
        {name: _plain(name, value) for name, value in row.items()} for row in plain_records(rows)
    ]


def plain_records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return rows in the types of JSON; what is missing or undefined is null."""
    records = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return [{str(column): value for column, value in record.items()} for record in records]


def gate_json(outcome: GateOutcome) -> dict[str, object]:
    """Return an outcome in the types of JSON; undefined is null."""
    verdicts = [asdict(verdict) for verdict in (outcome.overall, *outcome.questions)]
    return {
        "gate": outcome.gate,
        "severity": outcome.severity,
        "is_closed": outcome.is_closed,
        "reason": outcome.reason,
        "verdicts": [
            {
                name: None if isinstance(value, float) and math.isnan(value) else value
                for name, value in verdict.items()
            }
            for verdict in verdicts
        ],
    }


def _plain(name: object, value: object) -> object:
    """Return a value in the types of JSON; a certificate is JSON already."""
    if name == "certificate" and isinstance(value, str):
        return json.loads(value)
    return value if isinstance(value, str | int | float | bool | None) else str(value)
