"""The asset that compares systems by corrected scores of judges."""

import dagster as dg
import pandas as pd

from eval_assets.assets.agreement import hold_out_units, human_agreement, judge_agreement
from eval_assets.assets.gates import questions_past_the_gates
from eval_assets.assets.judging import judge_scores
from eval_assets.assets.metadata import intervals_as_metadata, rows_as_metadata
from eval_assets.assets.recipes import asset
from eval_assets.assets.resources import (
    EvaluationFolder,
    clear_failures,
    data_version_in,
    table_metadata,
)
from eval_assets.assets.tuning import judged_questions
from eval_assets.catalogue import Figure
from eval_assets.store.connection import transaction
from eval_assets.store.schema import replace_rows
from eval_assets.store.splits import system_responses
from eval_assets.tuning.systems import compare_systems

_SHOWN = (
    *("judge_id", "question_id", "system", "other_system", "n_responses", "n_labelled"),
    *("judge_only", "value", "low_all", "high_all", "is_safe"),
)
"""Columns that an asset's page has room for; the intervals are of all comparisons at once."""

_MOST_PLOTTED = 30


@asset(
    group="judge_tuning",
    kinds={"duckdb"},
    deps=[human_agreement, judge_agreement, judge_scores],
)
def system_comparison(folder: EvaluationFolder) -> dg.MaterializeResult[None]:
    """Means and differences of systems by slice: judges' scores, corrected by human ratings."""
    with clear_failures():
        evaluation = folder.evaluation()
        hold_out_units(folder, evaluation)
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
            table = table_metadata(connection, "system_comparison")
    whole = rows[rows["slice"] == "all"] if len(rows) else rows
    return dg.MaterializeResult(
        data_version=data_version_in(table),
        metadata={
            **table,
            "all_responses": rows_as_metadata(whole, _SHOWN),
            "differences": _differences(whole, with_question=len(question_ids) > 1),
        },
    )


def _differences(rows: pd.DataFrame, *, with_question: bool) -> dg.MarkdownMetadataValue | None:
    """Return the differences between systems as intervals."""
    differences = rows[rows["kind"] == "difference"].dropna(subset="value") if len(rows) else rows
    figures = {
        f"{row['judge_id']}: {row['system']} - {row['other_system']}"
        + (f", {row['question_id']}" if with_question else ""): Figure(
            row["value"], row["low_all"], row["high_all"]
        )
        for row in differences.to_dict("records")[:_MOST_PLOTTED]
    }
    return intervals_as_metadata(figures, minimum=0.0)
