"""LangSmith: runs of a project with their feedback; verdicts are metadata of the project."""

import warnings
from collections.abc import Container, Iterator, Sequence
from typing import Any

import requests
from langsmith import Client
from langsmith.schemas import TracerSessionResult
from langsmith.utils import LangSmithError, LangSmithNotFoundError

from eval_assets.connectors import PREFIX, PublishedVerdict, missing, named

ERRORS = (LangSmithError, requests.RequestException)

_BATCH = 50
_WITHOUT_TEXTS = ["id", "name", "run_type", "start_time", "trace_id"]
_WITH_TEXTS = [*_WITHOUT_TEXTS, "inputs", "outputs", "extra", "reference_example_id"]


def read(server: str, project: str | None, known: Container[str]) -> Iterator[dict[str, Any]]:
    """Yield the runs without a parent, each batch followed by its feedback."""
    client = Client(api_url=server, auto_batch_tracing=False)
    project_id = _project(client, project).id
    runs = _runs(client, project_id=project_id, is_root=True, select=_WITHOUT_TEXTS)
    for start in range(0, len(runs), _BATCH):
        batch = runs[start : start + _BATCH]
        new = [run["id"] for run in batch if run["id"] not in known]
        yield from (run for run in batch if run["id"] in known)
        if new:
            yield from _runs(client, run_ids=new, select=_WITH_TEXTS)
        feedback = client.list_feedback(run_ids=[run["id"] for run in batch])
        yield from (item.model_dump(mode="json") for item in feedback)


def write(server: str, project: str | None, verdicts: Sequence[PublishedVerdict]) -> str:
    """Set an entry of the project's metadata for each verdict."""
    client = Client(api_url=server, auto_batch_tracing=False)
    session = _project(client, project)
    entries = {f"{PREFIX}{verdict.name}": str(verdict) for verdict in verdicts}
    extra = session.extra or {}
    metadata = {**(extra.get("metadata") or {}), **entries}
    client.update_project(session.id, project_extra=extra, metadata=metadata)
    return f"metadata of the project {project}"


def _runs(client: Client, **query: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - of the client
    # The endpoint that replaces it is missing from servers before 0.16.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [run.model_dump(mode="json") for run in client.list_runs(**query)]


def _project(client: Client, project: str | None) -> TracerSessionResult:
    try:
        return client.read_project(project_name=named(project))
    except LangSmithNotFoundError as error:
        raise missing(f"project {project}") from error
