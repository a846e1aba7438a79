"""The one Dagster entry point: all assets, checks, jobs, schedules and sensors.

EVAL_DATA names an evaluation folder, or a folder of several: then each has its own set of all of
them, its name as key prefix and before the names of its jobs, schedule and sensors. Key prefixes
and not partitions: each evaluation has its own gates, and Dagster's checks cannot block by
partition yet; and figures are plotted over time, not over partitions.
"""

from importlib.metadata import version

import dagster as dg
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition

from eval_assets.assets import (
    agreement,
    certificates,
    checks,
    gates,
    generation,
    inputs,
    judging,
    labelling,
    labels,
    reports,
    tuning,
)
from eval_assets.assets.automation import alert, automation_of, names_before
from eval_assets.assets.resources import EvaluationFolder
from eval_assets.assets.terminal import terminal
from eval_assets.operation import Schedule
from eval_assets.problems import InputError
from eval_assets.readers import evaluations_in, read_evaluation


def definitions_of(root: EvaluationFolder) -> dg.Definitions:
    """Return the definitions of an evaluation folder, or of a folder of several."""
    names = evaluations_in(root.root)
    own = [_own_definitions(root, name) for name in names or [""]]
    return dg.Definitions.merge(
        dg.Definitions(
            jobs=[alert] if not names else [alert, *_jobs("", dg.AssetSelection.all())],
            resources={"folder": root},
            loggers={"console": dg.colored_console_logger, "terminal": terminal},
            executor=dg.in_process_executor,
        ),
        *own,
    )


def _own_definitions(root: EvaluationFolder, name: str) -> dg.Definitions:
    """Return the definitions of one evaluation.

    One whose evaluation.yaml cannot be read has all of its assets: to materialize one says what is
    wrong with the file.
    """
    folder = EvaluationFolder(data=root.data, name=name)
    before = names_before(name, root)
    try:
        evaluation = read_evaluation(folder.path)
    except* InputError:
        owners: tuple[str, ...] = ()
        schedule = Schedule()
    else:
        owners, schedule = evaluation.owners, evaluation.schedule
    prefix = name or None
    assets = dg.load_assets_from_modules(
        [generation, inputs, labels, labelling, judging, agreement, tuning, certificates, reports],
        key_prefix=prefix,
        include_specs=True,
    )
    code = version("eval-assets")
    described = dg.map_asset_specs(
        lambda spec: spec.replace_attributes(owners=owners, code_version=code),
        assets,  # type: ignore[arg-type] # neither sources nor cacheable assets are among them
    )
    everything = dg.AssetSelection.all() if not prefix else dg.AssetSelection.key_prefixes(prefix)
    sensors, rerun = automation_of(folder, before=before, schedule=schedule)
    return dg.Definitions(
        assets=described,
        asset_checks=dg.load_asset_checks_from_modules([gates, checks], asset_key_prefix=prefix),
        jobs=_jobs(before, everything),
        sensors=sensors,
        schedules=[rerun],
    )


def _jobs(before: str, everything: dg.AssetSelection) -> list[UnresolvedAssetJobDefinition]:
    """Return the jobs that run everything, and everything but tuning."""
    tuned = dg.AssetSelection.groups("judge_tuning")
    return [
        dg.define_asset_job(
            f"{before}evaluate",
            selection=everything,
            description="Everything: inputs, agreement, gates, report, and tuning past open gates.",
        ),
        dg.define_asset_job(
            f"{before}score",
            selection=everything - tuned,
            description="Everything through agreement and its gates; no tuning.",
        ),
    ]


defs = definitions_of(EvaluationFolder())
