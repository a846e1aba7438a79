"""Assets of judge tuning, each of which calls the guard of the gates first."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property

import dagster as dg
import pandas as pd
from duckdb import DuckDBPyConnection as Connection

from eval_assets.agreement.gates.evidence import measures_version
from eval_assets.assets.agreement import hold_out_units, human_agreement, judge_agreement
from eval_assets.assets.gates import questions_past_the_gates
from eval_assets.assets.judging import judge_scores
from eval_assets.assets.live_judging import (
    VersionsInUse,
    declared_template,
    shown_texts,
    versions_in_use,
)
from eval_assets.assets.metadata import Metadata, rows_as_metadata
from eval_assets.assets.prompt_tuning import PromptedVersion, scores_in_ledger, tune_prompts
from eval_assets.assets.recipes import asset
from eval_assets.assets.resources import EvaluationFolder
from eval_assets.config.evaluation import Evaluation
from eval_assets.config.judges import CURRENT
from eval_assets.config.rubric import RubricQuestion
from eval_assets.config.tuning import Step
from eval_assets.store.connection import transaction
from eval_assets.store.data_versions import rating_versions
from eval_assets.store.ledger.copies import copy_ledger
from eval_assets.store.ledger.histories import JudgeLedger
from eval_assets.store.schema import read_table, replace_rows
from eval_assets.store.scores import declared_fingerprints
from eval_assets.store.splits import system_responses, tuning_units, write_splits
from eval_assets.store.tuned_judges import rater_notes, scores_by_prompt
from eval_assets.tuning.calibration import calibration_rows
from eval_assets.tuning.rated import RatedUnits
from eval_assets.tuning.steps import (
    PromptedScores,
    TunedJudge,
    VersionScores,
    calibrated_version,
    declared_version,
    dev_figures,
    jury_judge,
    jury_version,
)
from eval_assets.tuning.systems import compare_systems
from eval_assets.tuning.tuned_prompts import shown_columns
from eval_assets.tuning.versions import JudgeVersion, training_fingerprints
from eval_assets.wording import or_none


@asset(group="judge_tuning", kinds={"duckdb"}, deps=[human_agreement, judge_agreement])
def judge_splits(folder: EvaluationFolder) -> Metadata:
    """The split of rated responses into those that judges are tuned on and tested on."""
    evaluation = folder.evaluation()
    with folder.connect() as connection:
        question_ids = questions_past_the_gates(connection, evaluation)
        version = measures_version(
            evaluation, "human", data_version=rating_versions(connection)["human"]
        )
        with transaction(connection):
            n_groups = write_splits(
                connection,
                question_ids,
                shares=evaluation.tuning.split,
                data_version=version,
            )
    return {
        "questions": list(question_ids),
        "left_out": [q.id for q in evaluation.rubric if q.id not in question_ids],
        **{f"n_groups_{split}": n for split, n in n_groups.items()},
    }


@asset(group="judge_tuning", kinds={"duckdb"}, deps=[judge_splits, judge_scores])
def score_calibration(folder: EvaluationFolder) -> Metadata:
    """The map of each judge's scale onto the human one, fitted on train."""
    evaluation = folder.evaluation()
    with folder.connect() as connection:
        units = units_past_the_gates(connection, evaluation, texts=False)
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
    return {"maps": rows_as_metadata(rows)}


@asset(group="judge_tuning", kinds={"duckdb"}, deps=[score_calibration])
def tuned_judges(context: dg.AssetExecutionContext, folder: EvaluationFolder) -> Metadata:
    """The version of each judge that its test decides on, made from train and dev alone."""
    evaluation, now = folder.evaluation(), datetime.now(tz=UTC)
    template = declared_template(evaluation, folder)
    with folder.connect() as connection, folder.ledger(evaluation) as ledger:
        units = units_past_the_gates(connection, evaluation, texts=bool(evaluation.live_judges))
        fingerprints = declared_fingerprints(connection)
        declared = [
            declared_version(
                judge.id,
                fingerprint=fingerprints[judge.id],
                prompt_text="" if judge.provider == "recorded" else template.source,
            )
            for judge in evaluation.judges
        ]
        prompts = [v.prompt_text for v in (*declared, *JudgeLedger(ledger).versions())]
        columns = [column for prompt in prompts for column in shown_columns(prompt)]
        shown = shown_texts(connection, columns)
        units = {name: replace(rated, shown=shown) for name, rated in units.items()}
        # What the judges as declared said is in the ledger, whichever version they rate as.
        scores = scores_in_ledger(evaluation, ledger, units, declared, template)
        names = units if evaluation.tuning.prompt_steps else ()
        notes = {name: rater_notes(connection, name) for name in names}
        in_use = versions_in_use(evaluation, folder, fingerprints)
        numbered = [of.id for of in evaluation.judges if of.version not in (None, CURRENT)]
        pinned = {name: in_use[name] for name in numbered if name in in_use}
        by_prompt = scores_by_prompt(scores, units)
        registry = _VersionRegistry(JudgeLedger(ledger), units, by_prompt, now)
        declared_versions = registry.registered(
            [(version, {"changed": "declared"}) for version in declared]
        )
        tunable = [registry.judge(v) for v in declared_versions if v.judge_id not in pinned]
    # Models are asked while the database is free for others.
    prompted = tune_prompts(
        evaluation, folder, template, tunable, units, notes, run_id=context.run.run_id
    )
    with folder.ledger(evaluation) as ledger:
        known_versions = [*JudgeLedger(ledger).versions(), *(item.version for item in prompted)]
        scores = scores_in_ledger(evaluation, ledger, units, known_versions, template)
    with folder.connect() as connection, folder.ledger(evaluation) as ledger:
        questions_past_the_gates(connection, evaluation)
        with transaction(connection):
            replace_rows(connection, "tuned_judge_scores", scores)
        by_prompt = scores_by_prompt(scores, units)
        registry = _VersionRegistry(JudgeLedger(ledger), units, by_prompt, now)
        versions = _versions(
            registry, declared_versions, prompted, pinned, steps=evaluation.tuning.steps
        )
        displayed_columns = ("judge_id", "version", "step", "definition_hash")
        rows = pd.DataFrame(
            [{name: getattr(v, name) for name in displayed_columns} for v in versions]
        )
        with transaction(connection):
            replace_rows(connection, "tuned_judges", rows)
            copy_ledger(ledger, connection, "judge_versions", "judge_calls")
    outcomes = {
        f"{item.version.judge_id}, {question}": list(result)
        for item in prompted
        for question, result in item.outcomes.items()
    }
    return {"judges": rows_as_metadata(rows), "candidates": outcomes}


@dataclass(frozen=True, eq=False)
class _VersionRegistry:
    """Versions of judges in the making, with their scores, as the ledger registers them."""

    ledger: JudgeLedger
    units: Mapping[str, RatedUnits]
    prompted: PromptedScores
    at: datetime

    def judge(self, version: JudgeVersion) -> TunedJudge:
        """Return a version of a single judge with its scores."""
        scores = VersionScores(self.units, self.prompted, self.ledger.versions())
        return scores.judge(version, {})

    def registered(
        self, versions: Sequence[tuple[JudgeVersion, Mapping[str, object]]]
    ) -> list[JudgeVersion]:
        """Return the versions with their numbers; keep notes and figures on dev of new ones."""
        notes = [
            (version, {**version_notes, "dev_kappa": dev_figures(self.judge(version), self.units)})
            for version, version_notes in versions
        ]
        return self.ledger.register(
            [(self._trained(v) if v.is_trained else v, n) for v, n in notes], at=self.at
        )

    def jury(self, members: Sequence[JudgeVersion]) -> JudgeVersion:
        """Return the jury of judges, registered."""
        judges = {version.judge_id: self.judge(version) for version in members}
        version = jury_version(judges, self.units)
        figures = dev_figures(jury_judge(version, judges, self.units), self.units)
        notes = {"changed": "members", "dev_kappa": figures}
        [registered] = self.ledger.register([(self._trained(version), notes)], at=self.at)
        return registered

    def _trained(self, version: JudgeVersion) -> JudgeVersion:
        return replace(version, trained_on=self._training)

    @cached_property
    def _training(self) -> frozenset[str]:
        return training_fingerprints(self.units.values())


def _versions(
    registry: _VersionRegistry,
    declared_versions: Sequence[JudgeVersion],
    prompted: Sequence[PromptedVersion],
    pinned: VersionsInUse,
    *,
    steps: Sequence[Step],
) -> list[JudgeVersion]:
    """Register and return the version of each judge that is tested: its prompt, maps, and a jury.

    A judge whose prompt did not become better on dev keeps the declared one, and one that is
    pinned to a version stays as it is.
    """
    with_prompts = {item.version.judge_id: item.version for item in prompted}
    notes = {
        item.version.judge_id: {
            "candidates": dict(item.outcomes),
            "cost_usd": or_none(item.cost_usd),
        }
        for item in prompted
    }
    chosen = [
        with_prompts.get(v.judge_id, v) for v in declared_versions if v.judge_id not in pinned
    ]
    versions = registry.registered(
        [(v, {"changed": v.step, **notes.get(v.judge_id, {})}) for v in chosen]
    )
    if "calibration" in steps:
        mapped = [
            calibrated_version(version, registry.units, registry.judge(version).raw)
            for version in versions
        ]
        versions = registry.registered([(v, {"changed": "maps of its scores"}) for v in mapped])
    by_judge = {**pinned, **{version.judge_id: version for version in versions}}
    versions = [by_judge[version.judge_id] for version in declared_versions]
    return [*versions, registry.jury(versions)] if "jury" in steps else versions


@asset(group="judge_tuning", kinds={"duckdb"}, deps=[tuned_judges])
def judge_versions(folder: EvaluationFolder) -> Metadata:
    """All versions of all judges so far, from the ledger, with their content and origin."""
    evaluation = folder.evaluation()
    with folder.connect() as connection:
        questions_past_the_gates(connection, evaluation)
        versions = read_table(connection, "judge_versions", order_by="created_at")
    named = ("judge_id", "version", "step", "parent", "dev_kappa", "cost_usd", "created_at")
    return {"versions": rows_as_metadata(versions, named)}


def units_past_the_gates(
    connection: Connection, evaluation: Evaluation, *, texts: bool
) -> dict[str, RatedUnits]:
    """Return the rated responses of each question that judges may be tuned and tested on.

    Raises:
        dagster.Failure: If a gate is closed; see `questions_past_the_gates`.
    """
    question_ids = questions_past_the_gates(connection, evaluation)
    return tuning_units(
        connection,
        judged_questions(evaluation, question_ids),
        shares=evaluation.tuning.split,
        texts=texts,
    )


def judged_questions(evaluation: Evaluation, question_ids: Iterable[str]) -> list[RubricQuestion]:
    """Return questions on which judges are tuned and tested: none without a judge."""
    return [evaluation.question(name) for name in question_ids if evaluation.judges]


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
