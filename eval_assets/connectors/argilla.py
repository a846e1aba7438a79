"""Argilla: records of a dataset with responses; verdicts end the dataset's guidelines."""

import warnings
from collections.abc import Container, Iterator, Sequence
from typing import Any

import httpx
from argilla import Argilla, Dataset
from argilla._exceptions import ArgillaError

from eval_assets.connectors import PublishedVerdict, missing, named, with_section

ERRORS = (ArgillaError, httpx.HTTPError)


def read(server: str, project: str | None, known: Container[str]) -> Iterator[dict[str, Any]]:  # noqa: ARG001 - the list of records has the texts
    """Yield the records of a dataset, as DATASET or WORKSPACE/DATASET."""
    records = _dataset(Argilla(api_url=server), project).records()
    yield from (record.to_dict() for record in records)


def write(server: str, project: str | None, verdicts: Sequence[PublishedVerdict]) -> str:
    """Write the verdicts as the last section of the guidelines, which raters see."""
    client = Argilla(api_url=server)
    dataset = client.api.datasets.get(_dataset(client, project).id)
    dataset.guidelines = with_section(dataset.guidelines, verdicts)
    client.api.datasets.update(dataset)
    return f"the guidelines of the dataset {project}"


def _dataset(client: Argilla, project: str | None) -> Dataset:
    workspace, _, name = named(project).rpartition("/")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a dataset that does not exist
        dataset = client.datasets(name, workspace or None)
    if dataset is None:
        raise missing(f"dataset {project}")
    return dataset
