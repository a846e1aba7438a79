"""Label Studio: tasks with annotations and predictions; verdicts end the project's description."""

from collections.abc import Container, Iterator, Sequence
from typing import Any

import httpx
from label_studio_sdk import LabelStudio
from label_studio_sdk.core.api_error import ApiError

from eval_assets.connectors import PublishedVerdict, missing, named, with_section

ERRORS = (ApiError, httpx.HTTPError)

_PAGE = 100
_FIELDS = ("id", "data", "annotations", "predictions")
"""Fields of a task; the others sum these up."""


def read(server: str, project: str | None, known: Container[str]) -> Iterator[dict[str, Any]]:  # noqa: ARG001 - the list of tasks has the texts
    """Yield the tasks of a project, by its title or its number."""
    client = LabelStudio(base_url=server)
    number = _project(client, project).id
    for task in client.tasks.list(project=number, fields="all", page_size=_PAGE):
        record = task.model_dump(mode="json")
        yield {key: record[key] for key in _FIELDS}


def write(server: str, project: str | None, verdicts: Sequence[PublishedVerdict]) -> str:
    """Write the verdicts as the last section of the project's description."""
    client = LabelStudio(base_url=server)
    of_title = _project(client, project)
    description = with_section(of_title.description, verdicts)
    client.projects.update(of_title.id, description=description)
    return f"the description of the project {project}"


def _project(client: LabelStudio, project: str | None) -> Any:  # noqa: ANN401 - of the client
    name = named(project)
    for entry in client.projects.list():
        if name in (entry.title, str(entry.id)):
            return entry
    raise missing(f"project {name}")
