"""The asset that compares systems by corrected scores of judges."""

import pandas as pd

from eval_assets.assets.agreement import hold_out_units, human_agreement, judge_agreement
from eval_assets.assets.gates import questions_past_the_gates
from eval_assets.assets.judging import judge_scores
from eval_assets.assets.metadata import Metadata, rows_as_metadata
from eval_assets.assets.recipes import asset
from eval_assets.assets.resources import EvaluationFolder
from eval_assets.assets.tuning import judged_questions
from eval_assets.store.connection import transaction
from eval_assets.store.schema import replace_rows
from eval_assets.store.splits import system_responses
from eval_assets.tuning.systems import compare_systems

_SHOWN = (
    *("judge_id", "question_id", "system", "other_system", "n_responses", "n_labelled"),
    *("judge_only", "value", "low_all", "high_all", "is_safe"),
)
"""Columns that an asset's page has room for; the intervals are of all comparisons at once."""


@asset(
    group="judge_tuning",
    kinds={"duckdb"},
    deps=[human_agreement, judge_agreement, judge_scores],
)
def system_comparison(folder: EvaluationFolder) -> Metadata:
    """Means and differences of systems by slice: judges' scores, corrected by human ratings."""
    evaluation = folder.evaluation()
    hold_out_units(folder)
    with folder.connect() as connection:
        question_ids = questions_past_the_gates(connection, evaluation)
        responses = system_responses(
            connection,
            judged_questions(evaluation, question_ids),
            shares=evaluation.tuning.split,
        )
        rows = pd.DataFrame(
            [
                {"judge_id": judge_id, "question_id": question_id, **row}
                for (question_id, judge_id), compared in responses.items()
                for row in compare_systems(compared)
            ]
        )
        with transaction(connection):
            replace_rows(connection, "system_comparison", rows)
    whole = rows[rows["slice"] == "all"] if len(rows) else rows
    return {"all_responses": rows_as_metadata(whole, _SHOWN)}
