"""Assets, checks, jobs, schedules and sensors of one evaluation folder or of several.

In a folder of several, each evaluation has its own assets, checks and jobs, with its name as key
prefix and at the start of the names of its groups, jobs and schedule; sensors are of all of them.
Key prefixes and not partitions: each evaluation has its own gates, and Dagster's checks cannot
block by partition yet; and figures are plotted over time, not over partitions.
"""

import logging
from collections.abc import Sequence
from contextlib import suppress
from functools import reduce
from operator import or_
from pathlib import Path

import dagster as dg

from eval_assets.assets import (
    agreement,
    certificates,
    checks,
    drift,
    gates,
    inputs,
    judging,
    labelling,
    reports,
    tuning,
)
from eval_assets.assets.automation import schedule_of, sensors_of
from eval_assets.assets.executors import executor, pool_of
from eval_assets.assets.judging import judge_scores_in_shards
from eval_assets.assets.recipes import EvaluationTarget, recipes_in
from eval_assets.assets.resources import EvaluationFolder, clear_failures
from eval_assets.assets.terminal import terminal
from eval_assets.config.evaluation import FILE
from eval_assets.errors import InputError, leaves
from eval_assets.readers.evaluation.read import read_evaluation

logger = logging.getLogger(__name__)

MODULES = (
    agreement,
    certificates,
    checks,
    drift,
    gates,
    inputs,
    judging,
    labelling,
    reports,
    tuning,
)
"""Modules of assets and checks."""


def project_definitions(root: Path, *, database: Path | str | None = None) -> dg.Definitions:
    """Return all definitions of a project whose evaluations are a folder, or those in a folder."""
    return merged_definitions(EvaluationFolder.all_in(root, database=database))


def merged_definitions(folders: Sequence[EvaluationFolder]) -> dg.Definitions:
    """Return the definitions of evaluations with jobs over all of them, sensors and executor."""
    return dg.Definitions.merge(
        dg.Definitions(
            sensors=sensors_of(folders),
            loggers={"console": dg.colored_console_logger, "terminal": terminal},
            executor=executor(),
        ),
        *(evaluation_definitions(folder) for folder in folders),
        *(evaluation_jobs(folder) for folder in folders),
        *([_jobs(folders, before="")] if any(folder.name for folder in folders) else []),
    )


def evaluation_jobs(folder: EvaluationFolder) -> dg.Definitions:
    """Return the jobs of one evaluation and its schedule, which is on if it is declared."""
    schedule = None
    with suppress(InputError, ExceptionGroup):  # its asset says what is wrong with the file
        schedule = read_evaluation(folder.path).schedule
    schedules = dg.Definitions(schedules=[schedule_of(folder, declared=schedule)])
    return dg.Definitions.merge(_jobs([folder], before=folder.names_before), schedules)


def evaluation_definitions(folder: EvaluationFolder, *, automation: bool = True) -> dg.Definitions:
    """Return the assets, checks and resource of one evaluation, which stand beside any others.

    One whose evaluation.yaml cannot be read has an asset `evaluation`, which says what is wrong.
    """
    evaluation = None
    try:
        evaluation = read_evaluation(folder.path)
    except* InputError as group:
        logger.warning("%s: %s", folder.path, "; ".join(map(str, leaves(group))))
    if evaluation is None:
        return dg.Definitions(assets=[_unreadable(folder)])
    target = EvaluationTarget(folder, pool=pool_of(evaluation), automation=automation)
    steps = [
        judge_scores_in_shards(evaluation.judging.shards, target)
        if recipe is judging.judge_scores and evaluation.judging.shards > 1
        else recipe.make(target)
        for recipe in recipes_in(MODULES)
    ]
    checks_of_assets = [of for of in steps if isinstance(of, dg.AssetChecksDefinition)]
    return dg.Definitions(
        assets=[of for of in steps if of not in checks_of_assets],
        asset_checks=checks_of_assets,
        resources={target.resource: folder},
    )


def _unreadable(folder: EvaluationFolder) -> dg.AssetsDefinition:
    """Return the asset of an evaluation that cannot be read, which fails with the reason."""

    @dg.multi_asset(
        name=f"{folder.steps_before}evaluation",
        specs=[
            dg.AssetSpec(
                folder.key("evaluation"),
                group_name=f"{folder.names_before}inputs",
                kinds={"yaml"},
                description=f"{FILE} cannot be read: materialize this to see why, repair it, and "
                "reload the definitions.",
            )
        ],
    )
    def evaluation() -> dg.MaterializeResult[None]:
        with clear_failures():
            folder.evaluation()
        return dg.MaterializeResult(
            metadata={"next": f"{FILE} can be read. Reload the definitions to see its assets."}
        )

    return evaluation


def _jobs(folders: Sequence[EvaluationFolder], *, before: str) -> dg.Definitions:
    """Return the jobs that run everything of some evaluations, and everything but tuning."""
    selection = reduce(or_, (all_assets(folder) for folder in folders))
    tuning = dg.AssetSelection.groups(*(f"{of.names_before}judge_tuning" for of in folders))
    tags = reduce(or_, (folder.run_tags for folder in folders))
    evaluate_job = dg.define_asset_job(
        f"{before}evaluate",
        selection=selection,
        tags=tags,
        description="Everything: inputs, agreement, gates, report, and tuning past open gates.",
    )
    score_job = dg.define_asset_job(
        f"{before}score",
        selection=selection - tuning,
        tags=tags,
        description="Everything through agreement and its gates; no tuning.",
    )
    return dg.Definitions(jobs=[evaluate_job, score_job])


def all_assets(folder: EvaluationFolder) -> dg.AssetSelection:
    """Return everything of one evaluation."""
    if folder.name:
        return dg.AssetSelection.key_prefixes(folder.name)
    return dg.AssetSelection.all()
