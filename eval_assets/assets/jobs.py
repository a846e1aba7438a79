"""Jobs of one evaluation and of a folder of evaluations."""

from collections.abc import Sequence
from urllib.parse import urlsplit

import dagster as dg

from eval_assets.assets.dagster_internals import UnresolvedAssetJobDefinition
from eval_assets.assets.resources import (
    UI,
    EvaluationFolder,
    ui_address,
)


def jobs_of(
    folder: EvaluationFolder, before: str, all_assets: dg.AssetSelection
) -> list[UnresolvedAssetJobDefinition]:
    """Return the jobs that run everything, and everything but tuning.

    Args:
        folder: The evaluation.
        before: Prefix of the names of the jobs and groups.
        all_assets: The assets.
    """
    return [
        dg.define_asset_job(
            f"{before}evaluate",
            selection=all_assets,
            tags=folder.run_tags,
            description="Everything: inputs, agreement, gates, report, and tuning past open gates.",
        ),
        dg.define_asset_job(
            f"{before}score",
            selection=all_assets - dg.AssetSelection.groups(f"{before}judge_tuning"),
            tags=folder.run_tags,
            description="Everything through agreement and its gates; no tuning.",
        ),
    ]


def jobs_of_each(befores: Sequence[str]) -> list[dg.JobDefinition]:
    """Return the jobs `evaluate` and `score`, which start those of every evaluation.

    Args:
        befores: Prefix of the names of each evaluation's jobs.
    """
    names = {job: [f"{before}{job}" for before in befores] for job in ("evaluate", "score")}
    return [
        _job_that_starts(job, started, description=f"Starts {', '.join(started)}, each as a run.")
        for job, started in names.items()
    ]


def _job_that_starts(name: str, started: Sequence[str], *, description: str) -> dg.JobDefinition:
    """Return a job that starts others, each in a separate run.

    The run queue decides how many of them run at once.

    Args:
        name: Name of the job.
        started: Names of the jobs that it starts.
        description: Description for the UI.
    """

    @dg.op(name=f"start_each_{name}")
    def start(context: dg.OpExecutionContext) -> None:
        # The client of the UI takes half a second to import.
        from dagster_graphql import DagsterGraphQLClient, DagsterGraphQLClientError

        address = ui_address()
        url = urlsplit(address)
        try:
            client = DagsterGraphQLClient(
                url.hostname or "",
                port_number=url.port,
                use_https=url.scheme == "https",
                path_prefix=url.path,
            )
            for job in started:
                run_id = client.submit_job_execution(job)
                context.log.info("Started %s: %s/runs/%s", job, address, run_id)
        except DagsterGraphQLClientError as error:
            raise dg.Failure(
                f"The UI at {address} did not start every run ({error}). Set {UI} to its address."
            ) from error

    @dg.job(name=name, description=description)
    def starting() -> None:
        start()

    return starting
