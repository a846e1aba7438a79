"""Agreement between humans, between judges, and of judges with humans; and the gates on it."""

import dagster as dg
import pandas as pd

from eval_assets.agreement import measure_humans, measure_judges, measure_judges_against_humans
from eval_assets.assets.folder import EvaluationFolder, clear_failures
from eval_assets.assets.frames import or_none, rows_as_metadata, table_metadata
from eval_assets.assets.gating import check_gate
from eval_assets.assets.judging import judge_scores
from eval_assets.assets.labels import human_labels, label_disagreements
from eval_assets.gates import HUMAN_GATES
from eval_assets.store import (
    count_rows,
    data_version,
    human_ratings,
    judge_ratings,
    read_table,
    replace_records,
    replace_rows,
    transaction,
    write_combined_scores,
    write_score_summary,
)


@dg.asset(group_name="agreement", kinds={"duckdb"}, deps=[human_labels, label_disagreements])
def human_agreement(folder: EvaluationFolder) -> dg.MaterializeResult[None]:
    """How far human raters agree: A^HH, alpha, kappa and pairwise agreement, with intervals."""
    with clear_failures():
        evaluation = folder.evaluation()
        with folder.connect() as connection:
            measures = measure_humans(human_ratings(connection, evaluation), evaluation)
            with transaction(connection):
                replace_rows(connection, "human_agreement", measures.agreement)
                replace_records(connection, "label_findings", measures.findings)
            table = table_metadata(connection, "human_agreement")
    return dg.MaterializeResult(
        metadata={
            **table,
            **_overall_figures(measures.agreement, ["a_hh", "alpha", "exact_agreement"]),
            "n_raters": int(measures.agreement["n_raters"].iloc[0]),
            "agreement": rows_as_metadata(measures.agreement),
            "findings": dg.MetadataValue.md(
                "\n".join(f"- **{f.question_id}**: {f.finding}" for f in measures.findings)
                or "No remarks."
            ),
        }
    )


@dg.asset_check(asset=human_agreement, blocking=True)
def human_a_hh(folder: EvaluationFolder) -> dg.AssetCheckResult:
    """Human raters agree: GDPval's A^HH reaches its minimum, overall and by question."""
    return check_gate(folder, "human_a_hh", together_with=HUMAN_GATES)


@dg.asset_check(asset=human_agreement, blocking=True)
def human_alpha(folder: EvaluationFolder) -> dg.AssetCheckResult:
    """Human raters agree beyond chance: Krippendorff's alpha reaches its minimum."""
    return check_gate(folder, "human_alpha", together_with=HUMAN_GATES)


@dg.asset(group_name="agreement", kinds={"duckdb"}, deps=[judge_scores])
def judge_agreement(folder: EvaluationFolder) -> dg.MaterializeResult[None]:
    """How far judges agree with one another: Krippendorff's alpha and kappa, with intervals."""
    with clear_failures():
        evaluation = folder.evaluation()
        with folder.connect() as connection:
            measures = measure_judges(judge_ratings(connection, evaluation), evaluation)
            judges = read_table(connection, "judges", order_by="judge_id")
            with transaction(connection):
                replace_rows(connection, "judge_agreement", measures)
            table = table_metadata(connection, "judge_agreement")
    by_question = measures[measures["scope"] != "response"]
    return dg.MaterializeResult(
        metadata={
            **table,
            **_overall_figures(by_question, ["alpha", "kappa_micro"]),
            "judge_set_fingerprint": str(measures["judge_set_fingerprint"].iloc[0]),
            "agreement": rows_as_metadata(by_question),
            "judges": rows_as_metadata(judges),
        }
    )


@dg.asset_check(asset=judge_agreement, blocking=True)
def judge_alpha(folder: EvaluationFolder) -> dg.AssetCheckResult:
    """Judges agree beyond chance: Krippendorff's alpha between them reaches its minimum."""
    return check_gate(folder, "judge_alpha", together_with=("judge_alpha",))


@dg.asset(group_name="agreement", kinds={"duckdb"}, deps=[human_labels, judge_scores])
def judge_human_agreement(folder: EvaluationFolder) -> dg.MaterializeResult[None]:
    """How near each judge is to the humans, beside a constant and a shuffled control."""
    with clear_failures():
        evaluation = folder.evaluation()
        with folder.connect() as connection:
            measures = measure_judges_against_humans(
                human_ratings(connection, evaluation).ratings,
                judge_ratings(connection, evaluation).scores,
                evaluation,
                data_version=f"{data_version(connection, 'human')} "
                f"{data_version(connection, 'judge')}",
            )
            with transaction(connection):
                replace_rows(connection, "judge_human_agreement", measures.agreement)
                replace_rows(connection, "judge_confusion", measures.confusion)
            table = table_metadata(connection, "judge_human_agreement")
    return dg.MaterializeResult(
        metadata={
            **table,
            "agreement": rows_as_metadata(measures.agreement),
        }
    )


@dg.asset(group_name="agreement", kinds={"duckdb"}, deps=[human_labels, judge_scores])
def combined_scores(folder: EvaluationFolder) -> dg.MaterializeResult[None]:
    """Human and judge scores side by side: one row a response, question and rater."""
    with clear_failures(), folder.connect() as connection, transaction(connection):
        write_combined_scores(connection)
        table = table_metadata(connection, "combined_scores")
        n_long = count_rows(connection, "combined_scores_long")
    return dg.MaterializeResult(metadata={**table, "n_rows_long": n_long})


@dg.asset(group_name="agreement", kinds={"duckdb"}, deps=[human_labels, judge_scores])
def score_summary(folder: EvaluationFolder) -> dg.MaterializeResult[None]:
    """Mean human and judge scores by question, model and slice: where judges are stricter."""
    with clear_failures(), folder.connect() as connection:
        with transaction(connection):
            write_score_summary(connection)
        summary = read_table(connection, "score_summary")
        table = table_metadata(connection, "score_summary")
    return dg.MaterializeResult(
        metadata={
            **table,
            "all_responses": rows_as_metadata(summary[summary["slice"] == "all"]),
        }
    )


def _overall_figures(rows: pd.DataFrame, names: list[str]) -> dict[str, float | None]:
    """Overall figures as metadata, which Dagster plots over time; undefined is None."""
    overall = rows[rows["scope"] == "overall"].iloc[0]
    return {name: or_none(overall[name]) for name in names}
