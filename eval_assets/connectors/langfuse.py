"""Langfuse: traces and scores of a project; verdicts are scores of a separate session."""

import os
from collections.abc import Container, Iterator, Sequence
from functools import partial
from typing import Any

import httpx
from langfuse.api import LangfuseAPI
from langfuse.api.core.api_error import ApiError
from langfuse.api.scores import CreateScoreRequest

from eval_assets.connectors import PREFIX, PublishedVerdict
from eval_assets.errors import ToolError
from eval_assets.wording import counted

ERRORS = (ApiError, httpx.HTTPError)

_SESSION = "eval-assets"
_KEYS = ("LANGFUSE_PUBLIC_KEY", "LANGFUSE_SECRET_KEY")
_WITHOUT_TEXTS, _WITH_TEXTS = "core,basic,model", "core,basic,model,io"
_OBSERVATIONS, _SCORES = 500, 100
"""Records of a page; the server refuses more scores."""


def read(server: str, project: str | None, known: Container[str]) -> Iterator[dict[str, Any]]:  # noqa: ARG001 - the keys belong to one project
    """Yield the traces, then observations with scores, then the scores."""
    api = _api(server)
    roots = partial(api.observations.get_many, limit=_OBSERVATIONS, is_root_observation=True)
    cursor = None
    while True:
        page = roots(cursor=cursor, fields=_WITHOUT_TEXTS)
        if any(root.trace_id not in known for root in page.data):
            page = roots(cursor=cursor, fields=_WITH_TEXTS)
        for root in page.data:
            yield root.dict() | {"id": root.trace_id}
        cursor = page.meta.cursor
        if not cursor:
            break
    scores = list(_scores(api))
    yield from _scored_observations(api, scores, known)
    yield from scores


def write(server: str, project: str | None, verdicts: Sequence[PublishedVerdict]) -> str:  # noqa: ARG001 - the keys belong to one project
    """Add a score for each verdict to a session, in place of the one of the same name."""
    scores = [
        CreateScoreRequest(
            id=f"{PREFIX}{verdict.name}",
            name=f"{PREFIX}{verdict.name}",
            session_id=_SESSION,
            value=verdict.value,
            data_type="CATEGORICAL",
            comment=verdict.comment,
        )
        for verdict in verdicts
    ]
    response = _api(server).scores.create(request=scores)
    rejections = getattr(response, "errors", [])
    if rejections:
        raise ToolError(f"rejected {counted(len(rejections), 'score')}: {rejections[0].message}")
    return f"scores of the session {_SESSION}"


def _scores(api: LangfuseAPI) -> Iterator[dict[str, Any]]:
    cursor = None
    while True:
        fields = "details,subject,annotation"
        page = api.scores.get_many(limit=_SCORES, cursor=cursor, fields=fields)
        yield from (score.dict() for score in page.data if not score.name.startswith(PREFIX))
        cursor = page.meta.cursor
        if not cursor:
            return


def _scored_observations(
    api: LangfuseAPI, scores: Sequence[dict[str, Any]], known: Container[str]
) -> Iterator[dict[str, Any]]:
    subjects = [score.get("subject") or {} for score in scores]
    names = {of["id"]: of["traceId"] for of in subjects if of.get("kind") == "observation"}
    for trace in dict.fromkeys(trace for name, trace in names.items() if name not in known):
        page = api.observations.get_many(trace_id=trace, fields=_WITH_TEXTS, limit=_OBSERVATIONS)
        yield from (observation.dict() for observation in page.data if observation.id in names)


def _api(server: str) -> LangfuseAPI:
    public, secret = (os.environ.get(key, "") for key in _KEYS)
    if not public or not secret:
        raise ToolError(f"the keys are missing. Set {' and '.join(_KEYS)}.")
    return LangfuseAPI(
        base_url=server, username=public, password=secret, x_langfuse_public_key=public
    )
