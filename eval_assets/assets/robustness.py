"""The asset of robustness: responses that address the judge, and their scores without that."""

import asyncio
import logging
from collections.abc import Sequence

import dagster as dg
import duckdb
import pandas as pd

from eval_assets.agreement.injection import shift_rows, without_injections
from eval_assets.assets.judge_versions import prompts_in_use, versions_in_use
from eval_assets.assets.judging import judge_scores
from eval_assets.assets.live_judging import declared_live_judges
from eval_assets.assets.metadata import rows_as_metadata
from eval_assets.assets.resources import (
    EvaluationFolder,
    clear_failures,
    data_version_in,
    table_metadata,
)
from eval_assets.config.evaluation import Evaluation
from eval_assets.config.judges import Judge
from eval_assets.judges.calling.live_model import LiveModel, unbatched
from eval_assets.judges.calling.session import RequestOptions, warn_of_budget
from eval_assets.judges.credentials import api_keys
from eval_assets.judges.judging import judge_portions
from eval_assets.judges.judging_plan import Unit
from eval_assets.judges.prompts.prompt import PromptTemplate
from eval_assets.judges.replies import JudgeScore
from eval_assets.store.connection import transaction
from eval_assets.store.ledger.copies import copy_ledger
from eval_assets.store.ledger.workers import Worker
from eval_assets.store.robustness import controlled_scores, injected_units, write_injections
from eval_assets.store.schema import read_table, replace_rows
from eval_assets.store.scores import declared_fingerprints, earlier_turns

logger = logging.getLogger(__name__)


@dg.asset(group_name="judge_scores", kinds={"duckdb"}, deps=[judge_scores])
def judge_robustness(
    context: dg.AssetExecutionContext, folder: EvaluationFolder
) -> dg.MaterializeResult[None]:
    """Responses that address the judge, and the shift of scores by that where it is declared."""
    with clear_failures():
        evaluation = folder.evaluation()
        with folder.connect() as connection, transaction(connection):
            n_injected = write_injections(connection)
        scores: Sequence[JudgeScore] = ()
        if n_injected and evaluation.robustness.injection:
            logger.info(
                "%d responses are asked about again without the passages that address a judge",
                n_injected,
            )
            judges = declared_live_judges(evaluation)
            scores = _asked_without(evaluation, folder, judges, run_id=context.run.run_id)
        with folder.connect() as connection:
            with transaction(connection):
                _write(connection, evaluation, scores)
                if scores:
                    with folder.ledger(evaluation) as ledger:
                        copy_ledger(ledger, connection, "judge_calls")
            rows = read_table(connection, "judge_robustness")
            table = table_metadata(connection, "judge_robustness")
    return dg.MaterializeResult(
        data_version=data_version_in(table),
        metadata={**table, "n_injected": n_injected, "shifts": rows_as_metadata(rows)},
    )


def _asked_without(
    evaluation: Evaluation,
    folder: EvaluationFolder,
    judges: Sequence[LiveModel[Judge]],
    *,
    run_id: str,
) -> Sequence[JudgeScore]:
    """Return the live judges' scores of the responses without the passages.

    What was answered in an earlier run is not asked again.
    """
    if not judges:
        return ()
    with folder.connect() as connection:
        units, history = injected_units(connection), earlier_turns(connection)
        declared = declared_fingerprints(connection)
    prompts = prompts_in_use(versions_in_use(evaluation, folder, declared))
    keys = api_keys(judge.declared for judge in judges)
    with (
        folder.ledger(evaluation) as ledger,
        Worker(ledger, asset="judge_robustness", run_id=run_id, caps=evaluation) as worker,
    ):
        summary = asyncio.run(
            judge_portions(
                [
                    [
                        Unit(
                            row["response_id"],
                            evaluation.question(row["question_id"]),
                            row["prompt_text"],
                            without_injections(row["response_text"]),
                            history=history.get(row["response_id"], ()),
                        )
                        for row in units.to_dict("records")
                    ]
                ],
                list(map(unbatched, judges)),
                worker,
                template=PromptTemplate.load(evaluation.judge_prompt),
                options=RequestOptions(api_keys=keys, budget_usd=evaluation.robustness.max_usd),
                prompts=prompts,
            )
        )
    warn_of_budget(summary.n_budget_stopped, left_usd=summary.budget_left_usd)
    return summary.scores


def _write(
    connection: duckdb.DuckDBPyConnection, evaluation: Evaluation, scores: Sequence[JudgeScore]
) -> None:
    """Store the scores without the passages, and the shifts."""
    columns = ("judge_id", "question_id", "response_id", "score", "status")
    controls = [{name: getattr(score, name) for name in columns} for score in scores]
    replace_rows(connection, "injection_controls", pd.DataFrame(controls))
    spans = {q.id: q.scale.high - q.scale.low for q in evaluation.rubric}
    shifts = shift_rows(controlled_scores(connection), spans) if controls else ()
    replace_rows(connection, "judge_robustness", pd.DataFrame(shifts))
