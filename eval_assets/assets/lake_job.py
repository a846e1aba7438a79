"""Upkeep of a shared lake as a job with a daily schedule."""

import os

import dagster as dg

from eval_assets.assets.resources import EvaluationFolder, clear_failures
from eval_assets.store import is_lake, keep_lake, lake_of

_DAYS = 7.0
"""How long earlier states of the tables are kept."""


def upkeep_of(root: EvaluationFolder) -> list[dg.ScheduleDefinition]:
    """Return the schedule that looks after the lake, if EVAL_DATABASE names one; it is off."""
    given = root.database or os.environ.get("EVAL_DATABASE") or ""
    if not is_lake(given):
        return []

    @dg.op
    def merge_and_delete_files(context: dg.OpExecutionContext) -> None:
        with clear_failures():
            lake = lake_of(given, files=os.environ.get("EVAL_DATA_PATH"), evaluation="")
            n_snapshots, n_files = keep_lake(lake, days=_DAYS)
        context.log.info("%d earlier states forgotten, %d files deleted", n_snapshots, n_files)

    @dg.job(description="Merges small files of the lake, and deletes what is a week old.")
    def keep_the_lake() -> None:
        merge_and_delete_files()

    return [
        dg.ScheduleDefinition(
            name="daily_lake_upkeep",
            job=keep_the_lake,
            cron_schedule="0 3 * * *",
            description="Merges small files of the lake, and deletes what is a week old.",
        )
    ]
