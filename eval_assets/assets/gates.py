"""The gates as blocking asset checks, and the guard of every asset behind them."""

import math
from collections.abc import Iterator

import dagster as dg
import duckdb
import pandas as pd

from eval_assets.assets.agreement import human_agreement, judge_agreement
from eval_assets.assets.figure_tables import rows_as_metadata
from eval_assets.assets.plots import Bar, intervals
from eval_assets.assets.resources import (
    CLOSED_GATES,
    EvaluationFolder,
    clear_failures,
)
from eval_assets.evaluation import Evaluation, GateName
from eval_assets.gates import ASSET_OF_GATE, GateOutcome, tunable_questions
from eval_assets.interpretation import figure_text, or_none
from eval_assets.readers import source_fingerprints
from eval_assets.store import judge_gates, read_table, transaction, write_gate_verdicts

Verdict = Iterator[dg.AssetCheckResult | dg.AssetObservation]


@dg.asset_check(asset=human_agreement, blocking=True)  # type: ignore[arg-type] # it may yield
def human_a_hh(context: dg.AssetCheckExecutionContext, folder: EvaluationFolder) -> Verdict:
    """Human raters agree: GDPval's A^HH reaches its minimum, overall and by question."""
    yield from _verdict(context, folder, "human_a_hh")


@dg.asset_check(asset=human_agreement, blocking=True)  # type: ignore[arg-type] # it may yield
def human_alpha(context: dg.AssetCheckExecutionContext, folder: EvaluationFolder) -> Verdict:
    """Human raters agree beyond chance: Krippendorff's alpha reaches its minimum."""
    yield from _verdict(context, folder, "human_alpha")


@dg.asset_check(asset=judge_agreement, blocking=True)  # type: ignore[arg-type] # it may yield
def judge_alpha(context: dg.AssetCheckExecutionContext, folder: EvaluationFolder) -> Verdict:
    """Judges agree beyond chance: Krippendorff's alpha between them reaches its minimum."""
    yield from _verdict(context, folder, "judge_alpha")


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
        raise _closed(*closed)
    return tunable_questions(outcomes, tuple(question.id for question in evaluation.rubric))


def _verdict(
    context: dg.AssetCheckExecutionContext, folder: EvaluationFolder, gate: GateName
) -> Verdict:
    """Yield the result of a gate's check; if the gate is closed, end the run with its sentence.

    Every asset that the gate holds back is given that sentence as an observation: nothing else
    would appear on its page.

    Raises:
        dagster.Failure: If the gate is closed. Dagster's own error would name only the check.
    """
    outcome, result = _check(folder, gate)
    yield result
    if outcome is None or not outcome.is_closed:
        return
    closed = _closed(outcome)
    graph = context.op_execution_context.job_def.asset_layer.asset_graph
    checked = dg.AssetSelection.assets(folder.key(ASSET_OF_GATE[gate]))
    for key in sorted(checked.downstream(include_self=False).resolve(graph)):
        yield dg.AssetObservation(
            key,
            description=f"Not run. {closed.description}",
            metadata={"not_run_because": closed.description or ""},
        )
    raise closed


def _closed(*outcomes: GateOutcome) -> dg.Failure:
    """Return the failure that names each of these closed gates, value and remedy."""
    return dg.Failure(
        description="\n".join(f"Gate {each.gate} is closed: {each.reason}." for each in outcomes),
        metadata={CLOSED_GATES: [outcome.gate for outcome in outcomes]},
        allow_retries=False,
    )


def _check(
    folder: EvaluationFolder, gate: GateName
) -> tuple[GateOutcome | None, dg.AssetCheckResult]:
    """Judge all gates, write their verdicts, and return one, as an asset check too.

    Each check judges them all: if every gate fails on another question, only the check that runs
    last can see that no question is left. A gate that does not apply has no outcome.
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
        return None, dg.AssetCheckResult(
            passed=True, description=f"Does not apply: it takes two judges, there is {n_judges}."
        )
    return outcome, dg.AssetCheckResult(
        passed=outcome.passed,
        severity=(dg.AssetCheckSeverity.ERROR if outcome.is_closed else dg.AssetCheckSeverity.WARN),
        description=outcome.reason,
        metadata={
            "value": or_none(outcome.overall.value),
            "low": or_none(outcome.overall.low),
            "high": or_none(outcome.overall.high),
            "minimum": outcome.overall.minimum,
            "n": outcome.overall.n_units,
            "verdict": outcome.overall.verdict,
            "blocks": outcome.is_closed,
            "questions": _questions(outcome),
            "reasons": dg.MetadataValue.md(
                "\n".join(f"- **{each.question_id}**: {each.reason}" for each in outcome.questions)
            ),
            "plot": _plot(outcome),
            "figures": rows_as_metadata(
                measured[measured["scope"] == "question"], ["question_id", *_EXPLAINING]
            ),
            **_overall(measured),
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


def _overall(measured: pd.DataFrame) -> dict[str, str | float | None]:
    """Return what explains the overall verdict; undefined is None."""
    rows = measured.loc[measured["scope"] == "overall", [n for n in _EXPLAINING if n in measured]]
    [row] = rows.astype(object).where(rows.notna(), None).to_dict("records")
    return {str(name): value for name, value in row.items()}


def _questions(outcome: GateOutcome) -> dg.TableMetadataValue:
    """Return the verdict on each question, with figures as short as their minimum permits."""
    columns = [
        dg.TableColumn("question_id"),
        dg.TableColumn("verdict"),
        dg.TableColumn("value", "float"),
        dg.TableColumn("low", "float", description="lower end of the 95 % interval"),
        dg.TableColumn("high", "float", description="upper end of the 95 % interval"),
        dg.TableColumn("minimum", "float"),
        dg.TableColumn("n", "int", description="units with at least two ratings"),
    ]
    rows = [
        dg.TableRecord(
            {
                "question_id": each.question_id,
                "verdict": each.verdict,
                **{
                    name: None
                    if math.isnan(value)
                    else float(figure_text(value, limits=[each.minimum]))
                    for name, value in (
                        ("value", each.value),
                        ("low", each.low),
                        ("high", each.high),
                    )
                },
                "minimum": each.minimum,
                "n": each.n_units,
            }
        )
        for each in outcome.questions
    ]
    return dg.MetadataValue.table(rows, schema=dg.TableSchema(columns))


def _plot(outcome: GateOutcome) -> dg.MarkdownMetadataValue:
    """Return value and interval of each question beside the minimum."""
    verdicts = [outcome.overall, *outcome.questions]
    bars = [
        Bar(each.question_id or "all questions", each.value, each.low, each.high)
        for each in verdicts
        if not math.isnan(each.value + each.low + each.high)
    ]
    return intervals(bars, marks={"minimum": outcome.overall.minimum})
