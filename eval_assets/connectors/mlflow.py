"""MLflow: traces of an experiment with their assessments; verdicts are tags of the experiment."""

import os
import re
from collections.abc import Container, Iterator, Sequence
from typing import Any

import requests
from mlflow import MlflowClient
from mlflow.exceptions import MlflowException

from eval_assets.connectors import PREFIX, PublishedVerdict, missing, named

ERRORS = (MlflowException, requests.RequestException)

_PAGE = 100

# The client's seven tries take four minutes where no server is.
os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2")


def read(server: str, project: str | None, known: Container[str]) -> Iterator[dict[str, Any]]:
    """Yield the traces; those of known responses without their texts."""
    client = MlflowClient(tracking_uri=server)
    query: dict[str, Any] = {
        "locations": [_experiment(client, project)],
        "max_results": _PAGE,
        "order_by": ["timestamp_ms ASC"],
        "page_token": None,
    }
    while True:
        page = client.search_traces(**query, include_spans=False)
        # Texts are whole in the spans only: previews end after 1,000 characters.
        if any(trace.info.trace_id not in known for trace in page):
            page = client.search_traces(**query, include_spans=True)
        for trace in page:
            record = trace.to_dict()
            if trace.info.trace_id in known:
                del record["data"]
                record["info"] |= {"request_preview": None, "response_preview": None}
            yield record
        query["page_token"] = page.token
        if not page.token:
            return


def write(server: str, project: str | None, verdicts: Sequence[PublishedVerdict]) -> str:
    """Set a tag of the experiment for each verdict."""
    client = MlflowClient(tracking_uri=server)
    experiment = _experiment(client, project)
    for verdict in verdicts:
        key = re.sub(r"[^\w.\- :/]", "-", f"{PREFIX}{verdict.name}")
        client.set_experiment_tag(experiment, key, str(verdict))
    return f"tags of the experiment {project}"


def _experiment(client: MlflowClient, project: str | None) -> str:
    experiment = client.get_experiment_by_name(named(project))
    if experiment is None:
        raise missing(f"experiment {project}")
    return str(experiment.experiment_id)
