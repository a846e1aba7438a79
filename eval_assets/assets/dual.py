"""Where judges disagree, pair by pair: what a human should look at."""

from datetime import UTC, datetime

import dagster as dg

from eval_assets.agreement import measure_pairs
from eval_assets.assets.folder import EvaluationFolder, clear_failures
from eval_assets.assets.frames import rows_as_metadata, table_metadata
from eval_assets.assets.judging import judge_scores
from eval_assets.store import judged_units, transaction, validation_history, write_pair_measures

_MOST_SHOWN = 50


@dg.asset(group_name="agreement", kinds={"duckdb"}, deps=[judge_scores])
def judge_disagreements(folder: EvaluationFolder) -> dg.MaterializeResult[None]:
    """Responses and groups on which two judges differ too much, worst first.

    Also stores what the first two judges say of each group, which the view `ground_truth` shows,
    and how they did in this run.
    """
    with clear_failures(), folder.connect() as connection:
        measures = measure_pairs(judged_units(connection), at=datetime.now(tz=UTC))
        with transaction(connection):
            write_pair_measures(
                connection,
                groups=measures.groups,
                disagreements=measures.disagreements,
                validation=measures.validation,
            )
        history = validation_history(connection, most=_MOST_SHOWN)
        table = table_metadata(connection, "judge_disagreements")
    validation = measures.validation
    return dg.MaterializeResult(
        metadata={
            **table,
            "n_groups": len(measures.groups),
            "status": validation.status if validation else "not_evaluable",
            "notes": validation.notes if validation else "There are no two judges.",
            "worst": rows_as_metadata(measures.disagreements.head(_MOST_SHOWN)),
            "history": rows_as_metadata(history),
        }
    )
