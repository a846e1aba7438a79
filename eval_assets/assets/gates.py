"""The gates as blocking asset checks, and the guard of every asset behind them."""

import math
from collections.abc import Iterator, Mapping, Sequence

import dagster as dg
from duckdb import DuckDBPyConnection as Connection

from eval_assets.agreement.gates.decision import GATES, GateOutcome, GateVerdict, tunable_questions
from eval_assets.agreement.gates.evidence import AgreementFigures
from eval_assets.assets.agreement import human_agreement, judge_agreement
from eval_assets.assets.checks import certificates_valid
from eval_assets.assets.metadata import (
    figures_as_metadata,
    list_as_metadata,
    without_blanks,
)
from eval_assets.assets.recipes import EvaluationTarget, Recipe, check_step
from eval_assets.assets.resources import CLOSED_GATES, EvaluationFolder
from eval_assets.assets.stored_screen import gate_steps
from eval_assets.config.evaluation import Evaluation, GateName
from eval_assets.readers.evaluation.input_files import source_fingerprints
from eval_assets.store.gates import (
    measured_agreement,
    stored_gate_outcomes,
    unread_scores,
    write_gate_verdicts,
)
from eval_assets.store.inputs import TABLE_OF_ASSET
from eval_assets.wording import figure_text, listed


def _gates_of(measured: Recipe, *, step: str) -> Recipe:
    """Return the recipe of the declared gates on the figures of an asset."""

    def make(target: EvaluationTarget) -> dg.AssetChecksDefinition:
        declared = target.folder.evaluation().gates
        specs = [
            dg.AssetCheckSpec(
                name,
                asset=target.folder.key(measured.name),
                blocking=True,
                description=gate.description,
                # So that what a gate held back is made in the run that opens it.
                automation_condition=dg.AutomationCondition.eager() if target.automation else None,
            )
            for name, gate in GATES.items()
            if gate.table == measured.name and name in declared
        ]
        return check_step(target, step, specs, _decide)

    return Recipe(step, make, _decide)


def questions_past_the_gates(connection: Connection, evaluation: Evaluation) -> tuple[str, ...]:
    """Return the questions that tuning may cover; every asset behind the gates calls this first.

    Call it before a transaction begins: the verdicts are stored also if a gate is closed.

    Raises:
        dagster.Failure: If a gate is closed, stale or was never measured, whatever path led here,
            or if files of scores were not read. It is not retried.
    """
    sources = source_fingerprints(evaluation)
    outcomes = stored_gate_outcomes(connection, evaluation, sources=sources)
    write_gate_verdicts(connection, outcomes)
    closed = [outcome for outcome in outcomes if outcome.is_closed]
    if closed:
        raise _closed(evaluation, closed, gate_steps(connection, evaluation, closed))
    if reason := unread_scores(connection, evaluation, sources):
        raise dg.Failure(f"{reason}.", allow_retries=False)
    return tunable_questions(outcomes, tuple(question.id for question in evaluation.rubric))


def _decide(
    context: dg.AssetCheckExecutionContext, folder: EvaluationFolder
) -> Iterator[dg.AssetCheckResult | dg.AssetObservation | dg.AssetCheckEvaluation]:
    """Yield the result of each gate; fail the run with the reason if one is closed.

    All gates are decided each time: if every gate fails on another question, only the check that
    runs last can see that no question is left. Every asset behind a closed gate gets the reason as
    an observation, because its page would otherwise show nothing; and the check of certificates,
    which Dagster skips with its asset and shows as crashed, gets its result here.

    Raises:
        dagster.Failure: If a gate is closed. Dagster's own error would name only the check.
    """
    keys = context.op_execution_context.selected_asset_check_keys
    evaluation = folder.evaluation()
    with folder.connect() as connection:
        outcomes = stored_gate_outcomes(
            connection, evaluation, sources=source_fingerprints(evaluation)
        )
        measured = measured_agreement(connection)
        write_gate_verdicts(connection, outcomes)
        steps = gate_steps(connection, evaluation, outcomes)
    by_name = {outcome.gate: outcome for outcome in outcomes}
    closed = []
    for key in sorted(keys):
        gate = next(name for name in GATES if name == key.name)
        outcome = by_name.get(gate)
        result = _result(outcome, steps.get(gate, ""), measured[GATES[gate].raters], evaluation)
        yield result._replace(asset_key=key.asset_key, check_name=key.name)
        if outcome is not None and outcome.is_closed:
            closed.append(outcome)
    if not closed:
        gates = listed([key.name for key in sorted(keys)])
        context.log.info("Open in %s: %s", evaluation.folder.resolve().name, gates)
        return
    failure = _closed(evaluation, closed, steps)
    graph = context.op_execution_context.job_def.asset_layer.asset_graph
    gated = dg.AssetSelection.assets(*{key.asset_key for key in keys})
    for asset in sorted(gated.downstream(include_self=False).resolve(graph)):
        yield dg.AssetObservation(asset, description=f"Not run. {failure.description}")
    certificates = certificates_valid(folder)
    yield dg.AssetCheckEvaluation(
        folder.key("judge_certificates"),
        check_name=certificates_valid.__name__,
        passed=certificates.passed,
        severity=certificates.severity,
        description=certificates.description,
        metadata=certificates.metadata,
    )
    raise failure


human_gates = _gates_of(human_agreement, step="human_gates")
judge_gates = _gates_of(judge_agreement, step="judge_gates")


def _closed(
    evaluation: Evaluation, outcomes: Sequence[GateOutcome], steps: Mapping[GateName, str]
) -> dg.Failure:
    """Return the failure that names evaluation, gate, value and next step of each closed gate."""
    name = evaluation.folder.resolve().name
    lines = [f"Gate {of.gate} of {name} is closed: {_reason(of)}" for of in outcomes]
    lines += filter(None, (_next(of, steps.get(of.gate, "")) for of in outcomes))
    return dg.Failure(
        description="\n".join(dict.fromkeys(lines)),  # gates on people have one next step
        metadata={CLOSED_GATES: [outcome.gate for outcome in outcomes]},
        allow_retries=False,
    )


def _reason(outcome: GateOutcome) -> str:
    """Return why a gate is open or closed; where a run opens it, the assets to make."""
    if outcome.unusable is None:
        return f"{outcome.reason}."
    by_table = {table: asset for asset, table in TABLE_OF_ASSET.items()}
    tables = [*outcome.unusable.changed, GATES[outcome.gate].table]
    assets = listed([by_table.get(name, name) for name in tables])
    return f"{outcome.reason}, or materialize {assets} in the UI."


def _next(outcome: GateOutcome, step: str) -> str:
    """Return what to do about a gate and, if it is closed, the asset that reads what was done."""
    if not step or not outcome.is_closed:
        return step
    inputs = "human_labels" if GATES[outcome.gate].raters == "human" else "judge_scores"
    return f"{step.removesuffix('.')}. Then materialize {inputs} and what is downstream of it."


def _result(
    outcome: GateOutcome | None,
    step: str,
    measured: Sequence[AgreementFigures],
    evaluation: Evaluation,
) -> dg.AssetCheckResult:
    """Return an outcome as an asset check, with the next step; one that does not apply has none."""
    if outcome is None:
        n_judges = len(evaluation.primary_judges)
        return dg.AssetCheckResult(
            passed=True, description=f"Does not apply: it takes two judges, there is {n_judges}."
        )
    rows = [
        {
            "question_id": verdict.question_id,
            "state": verdict.state.word,
            "verdict": verdict.verdict.value,
            **_figures(verdict),
        }
        for verdict in outcome.questions
    ]
    reasons = (f"**{of.question_id}**: {of.reason}" for of in outcome.questions)
    return dg.AssetCheckResult(
        passed=outcome.passed,
        severity=(dg.AssetCheckSeverity.ERROR if outcome.is_closed else dg.AssetCheckSeverity.WARN),
        description=f"{_reason(outcome)} {_next(outcome, step)}".rstrip(),
        metadata=without_blanks(
            {
                "state": outcome.state.word,
                **_figures(outcome.overall),
                "questions": dg.MetadataValue.table([dg.TableRecord(row) for row in rows]),
                "reasons": list_as_metadata(reasons),
                "figures": figures_as_metadata(measured, ["question_id", *_EXPLAINING]),
                "data_version": outcome.data_version,
            }
        ),
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
"""Columns that explain a verdict, if the figures have them."""


def _figures(verdict: GateVerdict) -> dict[str, float | None]:
    """Return value, interval and minimum with as few decimals as the minimum permits, and n."""
    ends = {"value": verdict.value, "low": verdict.low, "high": verdict.high}
    return {
        **{
            name: None
            if math.isnan(end)
            else float(figure_text(end, limits=[verdict.minimum], decimals=3))
            for name, end in ends.items()
        },
        "minimum": verdict.minimum,
        "n": verdict.n_units,
    }
