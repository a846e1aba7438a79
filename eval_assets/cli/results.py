"""Results as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from eval_assets.agreement.irr import irr_result
from eval_assets.agreement.judge_verdicts import why_not_judged
from eval_assets.connectors import PublishedVerdict
from eval_assets.figures import HumanFigures, JudgeHumanFigures
from eval_assets.readers.evaluation.input_files import source_fingerprints
from eval_assets.readers.evaluation.read import read_evaluation
from eval_assets.store.connection import connect, is_stored
from eval_assets.store.figures import read_figures
from eval_assets.store.gates import stored_findings, stored_gate_outcomes
from eval_assets.store.ratings import human_ratings
from eval_assets.store.tables import read_rows
from eval_assets.verdicts import GateState
from eval_assets.wording import tested_verdict

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from enum import StrEnum
    from pathlib import Path

    import duckdb

WAIT_SECONDS = 20
"""Time that a request waits for a run that holds the database."""


def stored_irr(data: Path, database: Path) -> dict[str, Any] | None:
    """Return the agreement of humans as measured last; None if nothing is measured yet."""
    if not is_stored(database):
        return None
    evaluation = read_evaluation(data)
    with _reading(database, data) as connection:
        agreement = read_figures(connection, HumanFigures)
        if not agreement:
            return None
        outcomes = stored_gate_outcomes(
            connection, evaluation, sources=source_fingerprints(evaluation)
        )
        return irr_result(
            evaluation,
            human_ratings(connection, evaluation),
            agreement,
            stored_findings(connection),
            outcomes,
        )


def stored_gates(data: Path, database: Path) -> list[dict[str, Any]]:
    """Return each gate's verdict on the data and minimums as they are now."""
    evaluation = read_evaluation(data)
    with _reading(database, data) as connection:
        outcomes = stored_gate_outcomes(
            connection, evaluation, sources=source_fingerprints(evaluation)
        )
    return [outcome.to_json() for outcome in outcomes]


def stored_certificates(data: Path, database: Path) -> list[dict[str, Any]]:
    """Return what was shown of judges, and whether it still holds; empty if nothing was."""
    if not is_stored(database):
        return []
    with _reading(database, data) as connection:
        rows = read_rows(connection, "judge_certificates", order_by="judge_id, question_id")
    return [{name: _plain(name, value) for name, value in row.items()} for row in rows]


def published_verdicts(data: Path, database: Path) -> list[PublishedVerdict]:
    """Return the state of each gate, and what was shown of each judge, for other tools."""
    evaluation = read_evaluation(data)
    with _reading(database, data) as connection:
        sources = source_fingerprints(evaluation)
        outcomes = stored_gate_outcomes(connection, evaluation, sources=sources)
        figures = read_figures(connection, JudgeHumanFigures)
    gates = [
        PublishedVerdict(f"gate.{of.gate}", of.state.value, f"{of.overall.sentence}.")
        for of in outcomes
    ]
    by_question = [
        PublishedVerdict(
            f"gate.{of.gate}.{of.question_id}",
            GateState.UNDECIDED.value if of.is_inconclusive else _words(of.verdict),
            f"{of.sentence}.",
        )
        for outcome in outcomes
        for of in outcome.questions
    ]
    judges = [
        PublishedVerdict(
            f"judge.{of.judge_id}.{of.question_id}",
            "cannot be judged" if why else _words(of.verdict),
            f"{why.capitalize()}."
            if why
            else f"On {of.n_units} responses it {of.verdict.sentence}.",
        )
        for of in figures
        if of.unit == "response"
        for why in [why_not_judged(of, outcomes)]
    ]
    certificates = [
        PublishedVerdict(
            f"certificate.{row['judge_id']}.{row['question_id']}",
            tested_verdict(row["fitness"], is_stale=bool(row["stale_because"])),
            str(row["stale_because"] or row["reason"]),
        )
        for row in stored_certificates(data, database)
    ]
    return [*gates, *by_question, *judges, *certificates]


def _words(verdict: StrEnum) -> str:
    return verdict.value.replace("_", " ")


def _reading(database: Path, data: Path) -> AbstractContextManager[duckdb.DuckDBPyConnection]:
    """Open the database of a folder to read from it."""
    return connect(database, folder=data, wait_seconds=WAIT_SECONDS, is_reading=True)


def _plain(name: object, value: object) -> object:
    """Return a value in the types of JSON; a certificate is JSON already."""
    if name == "certificate" and isinstance(value, str):
        return json.loads(value)
    return value if isinstance(value, str | int | float | bool | None) else str(value)
