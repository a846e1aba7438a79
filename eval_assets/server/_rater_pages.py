"""Labelling pages of one rater, which show that rater's work only."""

from collections.abc import Mapping

from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from eval_assets.errors import InputError
from eval_assets.labelling.pages import PAGE_ACTION, page_answers, page_task
from eval_assets.labelling.rater_queue import now
from eval_assets.labelling.study import Study
from eval_assets.server._rendering import TEMPLATES, json_in_html

MOST_BYTES = 256 * 1024
"""Size of an answer above which it is refused unread."""


def rater_routes(rater_of: Mapping[str, str], study: Study) -> list[Route]:
    """Return the routes of all raters.

    Args:
        rater_of: Rater by the secret part of their link.
        study: What they label.
    """
    pages = _RaterPages(rater_of, study)
    return [
        Route("/r/{token}", pages.page),
        Route("/r/{token}/answers", pages.answers),
        Route("/r/{token}/labels", pages.label, methods=["POST"]),
        Route("/r/{token}/close", pages.close, methods=["POST"]),
    ]


class _RaterPages:
    def __init__(self, rater_of: Mapping[str, str], study: Study) -> None:
        self._rater_of = rater_of
        self._study = study
        self._queues = {rater: study.queue(rater) for rater in rater_of.values()}
        self._units = {
            rater: {unit.code: unit for unit in queue.units}
            for rater, queue in self._queues.items()
        }

    def page(self, request: Request) -> Response:
        """Show the labelling screen with all that the rater is to label."""
        rater = self._rater(request)
        task = {
            **page_task(self._queues[rater]),
            "isOffline": False,
            "page": request.path_params["token"],
            "address": f"/r/{request.path_params['token']}",
        }
        page = TEMPLATES.get_template("label.html.jinja").render(
            evaluation=self._study.evaluation.name,
            rater=rater,
            is_offline=False,
            task_json=json_in_html(task),
        )
        return HTMLResponse(page)

    def answers(self, request: Request) -> Response:
        """Return the rater's own answers, for a page whose other window went on."""
        return JSONResponse(page_answers(self._queues[self._rater(request)]))

    async def label(self, request: Request) -> Response:
        """Save one answer or undo; it is on disk before this replies."""
        rater = self._rater(request)
        try:
            action = PAGE_ACTION.validate_json(await _body(request))
        except ValidationError as error:
            return _refused(error.errors(include_url=False, include_input=False)[0]["msg"])
        queue, units = self._queues[rater], self._units[rater]
        try:
            await run_in_threadpool(action.apply, queue, units, at=now())
        except InputError:
            # The page keeps the answer and sends it again.
            raise HTTPException(503, "The label cannot be stored at present.") from None
        except ValueError as error:
            return _refused(str(error))
        return JSONResponse({"done": await run_in_threadpool(lambda: len(queue.labels()))})

    def close(self, request: Request) -> Response:
        """Note that the rater stopped for now."""
        self._queues[self._rater(request)].close(at=now())
        return JSONResponse({})

    def _rater(self, request: Request) -> str:
        rater = self._rater_of.get(request.path_params["token"])
        if rater is None:
            raise HTTPException(404, "There is nothing behind this link.")
        return rater


async def _body(request: Request) -> bytes:
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise HTTPException(415, "Send JSON.")
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            raise HTTPException(413, "The answer is too long.")
    return body


def _refused(reason: str) -> JSONResponse:
    return JSONResponse({"error": reason}, status_code=422)
