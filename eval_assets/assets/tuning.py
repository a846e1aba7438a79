"""Judge tuning, behind the gates: every asset here calls the guard first."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import dagster as dg
import duckdb
import pandas as pd

from eval_assets.agreement import measures_version
from eval_assets.assets.agreement import human_agreement, judge_agreement
from eval_assets.assets.figure_tables import rows_as_metadata
from eval_assets.assets.gates import questions_past_the_gates
from eval_assets.assets.judging import judge_scores
from eval_assets.assets.plots import steps
from eval_assets.assets.prompt_tuning import PromptedVersion, scores_in_ledger, tune_prompts
from eval_assets.assets.resources import (
    EvaluationFolder,
    clear_failures,
    data_version_in,
    table_metadata,
)
from eval_assets.evaluation import Evaluation
from eval_assets.judges import PromptTemplate
from eval_assets.store import (
    PromptedScores,
    SqlLedger,
    compared_answers,
    copy_ledger,
    data_version,
    prompted_scores,
    read_table,
    register_versions,
    replace_rows,
    single_judge,
    transaction,
    tuning_units,
    versions_of,
    words_on,
)
from eval_assets.tuning import (
    JudgeVersion,
    RatedUnits,
    calibrated_version,
    calibration_rows,
    compare_systems,
    declared_version,
    jury_version,
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
        data_version=data_version_in(table),
        metadata={
            **table,
            "questions": list(question_ids),
            "left_out": [q.id for q in evaluation.rubric if q.id not in question_ids],
            **{
                f"n_groups_{split}": int(rows["group_id"].nunique())
                for split, rows in splits.groupby("split")
            },
        },
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
    columns = ["judge_id", "question_id", "judge_value", "mapped_value"]
    fitted = rows.reindex(columns=columns).dropna(subset="judge_value")  # also without a judge
    maps = {
        f"{judge}, {question}": list(zip(given["judge_value"], given["mapped_value"], strict=True))
        for (judge, question), given in fitted.groupby(["judge_id", "question_id"])
        if len(given) <= _MOST_STEPS
    }
    return dg.MaterializeResult(
        data_version=data_version_in(table),
        metadata={**table, "maps": rows_as_metadata(rows), "plot": steps(maps)},
    )


_MOST_STEPS = 20
"""A map of more values is a curve that the table shows as well."""


@dg.asset(group_name="judge_tuning", kinds={"duckdb"}, deps=[score_calibration])
def tuned_judges(
    context: dg.AssetExecutionContext, folder: EvaluationFolder
) -> dg.MaterializeResult[None]:
    """The version of each judge that its test decides on, made from train and dev alone."""
    with clear_failures():
        evaluation, now = folder.evaluation(), datetime.now(tz=UTC)
        with folder.connect() as connection, folder.ledger(evaluation) as ledger:
            question_ids = questions_past_the_gates(connection, evaluation)
            questions = [evaluation.question(question_id) for question_id in question_ids]
            units = tuning_units(connection, questions, shares=evaluation.tuning.split)
            declared = _declared_judges(connection, evaluation)
            words = {
                (question_id, judge.id): words_on(connection, question_id, judge.id)
                for question_id in question_ids
                for judge in evaluation.judges
                if evaluation.tuning.prompt_steps
            }
            stand = register_versions(
                ledger, [(v, {"changed": "declared"}) for v in declared], at=now
            )
        # Models are asked while the database is free for others.
        prompted = tune_prompts(evaluation, folder, units, words, stand, run_id=context.run.run_id)
        with folder.ledger(evaluation) as ledger:
            every = [*versions_of(ledger), *(each.version for each in prompted)]
            scores = scores_in_ledger(evaluation, ledger, units, every)
        with folder.connect() as connection, folder.ledger(evaluation) as ledger:
            questions_past_the_gates(connection, evaluation)
            with transaction(connection):
                replace_rows(connection, "tuned_judge_scores", scores)
            known = prompted_scores(connection, units)
            versions = _versions(evaluation, ledger, stand, prompted, units, known, at=now)
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
    outcomes = {
        f"{each.version.judge_id}, {question}": list(found)
        for each in prompted
        for question, found in each.outcomes.items()
    }
    return dg.MaterializeResult(
        data_version=data_version_in(table),
        metadata={**table, "judges": rows_as_metadata(rows), "candidates": outcomes},
    )


def _versions(  # noqa: PLR0913, PLR0917 - what versions are made from, and where they are kept
    evaluation: Evaluation,
    ledger: SqlLedger,
    stand: Sequence[JudgeVersion],
    prompted: Sequence[PromptedVersion],
    units: Mapping[str, RatedUnits],
    known: PromptedScores,
    *,
    at: datetime,
) -> list[JudgeVersion]:
    """Register and return the version of each judge that is tested: its prompt, maps, and a jury.

    A judge whose prompt did not become better on dev keeps the declared one.
    """
    notes = {each.version.judge_id: dict(each.outcomes) for each in prompted}
    with_prompts = {each.version.judge_id: each.version for each in prompted}
    chosen = [with_prompts.get(version.judge_id, version) for version in stand]
    versions = register_versions(
        ledger,
        [(v, {"changed": v.step, "candidates": notes.get(v.judge_id, {})}) for v in chosen],
        at=at,
    )
    steps = evaluation.tuning.steps
    if "calibration" in steps:
        made = [
            calibrated_version(version, units, single_judge(version, units, known).raw)
            for version in versions
        ]
        versions = register_versions(
            ledger, [(version, {"changed": "maps of its scores"}) for version in made], at=at
        )
    if "jury" in steps:
        members = {version.judge_id: single_judge(version, units, known) for version in versions}
        jury = jury_version(members, units)
        versions += register_versions(ledger, [(jury, {"changed": "members"})], at=at)
    return versions


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
    return dg.MaterializeResult(
        data_version=data_version_in(table),
        metadata={**table, "versions": rows_as_metadata(versions[shown])},
    )


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
    return dg.MaterializeResult(
        data_version=data_version_in(table),
        metadata={**table, "all_answers": rows_as_metadata(whole)},
    )


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
