"""Judge tuning, behind the gates: every asset here calls the guard first."""

import dagster as dg
import pandas as pd

from eval_assets.agreement import measures_version
from eval_assets.assets.agreement import human_agreement, judge_agreement
from eval_assets.assets.gates import questions_past_the_gates
from eval_assets.assets.resources import (
    EvaluationFolder,
    clear_failures,
    table_metadata,
)
from eval_assets.store import data_version, rated_units, replace_rows, transaction
from eval_assets.tuning import splits_of
from eval_assets.tuning_options import SplitShares


@dg.asset(group_name="judge_tuning", kinds={"duckdb"}, deps=[human_agreement, judge_agreement])
def judge_splits(folder: EvaluationFolder) -> dg.MaterializeResult[None]:
    """The split of rated responses into those that judges are tuned on and tested on."""
    with clear_failures():
        evaluation = folder.evaluation()
        with folder.connect() as connection:
            question_ids = questions_past_the_gates(connection, evaluation)
            version = measures_version(
                evaluation, "human", data_version=data_version(connection, "human")
            )
            parts = [
                _split(rated_units(connection, question_id), question_id)
                for question_id in question_ids
            ]
            splits = pd.concat(parts).assign(data_version=version)
            with transaction(connection):
                replace_rows(connection, "judge_splits", splits)
            table = table_metadata(connection, "judge_splits")
    return dg.MaterializeResult(
        metadata={
            **table,
            "questions": list(question_ids),
            "left_out": [q.id for q in evaluation.rubric if q.id not in question_ids],
            **{
                f"n_groups_{split}": int(rows["group_id"].nunique())
                for split, rows in splits.groupby("split")
            },
        }
    )


def _split(units: pd.DataFrame, question_id: str) -> pd.DataFrame:
    """Return the units of one question with the split of each, the same for all questions."""
    splits = splits_of(units["group_id"], SplitShares())
    return units[["response_id", "group_id"]].assign(question_id=question_id, split=splits)
