"""Labelling pages of one rater, which show that rater's work only."""

import errno
from collections.abc import Mapping
from functools import cache

from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from eval_assets.errors import InputError
from eval_assets.labelling.pages import PAGE_ACTION, PageAction, page_answers, page_task
from eval_assets.labelling.rater_queue import RaterQueue, WorkUnit, now, possible_units
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
        self._queue = cache(lambda rater, number: study.at_round(number).queue(rater))
        self._earlier_units = cache(
            lambda rater, number: possible_units(rater, number, study.responses)
        )
        for rater in rater_of.values():
            self._queue(rater, self._round)

    def page(self, request: Request) -> Response:
        """Show the labelling screen with all that the rater is to label."""
        rater = self._rater(request)
        task = {
            **page_task(self._queue(rater, self._round)),
            "isOffline": False,
            # Not the link: labels that wait in a browser must survive a new one.
            "page": f"{self._study.evaluation.name}/{rater}",
            "round": self._round,
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
        rater = self._rater(request)
        number = request.query_params.get("round", "")
        is_round = number.isdecimal() and 1 <= int(number) <= self._round
        queue = self._queue(rater, int(number) if is_round else self._round)
        return JSONResponse(page_answers(queue))

    async def label(self, request: Request) -> Response:
        """Save one answer or undo; it is on disk before this replies.

        A page removes an answer only once it is `done`, or `refused` for good.
        """
        rater = self._rater(request)
        try:
            action = PAGE_ACTION.validate_json(await _body(request))
        except ValidationError as error:
            return _refused(error.errors(include_url=False, include_input=False)[0]["msg"])
        try:
            return JSONResponse({"done": await run_in_threadpool(self._saved, rater, action)})
        except InputError as error:
            return JSONResponse({"unavailable": _unavailability(error)}, status_code=503)
        except ValueError as error:
            return _refused(str(error))

    def _saved(self, rater: str, action: PageAction) -> int:
        """Save an answer in the round of its unit; return how many labels that round has."""
        queue, units = self._work(rater, action.unit)
        action.apply(queue, units, at=now())
        return len(queue.labels())

    def _work(self, rater: str, code: str) -> tuple[RaterQueue, Mapping[str, WorkUnit]]:
        """Return the queue of the round that a unit is of, with the units that it may answer.

        A label that waited in a page while the lead began another round belongs to its own.
        """
        queue = self._queue(rater, self._round)
        units = {unit.code: unit for unit in queue.units}
        for number in range(self._round - 1, 0, -1) if code not in units else ():
            earlier = self._earlier_units(rater, number)
            if code in earlier:
                return self._queue(rater, number), earlier
        return queue, units

    def close(self, request: Request) -> Response:
        """Note that the rater stopped for now."""
        self._queue(self._rater(request), self._round).close(at=now())
        return JSONResponse({})

    @property
    def _round(self) -> int:
        return self._study.evaluation.labelling.round

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
    return JSONResponse({"refused": reason}, status_code=422)


def _unavailability(error: InputError) -> str:
    """Return why a label cannot be stored at present, without naming files to a rater."""
    cause = error.__cause__
    if not isinstance(cause, OSError):
        return "a file of labels is damaged; tell whoever sent the link"
    if cause.errno in {errno.ENOSPC, errno.EDQUOT}:
        return "the server's disk is full; tell whoever sent the link"
    return "the server cannot write its files; tell whoever sent the link"
