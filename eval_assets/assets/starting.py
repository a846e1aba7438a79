"""Jobs that start a run of each evaluation."""

from collections.abc import Sequence
from urllib.parse import urlsplit

import dagster as dg

from eval_assets.assets.resources import UI, ui_address


def job_that_starts(name: str, started: Sequence[str], *, description: str) -> dg.JobDefinition:
    """Return a job that starts others, each in a run of its own.

    The run queue decides how many of them run at once.

    Args:
        name: Name of the job.
        started: Names of the jobs that it starts.
        description: Description for the UI.
    """

    @dg.op(name=f"start_each_{name}")
    def start(context: dg.OpExecutionContext) -> None:
        # The client of the UI takes half a second to import.
        from dagster_graphql import DagsterGraphQLClient, DagsterGraphQLClientError  # noqa: PLC0415

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
