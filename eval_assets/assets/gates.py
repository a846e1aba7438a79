"""The gates as blocking asset checks, and the guard of every asset behind them."""

import dagster as dg
import duckdb

from eval_assets.assets.agreement import human_agreement, judge_agreement
from eval_assets.assets.resources import EvaluationFolder, clear_failures, or_none
from eval_assets.evaluation import Evaluation, GateName
from eval_assets.gates import HUMAN_GATES, GateVerdict, applicable_gates, tunable_questions
from eval_assets.store import drop_verdicts, judge_gates, transaction, write_gate_verdicts


@dg.asset_check(asset=human_agreement, blocking=True)
def human_a_hh(folder: EvaluationFolder) -> dg.AssetCheckResult:
    """Human raters agree: GDPval's A^HH reaches its minimum, overall and by question."""
    return _check(folder, "human_a_hh", together_with=HUMAN_GATES)


@dg.asset_check(asset=human_agreement, blocking=True)
def human_alpha(folder: EvaluationFolder) -> dg.AssetCheckResult:
    """Human raters agree beyond chance: Krippendorff's alpha reaches its minimum."""
    return _check(folder, "human_alpha", together_with=HUMAN_GATES)


@dg.asset_check(asset=judge_agreement, blocking=True)
def judge_alpha(folder: EvaluationFolder) -> dg.AssetCheckResult:
    """Judges agree beyond chance: Krippendorff's alpha between them reaches its minimum."""
    return _check(folder, "judge_alpha", together_with=("judge_alpha",))


def questions_past_the_gates(
    connection: duckdb.DuckDBPyConnection, evaluation: Evaluation
) -> tuple[str, ...]:
    """Return the questions that tuning may cover; every asset behind the gates calls this first.

    Raises:
        dagster.Failure: If a gate is closed, stale or was never measured, whatever path led here.
            It is not retried.
    """
    outcomes = judge_gates(connection, evaluation)
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


def _check(
    folder: EvaluationFolder, gate: GateName, *, together_with: tuple[GateName, ...]
) -> dg.AssetCheckResult:
    """Judge one gate, write its verdicts, and return them as an asset check."""
    with clear_failures():
        evaluation = folder.evaluation()
        if gate not in applicable_gates(n_judges=len(evaluation.judges)):
            with folder.connect() as connection, transaction(connection):
                drop_verdicts(connection, gate)
            return dg.AssetCheckResult(
                passed=True,
                description=f"Does not apply: {len(evaluation.judges)} judge(s), two are needed.",
            )
        with folder.connect() as connection:
            outcomes = judge_gates(connection, evaluation, gates=together_with)
            outcome = next(o for o in outcomes if o.gate == gate)
            with transaction(connection):
                write_gate_verdicts(connection, [outcome])
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
