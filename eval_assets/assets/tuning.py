"""Judge tuning, behind the gates: every asset here calls the guard first."""

from datetime import UTC, datetime

import dagster as dg
import duckdb
import pandas as pd

from eval_assets.agreement import measures_version
from eval_assets.assets.agreement import human_agreement, judge_agreement
from eval_assets.assets.gates import questions_past_the_gates
from eval_assets.assets.judging import judge_scores
from eval_assets.assets.resources import (
    EvaluationFolder,
    clear_failures,
    rows_as_metadata,
    table_metadata,
)
from eval_assets.evaluation import Evaluation
from eval_assets.judges import PromptTemplate
from eval_assets.store import (
    compared_answers,
    copy_ledger,
    data_version,
    read_table,
    register_versions,
    replace_rows,
    transaction,
    tuning_units,
)
from eval_assets.tuning import (
    JudgeVersion,
    calibrated_version,
    calibration_rows,
    compare_systems,
    declared_version,
    jury_version,
    mapped_judge,
)


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
            questions = [evaluation.question(question_id) for question_id in question_ids]
            units = tuning_units(connection, questions, shares=evaluation.tuning.split)
            splits = pd.concat(
                pd.DataFrame(
                    {
                        "response_id": rated.response_ids,
                        "question_id": question_id,
                        "split": rated.splits,
                        "group_id": rated.groups,
                        "data_version": version,
                    }
                )
                for question_id, rated in units.items()
            )
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


@dg.asset(group_name="judge_tuning", kinds={"duckdb"}, deps=[judge_splits, judge_scores])
def score_calibration(folder: EvaluationFolder) -> dg.MaterializeResult[None]:
    """The map of each judge's scale onto the human one, fitted on train."""
    with clear_failures():
        evaluation = folder.evaluation()
        with folder.connect() as connection:
            question_ids = questions_past_the_gates(connection, evaluation)
            questions = [evaluation.question(question_id) for question_id in question_ids]
            units = tuning_units(connection, questions, shares=evaluation.tuning.split)
            rows = pd.DataFrame(
                [
                    row
                    for rated in units.values()
                    for judge_id in rated.scores
                    for row in calibration_rows(rated, judge_id)
                ]
            )
            with transaction(connection):
                replace_rows(connection, "score_calibration", rows)
            table = table_metadata(connection, "score_calibration")
    return dg.MaterializeResult(metadata={**table, "maps": rows_as_metadata(rows)})


@dg.asset(group_name="judge_tuning", kinds={"duckdb"}, deps=[score_calibration])
def tuned_judges(folder: EvaluationFolder) -> dg.MaterializeResult[None]:
    """The version of each judge that its test decides on, made from train and dev alone."""
    with clear_failures():
        evaluation = folder.evaluation()
        with folder.connect() as connection, folder.ledger(evaluation) as ledger:
            question_ids = questions_past_the_gates(connection, evaluation)
            questions = [evaluation.question(question_id) for question_id in question_ids]
            units = tuning_units(connection, questions, shares=evaluation.tuning.split)
            declared = _declared_judges(connection, evaluation)
            now = datetime.now(tz=UTC)
            stand = register_versions(
                ledger, [(v, {"changed": "declared"}) for v in declared], at=now
            )
            versions = stand
            if "calibration" in evaluation.tuning.steps:
                made = [
                    calibrated_version(
                        version,
                        units,
                        {q: rated.scores[version.judge_id] for q, rated in units.items()},
                    )
                    for version in stand
                ]
                versions = register_versions(
                    ledger,
                    [(version, {"changed": "maps of its scores"}) for version in made],
                    at=now,
                )
            if "jury" in evaluation.tuning.steps:
                members = {
                    version.judge_id: mapped_judge(
                        version,
                        {q: rated.scores[version.judge_id] for q, rated in units.items()},
                        stands={},
                    )
                    for version in versions
                }
                jury = jury_version(members, units)
                versions += register_versions(ledger, [(jury, {"changed": "members"})], at=now)
            rows = pd.DataFrame(
                [
                    {
                        "judge_id": version.judge_id,
                        "version": version.version,
                        "step": version.step,
                        "definition_hash": version.definition_hash,
                    }
                    for version in versions
                ]
            )
            with transaction(connection):
                replace_rows(connection, "tuned_judges", rows)
                copy_ledger(ledger, connection)
            table = table_metadata(connection, "tuned_judges")
    return dg.MaterializeResult(metadata={**table, "judges": rows_as_metadata(rows)})


@dg.asset(group_name="judge_tuning", kinds={"duckdb"}, deps=[tuned_judges])
def judge_versions(folder: EvaluationFolder) -> dg.MaterializeResult[None]:
    """All versions of all judges so far, from the ledger: what each is and where it comes from."""
    with clear_failures():
        evaluation = folder.evaluation()
        with folder.connect() as connection, folder.ledger(evaluation) as ledger:
            questions_past_the_gates(connection, evaluation)
            with transaction(connection):
                copy_ledger(ledger, connection)
            versions = read_table(connection, "judge_versions", order_by="created_at")
            table = table_metadata(connection, "judge_versions")
    shown = ["judge_id", "version", "step", "parent", "notes", "created_at"]
    return dg.MaterializeResult(metadata={**table, "versions": rows_as_metadata(versions[shown])})


@dg.asset(
    group_name="judge_tuning",
    kinds={"duckdb"},
    deps=[human_agreement, judge_agreement, judge_scores],
)
def system_comparison(folder: EvaluationFolder) -> dg.MaterializeResult[None]:
    """Which system is better, by slice: judges' scores of all answers, corrected by ratings."""
    with clear_failures():
        evaluation = folder.evaluation()
        with folder.connect() as connection:
            question_ids = questions_past_the_gates(connection, evaluation)
            rows = pd.DataFrame(
                [
                    {"judge_id": judge.id, "question_id": question_id, **row}
                    for question_id in question_ids
                    for judge in evaluation.judges
                    for row in compare_systems(
                        compared_answers(connection, evaluation.question(question_id), judge.id)
                    )
                ]
            )
            with transaction(connection):
                replace_rows(connection, "system_comparison", rows)
            table = table_metadata(connection, "system_comparison")
    whole = rows[rows["slice"] == "all"] if len(rows) else rows
    return dg.MaterializeResult(metadata={**table, "all_answers": rows_as_metadata(whole)})


def _declared_judges(
    connection: duckdb.DuckDBPyConnection, evaluation: Evaluation
) -> list[JudgeVersion]:
    """Return the judges as evaluation.yaml declares them, without their numbers."""
    fingerprints = read_table(connection, "judges").set_index("judge_id")["fingerprint"]
    prompt = PromptTemplate.load(evaluation.judge_prompt).source
    return [
        declared_version(
            judge.id,
            fingerprint=str(fingerprints[judge.id]),
            prompt_text="" if judge.provider == "recorded" else prompt,
        )
        for judge in evaluation.judges
    ]
