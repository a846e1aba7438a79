"""When to run again: as soon as files of the evaluation change, or a batch has ended."""

from pathlib import Path

import dagster as dg

from eval_assets.assets.folder import EvaluationFolder, version_of
from eval_assets.assets.live_judging import n_batches_to_collect


@dg.sensor(
    job_name="evaluate",
    minimum_interval_seconds=30,
    description="Runs everything when a file of the evaluation folder is added or changed.",
)
def new_files(
    context: dg.SensorEvaluationContext, folder: EvaluationFolder
) -> dg.RunRequest | dg.SkipReason:
    """Request one run for each state of the folder's files that was not seen before."""
    state = version_of(
        sorted(
            (path.relative_to(folder.path).as_posix(), path.stat().st_size, path.stat().st_mtime_ns)
            for path in _given_files(folder.path)
        )
    )
    if state == context.cursor:
        return dg.SkipReason(f"no file of {folder.path} changed")
    context.update_cursor(state)
    return dg.RunRequest(run_key=state)


@dg.sensor(
    job_name="evaluate",
    minimum_interval_seconds=300,
    description="Runs everything when a batch that judges were asked in has ended.",
)
def ended_batches(
    context: dg.SensorEvaluationContext, folder: EvaluationFolder
) -> dg.RunRequest | dg.SkipReason:
    """Look whether vendors have answered; collecting the answers is the asset's business."""
    evaluation = folder.evaluation()
    n_ended = n_batches_to_collect(evaluation, folder.database_path)
    if not n_ended:
        return dg.SkipReason("no batch waits to be collected")
    context.log.info("%d batches wait to be collected", n_ended)
    return dg.RunRequest()


def _given_files(folder: Path) -> list[Path]:
    """Files that people own: all but what the program writes."""
    return [
        path for path in folder.rglob("*") if path.is_file() and folder / "out" not in path.parents
    ]
