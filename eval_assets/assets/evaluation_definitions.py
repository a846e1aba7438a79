"""Assets, checks, jobs, schedules and sensors of one evaluation folder or of several.

In a folder of several, each evaluation has its own assets, checks and jobs, with its name as key
prefix and at the start of the names of its groups, jobs and schedule; sensors are of all of them.
Key prefixes and not partitions: each evaluation has its own gates, and Dagster's checks cannot
block by partition yet; and figures are plotted over time, not over partitions.
"""

import hashlib
import warnings
from collections.abc import Mapping, Sequence
from functools import cache, reduce
from operator import or_
from pathlib import Path
from typing import Any, TypeGuard

import dagster as dg

from eval_assets.assets import (
    agreement,
    certificates,
    checks,
    drift,
    gates,
    generation,
    inputs,
    judging,
    labelling,
    labels,
    reports,
    system_comparison,
    tuning,
)
from eval_assets.assets.automation import AutomatedEvaluation, automation_of, names_before
from eval_assets.assets.dagster_internals import UnresolvedAssetJobDefinition
from eval_assets.assets.executors import executor, pool_of
from eval_assets.assets.resources import EvaluationFolder
from eval_assets.assets.sharding import judge_scores_in_shards
from eval_assets.assets.step_names import of_evaluation
from eval_assets.assets.terminal import terminal
from eval_assets.config.operations import Judging
from eval_assets.errors import InputError
from eval_assets.readers.evaluation.read import evaluations_in, read_evaluation

MODULES = (
    agreement,
    certificates,
    drift,
    generation,
    inputs,
    judging,
    labelling,
    labels,
    reports,
    system_comparison,
    tuning,
)
"""Modules of assets."""

_ASKING = ("generated_responses", "judge_scores", "judge_drift")
"""Assets that ask models, if the evaluation declares live ones."""


def definitions_of(root: EvaluationFolder, *, only: str = "") -> dg.Definitions:
    """Return the definitions of an evaluation folder, or of a folder of several.

    Args:
        root: The folder.
        only: Name of the selected evaluation; empty for all.
    """
    names = [only] if only else evaluations_in(root.root)
    parts = [_own_definitions(root, name) for name in names or [""]]
    evaluations = [evaluation for _, evaluation in parts]
    selections = [of.evaluate.selection for of in evaluations]
    befores = [of.before for of in evaluations]
    jobs = _jobs(reduce(or_, selections), befores, before="", folder=root) if names else []
    sensors, schedules = automation_of(evaluations)
    return dg.Definitions.merge(
        dg.Definitions(
            jobs=jobs,
            sensors=sensors,
            schedules=schedules,
            resources={"folder": root},
            loggers={"console": dg.colored_console_logger, "terminal": terminal},
            executor=executor(),
        ),
        *(definitions for definitions, _ in parts),
    )


def _own_definitions(
    root: EvaluationFolder, name: str
) -> tuple[dg.Definitions, AutomatedEvaluation]:
    """Return the definitions of one evaluation, and the data of its automation.

    One whose evaluation.yaml cannot be read has all of its assets: to materialize one says what is
    wrong with the file.
    """
    folder = EvaluationFolder(data=root.data, name=name)
    before = names_before(name, root)
    try:
        evaluation = read_evaluation(folder.path)
    except* InputError:
        schedule, split, pool = None, Judging(), None
    else:
        schedule, split, pool = evaluation.schedule, evaluation.judging, pool_of(evaluation)
    prefix = name or None
    all_assets: dg.AssetSelection = (
        dg.AssetSelection.all() if not prefix else dg.AssetSelection.key_prefixes(prefix)
    )
    jobs = _jobs(all_assets, [before], before=before, folder=folder)
    definitions = dg.Definitions(
        assets=_own_assets(folder, split, before=before, pool=pool),
        asset_checks=[
            of_evaluation(check, folder.identifier)
            for check in dg.load_asset_checks_from_modules(
                [gates, checks, drift], asset_key_prefix=prefix
            )
        ],
        jobs=jobs,
    )
    return definitions, AutomatedEvaluation(folder, before, jobs[0], schedule)


def _jobs(
    selection: dg.AssetSelection, befores: Sequence[str], *, before: str, folder: EvaluationFolder
) -> list[UnresolvedAssetJobDefinition]:
    """Return the jobs that run everything, and everything but tuning.

    Args:
        selection: The assets of one evaluation, or of all.
        befores: Prefix of the names of each evaluation's groups.
        before: Prefix of the names of the jobs.
        folder: The evaluation folder, or the folder of several.
    """
    tuning = dg.AssetSelection.groups(*(f"{group}judge_tuning" for group in befores))
    return [
        dg.define_asset_job(
            f"{before}evaluate",
            selection=selection,
            tags=folder.run_tags,
            description="Everything: inputs, agreement, gates, report, and tuning past open gates.",
        ),
        dg.define_asset_job(
            f"{before}score",
            selection=selection - tuning,
            tags=folder.run_tags,
            description="Everything through agreement and its gates; no tuning.",
        ),
    ]


def _own_assets(
    folder: EvaluationFolder,
    split: Judging,
    *,
    before: str,
    pool: str | None,
) -> Sequence[Any]:
    """Return the assets of one evaluation, with judging split as it declares.

    Args:
        folder: The evaluation folder.
        split: How judging is split.
        before: Prefix of the names of its groups.
        pool: Pool of the assets that ask models; None if none is asked.
    """
    assets = dg.load_assets_from_modules(MODULES, key_prefix=folder.name or None)
    if split.shards > 1:
        whole = folder.key("judge_scores")
        shards = judge_scores_in_shards(split.shards, folder, pool=pool)
        assets = [shards if _is_of(asset, whole) else asset for asset in assets]
    asking = {folder.key(name) for name in _ASKING} if pool else set()
    # With live judges, tuning may take hours, for which the report does not wait.
    last = set() if pool else {folder.key("agreement_report")}
    assets = [
        of_evaluation(
            asset,
            folder.identifier,
            pool=pool if keys & asking else None,
            tags={"dagster/priority": "-1"} if keys & last else {},
        )
        for asset in assets
        for keys in [asset.keys if isinstance(asset, dg.AssetsDefinition) else set()]
    ]
    described = dg.map_asset_specs(
        lambda spec: spec.replace_attributes(
            group_name=f"{before}{spec.group_name}",
            code_version=code_version_of(spec.group_name or ""),
        ),
        assets,  # type: ignore[arg-type] # neither sources nor cacheable assets are among them
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dg.BetaWarning)
        return dg.with_source_code_references(described)


def _is_of(definition: object, key: dg.AssetKey) -> TypeGuard[dg.AssetsDefinition]:
    """Return whether a definition defines a single asset."""
    return isinstance(definition, dg.AssetsDefinition) and definition.keys == {key}


PACKAGE = Path(__file__).parents[1]

_EVERYTHING = ("config", "scale.py", "store/schema.sql")
"""Modules on which every asset depends."""

_PARTS: Mapping[str, tuple[str, ...]] = {
    "inputs": ("readers", "judges"),
    "human_labels": ("readers", "labelling"),
    "judge_scores": ("readers", "judges"),
    "agreement": ("agreement", "stats", "catalogue.py", "figures.py"),
    "judge_tuning": ("agreement", "stats", "tuning", "judges/prompts"),
    "reports": ("report", "render", "agreement/gates", "catalogue.py"),
}
"""Parts of the package that determine the data of a group's assets, by group."""


@cache
def code_version_of(group: str, *, package: Path = PACKAGE) -> str:
    """Return a fingerprint of the code that determines the data of a group's assets.

    Args:
        group: Name of the group, as the assets declare it.
        package: Folder of the package.
    """
    digest = hashlib.sha256()
    for part in sorted({*_EVERYTHING, *_PARTS.get(group, ())}):
        path = package / part
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in files:
            if file.is_file() and file.suffix != ".pyc":
                digest.update(file.relative_to(package).as_posix().encode())
                digest.update(file.read_bytes())
    return digest.hexdigest()[:12]
