"""Labelling pages of one rater, which show that rater's work only."""

import errno
from collections.abc import Callable, Mapping
from functools import cache

from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from eval_assets.config.labelling import DISCUSSION
from eval_assets.errors import InputError
from eval_assets.labelling.links import raters_by_token
from eval_assets.labelling.pages import PAGE_ACTION, page_answers, page_task, page_texts
from eval_assets.labelling.rater_queue import RaterQueue, WorkUnit, now
from eval_assets.labelling.rich_text import html_of
from eval_assets.labelling.study import Study
from eval_assets.server._rendering import TEMPLATES, image_address, json_in_html

MOST_BYTES = 256 * 1024
"""Size of an answer above which it is refused unread."""


def rater_routes(current: Callable[[], Study]) -> list[Route]:
    """Return the routes of all raters.

    Args:
        current: Returns what is labelled, and by whom, as it is now.
    """
    pages = _RaterPages(current)
    return [
        Route("/r/{token}", pages.page),
        Route("/r/{token}/answers", pages.answers),
        Route("/r/{token}/labels", pages.label, methods=["POST"]),
        Route("/r/{token}/close", pages.close, methods=["POST"]),
    ]


class _Work:
    """What the raters of a study label, round by round; each queue is made when it is needed."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.round = study.evaluation.labelling.round
        self.html = html_of(study.evaluation, image_address)
        self.queue_of_round = cache(lambda rater, number: study.at_round(number).work(rater))
        self.possible_units = cache(
            lambda rater, number: study.at_round(number).possible_units(rater)
        )

    def queue(self, rater: str) -> RaterQueue:
        """Return what a rater labels now."""
        return self.study.queue(rater)


class _RaterPages:
    def __init__(self, current: Callable[[], Study]) -> None:
        self._current = current
        self._latest = _Work(current())
        for rater in self._latest.study.raters:
            page_texts(self._latest.study.queues[rater], self._latest.html)

    @property
    def _work(self) -> _Work:
        study = self._current()
        if study is not self._latest.study:
            self._latest = _Work(study)
        return self._latest

    def page(self, request: Request) -> Response:
        """Show the labelling screen with all that the rater is to label."""
        rater, work = self._rater(request), self._work
        name = work.study.evaluation.name
        task = {
            **page_task(work.queue(rater), work.html),
            "isOffline": False,
            # Not the link: labels that wait in a browser must survive a new one.
            "page": f"{name}/{rater}",
            "round": work.round,
            "address": f"/r/{request.path_params['token']}",
        }
        page = TEMPLATES.get_template("label.html.jinja").render(
            evaluation=name,
            rater=rater,
            is_offline=False,
            task_json=json_in_html(task),
        )
        return HTMLResponse(page)

    def answers(self, request: Request) -> Response:
        """Return the rater's own answers, for a page whose other window went on."""
        rater, work = self._rater(request), self._work
        number = request.query_params.get("round", "")
        is_round = number.isdecimal() and 1 <= int(number) <= work.round
        is_earlier = is_round and int(number) < work.round
        queue = work.queue_of_round(rater, int(number)) if is_earlier else work.queue(rater)
        return JSONResponse(page_answers(queue))

    async def label(self, request: Request) -> Response:
        """Save one answer or undo; it is on disk before this replies.

        A page removes an answer only once it is `done`, or `refused` for good.
        """
        body = await _body(request)
        try:
            return await run_in_threadpool(self._labelled, request, body)
        except HTTPException:
            reason = "this link is not valid any more; ask for the new one and open it here"
            return JSONResponse({"unavailable": reason}, status_code=404)
        except InputError as error:
            return JSONResponse({"unavailable": _unavailability(error)}, status_code=503)
        except ValidationError as error:
            return _refused(error.errors(include_url=False, include_input=False)[0]["msg"])
        except ValueError as error:
            return _refused(str(error))

    def _labelled(self, request: Request, body: bytes) -> Response:
        """Save an answer in the round of its unit; reply how many screens of it are done."""
        rater, work = self._rater(request), self._work
        action = PAGE_ACTION.validate_json(body)
        for code in action.by_unit:
            queue, units = _queue_of(work, rater, code)
            if code in units:
                break
        action.apply(queue, units, at=now())
        return JSONResponse({"done": queue.n_screens_done()})

    def close(self, request: Request) -> Response:
        """Note that the rater stopped for now."""
        rater, work = self._rater(request), self._work
        work.queue(rater).close(at=now())
        return JSONResponse({})

    def _rater(self, request: Request) -> str:
        rater = raters_by_token(self._current()).get(request.path_params["token"])
        if rater is None:
            raise HTTPException(404, "There is nothing behind this link.")
        return rater


def _queue_of(work: _Work, rater: str, code: str) -> tuple[RaterQueue, Mapping[str, WorkUnit]]:
    """Return the queue of the round that a unit is of, with the units that it may answer.

    A label that waited in a page while the lead began another round belongs to its own. One that
    waited while the lead declared a calibration, or adjudicated its response, is accepted.
    """
    regular = work.study.queues[rater]
    if code in regular.by_code:
        return regular, regular.by_code
    queue = work.queue(rater)
    if code in queue.by_code:
        return queue, queue.by_code
    for number in range(work.round, 0, -1):
        units = work.possible_units(rater, number)
        if code in units and (number < work.round or units[code].key.kind == DISCUSSION):
            return work.queue_of_round(rater, number), units
    return queue, queue.by_code


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
