"""The gates as blocking asset checks, and the guard of every asset behind them."""

import dagster as dg
import duckdb

from eval_assets.assets.agreement import human_agreement, judge_agreement
from eval_assets.assets.resources import EvaluationFolder, clear_failures, or_none
from eval_assets.evaluation import Evaluation, GateName
from eval_assets.gates import GateVerdict, tunable_questions
from eval_assets.store import judge_gates, transaction, write_gate_verdicts


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
    outcomes = judge_gates(connection, evaluation)
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
            outcomes = judge_gates(connection, evaluation)
            with transaction(connection):
                write_gate_verdicts(connection, outcomes)
    outcome = next((each for each in outcomes if each.gate == gate), None)
    if outcome is None:
        n_judges = len(evaluation.judges)
        return dg.AssetCheckResult(
            passed=True, description=f"Does not apply: it takes two judges, there is {n_judges}."
        )
    return dg.AssetCheckResult(
        passed=outcome.passed,
        severity=(dg.AssetCheckSeverity.ERROR if outcome.is_closed else dg.AssetCheckSeverity.WARN),
        description=outcome.reason,
        metadata={
            **_figures(outcome.overall),
            "verdict": outcome.overall.verdict,
            "blocks": outcome.is_closed,
            "questions": dg.MetadataValue.table(
                [
                    dg.TableRecord(
                        {
                            "question_id": verdict.question_id,
                            "verdict": verdict.verdict,
                            **_figures(verdict),
                            "reason": verdict.reason,
                        }
                    )
                    for verdict in outcome.questions
                ],
                schema=_QUESTIONS_SCHEMA,
            ),
            "data_version": outcome.data_version,
        },
    )


def _figures(verdict: GateVerdict) -> dict[str, float | int | None]:
    """Return the figures behind a verdict."""
    return {
        "value": or_none(verdict.value),
        "low": or_none(verdict.low),
        "high": or_none(verdict.high),
        "minimum": verdict.minimum,
        "n": verdict.n_units,
    }


_QUESTIONS_SCHEMA = dg.TableSchema(
    columns=[
        dg.TableColumn("question_id", "string"),
        dg.TableColumn("verdict", "string"),
        dg.TableColumn("value", "float"),
        dg.TableColumn("low", "float", description="lower end of the 95 % interval"),
        dg.TableColumn("high", "float", description="upper end of the 95 % interval"),
        dg.TableColumn("minimum", "float"),
        dg.TableColumn("n", "int", description="units with at least two ratings"),
        dg.TableColumn("reason", "string"),
    ]
)
