"""The asset of judge drift: a frozen set of responses is scored again within a budget."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import dagster as dg
import pandas as pd

from eval_assets.agreement.drift import (
    ANCHOR_KEY,
    TOTAL_SIGNIFICANCE,
    drift_row,
    due_anchors,
    moved_judges,
    new_anchors,
)
from eval_assets.assets.checks import result_of
from eval_assets.assets.judging import judge_scores
from eval_assets.assets.live_judging import (
    ask,
    declared_template,
    prompts_in_use,
    shown_texts,
    versions_in_use,
)
from eval_assets.assets.metadata import Metadata, rows_as_metadata
from eval_assets.assets.recipes import asset, checks
from eval_assets.assets.resources import EvaluationFolder
from eval_assets.config.evaluation import Evaluation
from eval_assets.config.judges import Judge
from eval_assets.config.operations import Drift
from eval_assets.judges.calling.live_model import LiveModel, live_models, unbatched
from eval_assets.judges.calling.session import RequestOptions, warn_of_budget
from eval_assets.judges.credentials import api_keys
from eval_assets.judges.judging_plan import Unit
from eval_assets.store.connection import transaction
from eval_assets.store.ledger.copies import copy_ledger
from eval_assets.store.ledger.histories import append_history, history_of
from eval_assets.store.scores import (
    anchor_candidates,
    current_drift,
    declared_fingerprints,
    earlier_turns,
    judge_fingerprints,
)
from eval_assets.tuning.versions import rubric_hash

_ROUND = 1_000
"""Replicates of round r are numbered from r times this: no judge is declared with as many."""


@asset(group="judge_scores", kinds={"duckdb"}, deps=[judge_scores], asks_models=True)
def judge_drift(context: dg.AssetExecutionContext, folder: EvaluationFolder) -> Metadata:
    """Drift of live judges on their anchors; empty unless declared."""
    evaluation = folder.evaluation()
    if evaluation.drift is not None and (judges := live_models(evaluation, evaluation.live_judges)):
        _next_round(evaluation, evaluation.drift, folder, judges, run_id=context.run.run_id)
        with (
            folder.connect() as connection,
            folder.ledger(evaluation) as ledger,
            transaction(connection),
        ):
            copy_ledger(ledger, connection, "drift_anchors", "judge_drift", "judge_calls")
    with folder.connect() as connection:
        rows = current_drift(connection)
    return {"rounds": rows_as_metadata(pd.DataFrame(rows))}


def judge_stable(folder: EvaluationFolder) -> dg.AssetCheckResult:
    """No live judge's scores of the same responses have changed."""
    evaluation = folder.evaluation()
    with folder.connect() as connection:
        rows = current_drift(connection)
    drifted = moved_judges(rows).items()
    default = "No judge is watched: declare drift in evaluation.yaml to judge anchors again."
    if evaluation.drift is not None:
        default = "Every judge scores its anchors as it did, as far as the rounds so far can tell."
    return result_of(
        [f"{judge} on {reason}" for judge, reasons in drifted for reason in reasons],
        default=default,
        metadata={
            "n_rounds": max((int(str(row["round"])) for row in rows), default=0),
            "error": TOTAL_SIGNIFICANCE,
            "rounds": rows_as_metadata(pd.DataFrame(rows)),
        },
    )


drift_checks = checks(judge_stable, of=judge_drift)


def _next_round(
    evaluation: Evaluation,
    drift: Drift,
    folder: EvaluationFolder,
    judges: Sequence[LiveModel[Judge]],
    *,
    run_id: str,
) -> None:
    """Freeze missing anchors, judge those that are due, and store the result.

    A round that the budget cuts off is continued by the next run, which does not repeat requests.
    """
    now = datetime.now(tz=UTC)
    with folder.connect() as connection:
        fingerprints = judge_fingerprints(connection)
        declared = declared_fingerprints(connection)
        values, history = anchor_candidates(connection), earlier_turns(connection)
    template = declared_template(evaluation, folder)
    prompts = prompts_in_use(versions_in_use(evaluation, folder, declared), template)
    with folder.connect() as connection:
        columns = [column for item in (template, *prompts.values()) for column in item.columns]
        shown = shown_texts(connection, columns)
    live = {j.id: fingerprints[j.id] for j in judges if j.id in fingerprints}
    rubrics = {
        question.id: rubric_hash(template.wordings.get(question.id, question))
        for question in evaluation.rubric
    }
    with folder.ledger(evaluation) as ledger:
        frozen = history_of(ledger, "drift_anchors")
        new = new_anchors(values, frozen, judges=live, rubrics=rubrics, most=drift.anchors, at=now)
        append_history(ledger, "drift_anchors", new)
        due, n_tests = due_anchors(
            history_of(ledger, "drift_anchors"),
            history_of(ledger, "judge_drift"),
            judges=live,
            rubrics=rubrics,
            pause=timedelta(days=drift.every_days),
            now=now,
        )
        left_usd, rows = drift.max_usd, []
        for judge in judges:
            anchors = due[due["judge_id"] == judge.id] if len(due) else due
            if anchors.empty:
                continue
            units = [
                Unit(
                    row["response_id"],
                    evaluation.question(row["question_id"]),
                    row["prompt_text"],
                    row["response_text"],
                    history=history.get(row["response_id"], ()),
                    shown=shown.get(row["response_id"], ()),
                    first_replicate=_ROUND * row["round"],
                )
                for row in anchors.to_dict("records")
            ]
            summary = ask(
                evaluation,
                ledger,
                [unbatched(judge)],
                [units],
                template=prompts.get(judge.id, template),
                asset="judge_drift",
                run_id=run_id,
                options=RequestOptions(api_keys([judge.declared]), budget_usd=left_usd),
            )
            left_usd = None if left_usd is None else max(0.0, left_usd - summary.counted_usd)
            if summary.n_budget_stopped or summary.models[0].stopped:
                warn_of_budget(summary.n_budget_stopped, left_usd=left_usd)
                continue
            repeats = anchors.assign(again=[score.score for score in summary.scores])
            rows += [
                {
                    **dict(zip(ANCHOR_KEY, key, strict=True)),
                    **drift_row(
                        of_test["score"].astype(float),
                        of_test["again"].astype(float),
                        question=evaluation.question(of_test["question_id"].iloc[0]),
                        round_=int(of_test["round"].iloc[0]),
                        n_tests=n_tests,
                    ),
                    "judged_at": now,
                }
                for key, of_test in repeats.groupby(list(ANCHOR_KEY))
            ]
        append_history(ledger, "judge_drift", rows)
