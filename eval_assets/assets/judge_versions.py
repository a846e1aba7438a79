"""Versions of judges in use, as declared in evaluation.yaml."""

from collections.abc import Mapping, Sequence

import pandas as pd

from eval_assets.assets.resources import EvaluationFolder
from eval_assets.config.evaluation import FILE, Evaluation
from eval_assets.config.judges import CURRENT, Judge
from eval_assets.errors import InputProblem, raise_all
from eval_assets.judges.prompts.prompt import PromptTemplate
from eval_assets.readers.evaluation.read import evaluation_problem
from eval_assets.store.ledger.histories import JudgeLedger
from eval_assets.tuning.history import certified_version
from eval_assets.tuning.versions import JudgeVersion

VersionsInUse = Mapping[str, JudgeVersion]
"""Version of each judge in use, without judges in their declared version."""


def versions_in_use(
    evaluation: Evaluation, folder: EvaluationFolder, fingerprints: Mapping[str, str]
) -> VersionsInUse:
    """Return the versions in use, by judge.

    A judge that follows its last certified version uses its declared version until there is one.
    `fingerprints` are of the judges as declared.

    Raises:
        ExceptionGroup: Of an InputError for every version that a judge does not have.
    """
    if all(judge.version is None for judge in evaluation.judges):
        return {}
    with folder.ledger(evaluation) as ledger:
        judges = JudgeLedger(ledger)
        known_versions = judges.versions()
        evaluations = [held_out for q in evaluation.rubric for held_out in judges.evaluations(q.id)]
    in_use: dict[str, JudgeVersion] = {}
    problems: list[InputProblem] = []
    for index, judge in enumerate(evaluation.judges):
        fingerprint = fingerprints[judge.id]
        history = [version for version in known_versions if version.judge_id == judge.id]
        current = {item.version: item for item in history if item.fingerprint == fingerprint}
        if judge.version == CURRENT:
            version = certified_version(evaluations, judge.id, fingerprint=fingerprint)
        else:
            version = current.get(judge.version or "")
        if version is not None:
            in_use[judge.id] = version
        elif judge.version not in (None, CURRENT):
            path = ("judges", index, "version")
            problems.append(
                evaluation_problem(
                    evaluation.folder, path, *_missing(judge, history, list(current))
                )
            )
    raise_all(problems, source=FILE)
    return in_use


def pinned_versions(evaluation: Evaluation, in_use: VersionsInUse) -> VersionsInUse:
    """Return the versions pinned by number, which later tuning does not change."""
    return {
        judge.id: in_use[judge.id]
        for judge in evaluation.judges
        if judge.version not in (None, CURRENT) and judge.id in in_use
    }


def prompts_in_use(in_use: VersionsInUse, template: PromptTemplate) -> dict[str, PromptTemplate]:
    """Return the prompts that replace the declared one, by judge."""
    return {
        judge_id: PromptTemplate(
            version.prompt_text,
            name=f"{judge_id} {version.version}",
            wordings=template.wordings,
        )
        for judge_id, version in in_use.items()
        if version.prompt_text
    }


def mapped_scores(scores: pd.DataFrame, in_use: VersionsInUse) -> pd.DataFrame:
    """Return rows of `judge_scores` with the maps of the versions applied."""
    mapped = scores.reset_index(drop=True)
    for judge_id, version in in_use.items():
        for question_id in version.maps:
            rows = mapped.index[
                (mapped["judge_id"] == judge_id)
                & (mapped["question_id"] == question_id)
                & (mapped["status"] == "ok")
            ]
            raw = mapped.loc[rows, "raw_score"].to_numpy(dtype=float)
            mapped.loc[rows, "score"] = version.mapped(question_id, raw)
    return mapped


def _missing(
    judge: Judge, history: Sequence[JudgeVersion], usable: Sequence[str]
) -> tuple[str, str]:
    """Return problem and remedy of a version that a judge does not have."""
    message = f"{judge.id} has no version {judge.version}"
    if any(version.version == judge.version for version in history):
        message = (
            f"version {judge.version} of {judge.id} is of another model, other settings or "
            "another judge_prompt"
        )
    return message, f"Use {', '.join([*usable, CURRENT])}, or remove the key"
