"""The one Dagster entry point: all assets, checks, jobs, schedules and sensors."""

import dagster as dg

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
from eval_assets.assets.automation import (
    alert,
    check_alerts,
    ended_batches,
    new_files,
    scheduled_rerun,
)
from eval_assets.assets.resources import EvaluationFolder
from eval_assets.assets.terminal import terminal

evaluate = dg.define_asset_job(
    "evaluate",
    selection=dg.AssetSelection.all(),
    description="Everything: inputs, agreement, gates, report, and tuning if the gates are open.",
)
score = dg.define_asset_job(
    "score",
    selection=dg.AssetSelection.all() - dg.AssetSelection.groups("judge_tuning"),
    description="Everything through agreement and its gates; no tuning.",
)
defs = dg.Definitions(
    assets=dg.load_assets_from_modules(
        [generation, inputs, labels, labelling, judging, agreement, tuning, certificates, reports]
    ),
    asset_checks=dg.load_asset_checks_from_modules([gates, checks]),
    jobs=[evaluate, score, alert],
    schedules=[scheduled_rerun],
    sensors=[new_files, ended_batches, check_alerts],
    resources={"folder": EvaluationFolder()},
    loggers={"console": dg.colored_console_logger, "terminal": terminal},
    executor=dg.in_process_executor,
)
