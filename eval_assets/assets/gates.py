"""The gates as blocking asset checks, and the guard of every asset behind them."""

import dagster as dg
import duckdb
import pandas as pd

from eval_assets.assets.agreement import human_agreement, judge_agreement
from eval_assets.assets.resources import EvaluationFolder, clear_failures, rows_as_metadata
from eval_assets.evaluation import Evaluation, GateName
from eval_assets.gates import ASSET_OF_GATE, GateOutcome, tunable_questions
from eval_assets.readers import source_fingerprints
from eval_assets.store import judge_gates, read_table, transaction, write_gate_verdicts


@dg.asset_check(asset=human_agreement, blocking=True)
def human_a_hh(folder: EvaluationFolder) -> dg.AssetCheckResult:
    """Human raters agree: GDPval's A^HH reaches its minimum, overall and by question."""
    return _check(folder, "human_a_hh")


@dg.asset_check(asset=human_agreement, blocking=True)
def human_alpha(folder: EvaluationFolder) -> dg.AssetCheckResult:
    """Human raters agree beyond chance: Krippendorff's alpha reaches its minimum."""
    return _check(folder, "human_alpha")


@dg.asset_check(asset=judge_agreement, blocking=True)
def judge_alpha(folder: EvaluationFolder) -> dg.AssetCheckResult:
    """Judges agree beyond chance: Krippendorff's alpha between them reaches its minimum."""
    return _check(folder, "judge_alpha")


def questions_past_the_gates(
    connection: duckdb.DuckDBPyConnection, evaluation: Evaluation
) -> tuple[str, ...]:
    """Return the questions that tuning may cover; every asset behind the gates calls this first.

    Call it before a transaction begins: the verdicts are stored also if a gate is closed.

    Raises:
        dagster.Failure: If a gate is closed, stale or was never measured, whatever path led here.
            It is not retried.
    """
    outcomes = judge_gates(connection, evaluation, sources=source_fingerprints(evaluation))
    with transaction(connection):
        write_gate_verdicts(connection, outcomes)
    closed = [outcome for outcome in outcomes if outcome.is_closed]
    if closed:
        raise dg.Failure(
            description="\n".join(
                f"Gate {outcome.gate} is closed: {outcome.reason}." for outcome in closed
            ),
            metadata={"closed_gates": [outcome.gate for outcome in closed]},
            allow_retries=False,
        )
    return tunable_questions(outcomes, tuple(question.id for question in evaluation.rubric))


def _check(folder: EvaluationFolder, gate: GateName) -> dg.AssetCheckResult:
    """Judge all gates, write their verdicts, and return one as an asset check.

    Each check judges them all: if every gate fails on another question, only the check that runs
    last can see that no question is left.
    """
    with clear_failures():
        evaluation = folder.evaluation()
        with folder.connect() as connection:
            outcomes = judge_gates(connection, evaluation, sources=source_fingerprints(evaluation))
            measured = read_table(connection, ASSET_OF_GATE[gate])
            with transaction(connection):
                write_gate_verdicts(connection, outcomes)
    outcome = next((each for each in outcomes if each.gate == gate), None)
    if outcome is None:
        n_judges = len(evaluation.judges)
        return dg.AssetCheckResult(
            passed=True, description=f"Does not apply: it takes two judges, there is {n_judges}."
        )
    judged = _judged(outcome, measured)
    is_overall = judged["question_id"].isna()
    overall = judged[is_overall].drop(columns=["question_id", "reason"])
    [figures] = rows_as_metadata(overall).records
    return dg.AssetCheckResult(
        passed=outcome.passed,
        severity=(dg.AssetCheckSeverity.ERROR if outcome.is_closed else dg.AssetCheckSeverity.WARN),
        description=outcome.reason,
        metadata={
            **figures.data,
            "blocks": outcome.is_closed,
            "questions": rows_as_metadata(judged[~is_overall], descriptions=_DESCRIPTIONS),
            "data_version": outcome.data_version,
        },
    )


_EXPLAINING = (
    "n_groups",
    "n_pairs",
    "n_judges",
    "n_comparisons",
    "a_hh_by_chance",
    "most_frequent_share",
    "exact_agreement",
    "adjacent_agreement",
    "n_disagreements",
    "interval_method",
)
"""Columns of the measured tables that explain a verdict, as far as a table has them."""

_DESCRIPTIONS = {
    "low": "lower end of the 95 % interval",
    "high": "upper end of the 95 % interval",
    "n": "units with at least two ratings",
}


def _judged(outcome: GateOutcome, measured: pd.DataFrame) -> pd.DataFrame:
    """Return each verdict with the figures behind it; undefined is NaN."""
    verdicts = pd.DataFrame(
        [
            {
                "question_id": verdict.question_id,
                "verdict": verdict.verdict,
                "value": verdict.value,
                "low": verdict.low,
                "high": verdict.high,
                "minimum": verdict.minimum,
                "n": verdict.n_units,
                "reason": verdict.reason,
            }
            for verdict in (outcome.overall, *outcome.questions)
        ]
    )
    explaining = [column for column in _EXPLAINING if column in measured]
    figures = measured.loc[measured["scope"] != "response", ["question_id", *explaining]]
    return verdicts.merge(figures, on="question_id", how="left")
