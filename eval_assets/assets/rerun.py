"""When to run again: as soon as files of the evaluation change."""

from pathlib import Path

import dagster as dg

from eval_assets.assets.folder import EvaluationFolder, version_of


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


def _given_files(folder: Path) -> list[Path]:
    """Files that people own: all but what the program writes."""
    return [
        path for path in folder.rglob("*") if path.is_file() and folder / "out" not in path.parents
    ]
